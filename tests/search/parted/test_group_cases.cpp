// Tests searches by groups by chance: each group's answer is compared with that of an Index of its rows,
// which is on a CPU. docs/contract.md, section 2.
#include <random>

#include "common/asked.hpp"
#include "common/device.hpp"
#include "common/searches.hpp"

namespace kith::tests {
namespace {

class GroupCase {
 public:
  explicit GroupCase(std::mt19937& random) : random_(random) {
    metric = number_metrics[size(below(static_cast<std::int64_t>(number_metrics.size())))];
    // OpenCL compiles a program for each metric, for each few columns, and for each class of k.
    dims = below(3) < 2 ? 3 : below(2) == 0 ? 2 : 17 + below(60);
    scale_ = below(4) == 0 ? 16 : 1;  // GPUs search groups of many rows in another way
    rows_borders = borders(scale_ == 1 && below(12) == 0 ? 200 : 8);
    itself = below(2) == 0;
    query_borders = itself ? rows_borders : borders_like(rows_borders);
    own = itself && below(2) == 0;
    from_group = below(2) == 0;
    const std::int64_t n = rows_borders.back();
    if (n == 1) own = false;
    k = std::min(1 + below(below(4) == 0 ? 80 : 16), n - (own ? 1 : 0));
  }

  Metric metric;
  std::int64_t dims, k;
  std::vector<std::int64_t> rows_borders, query_borders;
  bool itself, own, from_group;

 private:
  std::int64_t below(std::int64_t most) { return static_cast<std::int64_t>(random_() % size(most)); }
  /// Returns the size of a group: none, one, few rows, or now and then more than kernels read at a time.
  std::int64_t group_size() {
    switch (below(8)) {
      case 0:
        return 0;
      case 1:
        return 1;
      case 2:
        return below(60) == 0 ? 900 + below(1500) : below(300);
      default:
        return below(50) * scale_;
    }
  }
  std::vector<std::int64_t> borders(std::int64_t most) {
    std::vector<std::int64_t> all{0};
    const std::int64_t groups = 1 + below(most), large = below(30) == 0 ? below(groups) : -1;
    for (std::int64_t g = 0; g < groups; ++g)
      all.push_back(all.back() + (g == large ? 1000 + below(300) : group_size()));
    if (all.back() == 0) all.back() = 1;
    return all;
  }
  std::vector<std::int64_t> borders_like(const std::vector<std::int64_t>& others) {
    std::vector<std::int64_t> all{0};
    for (std::size_t g = 1; g < others.size(); ++g) all.push_back(all.back() + below(below(3) == 0 ? 70 : 6));
    if (all.back() == 0) all.back() = 1;
    return all;
  }

  std::mt19937& random_;
  std::int64_t scale_ = 1;
};

/// Returns how many neighbours differ from those of an Index of each group.
std::size_t wrong_of(const GroupCase& one, const Matrix& rows, const Matrix& queries,
                     const Neighbors& found) {
  static const Device reference = open_device("cpu");
  std::size_t wrong = 0;
  for (std::size_t g = 0; g + 1 < one.rows_borders.size(); ++g) {
    const std::int64_t first = one.rows_borders[g], count = one.rows_borders[g + 1] - first,
                       from = one.query_borders[g], asked = one.query_borders[g + 1] - from,
                       most = std::min(one.k, count - (one.own ? 1 : 0));
    if (asked == 0) continue;
    SearchOptions options;
    if (one.own) options.self = 0;
    Neighbors expected;
    if (most > 0)
      expected = Index(reference, RowsView(rows.view()).slice(first, count), one.metric)
                     .search(RowsView(queries.view()).slice(from, asked), most, options);
    for (std::int64_t q = 0; q < asked; ++q)
      for (std::int64_t j = 0; j < one.k; ++j) {
        const std::size_t at = size((from + q) * one.k + j), is = size(q * most + j);
        if (j >= most)
          wrong += found.row[at] != -1 || found.distance[at] != inf;
        else
          wrong += found.row[at] != expected.row[is] + (one.from_group ? 0 : first) ||
                   found.distance[at] != expected.distance[is];
      }
  }
  return wrong;
}

TEST_SUITE_BEGIN("device");

TEST_CASE("groups: random cases") {
  const std::int64_t cases = asked_number("KITH_GROUP_CASES", 40);
  std::mt19937 random(asked_seed("KITH_GROUP_SEED", 12));
  std::size_t wrong = 0;
  for (std::int64_t i = 0; i < cases && wrong == 0; ++i) {
    const GroupCase one(random);
    DataKind kind = workloads::all_data_kinds[random() % workloads::all_data_kinds.size()];
    if (!workloads::admits(one.metric, kind)) kind = DataKind::uniform;
    const Matrix rows = hard_rows(kind, Set::train, one.rows_borders.back(), one.dims, one.metric);
    const Matrix queries =
        one.itself ? rows : hard_rows(kind, Set::queries, one.query_borders.back(), one.dims, one.metric);
    CAPTURE_ALL(i, name(one.metric), one.dims, one.k, one.rows_borders.size(), one.own, one.from_group,
                workloads::name(kind));
    IndexOptions grouped;
    grouped.groups = one.rows_borders;
    SearchOptions options;
    options.groups = one.query_borders;
    options.rows_from_group = one.from_group;
    if (one.own) options.self = 0;
    wrong += wrong_of(one, rows, queries,
                      Index(device(), rows, one.metric, grouped).search(queries, one.k, options));
    CHECK(wrong == 0);
  }
}

TEST_SUITE_END();

}  // namespace
}  // namespace kith::tests
