// Tests whether a proposer keeps the bound of docs/certificate.md on this device.
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <tuple>
#include <vector>

#include "check/proposer_check.hpp"
#include "kith/error.hpp"
#include "kith/spi/step_runner.hpp"

#include "certified/quantized_rows.hpp"
#include "check/hard_rows.hpp"
#include "check/proposer_rounds.hpp"
#include "check/self_test_parts.hpp"
#include "plan/product_bounds.hpp"
#include "plan/proposal_sizes.hpp"

namespace kith {
namespace {

/// Holds the queries of one kind. Query q, whose limit is the place of training row q, is number q / share %
/// count of the different ones. Queries of hard_cut are training rows, or negatives of training rows, so that
/// no row is nearer to its bound.
struct Queries {
  std::vector<float> different;  ///< [count, dims]
  std::uint32_t count, share;

  Queries(Proposer proposer, DeviceKind device, const Round& round, HardKind kind,
          const std::vector<float>& train)
      : count(kind == hard_cut ? round.n / hard_kinds : 1), share(kind == hard_cut ? hard_kinds : round.n) {
    const std::vector<float> others =
        hard_rows(spi::proposer_of_queries(proposer), device, hard_kinds, round.dims, 3);
    for (std::uint32_t i = 0; i < count; ++i) {
      const std::size_t row = i * hard_kinds + kind;
      const bool negative = kind == hard_cut && i / cut_sorts % 2 == 1;
      for (std::size_t d = 0; d < round.dims; ++d) {
        const float value = (kind == hard_cut ? train : others)[row * round.dims + d];
        different.push_back(negative ? -value : value);
      }
    }
  }
  std::size_t number_of(std::size_t q) const { return q / share % count; }
};

/// Holds rows on the device, packed, with memory for their quantized rows.
struct TestRows {
  TestRows(spi::Device& device, Proposer proposer, const Round& round, std::uint32_t block)
      : count(round.n),
        dims(round.dims),
        packed(device.allocate(padded(count, block) * dims * sizeof(float))),
        copy(device.allocate(quantized_row_bytes(proposer, count, dims))),
        row_terms(device.allocate(std::size_t{spi::terms_a_row} * count * sizeof(float))),
        blocks{packed.get(), 0, count, dims, block} {
    // NaN stays wherever prepare writes nothing: it may be beside the rows, but must not enter a product.
    const std::vector<unsigned char> nans(copy->bytes, 0xFF);
    device.write(*copy, 0, nans.data(), nans.size());
  }
  /// row(r) returns a pointer to row r.
  template <class RowOf>
  void put(spi::Device& device, const RowOf& row) const {
    const std::size_t block = blocks.block;
    std::vector<float> moved(packed->bytes / sizeof(float));
    for (std::size_t r = 0; r < count; ++r)
      for (std::size_t d = 0; d < dims; ++d) moved[(r / block * dims + d) * block + r % block] = row(r)[d];
    device.write(*packed, 0, moved.data(), moved.size() * sizeof(float));
  }
  /// Makes the blocks begin at row `first`, with `some` rows, and returns where their quantized rows go.
  spi::QuantizedRows begin(std::uint32_t first, std::uint32_t some) {
    blocks.first = first;
    blocks.rows = some;
    return {{copy.get(), 0, some, dims, dims}, {row_terms.get(), 0, spi::terms_a_row, some, some}};
  }
  static std::size_t padded(std::uint32_t count, std::uint32_t block) {
    return std::size_t{(count + block - 1) / block} * block;
  }

  std::uint32_t count, dims;
  std::unique_ptr<spi::Allocation> packed, copy, row_terms;
  spi::RowBlocks blocks;
};

template <class T>
std::unique_ptr<spi::Allocation> put(spi::Device& device, const std::vector<T>& values) {
  auto memory = device.allocate(values.size() * sizeof(T));
  device.write(*memory, 0, values.data(), values.size() * sizeof(T));
  return memory;
}

void run(spi::Device& device, const spi::Work& work) {
  spi::StepRunner runner(device);
  runner.set(work);
  if (!runner.refusal().empty()) throw Error(Errc::unsupported, runner.refusal());
  runner.run();
}

/// Holds the exact terms of a pair: docs/certificate.md, sections 3 and 4.
struct Pair {
  double place;  ///< |x|^2 / 2 - q . x
  double norms;  ///< |q| |x|
  double under;  ///< tau
  double half_norm;

