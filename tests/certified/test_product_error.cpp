// Tests the error bound b of docs/certificate.md, section 3: that its values are right, and that a device
// takes b from the step that it runs and from nowhere else.
#include "certified/bounds.hpp"
#include "check/hard_rows.hpp"
#include "common/proposers.hpp"
#include "common/proxy_device.hpp"
#include "kith/index.hpp"

namespace kith::tests::test_product_error {
namespace {

using namespace bounding;
using spi::product_error;
using spi::ProductKind;

constexpr double u = 1.0 / 16777216;

TEST_CASE("product error: b of every kind of kernel, spelled out once more") {
  for (std::size_t dims = 1; dims <= 3000; ++dims) {
    CAPTURE(dims);
    const auto columns = static_cast<double>(dims);
    const double terms = dims <= 4 ? 4 * columns : columns, more = dims <= 4 ? 257.0 / 256 : 1025.0 / 1024;
    const double many = 12 * std::ceil(terms / 8) * u * more;
    CHECK(product_error(ProductKind::halves, dims) == many);
    const double eights = dims <= 16 ? 2 : 4 * std::ceil(columns / 32);
    const double few = std::max(many, (terms + 3 * eights) * u * more);
    CHECK(product_error(ProductKind::halves_small_batch, dims) == few);
    CHECK(product_error(ProductKind::bytes, dims) == 4 * u);
    const double fused_test = 24 * std::ceil((terms + 4) / 16) * u * 257 / 256;
    if (dims <= 24) CHECK(product_error(ProductKind::halves_fused_test, dims) == fused_test);
    CHECK(spi::largest_product_error(Proposer::fp16, dims) == (dims <= 24 ? std::max(few, fused_test) : few));
    CHECK(spi::largest_product_error(Proposer::int8, dims) == 4 * u);
    const double sums = std::nextafter((columns + 2) * u / (1 - (columns + 2) * u), 1.0);
    for (const Proposer proposer : {Proposer::gemm, Proposer::dot, Proposer::bf16})
      CHECK(spi::largest_product_error(proposer, dims) == sums);
    CHECK(product_error(ProductKind::sums, dims) == sums);
  }
}

TEST_CASE("product error: of sums it is rounded up, and hardly") {
  for (std::size_t dims = 1; dims < (std::size_t{1} << 23) - 3; dims += 1 + dims / 100) {
    CAPTURE(dims);
    const long double steps = static_cast<long double>(dims + 2) * 0x1p-24L, exact = steps / (1 - steps);
    const auto found = static_cast<long double>(spi::chain_error(dims));
    CHECK(found >= exact);
    CHECK(found <= exact * (1 + 0x1p-51L));
    CHECK(found < 1);
  }
}

/// Returns a collect step of one training tile.
spi::CollectStep step_of(Proposer proposer, std::size_t queries, std::size_t dims) {
  const spi::Grid<float> rows{nullptr, 0, queries, dims, dims}, train{nullptr, 0, 128, dims, dims},
      row_terms{nullptr, 0, spi::terms_a_row, queries, queries};
  const spi::Grid<std::uint32_t> list{nullptr, 0, queries, 1, 1};
  return {proposer,
          Metric::l2,
          {rows, row_terms},
          {train, row_terms},
          {nullptr, 0, queries, 128, 128},
          rows,
          0,
          {list, list},
          {}};
}

TEST_CASE("product error: a step is of the kernels that its numbers of queries and columns choose") {
  for (const Proposer proposer : {Proposer::gemm, Proposer::dot, Proposer::bf16})
    CHECK(products_of(step_of(proposer, 5, 3)) == ProductKind::sums);
  CHECK(products_of(step_of(Proposer::int8, 65, 3)) == ProductKind::bytes);
  CHECK(products_of(step_of(Proposer::fp16, 64, 3)) == ProductKind::halves_small_batch);
  spi::CollectStep many = step_of(Proposer::fp16, 65, 24);
  CHECK(products_of(many) == ProductKind::halves);
  many.visits = {128, 0, 1, 1, 1};
  CHECK(may_fuse_test(many));
  CHECK(products_of(many) == ProductKind::halves_fused_test);
  CHECK(product_error(many) == product_error(ProductKind::halves_fused_test, 24));
  many.open = true;
  CHECK(may_fuse_test(many));  // a later step, which needs the same scratch
  CHECK(products_of(many) == ProductKind::halves);
  many.open = false;
  many.sample.cols = 8;
  CHECK(products_of(many) == ProductKind::halves);
  many = step_of(Proposer::fp16, 65, 25);
  many.visits = {128, 0, 1, 1, 1};
  CHECK(products_of(many) == ProductKind::halves);
  CHECK(!may_fuse_test(many));
}

TEST_SUITE_BEGIN("device");

TEST_CASE("product error: a step of a proposer without it is refused by a sentence") {
  spi::with_device(device(), [](spi::Device& device) {
    for_each_bounding(device, [&](Proposer proposer) {
      spi::CollectStep step = with_error(step_of(proposer, 1, 1));
      CHECK(device.check({step}).refusal == "");
      for (const auto& [b, text] :
           {std::pair{0.0, "0.000000"}, {-1.0, "-1.000000"}, {1.0, "1.000000"}, {std::nan(""), "nan"}}) {
        step.b = b;
        CHECK(device.check({step}).refusal ==
              "a step of proposer " + std::string(name(proposer)) + " has b = " + text +
                  " for the error of its products, which is to be above 0 and below 1; set it to "
                  "product_error() of the step");
      }
    });
  });
}

/// Returns the number of columns with which products lose most. AMX first adds up 16 products of bf16
/// pairs, then adds the sum to the result: beyond 32 columns it loses less than a quarter of what sums in
/// order may lose.
std::int64_t losing_columns(Proposer proposer) {
  return proposer == Proposer::bf16 ? 32 : 131;
}

/// Holds equally many queries and training rows. The product of query q and row q loses a large part of what
/// the bound allows.
struct Losing {
  Matrix queries, train;
  float scale_of_queries, scale_of_train;

