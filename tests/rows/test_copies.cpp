// Tests how equal rows are found.
#include <random>

#include "common/elements.hpp"
#include "common/test.hpp"
#include "rows/copies/find_copies.hpp"

namespace kith::tests {
namespace {

TEST_CASE("copies: each row belongs to the first one with its bytes") {
  std::mt19937 random(3);
  for (const std::int64_t gap : {0, 3}) {
    Stored rows(Element::i8, 3000, 3, gap);
    for (std::int64_t r = 0; r < 3000; ++r)
      for (std::int64_t d = 0; d < 3; ++d) rows.put_pattern(r, d, static_cast<std::int8_t>(random() % 8));
    std::vector<std::int64_t> order(3000);
    std::iota(order.begin(), order.end(), 0);
    if (gap > 0) std::reverse(order.begin(), order.end());
    const RowsView view = rows.view();
    const RowsInOrder in_order{view, order};
    const RowCopies copies = find_copies(in_order);
    std::map<std::string, std::vector<std::uint32_t>> expected;
    std::vector<std::string> firsts;
    for (std::int64_t place = 0; place < 3000; ++place) {
      const auto* const bytes = reinterpret_cast<const char*>(in_order.at(place));
      const std::string row(bytes, bytes + 3);
      if (expected[row].empty()) firsts.push_back(row);
      expected[row].push_back(static_cast<std::uint32_t>(place));
    }
    REQUIRE(copies.distinct() == static_cast<std::int64_t>(firsts.size()));
    for (std::int64_t d = 0; d < copies.distinct(); ++d) {
      const auto places = copies.of(d);
      CHECK(std::vector(places.begin(), places.end()) == expected[firsts[static_cast<std::size_t>(d)]]);
      for (const std::uint32_t place : places) CHECK(copies.distinct_of(place) == d);
    }
    const std::vector<unsigned char> distinct = distinct_rows(in_order, copies);
    CHECK(std::string(distinct.begin(), distinct.begin() + 3) == firsts[0]);
    CHECK(distinct.size() == firsts.size() * 3);
  }
}

TEST_CASE("copies: zeros of both signs differ, and so do NaNs of other bits") {
  const std::vector<float> values{0.0f, -0.0f, 0.0f, std::nanf("1"), std::nanf("2"), std::nanf("1")};
  const RowsView rows(values.data(), 6, 1);
  CHECK(find_copies({rows, {}}).distinct() == 4);
}

TEST_CASE("copies: of some rows, and with more") {
  const RowCopies copies({0, 1, 0, 2, 1, 0});
  const auto [some, kept] = copies.subset(std::vector<std::int64_t>{2, 3, 4, 5});
  CHECK(kept == std::vector<std::int64_t>{0, 2, 1});
  CHECK(some.rows() == 4);
  CHECK(std::ranges::equal(some.of(0), std::vector<std::uint32_t>{0, 3}));
  CHECK(std::ranges::equal(some.of(2), std::vector<std::uint32_t>{2}));
  const RowCopies more = some.with(RowCopies({0, 0}));
  CHECK(more.distinct() == 4);
  CHECK(std::ranges::equal(more.of(3), std::vector<std::uint32_t>{4, 5}));
}

TEST_CASE("copies: only rows of which at least half repeat others are merged unasked") {
  const auto merges = [](std::int64_t rows, const auto& value_of) {
    std::vector<std::int64_t> values;
    for (std::int64_t r = 0; r < rows; ++r) values.push_back(value_of(r));
    const RowsView view(MatrixView<const std::int64_t>(values.data(), rows, 1));
    return copies_to_merge({view, {}}, std::nullopt).has_value();
  };
  constexpr std::int64_t n = 50000;
  CHECK(merges(n, [](std::int64_t r) { return r / 2; }));        // pairs side by side
  CHECK(merges(n, [](std::int64_t r) { return r % (n / 2); }));  // pairs far apart
  for (const std::int64_t period : {1 << 14, 1788, 1789, 3576, 25000})
    CHECK(merges(n, [=](std::int64_t r) { return r % period; }));
  CHECK(merges(n, [](std::int64_t r) { return r <= n / 2 ? -1 : r; }));
  CHECK_FALSE(merges(n, [](std::int64_t r) { return r < n / 2 ? -1 : r; }));
  CHECK_FALSE(merges(n, [](std::int64_t r) { return r; }));
  CHECK_FALSE(merges(10000, [](std::int64_t) { return 0; }));  // so few rows are soon searched
}

}  // namespace
}  // namespace kith::tests