  /// Returns E(q, x) for products with a relative error of b.
  double error(double b) const { return b * norms + under; }
};

double product(const float* a, const float* b, std::size_t dims) {
  double sum = 0;
  for (std::size_t d = 0; d < dims; ++d) sum += static_cast<double>(a[d]) * static_cast<double>(b[d]);
  return sum;
}

/// Returns the pairs of different queries and rows, [queries.count, n]. Queries of a kind have about equal
/// norms, so that the longest of a step is hardly longer than any other.
std::vector<Pair> pairs_of(const Round& round, const Queries& queries, const std::vector<float>& train) {
  const std::size_t dims = round.dims;
  const auto query = [&](std::size_t i) { return queries.different.data() + i * dims; };
  double longest = 0;
  for (std::size_t i = 0; i < queries.count; ++i)
    longest = std::max(longest, std::sqrt(product(query(i), query(i), dims)));
  std::vector<double> lengths;
  for (std::size_t t = 0; t < round.n; ++t)
    lengths.push_back(std::sqrt(product(&train[t * dims], &train[t * dims], dims)));
  std::vector<Pair> pairs;
  for (std::size_t i = 0; i < queries.count; ++i)
    for (std::size_t t = 0; t < round.n; ++t)
      pairs.push_back({lengths[t] * lengths[t] / 2 - product(query(i), &train[t * dims], dims),
                       longest * lengths[t], spi::product_underflow(dims, true) * (1 + longest + lengths[t]),
                       lengths[t] * lengths[t] / 2});
  return pairs;
}

/// Returns the factor of elements.
float scale_for(Proposer proposer) {
  return spi::multiplies_bytes(proposer) ? 64 : scale_of(proposer, proposer == Proposer::fp16 ? 8000 : 1);
}

/// Returns the visits of the steps that together see all rows.
std::vector<spi::Visits> visits_of(const Round& round) {
  if (!round.visits) return {{}};
  const std::uint32_t blocks = (round.n + spi::quantized_block_rows - 1) / spi::quantized_block_rows;
  return {{spi::quantized_block_rows, 0, 1, blocks, 1},
          {spi::quantized_block_rows, 1, blocks - 1, blocks, 1}};
}

/// Holds both sets of rows of a round on the device, and prepares the training rows.
class Asked {
 public:
  Asked(spi::Device& device, Proposer proposer, const Round& round, const std::vector<float>& train)
      : device_(device),
        proposer_(proposer),
        round_(round),
        train_(device, proposer, round, device.info.train_block),
        queries_(device, spi::proposer_of_queries(proposer), round, device.info.query_block),
        centre_(put(device, std::vector<float>(round.dims))),
        rows_(kith::put(device, std::vector<std::uint32_t>(pairs()))),  // zeros, since all of it is read
        values_(device.allocate(pairs() * sizeof(float))),
        quantized_(train_.begin(0, round.n)) {
    train_.put(device, [&](std::size_t r) { return &train[r * round.dims]; });
    run(device, spi::PrepareStep{proposer, train_.blocks, centre(), quantized_, scale_});
  }

  /// Returns the largest b of all steps so far.
  double largest_b() const { return largest_b_; }

  /// Returns which pairs [n, n] are listed as candidates for a kind of queries under `threshold` [n].
  std::vector<bool> listed(const Queries& queries, const std::vector<float>& threshold) {
    const std::uint32_t n = round_.n;
    queries_.put(device_,
                 [&](std::size_t q) { return &queries.different[queries.number_of(q) * round_.dims]; });
    const auto limits = put(device_, threshold), counts = put(device_, std::vector<std::uint32_t>(n));
    for (std::uint32_t q = 0; q < n; q += round_.at_once)
      collect(q, std::min(round_.at_once, n - q), *limits, *counts);
    std::vector<std::uint32_t> found(n), lists(pairs());
    device_.read(*counts, 0, found.data(), found.size() * sizeof(std::uint32_t));
    device_.read(*rows_, 0, lists.data(), lists.size() * sizeof(std::uint32_t));
    std::vector<bool> result(pairs());
    for (std::size_t q = 0; q < n; ++q)
      for (std::size_t j = 0; j < std::min(found[q], n); ++j)
        if (lists[q * n + j] < n) result[q * n + lists[q * n + j]] = true;
    return result;
  }

 private:
  std::size_t pairs() const { return std::size_t{round_.n} * round_.n; }
  spi::Grid<float> centre() const { return {centre_.get(), 0, 1, round_.dims, round_.dims}; }

