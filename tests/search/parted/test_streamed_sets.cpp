// Tests rows that stay in a Source: each member of a set streams its share, or holds it quantized.
#include <future>
#include <random>

#include "common/elements.hpp"
#include "common/oracle.hpp"
#include "common/parted/sets.hpp"
#include "common/parted/sources.hpp"
#include "kith/filter.hpp"
#include "kith/keys.hpp"

namespace kith::tests {
namespace {

void check_same(const Index& parted, const Index& whole, const RowsView& queries, std::int64_t k,
                const SearchOptions& options) {
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
    SearchOptions way;
    for (std::int64_t f = 0; f < filter.filters(); ++f)
      for (std::int64_t t = 0; t < rows; ++t) filter.set(t, random() % 3 != 0, f);
    if (random() % 2) way.filter = filter;
    check_same(index, whole, queries, 1 + static_cast<std::int64_t>(random() % size(rows)), way);
  }
}

TEST_CASE("stream: on a set a bad row is named by its number among all, and what it does not do is said") {
  Matrix train = hard_rows(DataKind::grid, Set::train, 300, 3, Metric::l2);
  const Matrix queries = hard_rows(DataKind::grid, Set::queries, 4, 3, Metric::l2);
  IndexOptions options{.placement = Placement::split, .shares = {1, 1, 1}};
  const Device set = set_of(3);
  Trace trace;
  const Index index(set, std::make_shared<CopiedRows>(train), Metric::l2, streamed(40, options));
  const Index whole(one_device(), train, Metric::l2);
  CHECK(difference(index.search(queries, 5, {}, &trace), whole.search(queries, 5)) == "");
  CHECK(trace.members.size() == 3);
  CHECK(trace.source_bytes == 300 * 3 * sizeof(float));
  CHECK(trace.chunks >= 6);
  SearchOptions self{.self = 200};
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

bool hold_quantized_rows(const Device& set) {
  const std::vector<Device>& members = set.state()->members;
  return std::all_of(members.begin(), members.end(), [](const Device& member) {
    const auto& proposers = member.info().proposers;
    return std::find(proposers.begin(), proposers.end(), Proposer::int8) != proposers.end();
  });
}

TEST_CASE(
    "quantized rows: the members of a set hold those of their shares, and the rows stay where they are") {
  std::mt19937 random(43);
  for (int i = 0; i < 20; ++i) {
    CAPTURE(i);
    const std::int64_t rows = 200 + random() % 700, columns = 5 + random() % 30;
    const Metric metrics[] = {Metric::l2, Metric::squared_l2, Metric::negative_dot, Metric::cosine};
    const Metric metric = metrics[random() % 4];
    const Matrix train = hard_rows(DataKind::normal, Set::train, rows, columns, metric),
                 queries = hard_rows(DataKind::normal, Set::queries, 1 + random() % 70, columns, metric);
    auto [set, options] = set_by_chance(random, 4);
    if (!hold_quantized_rows(set)) continue;
    options.residence = Residence::quantized;
    const auto copied = std::make_shared<CopiedRows>(train);
    for (const std::shared_ptr<const Source>& source :
         {std::shared_ptr<const Source>(copied), memory_source(RowsView(train.view()))}) {
      const Index index(set, source, metric, options);
      CHECK(index.residence() == Residence::quantized);
      RowFilter filter(rows, 1, false);
      for (std::int64_t t = 0; t < rows; ++t) filter.set(t, random() % 3 != 0, 0);
      SearchOptions way;
      if (random() % 2) way.filter = filter;
      check_same(index, Index(one_device(), train, metric), queries, 1 + random() % 20, way);
    }
  }
}

TEST_CASE("quantized rows: members of a set read the same rows of the host, a share each") {
  const Device set = set_of(2);
  if (!hold_quantized_rows(set)) return;
  constexpr std::int64_t columns = 64, rows = (std::int64_t{1} << 26) / (4 * columns) + 77, k = 5;
  const Matrix train = hard_rows(DataKind::normal, Set::train, rows, columns, Metric::l2),
               queries = hard_rows(DataKind::normal, Set::queries, 90, columns, Metric::l2);
  const Neighbors expected = Index(one_device(), train, Metric::l2).search(queries, k);
  for (const Placement placement : {Placement::split, Placement::replicate}) {
    IndexOptions options{.placement = placement, .shares = {1, 1}};
    options.residence = Residence::quantized;
    const Index index(set, memory_source(RowsView(train.view())), Metric::l2, options);
    const auto searched = [&] { return index.search(queries, k); };
    CHECK(difference(searched(), expected) == "");
    auto other = std::async(std::launch::async, searched);  // while another call reads them, too
    CHECK(difference(searched(), expected) == "");
    CHECK(difference(other.get(), expected) == "");
  }
}

TEST_SUITE_END();

}  // namespace
}  // namespace kith::tests
