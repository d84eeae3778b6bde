// Tests searches of groups of many rows and columns, which GPUs search by products of 16-bit floats: the
// answer of a group is that of an Index of its rows. docs/certificate.md, section 8.
#include "common/device.hpp"
#include "common/searches.hpp"
#include "kith/trace.hpp"

namespace kith::tests {
namespace {

/// Groups of which some are empty or small, and some have more rows than kernels take at once.
const std::vector<std::int64_t> wide_borders = {0, 700, 700, 1860, 1861, 1906, 2406, 2410, 4610, 5400};

/// Returns what differs from an Index of each group; each row asks its group and leaves itself out.
std::string wide_difference(const Matrix& rows, Metric metric, std::int64_t k) {
  IndexOptions grouped;
  grouped.groups = wide_borders;
  SearchOptions itself;
  itself.self = 0;
  const Neighbors found = Index(device(), rows, metric, grouped).search(rows, k, itself);
  Neighbors expected{rows.rows, k, {}, {}};
  for (std::size_t g = 0; g + 1 < wide_borders.size(); ++g) {
    const std::int64_t first = wide_borders[g], count = wide_borders[g + 1] - first,
                       most = std::min(k, count - 1);
    const RowsView of_group = RowsView(rows.view()).slice(first, count);
    Neighbors some;
    if (most > 0) some = Index(open_device("cpu"), of_group, metric).search(of_group, most, itself);
    for (std::int64_t q = 0; q < count; ++q)
      for (std::int64_t j = 0; j < k; ++j) {
        expected.distance.push_back(j < most ? some.distance[size(q * most + j)] : inf);
        expected.row.push_back(j < most ? some.row[size(q * most + j)] + first : -1);
      }
  }
  return difference(found, expected);
}

Matrix moved(Matrix rows, float by) {
  for (float& value : rows.values) value += by;
  return rows;
}

/// Makes one row in 256 a thousand times as long.
Matrix with_wild_rows(Matrix rows) {
  for (std::int64_t r = 3; r < rows.rows; r += 256)
    for (std::int64_t d = 0; d < rows.cols; ++d) rows.values[size(r * rows.cols + d)] *= 1000;
  return rows;
}

Matrix times(Matrix rows, float factor) {
  for (float& value : rows.values) value *= factor;
  return rows;
}

TEST_SUITE_BEGIN("device");

TEST_CASE("groups by products: an Index for each group, on hard data") {
  const std::int64_t n = wide_borders.back();
  for (const auto& [dims, k] : {std::pair<std::int64_t, std::int64_t>{4, 1}, {33, 20}, {64, 64}, {130, 33}})
    for (const DataKind kind : workloads::all_data_kinds) {
      if (!workloads::admits(Metric::squared_l2, kind)) continue;
      CAPTURE_ALL(dims, k, workloads::name(kind));
      const Matrix rows = hard_rows(kind, Set::train, n, dims, Metric::squared_l2);
      CHECK(wide_difference(rows, Metric::squared_l2, k) == "");
    }
}

TEST_CASE("groups by products: far from the origin, wild rows, the ends of the range of floats") {
  const Matrix rows = hard_rows(DataKind::uniform, Set::train, wide_borders.back(), 40, Metric::l2);
  for (const Metric metric : {Metric::l2, Metric::squared_l2, Metric::cosine}) {
    CAPTURE(name(metric));
    CHECK(wide_difference(moved(rows, 300), metric, 20) == "");
    CHECK(wide_difference(with_wild_rows(rows), metric, 20) == "");
    CHECK(wide_difference(with_wild_rows(moved(rows, 3)), metric, 7) == "");
  }
  for (const float factor : {1e-42f, 1e-36f, 1e-18f, 1e17f, 1e19f, 1e37f}) {
    CAPTURE(factor);
    CHECK(wide_difference(times(rows, factor), Metric::squared_l2, 20) == "");
  }
}

TEST_CASE("groups by products: a GPU says that products propose, and does without where memory is limited") {
  const Matrix rows = hard_rows(DataKind::uniform, Set::train, wide_borders.back(), 64, Metric::l2);
  IndexOptions grouped;
  grouped.groups = wide_borders;
  const Index index(device(), rows, Metric::l2, grouped);
  SearchOptions limited;
  limited.memory_limit = 1 << 20;
  Trace trace;
  const Neighbors found = index.search(rows, 9, {}, &trace);
  CHECK(difference(index.search(rows, 9, limited), found) == "");
  const bool products = trace.plan.reason.find("products of 16-bit floats") != std::string::npos;
  const DeviceInfo& info = device().info();
  CHECK(products == (info.backend == "cuda" && info.kind == DeviceKind::gpu));
}

TEST_SUITE_END();

}  // namespace
}  // namespace kith::tests
