// Measures what tensor cores lose (docs/certificate.md, section 3) with rows whose products lie just below
// the last place kept, and checks that a device whose cores lose more does not propose.
#include "certified/bounds.hpp"
#include "check/hard_rows.hpp"
#include "kith/index.hpp"

namespace kith::tests::test_tensor_cores {
namespace {

using namespace bounding;

/// Returns the rows of one kind among `rows` hard rows.
Matrix rows_of_kind(Proposer proposer, DeviceKind device, HardKind kind, std::uint32_t rows,
                    std::uint32_t dims, std::uint32_t salt) {
  const Matrix all{rows, dims, kith::hard_rows(proposer, device, rows, dims, salt)};
  Matrix some{0, dims, {}};
  for (std::int64_t r = kind; r < all.rows; r += hard_kinds, ++some.rows)
    some.values.insert(some.values.end(), all.row(r).begin(), all.row(r).end());
  return some;
}

/// Returns one row of each sort of hard_cut.
Matrix cut_rows(Proposer proposer, DeviceKind device, std::uint32_t dims) {
  return rows_of_kind(proposer, device, hard_cut, cut_sorts * hard_kinds, dims, 0);
}

/// Returns the norm of the sizes as which tensor cores align the elements of a row.
double aligned_norm(const float* row, std::size_t dims) {
  double sum = 0;
  for (std::size_t d = 0; d < dims; ++d) sum += std::pow(aligned_size(static_cast<double>(row[d])), 2);
  return std::sqrt(sum);
}

double exact_product(const float* a, const float* b, std::size_t dims) {
  double sum = 0;
  for (std::size_t d = 0; d < dims; ++d) sum += static_cast<double>(a[d]) * static_cast<double>(b[d]);
  return sum;
}

/// Returns the loss of a core for the product of two rows, relative to b and two norms.
///   norms  their product; the bound has the aligned ones
double share_lost(const TensorCore& core, const float* a, const float* b, std::size_t dims, double norms) {
  const float found =
      core.product([a](std::size_t d) { return a[d]; }, [b](std::size_t d) { return b[d]; }, dims);
  return std::fabs(static_cast<double>(found) - exact_product(a, b, dims)) / norms / tensor_core_error(dims);
}

/// Returns the loss of a core for the product of two rows, relative to the bound.
double share_lost(const TensorCore& core, const float* a, const float* b, std::size_t dims) {
  return share_lost(core, a, b, dims, aligned_norm(a, dims) * aligned_norm(b, dims));
}

/// Holds for each sort of rows just below the cut the loss of their product with themselves, relative to
/// the bound.
using Shares = std::vector<double>;

double largest_of(const Shares& shares) {
  return *std::max_element(shares.begin(), shares.end());
}

/// Returns the shares as text, such as `0.066, 0.12`.
std::string text_of(const Shares& shares) {
  std::string text;
  for (const double share : shares) {
    char number[32];
    std::snprintf(number, sizeof number, "%s%.3g", text.empty() ? "" : ", ", share);
    text += number;
  }
  return text;
}

///   sign  factor on one of the two rows
Shares shares_of_cut(const TensorCore& core, std::uint32_t dims, float sign = 1) {
  const Matrix rows = cut_rows(Proposer::fp16, DeviceKind::gpu, dims);
  Shares shares;
  for (std::int64_t r = 0; r < cut_sorts; ++r) {
    std::vector<float> query(rows.row(r).begin(), rows.row(r).end());
    for (float& value : query) value *= sign;
    shares.push_back(share_lost(core, query.data(), rows.row(r).data(), dims));
  }
  return shares;
}

/// Returns the largest share of the bound that is lost by hard rows of the other kinds.
double share_of_others(const TensorCore& core, std::uint32_t dims) {
  const std::vector<float> train = kith::hard_rows(Proposer::fp16, DeviceKind::gpu, 97, dims, 0),
                           queries = kith::hard_rows(Proposer::fp16, DeviceKind::gpu, hard_kinds, dims, 3);
  double most = 0;
  for (std::size_t t = 0; t < 97; ++t)
    for (std::size_t q = 0; q < hard_cut; ++q)
      if (t % hard_kinds != hard_cut)
        most = std::max(most, share_lost(core, &queries[q * dims], &train[t * dims], dims));
  return most;
}

TEST_CASE("tensor cores: simulated, of rows just below the cut they lose what the bound has room for") {
  for (const std::size_t terms : {4u, 8u, 16u})
    for (int extra = 3; extra >= -4; --extra) {
      const TensorCore core{terms, extra};
      const Shares shares = shares_of_cut(core, 131);
      const double cut = largest_of(shares), others = share_of_others(core, 131);
      MESSAGE(terms << " terms, " << extra << " extra places, 131 columns: " << cut
                    << " of the bound by rows just below the cut (by sort " << text_of(shares) << "), "
                    << others << " by other hard rows");
      // Keeping 24 places below the largest stays within the bound, 23 does not.
      CHECK((cut > 1) == (extra < 1));
      CHECK(others < cut);
    }
  // This is the row with s = 1.414. An H100 was measured to lose this share.
  CHECK(std::fabs(shares_of_cut({8, 2}, 131)[4] - 0.323) < 0.0005);
}

TEST_CASE("tensor cores: simulated, a place less shows in lines of every length but the split one") {
  for (const std::uint32_t dims : {4u, 16u, 32u, 64u, 131u, 850u}) {
    CAPTURE(dims);
    const double assumed = largest_of(shares_of_cut({8, 1}, dims)),
                 coarse = largest_of(shares_of_cut({8, 0}, dims));
    MESSAGE(dims << " columns: " << assumed << " of the bound by the cores that it is for, " << coarse
                 << " with a place less");
    CHECK(assumed < 0.7);
    CHECK((coarse > 1) == (dims > 4));  // with 4 columns only 3 numbers are cut, and the bound allows 4 * 4
  }
}

TEST_CASE("tensor cores: simulated, one that cuts downwards shows by the negatives of tiny numbers") {
  for (const int extra : {1, 0}) {
    const Shares of_rows = shares_of_cut({8, extra, true}, 131),
                 of_negatives = shares_of_cut({8, extra, true}, 131, -1);
    MESSAGE(extra << " extra places, downwards: by sort " << text_of(of_rows) << ", of negatives "
                  << text_of(of_negatives));
    CHECK((of_negatives.back() > 1) == (extra < 1));
    CHECK(of_rows.back() < 0.01);
  }
}

/// Returns the largest share of its bound that a CPU's matrix unit loses. It adds products of 16-bit floats
/// one by one or in pairs; add(sum, product) rounds in the way under test.
template <class Add>
double share_of_matrix_unit(std::size_t at_once, const Add& add) {
  constexpr std::uint32_t dims = 131;
  const Matrix rows = cut_rows(Proposer::bf16, DeviceKind::cpu, dims);
  double most = 0;
  for (std::int64_t r = 0; r < rows.rows; ++r) {
    float sum = 0;
    for (std::size_t d = 0; d < dims; d += at_once) {
      float part = 0;
      for (std::size_t i = d; i < std::min<std::size_t>(d + at_once, dims); ++i)
        part = add(part, static_cast<double>(rows.row(r)[i]) * static_cast<double>(rows.row(r)[i]));
      sum = add(sum, static_cast<double>(part));
    }
    const double exact = exact_product(rows.row(r).data(), rows.row(r).data(), dims);
    most = std::max(most, std::fabs(static_cast<double>(sum) - exact) / exact / ((dims + 2) * 0x1p-24));
  }
  return most;
}

TEST_CASE("tensor cores: simulated, a CPU's matrix unit that cuts where it is to round shows") {
  const auto round = [](float sum, double more) {
    return static_cast<float>(static_cast<double>(sum) + more);
  };
  const auto cut = [](float sum, double more) {
    const double whole = static_cast<double>(sum) + more;
    const auto near = static_cast<float>(whole);
    return static_cast<double>(near) > whole ? std::nextafter(near, 0.0f) : near;
  };
  for (const std::size_t at_once : {1u, 2u}) {
    CAPTURE(at_once);
    const double right = share_of_matrix_unit(at_once, round), coarse = share_of_matrix_unit(at_once, cut);
    MESSAGE(at_once << " at once: " << right << " of the bound by rounding, " << coarse << " by cutting");
    CHECK(right < 1);
    CHECK((coarse > 1) == (at_once == 1));  // in pairs, half as many sums are cut
  }
}

TEST_CASE("tensor cores: simulated, one that adds few numbers exactly is found to lose nothing") {
  const std::vector<float> whole = {1, 2, 3, 4, 5, 6, 7, 8, 9};
  const TensorCore core{8, 1};
  const auto element = [&](std::size_t d) { return whole[d]; };
  CHECK(core.product(element, element, 9) == 285);
  // In 2^24 + 1 + 1 each 1 is in the last place kept. In 2^24 + 0.5 + ... each 0.5 is below it, and lost.
  const std::vector<float> kept = {4096, 1, 1}, lost = {4096, 0.5f, 0.5f, 0.5f, 0.5f, 0.5f, 0.5f, 0.5f};
  CHECK(core.product([&](std::size_t d) { return kept[d]; }, [&](std::size_t d) { return kept[d]; }, 3) ==
        0x1p24f + 2);
  CHECK(core.product([&](std::size_t d) { return lost[d]; }, [&](std::size_t d) { return lost[d]; }, 8) ==
        0x1p24f);
}

TEST_CASE("tensor cores: simulated, small numbers lose more than their norms have room for") {
  // 2^13 2^-24 counts as 2^13 2^-14, beside which half of the last place of the other product is cut.
  const std::vector<float> query = {0x1p13f, 2 - 0x1p-10f}, row = {0x1p-24f, 0x1p-24f};
  const double norms = std::sqrt(exact_product(query.data(), query.data(), 2)) *
                       std::sqrt(exact_product(row.data(), row.data(), 2));
  for (const std::size_t terms : {4u, 8u, 16u}) {
    const TensorCore core{terms, 1};
    CHECK(share_lost(core, query.data(), row.data(), 2, norms) > 10);
    CHECK(share_lost(core, query.data(), row.data(), 2) < 0.1);
  }
}

TEST_SUITE_BEGIN("device");

/// Returns the share of the bound that the device's products need, to about 2 units of 2^-24, since the
/// result is rounded to a float.
Shares measured_shares(spi::Device& device, Proposer proposer, std::int64_t m, std::uint32_t dims) {
  Matrix rows = cut_rows(proposer, device.info.kind, dims);
  while (rows.rows < m) {  // repeats the rows
    const std::vector<float> once = rows.values;
    rows.values.insert(rows.values.end(), once.begin(), once.end());
    rows.rows *= 2;
  }
  const Problem problem{proposer, Metric::squared_l2, rows, rows, std::vector<float>(dims)};
  Listed found;
  REQUIRE(collect_all(device, problem, {}, found) == "");
  REQUIRE(found.counts == std::vector<std::uint32_t>(problem.m(), found.counts[0]));
  const Truth truth(problem, found.query_terms, found.train_terms);
  Shares shares(cut_sorts);
  for (std::size_t q = 0; q < problem.m(); ++q)
    for (std::size_t j = 0; j < problem.n(); ++j) {
      const std::size_t at = q * problem.n() + j, t = found.rows[at] - first_row;
      if (t % cut_sorts != q % cut_sorts) continue;
      const double error = truth.error(t), low = static_cast<double>(found.low[at]);
      shares[q % cut_sorts] = std::max(shares[q % cut_sorts], 1 - (truth.place(q, t) - low) / error);
    }
  return shares;
}

TEST_CASE("tensor cores: the device's own products of rows just below the cut stay within the bound") {
  spi::with_device(device(), [](spi::Device& device) {
    for_each_bounding(device, [&](Proposer proposer) {
      if (proposer == Proposer::int4) return;  // half bytes do not hold such rows
      for (const std::uint32_t dims : {4u, 16u, 32u, 64u, 131u, 850u})
        for (const std::int64_t m : {16, 128}) {
          CAPTURE_ALL(dims, m);
          if (m > most_queries(device, proposer)) continue;
          const Shares shares = measured_shares(device, proposer, m, dims);
          MESSAGE(std::string(name(proposer))
                  << " on " << device.info.spec << ", " << device.info.name << ", " << m << " queries of "
                  << dims << " columns: " << largest_of(shares) << " of the bound (by sort "
                  << text_of(shares) << ")");
          CHECK(largest_of(shares) < 1);
        }
    });
  });
}

TEST_CASE("tensor cores: planted ones propose, and coarser ones are refused for lines of every length") {
  if (device().info().backend != "planted") return;
  const Device right = open_device("planted:15"), coarse = open_device("planted:16");
  CHECK(right.info().name == "tensor cores");
  CHECK(coarse.info().name == "coarse cores");
  for (const std::int64_t m : {5, 70})
    for (const std::int64_t dims : {3, 10, 30, 60, 131, 300}) {
      CAPTURE_ALL(m, dims);
      const Matrix train = hard_rows(DataKind::normal, Set::train, 700, dims, Metric::l2),
                   queries = hard_rows(DataKind::normal, Set::queries, m, dims, Metric::l2);
      const Index index(right, train);
      Trace trace;
      CHECK(index.search(queries, 7, {.proposer = Proposer::fp16}, &trace) ==
            index.search(queries, 7, {.proposer = Proposer::none}));
      CHECK(trace.plan.proposer == Proposer::fp16);
      const Device anew = open_device("planted:16");  // has not remembered a refusal yet
      const std::string refusal =
          error_of([&] { Index(anew, train).search(queries, 7, {.proposer = Proposer::fp16}); });
      CAPTURE(refusal);
      CHECK(refusal.starts_with(
          "unsupported: search: planted:16: its products are less exact than they must be: a row of "));
    }
}

TEST_SUITE_END();

}  // namespace
}  // namespace kith::tests::test_tensor_cores
