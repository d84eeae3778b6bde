// Tests the theorem of docs/certificate.md: a row whose chain is at most the k-th value passes the test of
// collect, in whatever order a library adds up products.
#include "certified/certificate_problem.hpp"
#include "kith/index.hpp"

namespace kith::tests::test_certificate {
namespace {

using namespace certifying;

constexpr std::uint32_t first_row = 1000;
constexpr Metric product_metrics[] = {Metric::squared_l2, Metric::l2, Metric::negative_dot, Metric::cosine};

/// Orders in which a library may add up the terms of one product.
enum class Order { forward, fused_backward, pairwise, eight_lanes };
constexpr Order orders[] = {Order::forward, Order::fused_backward, Order::pairwise, Order::eight_lanes};

float pairwise(const float* a, const float* b, std::size_t count) {
  if (count == 1) return *a * *b;
  return pairwise(a, b, count / 2) + pairwise(a + count / 2, b + count / 2, count - count / 2);
}

float product(const float* a, const float* b, std::size_t dims, Order order) {
  float sum = 0, lanes[8] = {};
  switch (order) {
    case Order::forward:
      for (std::size_t d = 0; d < dims; ++d) sum = sum + a[d] * b[d];
      return sum;
    case Order::fused_backward:
      for (std::size_t d = dims; d-- > 0;) sum = std::fma(a[d], b[d], sum);
      return sum;
    case Order::pairwise:
      return pairwise(a, b, dims);
    case Order::eight_lanes:
      for (std::size_t d = 0; d < dims; ++d) lanes[d % 8] = std::fma(a[d], b[d], lanes[d % 8]);
      for (const float lane : lanes) sum = sum + lane;
      return sum;
  }
  return sum;
}

/// Returns the products of the quantized rows, [m, n], added up in `order`.
std::vector<float> products_of(const Problem& problem, const Prepared& prepared, Order order) {
  const std::vector<float> a = prepared.queries.quantized.inside(), b = prepared.train.quantized.inside();
  const std::size_t dims = problem.centre.size();
  std::vector<float> all;
  for (std::size_t q = 0; q < problem.m(); ++q)
    for (std::size_t t = 0; t < problem.n(); ++t)
      all.push_back(product(&a[q * dims], &b[t * dims], dims, order));
  return all;
}

/// Calls body(problem) for every metric and all hard data.
template <class Body>
void for_all_data(const Body& body) {
  for (const Metric metric : product_metrics)
    for (const DataKind kind : workloads::all_data_kinds)
      for (const std::int64_t dims : {1, 3, 16, 131})
        for (const bool centred : {true, false}) {
          if (!workloads::admits(metric, kind)) continue;
          if (!centred && metric != Metric::squared_l2) continue;
          CAPTURE_ALL(name(metric), workloads::name(kind), dims, centred);
          body(Problem::hard(kind, metric, 6, 90, dims, centred));
        }
}

/// Returns why the device cannot list candidates by matrix products for a metric; empty if it can.
std::string refusal_of_products(spi::Device& device, Metric metric = Metric::l2) {
  const spi::Grid<float> rows{nullptr, 0, 1, 1, 1}, row_terms{nullptr, 0, spi::terms_a_row, 1, 1};
  const spi::QuantizedRows none{rows, row_terms};
  const spi::Grid<std::uint32_t> list{nullptr, 0, 1, 1, 1};
  const spi::CollectStep step{Proposer::gemm, metric, none, none, rows, rows, 0, {list, list}, {}};
  return device.check({with_error(step)}).refusal;
}

/// Runs one collect by the device's library, with room for `capacity` candidates per query.
struct Collected {
  std::vector<float> values;
  std::vector<std::uint32_t> counts, rows;

