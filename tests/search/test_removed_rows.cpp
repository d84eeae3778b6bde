// Tests that removing rows changes no snapshot, no number and no other row (docs/contract.md, section 2).
#include "common/device.hpp"
#include "common/oracle.hpp"
#include "kith/filter.hpp"
#include "kith/index.hpp"
#include "kith/keys.hpp"

namespace kith::tests {
namespace {

using Numbers = std::vector<std::int64_t>;

TEST_SUITE_BEGIN("device");

TEST_CASE("updates: a snapshot stays as it is whatever is removed from what was made of it") {
  const Matrix zero = matrix(1, {0});
  const Index all(device(), matrix(1, {1, 2, 3, 4, 5}), Metric::l1),
      first = all.without(Numbers{0}), second = first.without(Numbers{1}), other = first.without(Numbers{2}),
      third = second.without(Numbers{3});
  const auto finds = [&](const Index& index, const Numbers& rows) {
    CHECK(index.search(zero, index.rows()).row == rows);
    CHECK(index.numbers() == rows);
    CHECK(index.compact().search(zero, index.rows()).row == rows);
  };
  finds(all, {0, 1, 2, 3, 4});
  finds(first, {1, 2, 3, 4});
  finds(second, {2, 3, 4});
  finds(other, {1, 3, 4});
  finds(third, {2, 4});
}

TEST_CASE("updates: the last number is not given again, though its row was removed for good") {
  const Matrix three = matrix(1, {1, 2, 3}), one = matrix(1, {0});
  for (const bool named : {false, true}) {
    CAPTURE(named);
    IndexOptions options;
    if (named) options.ids = {5, 70, 900};
    const Index index(device(), three, Metric::l1, options);
    const std::int64_t next = named ? 901 : 3;
    const Index rest = index.without(Numbers{next - 1}).compact();
    CHECK(rest.next_row() == next);
    CHECK(rest.positions() == 3);
    const Index grown = rest.with(one);
    CHECK(grown.numbers().back() == next);
    CHECK(grown.search(one, 1).row == Numbers{next});
    CHECK(grown.without(Numbers{next}).compact().next_row() == next + 1);
    CHECK(error_of([&] {
            rest.with(one, Numbers{next - 1});
          }).find("; choose from " + std::to_string(next)) != std::string::npos);
  }
}

TEST_CASE("updates: of queries that are rows of the index each is there") {
  const Matrix rows = matrix(1, {1, 2, 4, 8, 16}), three = matrix(1, {1, 2, 4});
  const Index index = Index(device(), rows, Metric::l1).without(Numbers{2});
  for (const Index& at : {index, index.compact()})
    for (const std::int64_t first : {0, 1, 2}) {
      SearchOptions options{.self = first};
      const std::string refused = "invalid_argument: search: self = " + std::to_string(first) +
                                  " with 3 queries, but row 2 is removed; ask about rows that are there";
      CHECK(error_of([&] { at.search(three, 1, options); }) == refused);
    }
}

TEST_CASE("updates: rows far behind the first that is removed, alone and beside it") {
  const std::int64_t n = 70000;
  Matrix train{n, 1, {}};
  for (std::int64_t t = 0; t < n; ++t) train.values.push_back(static_cast<float>(t));
  const Index index(device(), train, Metric::l1);
  const Matrix queries = matrix(1, {40000, 69999, 0});
  const Index two = index.without(Numbers{40000, 69999});
  const Neighbors left{3, 1, {1, 1, 0}, {39999, 69998, 0}};
  for (const Index& at : {two, two.compact()}) {
    CHECK(at.search(queries, 1) == left);
    CHECK(at.within(queries, std::vector<float>{0}).row == Numbers{0});
    CHECK(at.search_keys(queries, 1).row == left.row);
    RowFilter filter(n);
    filter.set(39999, false);
    SearchOptions options{.filter = filter};
    CHECK(at.search(queries, 1, options) == Neighbors{3, 1, {1, 1, 0}, {40001, 69998, 0}});
  }
  const Index three = two.without(Numbers{0});
  CHECK(three.search(queries, 1) == Neighbors{3, 1, {1, 1, 1}, {39999, 69998, 1}});
  CHECK(two.search(queries, 1) == left);
}

TEST_SUITE_END();

}  // namespace
}  // namespace kith::tests