  /// Makes bytes, which lose by their scales: 1 / (product of both scales) is too small by 1.86 * 2^-24, and
  /// the sum 4095
  /// * 122 * 127 loses half of 2^-24 more. (AVX2 uses half of one scale, with the same effect.) The queries
  /// are so long that the rounding of a half norm is negligible.
  static Losing bytes(std::int64_t m) {
    const auto all = [m](float value) { return Matrix{m, 4095, std::vector<float>(size(m * 4095), value)}; };
    return {all(8), all(1), 122.0f / 8, 127};
  }

  static Losing floats(Proposer proposer, DeviceKind device, std::int64_t m) {
    const std::int64_t dims = losing_columns(proposer);
    const std::vector<float> hard =
        kith::hard_rows(proposer, device, cut_sorts * hard_kinds, static_cast<std::uint32_t>(dims), 0);
    Matrix rows{m, dims, {}};
    for (std::int64_t r = 0; r < m; ++r) {
      const auto from = hard.begin() + (r % cut_sorts * hard_kinds + hard_cut) * dims;
      std::vector<float> row(from, from + dims);
      if (r / cut_sorts % 2) std::reverse(row.begin(), row.end());  // for products that start at the end
      rows.values.insert(rows.values.end(), row.begin(), row.end());
    }
    const float scale = scale_of(proposer, rows, std::vector<float>(size(dims)));
    return {rows, rows, scale, scale};
  }