  void collect(std::uint32_t q, std::uint32_t some, spi::Allocation& limits, spi::Allocation& counts) {
    const std::uint32_t n = round_.n;
    const spi::QuantizedRows quantized = queries_.begin(q, some);
    run(device_, spi::PrepareStep{spi::proposer_of_queries(proposer_), queries_.blocks, centre(), quantized,
                                  scale_, true});
    for (const spi::Visits& visits : visits_of(round_)) {
      const std::size_t places = visits.rows ? std::size_t{visits.rows} * visits.count : n;
      spi::CollectStep step{proposer_,
                            Metric::squared_l2,
                            quantized,
                            quantized_,
                            {values_.get(), 0, some, places, n},
                            {&limits, q, some, 1, 1},
                            0,
                            {{rows_.get(), std::size_t{q} * n, some, n, n}, {&counts, q, some, 1, 1}},
                            {},
                            1 / scale_ / scale_};
      step.visits = visits;
      step.b = spi::product_error(step);
      largest_b_ = std::max(largest_b_, step.b);
      run(device_, step);
    }
  }

  spi::Device& device_;
  const Proposer proposer_;
  const Round round_;
  const float scale_ = scale_for(proposer_);
  TestRows train_, queries_;
  const std::unique_ptr<spi::Allocation> centre_, rows_, values_;
  const spi::QuantizedRows quantized_;  ///< the quantized training rows
  double largest_b_ = 0;
};

/// Returns how much farther than twice the error of its product a listed row may lie.
double slack_of(Proposer proposer, const Round& round, const Pair& pair, double error, double limit) {
  const double sizes = std::fabs(limit) + std::fabs(pair.place) + error;
  // Without double precision, half a sum of squares is shifted by more than the rounding errors of the sum.
  const bool in_single = proposer == Proposer::gemm || proposer == Proposer::dot;
  if (in_single) return 0x1p-18 * sizes + (round.dims + 6) * 0x1p-22 * pair.half_norm;
  if (!round.visits || round.dims > spi::most_fused_test_dims) return 0x1p-18 * sizes;
  // The limit and the row's part of the place are each split into two 16-bit floats, in units of 2^15 over
  // both scales.
  const auto scale = static_cast<double>(scale_for(proposer));
  return 0x1p-14 * sizes + 0x1p-6 / (scale * scale);
}

/// Says what is wrong with the lists of a kind of queries; empty if nothing is.
std::string test(Asked& asked, Proposer proposer, const Round& round, const Queries& queries,
                 const std::vector<float>& train) {
  const std::vector<Pair> pairs = pairs_of(round, queries, train);
  const auto pair_of = [&](std::size_t q, std::size_t t) {
    return pairs[queries.number_of(q) * round.n + t];
  };
  std::vector<float> threshold;
  for (std::size_t q = 0; q < round.n; ++q)  // the limit is the place of row q
    threshold.push_back(spi::float_above(pair_of(q, q).place));
  const std::vector<bool> found = asked.listed(queries, threshold);
  for (std::size_t q = 0; q < round.n; ++q)
    for (std::size_t t = 0; t < round.n; ++t) {
      const Pair pair = pair_of(q, t);
      const double limit = static_cast<double>(threshold[q]), error = pair.error(asked.largest_b());
      const bool must = pair.place <= limit;
      const bool may = pair.place <= limit + 2 * error + slack_of(proposer, round, pair, error, limit);
      if (found[q * round.n + t] ? may : !must) continue;
      char text[200];
      std::snprintf(text, sizeof text,
                    "a row of %u columns at %.9g, with a bound of %.3g for its error, was %s below %.9g",
                    round.dims, pair.place, error, must ? "not found" : "found", limit);
      return std::string("its products are less exact than they must be: ") + text +
             "; update the driver and its libraries, or choose proposer none";
    }
  return {};
}

std::string test(spi::Device& device, Proposer proposer, const Round& round) {
  const DeviceKind kind = device.info.kind;
  const std::vector<float> train = hard_rows(proposer, kind, round.n, round.dims, 0);
  Asked asked(device, proposer, round, train);
  for (std::uint32_t of = 0; of < hard_kinds; ++of) {
    const Queries queries(proposer, kind, round, static_cast<HardKind>(of), train);
    if (std::string why = test(asked, proposer, round, queries, train); !why.empty()) return why;
  }
  return {};
}

}  // namespace

std::string test_proposer(Device::State& state, const Plan& plan) {
  const DeviceSession session(state);
  for (const Round& round : rounds_of(plan, session->info)) {
    const std::tuple which{plan.proposer, round.dims, round.at_once};
    auto known = state.proposer_refusals.find(which);
    if (known == state.proposer_refusals.end()) {
      std::string why;
      try {
        why = test(*session, plan.proposer, round);
      } catch (const Error& error) {  // a temporary failure is no verdict
        if (error.code() != Errc::unsupported) throw;
        why = error.what();
      }
      known = state.proposer_refusals.emplace(which, why).first;
    }
    if (!known->second.empty()) return known->second;
  }
  return {};
}

}  // namespace kith
