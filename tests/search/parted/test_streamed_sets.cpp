// Rows that stay in a Source, of which each member of a set streams its share, or holds it quantized.
#include <doctest/doctest.h>

#include <random>
#include <string>
#include <vector>

#include "common/elements.hpp"
#include "common/oracle.hpp"
#include "common/parted/sets.hpp"
#include "common/parted/sources.hpp"
#include "kith/filter.hpp"
#include "kith/keys.hpp"

namespace kith::tests {
namespace {

void check_same(const Index& parted, const Index& whole, const RowsView& queries, std::int64_t k,
                const PlanOptions& options) {
  const Neighbors found = whole.search(queries, k, options);
  CHECK(difference(parted.search(queries, k, options), found) == "");
  CHECK(parted.search_keys(queries, k, options) == whole.search_keys(queries, k, options));
  const float radius = found.distance[size(k - 1)];
  CHECK(parted.within(queries, {&radius, 1}, options) == whole.within(queries, {&radius, 1}, options));
}

TEST_SUITE_BEGIN("device");

TEST_CASE("stream: the members of a set stream their shares, random elements, ties, ids and filters") {
  std::mt19937 random(41);
  for (int i = 0; i < 40; ++i) {
    CAPTURE(i);
    const std::int64_t rows = 2 + random() % 400, columns = 1 + random() % 9, asked = 1 + random() % 9;
    Matrix train{rows, columns, {}}, queries{asked, columns, {}};
    for (Matrix* of : {&train, &queries})
      for (std::int64_t j = 0; j < of->rows * columns; ++j)
        of->values.push_back(static_cast<float>(1 + random() % 5));
    const Stored stored(train, number_elements[random() % std::size(number_elements)], 1);
    const Metric metric = number_metrics[random() % std::size(number_metrics)];
    auto [set, options] = set_by_chance(random, 5);
    if (random() % 3 == 0)
      for (std::int64_t t = 0; t < rows; ++t) options.ids.push_back(1000 + 7 * t);
    const Index whole(one_device(), stored.view(), metric, {{}, 0, 0, options.ids});
    const Index index(set, std::make_shared<CopiedRows>(stored.view()), metric,
                      streamed(1 + static_cast<std::int64_t>(random() % size(rows + 3)), options));
    CHECK(index.residence() == Residence::stream);
    RowFilter filter(rows, random() % 2 ? 1 : asked, false);
    PlanOptions way;
    for (std::int64_t f = 0; f < filter.filters(); ++f)
      for (std::int64_t t = 0; t < rows; ++t) filter.set(t, random() % 3 != 0, f);
    if (random() % 2) way.filter = filter.view();
    check_same(index, whole, queries, 1 + static_cast<std::int64_t>(random() % size(rows)), way);
  }
}

TEST_CASE("stream: on a set a bad row is named by its number among all, and what it does not do is said") {
  Matrix train = hard_rows(DataKind::grid, Set::train, 300, 3, Metric::l2);
  const Matrix queries = hard_rows(DataKind::grid, Set::queries, 4, 3, Metric::l2);
  IndexOptions options;
  options.placement = Placement::split;
  options.shares = {1, 1, 1};
  const Device set = set_of(3);
  Trace trace;
  const Index index(set, std::make_shared<CopiedRows>(train), Metric::l2, streamed(40, options));
  const Index whole(one_device(), train, Metric::l2);
  CHECK(difference(index.search(queries, 5, {}, &trace), whole.search(queries, 5)) == "");
  CHECK(trace.members.size() == 3);
  CHECK(trace.source_bytes == 300 * 3 * sizeof(float));
  CHECK(trace.chunks >= 6);
  PlanOptions self;
  self.self = 200;
  CHECK(difference(index.search(train.view().slice(200, 40), 5, self),
                   whole.search(train.view().slice(200, 40), 5, self)) == "");
  const std::vector<std::int64_t> gone = {0, 31, 32, 150, 299};
  CHECK(difference(index.without(gone).search(queries, 5), whole.without(gone).search(queries, 5)) == "");
  CHECK(
      error_of([&] { index.with(train); }).starts_with("unsupported: index: rows are added, but its rows "));
  train.values[250 * 3 + 1] = std::nanf("");
  const Index bad(set, std::make_shared<CopiedRows>(train), Metric::l2, streamed(40, options));
  CHECK(error_of([&] { bad.search(queries, 5); }).find("row 250, column 1") != std::string::npos);
}

TEST_SUITE_END();

}  // namespace
}  // namespace kith::tests
