// Whether a proposer keeps the bound of docs/certificate.md on this device.
#include <cfloat>
#include <cmath>
#include <cstdio>
#include <iterator>
#include <tuple>
#include <vector>

#include "base/float_guard.hpp"
#include "check/proposer_check.hpp"
#include "kith/error.hpp"

#include "plan/product_bounds.hpp"
#include "plan/proposal_sizes.hpp"

namespace kith {
namespace {

constexpr std::uint32_t kinds = 5;

/// What is multiplied by which kernels of a proposer.
struct Round {
  std::uint32_t n, dims;
  std::uint32_t at_once;  ///< queries of a step
  bool visits;            ///< in two steps: a block of rows, then the rest

  /// A query of each kind for every training row, whose place is the limit.
  std::uint32_t m() const { return kinds * n; }
};

constexpr std::uint32_t rows = 75, columns = 131, all = kinds * rows, few_queries = 64;
constexpr Round many_round{rows, columns, all, false}, few_round{rows, columns, few_queries, false};
// A CPU's tasks of 32 queries, a single one, and what is left, so that tiles of all shapes are multiplied.
constexpr Round cpu_bytes_round{rows, columns, 97, false};
// Of few columns the test is part of the product, with visits.
constexpr std::uint32_t more_rows = 200, more_queries = kinds * more_rows, most_folded_dims = 24;
constexpr Round few_column_rounds[] = {{more_rows, 3, more_queries, true},
                                       {more_rows, 20, more_queries, true}};

/// What a search by this plan may run, the few queries that are asked again included.
std::vector<Round> rounds_of(const Plan& plan, DeviceKind kind) {
  if (plan.proposer == Proposer::int8) return {kind == DeviceKind::cpu ? cpu_bytes_round : few_round};
  if (plan.proposer != Proposer::fp16) return {many_round};
  std::vector<Round> rounds{few_round};
  if (plan.problem.m <= few_queries) return rounds;
  rounds.push_back(many_round);
  if (plan.problem.dims <= most_folded_dims)
    rounds.insert(rounds.end(), std::begin(few_column_rounds), std::end(few_column_rounds));
  return rounds;
}

/// Numbers that a shadow holds as they are, so that nothing but the product is tested.
struct Numbers {
  int bits;     ///< binary places of a fraction
  float huge;   ///< beside fractions
  float level;  ///< of sums that cancel
  float apart;  ///< of two numbers near that
  float tiny;   ///< times a fraction
};

Numbers numbers_of(Proposer proposer, DeviceKind kind) {
  switch (proposer) {
    case Proposer::fp16:
      return {10, 8000.0f, 1000.0f, 1.0f, 0x1p-14f};
    case Proposer::int8:  // whole numbers to 127 over 64; nothing is subnormal, but 0 is there
      if (kind == DeviceKind::cpu)
        return {5, 0x1.f8p0f, 0x1.fp0f, 0x1p-5f, 0};  // even: queries may be halved
      return {6, 0x1.fcp0f, 0x1.f8p0f, 0x1p-6f, 0};
    case Proposer::bf16:
      return {7, 0x1p25f, 1000.0f, 8.0f, 0x1p-100f};
    default:
      return {23, 3.0e7f, 1000.0f, 0x1p-10f, 0x1p-130f};
  }
}

/// Rows whose products go wrong in the usual ways, a kind in every fifth row.
std::vector<float> hard_rows(Proposer proposer, DeviceKind kind, std::uint32_t rows, std::uint32_t dims,
                             std::uint32_t salt) {
  const Numbers numbers = numbers_of(proposer, kind);
  std::vector<float> values(std::size_t{rows} * dims);
  std::uint32_t state = 2463534242u + salt;
  for (std::size_t i = 0; i < values.size(); ++i) {
    state = state * 1664525u + 1013904223u;
    const float unit = std::ldexp(static_cast<float>(state >> (32 - numbers.bits)), -numbers.bits);
    const std::size_t d = i % dims;
    switch (i / dims % kinds) {
      case 0:
        values[i] = unit - 0.5f;
        break;
      case 1:
        values[i] = d == dims * 3 / 5 ? numbers.huge : unit;  // one huge addend among small ones
        break;
      case 2:
        values[i] =
            d % 2 ? numbers.level : -numbers.level - std::round(unit) * numbers.apart;  // what cancels
        break;
      case 3:
        values[i] = unit * numbers.tiny;  // they, or their products, are subnormal
        break;
      default:
        values[i] = 1.0f + std::ldexp(1.0f, -numbers.bits);  // all alike, and rounded in every product
        break;
    }
  }
  return values;
}

/// One set of rows on the device, packed, with room for its shadow.
struct TestRows {
  TestRows(spi::Device& device, Proposer proposer, std::vector<float> rows, std::uint32_t count,
           std::uint32_t columns, std::uint32_t block)
      : values(std::move(rows)),
        dims(columns),
        packed(device.allocate(padded(count, block) * dims * sizeof(float))),
        copy(device.allocate(shadow_row_bytes(proposer, count, dims))),
        facts(device.allocate(std::size_t{spi::facts_a_row} * count * sizeof(float))),
        blocks{packed.get(), 0, count, dims, block},
        shadow{{copy.get(), 0, count, dims, dims}, {facts.get(), 0, spi::facts_a_row, count, count}} {
    std::vector<float> moved(padded(count, block) * dims);
    for (std::size_t r = 0; r < count; ++r)
      for (std::size_t d = 0; d < dims; ++d)
        moved[(r / block * dims + d) * block + r % block] = values[r * dims + d];
    device.write(*packed, 0, moved.data(), moved.size() * sizeof(float));
    // What prepare leaves as it was is NaN: it may stand beside the rows, but not get into a product.
    const std::vector<unsigned char> nans(copy->bytes, 0xFF);
    device.write(*copy, 0, nans.data(), nans.size());
  }
  /// From now on the blocks are rows first, first + 1, ...: returns where their shadow goes.
  spi::Shadow begin(std::uint32_t first, std::uint32_t some) {
    blocks.first = first;
    blocks.rows = some;
    return {{copy.get(), 0, some, dims, dims}, {facts.get(), 0, spi::facts_a_row, some, some}};
  }
  static std::size_t padded(std::uint32_t count, std::uint32_t block) {
    return std::size_t{(count + block - 1) / block} * block;
  }