  /// Returns the exact value of row q for query q, rounded up.
  float threshold(std::int64_t q) const {
    double place = 0;
    for (std::size_t d = 0; d < size(train.cols); ++d) {
      const auto x = static_cast<double>(train.row(q)[d]);
      place += x * x / 2 - static_cast<double>(queries.row(q)[d]) * x;
    }
    return spi::float_above(place);
  }
};

/// Runs prepare and collect. Returns why the device refuses, or an empty string if it ran.
///   share  factor on the error bound of the products
///   lost   [out]  number of queries q whose list lacks row q, although the threshold is its exact value
std::string collect_own(spi::Device& device, Proposer proposer, const Losing& of, double share,
                        std::size_t& lost) {
  const std::size_t m = size(of.train.rows);
  const std::vector<float> centre(size(of.train.cols));
  const Rows queries(device, of.queries, centre, device.info.query_block),
      train(device, of.train, centre, device.info.train_block);
  for (const Rows* rows : {&queries, &train})
    if (std::string why =
            run_step(device, spi::PrepareStep{proposer, rows->rows.rows(), rows->centre.grid(), rows->grids(),
                                              rows == &queries ? of.scale_of_queries : of.scale_of_train,
                                              rows == &queries});
        !why.empty())
      return why;
  std::vector<float> threshold;
  for (std::int64_t q = 0; q < of.train.rows; ++q) threshold.push_back(of.threshold(q));
  const GuardedGrid<float> values(device, m, m, 0), limits(device, m, 1, -inf, threshold);
  const GuardedGrid<std::uint32_t> lists(device, m, m, no_row),
      counts(device, m, 1, 7, std::vector<std::uint32_t>(m));
  if (std::string why = run_step(device, with_error({proposer,
                                                     Metric::squared_l2,
                                                     queries.grids(),
                                                     train.grids(),
                                                     values.grid(),
                                                     limits.grid(),
                                                     0,
                                                     {lists.grid(), counts.grid()},
                                                     {},
                                                     1 / of.scale_of_queries / of.scale_of_train},
                                                    share));
      !why.empty())
    return why;
  const std::vector<std::uint32_t> found = lists.inside();
  lost = 0;
  for (std::size_t q = 0; q < m; ++q) {
    const auto list = found.begin() + static_cast<std::ptrdiff_t>(q * m);
    lost +=
        std::find(list, list + static_cast<std::ptrdiff_t>(m), q) == list + static_cast<std::ptrdiff_t>(m);
  }
  return {};
}

TEST_CASE("product error: with a quarter of it every proposer of a device loses rows") {
  spi::with_device(device(), [](spi::Device& device) {
    for (const Proposer proposer : device.info.proposers) {
      CAPTURE(std::string(name(proposer)));
      // Devices have separate kernels for few and for many queries. A library may split the sums of a small
      // product into parts, each of which loses less.
      for (const std::int64_t m : {16, 512}) {
        CAPTURE(m);
        if (m > most_queries(device, proposer)) continue;
        if (proposer == Proposer::int4) continue;  // its products are those of int8
        const Losing losing =
            proposer == Proposer::int8 ? Losing::bytes(m) : Losing::floats(proposer, device.info.kind, m);
        std::size_t right = 0, narrow = 0;
        const std::string why = collect_own(device, proposer, losing, 1, right);
        if (!why.empty()) {
          MESSAGE("no products by " << std::string(name(proposer)) << ": " << why);
          continue;
        }
        REQUIRE(collect_own(device, proposer, losing, 0.25, narrow) == "");
        MESSAGE(std::string(name(proposer)) << " on " << device.info.spec << ", " << m
                                            << " queries: " << narrow << " lost by a quarter of the bound");
        CHECK(right == 0);
        if (proposer != Proposer::gemm || m > 64) CHECK(narrow > 0);
      }
    }
  });
}

/// Is a device that multiplies the error bound of each step by `share`.
class NarrowDevice : public ProxyDevice {
 public:
  NarrowDevice(std::unique_ptr<spi::Device> real, double share)
      : ProxyDevice(std::move(real)), share_(share) {}

  void enqueue(const spi::Step& step) override {
    spi::Step narrow = step;
    if (auto* collect = std::get_if<spi::CollectStep>(&narrow.work)) collect->b *= share_;
    ProxyDevice::enqueue(narrow);
  }

 private:
  const double share_;
};

TEST_CASE("product error: the check of a proposer refuses a device that takes a quarter of it") {
  for_each_proposer([&](Proposer proposer) {
    // A library may split sums of 131 columns into parts, and in the self-test the scales of bytes are exact.
    // The case above covers both proposers.
    if (proposer == Proposer::gemm || spi::multiplies_bytes(proposer)) return;
    const std::int64_t dims = losing_columns(proposer);
    const Matrix train = hard_rows(DataKind::normal, Set::train, 700, dims, Metric::l2);
    for (const std::int64_t m : {5, 70}) {
      CAPTURE(m);
      const Matrix queries = hard_rows(DataKind::normal, Set::queries, m, dims, Metric::l2);
      const Index right(device_behind<NarrowDevice>(device_spec(), 1.0), train),
          narrow(device_behind<NarrowDevice>(device_spec(), 0.25), train);
      const SearchOptions options{.proposer = proposer};
      CHECK(right.search(queries, 7, options) == right.search(queries, 7, {.proposer = Proposer::none}));
      const std::string refusal = error_of([&] { narrow.search(queries, 7, options); });
      CAPTURE(refusal);
      CHECK(refusal.find(": its products are less exact than they must be: a row of " + std::to_string(dims) +
                         " columns at ") != std::string::npos);
      CHECK(refusal.find(" was not found below ") != std::string::npos);
    }
  });
}

TEST_SUITE_END();

}  // namespace
}  // namespace kith::tests::test_product_error