  Collected(spi::Device& device, const Problem& problem, const Prepared& prepared, std::size_t capacity) {
    const std::size_t m = problem.m(), n = problem.n();
    const GuardedGrid<float> out(device, m, n, -123.5f);
    const GuardedGrid<std::uint32_t> lengths(device, m, 1, 7, std::vector<std::uint32_t>(m)),
        lists(device, m, capacity, no_row);
    REQUIRE(run_step(device, with_error({Proposer::gemm,
                                         problem.metric,
                                         prepared.queries.grids(),
                                         prepared.train.grids(),
                                         out.grid(),
                                         prepared.threshold.grid(),
                                         first_row,
                                         {lists.grid(), lengths.grid()},
                                         {}})) == "");
    values = out.inside();
    counts = lengths.inside();
    rows = lists.inside();
    check_canaries(out, lengths, lists);
    CHECK(prepared.threshold.inside() == prepared.bounds);
  }
};

/// Checks that the device listed every row that belongs to the answer, and no row beyond the bound.
void check_lists(const Problem& problem, const Judge& judge, const Collected& found, std::uint32_t k) {
  const std::size_t n = problem.n();
  for (std::size_t q = 0; q < problem.m(); ++q) {
    CAPTURE(q);
    const auto list = found.rows.begin() + static_cast<std::ptrdiff_t>(q * n);
    std::vector<std::uint32_t> listed(list, list + found.counts[q]);
    std::sort(listed.begin(), listed.end());
    CHECK(std::adjacent_find(listed.begin(), listed.end()) == listed.end());
    CHECK(std::all_of(list + found.counts[q], list + static_cast<std::ptrdiff_t>(n),
                      [](std::uint32_t row) { return row == no_row; }));
    const float worst = problem.worst(q, k);
    for (std::uint32_t t = 0; t < n; ++t) {
      const std::size_t i = q * n + t;
      const bool is_listed = std::binary_search(listed.begin(), listed.end(), first_row + t);
      if (problem.values[i] <= worst && !is_listed)
        FAIL_CHECK("row " << t << " of query " << q << " was lost");
      const Real p = found.values[i], low = judge.low(t, 1.01L), threshold = judge.prepared.bounds[q];
      const Real slack = (std::fabs(low) + std::fabs(p)) * 0x1p-20L;
      if (low - slack - p > threshold && is_listed)
        FAIL_CHECK("row " << t << " of query " << q << " is far away");
    }
  }
}

TEST_SUITE_BEGIN("device");

TEST_CASE(
    "certificate: row terms and the threshold of the device lose no row, in whatever order products are "
    "added") {
  if (!has_quantized_rows()) return;
  spi::with_device(device(), [](spi::Device& device) {
    Real most = 0;
    for_all_data([&](const Problem& problem) {
      constexpr std::uint32_t k = 5;
      const Prepared prepared(device, problem, k);
      const Judge judge(problem, prepared);
      for (const Order order : orders) {
        const std::vector<float> products = products_of(problem, prepared, order);
        most = std::max(most, judge.needed(products));
        CHECK(judge.needed(products) < 1);
        CHECK(judge.lost(products, k) == 0);
      }
    });
    MESSAGE("largest share of the bound that host sums needed: " << static_cast<double>(most));
  });
}

TEST_CASE("certificate: these tests would notice a bound that is too small") {
  if (!has_quantized_rows()) return;
  spi::with_device(device(), [](spi::Device& device) {
    {  // Rounding (1 + 2^-12)^2 loses 2^-24, of the 3 * 2^-24 that the bound allows for one product.
      const Matrix one = matrix(1, {1 + 0x1p-12f});
      const Problem problem(Metric::squared_l2, one, one, {0});
      const Prepared prepared(device, problem, 1);
      const Real needed = Judge(problem, prepared).needed(products_of(problem, prepared, Order::forward));
      CHECK(needed > 0.25L);  // a bound four times too small would be exceeded
      CHECK(needed < 1);
    }
    // Long sums far from the origin have errors larger than the rounding of low(t) can hide.
    const Problem problem = Problem::hard(DataKind::offset, Metric::squared_l2, 6, 90, 1000, false);
    const Prepared prepared(device, problem, 5);
    const Judge judge(problem, prepared);
    for (const Order order : {Order::forward, Order::fused_backward}) {
      const std::vector<float> products = products_of(problem, prepared, order);
      CHECK(judge.needed(products) > 0.001L);
      CHECK(judge.lost(products, 5, 0.001L) > 0);
      CHECK(judge.lost(products, 5) == 0);
    }
  });
}

TEST_CASE("certificate: the device's own products stay within the bound, and no row is lost") {
  if (!has_quantized_rows()) return;
  spi::with_device(device(), [](spi::Device& device) {
    const std::string refusal = refusal_of_products(device);
    if (!refusal.empty()) {
      MESSAGE("no products here: " << refusal);
      return;
    }
    Real most = 0;
    const auto check = [&](const Problem& problem) {
      constexpr std::uint32_t k = 5;
      const Prepared prepared(device, problem, k);
      const Judge judge(problem, prepared);
      const Collected found(device, problem, prepared, problem.n());
      const Real needed = judge.needed(found.values);
      most = std::max(most, needed);
      CHECK(needed < 1);
      check_lists(problem, judge, found, k);
      const Collected some(device, problem, prepared, 2);
      CHECK(some.counts == found.counts);
    };
    for_all_data(check);
    for (const DataKind kind : {DataKind::normal, DataKind::offset, DataKind::integers})
      check(Problem::hard(kind, Metric::squared_l2, 70, 600, 67, kind != DataKind::offset));
    MESSAGE("largest share of the bound that the products of " << device.info.spec
                                                               << " needed: " << static_cast<double>(most));
  });
}

TEST_CASE("certificate: these tests would notice a device that multiplies with too few bits") {
  if (device().info().backend != "planted") return;
  const Device coarse = open_device("planted:10");  // its other steps are right
  CHECK(coarse.info().name == "coarse products");
  spi::with_device(coarse, [](spi::Device& device) {
    const Problem problem = Problem::hard(DataKind::offset, Metric::squared_l2, 6, 90, 32, false);
    const Prepared prepared(device, problem, 5);
    const Judge judge(problem, prepared);
    const Collected found(device, problem, prepared, problem.n());
    CHECK(judge.needed(found.values) > 1);
    CHECK(judge.lost(found.values, 5) > 0);
  });
  const Index index(coarse, matrix(1, {1, 2, 3}));
  const std::string refusal =
      error_of([&] { index.search(matrix(1, {2}), 1, {.proposer = Proposer::gemm}); });
  CAPTURE(refusal);
  CHECK(refusal.starts_with("unsupported: search: planted:10: "));
  CHECK(refusal.find(" less exact than ") != std::string::npos);
}

TEST_CASE("certificate: a product of one column is rounded as this test expects") {
  if (!has_quantized_rows()) return;
  spi::with_device(device(), [](spi::Device& device) {
    if (!refusal_of_products(device).empty()) return;
    const Matrix one = matrix(1, {1 + 0x1p-12f});
    const Problem problem(Metric::squared_l2, one, one, {0});
    const Prepared prepared(device, problem, 1);
    const Collected found(device, problem, prepared, 1);
    const Real needed = Judge(problem, prepared).needed(found.values);
    CHECK(needed > 0.25L);  // so the case above would notice a bound four times too small
    CHECK(needed < 1);
  });
}

TEST_CASE("certificate: metrics that do not follow from inner products are refused by a sentence") {
  spi::with_device(device(), [](spi::Device& device) {
    for (const Metric metric : {Metric::l1, Metric::linf}) CHECK(refusal_of_products(device, metric) != "");
    if (device.info.backend == "cpu")
      CHECK(refusal_of_products(device) ==
            "no matrix library is opened on the CPU; choose proposer dot or none");
  });
}

TEST_SUITE_END();

}  // namespace
}  // namespace kith::tests::test_certificate