  std::vector<float> values;
  std::uint32_t dims;
  std::unique_ptr<spi::Allocation> packed, copy, facts;
  spi::RowBlocks blocks;
  spi::Shadow shadow;
};

template <class T>
std::unique_ptr<spi::Allocation> put(spi::Device& device, const std::vector<T>& values) {
  auto memory = device.allocate(values.size() * sizeof(T));
  device.write(*memory, 0, values.data(), values.size() * sizeof(T));
  return memory;
}

void run(spi::Device& device, spi::Step step) {
  const spi::Support support = device.check(step);
  if (!support.refusal.empty()) throw Error(Errc::unsupported, support.refusal);
  std::unique_ptr<spi::Allocation> scratch;
  if (support.scratch_bytes) scratch = device.allocate(support.scratch_bytes);
  if (auto* collect = std::get_if<spi::CollectStep>(&step.work))
    collect->scratch = {scratch.get(), support.scratch_bytes};
  device.enqueue(step);
  device.finish();
}

/// What the rows of a pair say exactly: docs/certificate.md, sections 3 and 4.
struct Pair {
  double place;  ///< |x|^2 / 2 - q . x
  double error;  ///< E(q, x), with the largest of all queries for q
};

class Pairs {
 public:
  Pairs(Proposer proposer, const Round& round, const TestRows& queries, const TestRows& train)
      : b_(largest_product_bound(proposer, round.dims)), dims_(round.dims), queries_(queries), train_(train) {
    for (std::size_t q = 0; q < round.m(); ++q) largest_ = std::max(largest_, norm(queries_, q));
  }

  Pair of(std::size_t q, std::size_t t) const {
    double product = 0;
    for (std::size_t d = 0; d < dims_; ++d)
      product += static_cast<double>(queries_.values[q * dims_ + d]) *
                 static_cast<double>(train_.values[t * dims_ + d]);
    const double length = norm(train_, t);
    return {length * length / 2 - product,
            b_ * largest_ * length + dims_ * 0x1p-120 * (1 + largest_ + length)};
  }

 private:
  static double norm(const TestRows& rows, std::size_t r) {
    double sum = 0;
    for (std::size_t d = 0; d < rows.dims; ++d) {
      const auto x = static_cast<double>(rows.values[r * rows.dims + d]);
      sum += x * x;
    }
    return std::sqrt(sum);
  }

  double b_, largest_ = 0;
  std::uint32_t dims_;
  const TestRows &queries_, &train_;
};

/// What elements are multiplied by.
float scale_for(Proposer proposer) {
  return proposer == Proposer::int8 ? 64 : scale_of(proposer, proposer == Proposer::fp16 ? 8000 : 1);
}

/// The steps that see all rows.
std::vector<spi::Visits> visits_of(const Round& round) {
  if (!round.visits) return {{}};
  const std::uint32_t blocks = (round.n + spi::shadow_rows - 1) / spi::shadow_rows;
  return {{spi::shadow_rows, 0, 1, blocks, 1}, {spi::shadow_rows, 1, blocks - 1, blocks, 1}};
}

/// The lists of candidates under `theta` [m], as [m, n] of listed or not.
std::vector<bool> listed(spi::Device& device, Proposer proposer, const Round& round, TestRows& queries,
                         TestRows& train, const std::vector<float>& theta) {
  const std::uint32_t m = round.m(), n = round.n, dims = round.dims;
  const auto centre = put(device, std::vector<float>(dims)), limits = put(device, theta);
  const auto counts = put(device, std::vector<std::uint32_t>(m)),
             rows_found = put(device, std::vector<std::uint32_t>(std::size_t{m} * n));
  const auto values = put(device, std::vector<float>(std::size_t{m} * n));
  const spi::Grid<float> centre_grid{centre.get(), 0, 1, dims, dims};
  const float scale = scale_for(proposer);
  run(device, {spi::PrepareStep{proposer, train.blocks, centre_grid, train.shadow, scale}});
  for (std::uint32_t q = 0; q < m; q += round.at_once) {
    const std::uint32_t some = std::min(round.at_once, m - q);
    const spi::Shadow shadow = queries.begin(q, some);
    run(device, {spi::PrepareStep{proposer, queries.blocks, centre_grid, shadow, scale, true}});
    for (const spi::Visits& visits : visits_of(round)) {
      const std::size_t places = visits.rows ? std::size_t{visits.rows} * visits.count : n;
      spi::CollectStep step{
          proposer,
          Metric::squared_l2,
          shadow,
          train.shadow,
          {values.get(), 0, some, places, n},
          {limits.get(), q, some, 1, 1},
          0,
          {{rows_found.get(), std::size_t{q} * n, some, n, n}, {counts.get(), q, some, 1, 1}},
          {},
          1 / scale / scale};
      step.visits = visits;
      run(device, {step});
    }
  }
  std::vector<std::uint32_t> found(m), lists(std::size_t{m} * n);
  device.read(*counts, 0, found.data(), found.size() * sizeof(std::uint32_t));
  device.read(*rows_found, 0, lists.data(), lists.size() * sizeof(std::uint32_t));
  std::vector<bool> result(std::size_t{m} * n);
  for (std::size_t q = 0; q < m; ++q)
    for (std::size_t j = 0; j < std::min<std::size_t>(found[q], n); ++j)
      if (lists[q * n + j] < n) result[q * n + lists[q * n + j]] = true;
  return result;
}

/// By how much a row may be farther than twice the error of its product and be listed.
double slack_of(Proposer proposer, const Round& round, const Pair& pair, double limit) {
  const double sizes = std::fabs(limit) + std::fabs(pair.place) + pair.error;
  if (!round.visits || round.dims > most_folded_dims) return 0x1p-18 * sizes;
  // The limit and the row's part of the place are two 16-bit floats each, in units of 2^15 over both scales.
  const auto scale = static_cast<double>(scale_for(proposer));
  return 0x1p-14 * sizes + 0x1p-6 / (scale * scale);
}

std::string test(spi::Device& device, Proposer proposer, const Round& round) {
  const std::vector<float> some = hard_rows(proposer, device.info.kind, kinds, round.dims, 3);
  std::vector<float> repeated;
  for (std::uint32_t t = 0; t < round.n; ++t) repeated.insert(repeated.end(), some.begin(), some.end());
  TestRows queries(device, proposer, repeated, round.m(), round.dims, device.info.query_block),
      train(device, proposer, hard_rows(proposer, device.info.kind, round.n, round.dims, 0), round.n,
            round.dims, device.info.train_block);
  const Pairs pairs(proposer, round, queries, train);
  std::vector<float> theta;
  for (std::size_t q = 0; q < round.m(); ++q) {  // the place of one of the rows, rounded up
    const double place = pairs.of(q, q / kinds).place;
    const auto near = static_cast<float>(place);
    theta.push_back(static_cast<double>(near) < place ? std::nextafter(near, FLT_MAX) : near);
  }
  const std::vector<bool> found = listed(device, proposer, round, queries, train, theta);
  for (std::size_t q = 0; q < round.m(); ++q)
    for (std::size_t t = 0; t < round.n; ++t) {
      const Pair pair = pairs.of(q, t);
      const double limit = static_cast<double>(theta[q]);
      const bool must = pair.place <= limit;
      const bool may = pair.place <= limit + 2 * pair.error + slack_of(proposer, round, pair, limit);
      if (found[q * round.n + t] ? may : !must) continue;
      char text[200];
      std::snprintf(text, sizeof text,
                    "a row of %u columns at %.9g, with a bound of %.3g for its error, was %s below %.9g",
                    round.dims, pair.place, pair.error, must ? "not found" : "found", limit);
      return std::string("its products are less exact than they must be: ") + text +
             "; update the driver and its libraries, or choose proposer none";
    }
  return {};
}

}  // namespace

std::string proposer_check(const Plan& plan, DeviceKind kind) {
  const auto text = [](std::uint32_t count) { return std::to_string(count); };
  std::string rounds;
  for (const Round& round : rounds_of(plan, kind)) {
    if (!rounds.empty()) rounds += ", ";
    rounds += text(round.n) + " rows of " + text(round.dims) + " columns" +
              (round.at_once < round.m() ? " by " + text(round.at_once) + " queries at a time" : "");
  }
  return "among " + rounds + ", hard ones (sums that cancel, one huge addend among small ones, subnormals, " +
         "all alike), " + text(kinds) +
         " queries for each row missed none within their limit and listed none beyond the bound, by double " +
         "precision";
}

std::string test_proposer(Device::State& state, const Plan& plan) {
  const std::lock_guard lock(state.mutex);
  const FloatGuard guard;
  for (const Round& round : rounds_of(plan, state.device->info.kind)) {
    const std::tuple which{plan.proposer, round.dims, round.at_once};
    auto known = state.proposer_refusals.find(which);
    if (known == state.proposer_refusals.end()) {
      std::string why;
      try {
        why = test(*state.device, plan.proposer, round);
      } catch (const Error& error) {  // what may pass is no verdict
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
