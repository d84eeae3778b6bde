#include <algorithm>
#include <cmath>
#include <iterator>
#include <limits>

#include "plan/attempts.hpp"
#include "plan/plan_visits.hpp"
#include "plan/product_bounds.hpp"
#include "plan/proposal_sizes.hpp"
#include "plan/reasons.hpp"
#include "plan/rules/plan_rules.hpp"

namespace kith {
namespace {

// A threshold from one row in 256 lets about 256 k candidates of all rows pass. Each step that grows by
// Choice::growth lets about twice k pass.
constexpr std::int64_t seed_share = 256;

// The most inner products of a step: these leave memory for other programs on a GPU, and end soon on a CPU.
constexpr std::int64_t most_products = std::int64_t{1} << 30, most_rows_gemm = 131072;
constexpr double multiply_adds_a_second_of_a_core = 2.5e9;  // half of what CLBlast 1.5.3 reached on PoCL 3.1
constexpr double seconds_of_products = 0.3;

bool has(const DeviceInfo& device, Proposer proposer) {
  return std::find(device.proposers.begin(), device.proposers.end(), proposer) != device.proposers.end();
}

std::int64_t seed_of(const Problem& problem, const SearchOptions& options, Proposer proposer) {
  const bool own = has_own_order(proposer);
  const std::int64_t seed =
      options.train_tile ? options.train_tile : std::max(4 * problem.k, problem.n / seed_share);
  return std::clamp<std::int64_t>(own ? whole_quantized_blocks(seed) : seed, 1, problem.n);
}

/// Chooses tiles whose products fit into memory, and which end in time on a CPU.
void limit_products(const DeviceInfo& device, const Problem& problem, Choice& choice) {
  choice.train_tile = std::max(choice.seed_rows, most_rows_gemm);
  choice.query_tile = std::clamp<std::int64_t>(most_products / choice.train_tile, 1,
                                               std::max<std::int64_t>(choice.query_tile, 1));
  if (device.kind != DeviceKind::cpu) return;
  const double products = seconds_of_products * multiply_adds_a_second_of_a_core * device.compute_units /
                          static_cast<double>(problem.dims);
  choice.query_tile = std::min<std::int64_t>(choice.query_tile, 1024);
  const auto rows = static_cast<std::int64_t>(products / static_cast<double>(choice.query_tile));
  choice.train_tile =
      std::clamp<std::int64_t>(rows, std::max<std::int64_t>(choice.seed_rows, 1024), choice.train_tile);
}

/// Limits the time of steps of the CPU's own kernels, using measured multiply-adds per second of one core;
/// those of neon, not measured, are taken for half of avx2's.
void limit_products_cpu(const DeviceInfo& device, const Problem& problem, const SearchOptions& options,
                        Choice& choice) {
  const std::uint32_t floats = device.profile.vector_floats;
  const bool tiles = choice.proposer == Proposer::int8 && has(device, Proposer::bf16);  // both by AMX
  const double rate = tiles                               ? 6e11
                      : choice.proposer == Proposer::bf16 ? 3e11
                      : choice.proposer == Proposer::int8 ? (floats >= 16 ? 1.5e11 : 7e10)
                      : floats >= 16                      ? 6e10
                      : floats >= 8                       ? 3e10
                      : floats >= 4                       ? 1.5e10
                                                          : 5e8;
  const double threads = options.threads ? options.threads : device.compute_units;
  const double pairs = seconds_of_products * rate * threads / static_cast<double>(problem.dims + 4);
  constexpr std::int64_t fewest_queries = 128;
  choice.train_tile = std::clamp<std::int64_t>(
      whole_quantized_blocks(static_cast<std::int64_t>(std::min(pairs / fewest_queries, 1e12))),
      std::max<std::int64_t>(choice.seed_rows, 4096), choice.train_tile);
  const auto queries = static_cast<std::int64_t>(pairs / static_cast<double>(choice.train_tile));
  choice.query_tile = std::clamp<std::int64_t>(queries, 1, std::max<std::int64_t>(choice.query_tile, 1));
}

/// The sizes of problems for which a proposer was faster than the chain, and than the proposers of
/// later lines.
struct Pays {
  enum class Needs { nothing, byte_grid, fast_bytes, close_half_bytes };

  DeviceKind kind;
  Proposer proposer;
  Needs needs;
  double fewest_multiply_adds;
  std::int64_t fewest_queries, most_queries, fewest_dims, most_dims, most_neighbours;
  double fewest_numbers, numbers_a_neighbour;  ///< n * dims must be at least the first + k * the second
  // n must be at least the first, and k * the second:
  std::int64_t fewest_rows = 16384, rows_a_neighbour = 32;
};

constexpr std::int64_t any = std::numeric_limits<std::int64_t>::max();
constexpr double least_byte_speed = 1.2;
constexpr double longest_lists = 2000;  // for int8, before lists overflow

using Needs = Pays::Needs;

constexpr Pays pays[] = {
    // On an H200 tensor cores were 4 times as fast as the chain at 1e10 multiply-adds with 1,200 queries, 15
    // to 20 times from 5e11 multiply-adds on, 2.3 times (CUDA) and 3.3 times (OpenCL) with 3 columns, and 3
    // times at k = 2048. With k = 5000 of 10^6 rows, 16-bit floats were twice as fast as the chain (CUDA; 2.8
    // times with OpenCL), with k = 8192 a third as fast. Up to 64 queries, bytes are 2.3 to 6 times as fast
    // as the chain from 3e8 multiply-adds on (with one query from 1e8 on), and up to 1.7 times as fast as
    // 16-bit floats. But they need more kernels, so that a whole call gains from 3e8 (CUDA) or 1e9
    // multiply-adds on (OpenCL); both use the latter. For bytes with more queries see
    // docs/certified-search.md, Bytes or 16-bit floats. Half bytes took up to a third less time than bytes
    // for one query of 10^7 rows of 128 columns (half_bytes_pay()).
    {DeviceKind::gpu, Proposer::int8, Needs::byte_grid, 1e9, 65, any, 32, 65536, 6000, 4e6, 0},
    {DeviceKind::gpu, Proposer::int8, Needs::fast_bytes, 6e9, 65, any, 64, 65536, 2048, 0, 0},
    {DeviceKind::gpu, Proposer::fp16, Needs::nothing, 1e9, 65, any, 3, any, 6000, 0, 0},
    {DeviceKind::gpu, Proposer::int4, Needs::close_half_bytes, 4e8, 1, 8, 65, 65536, 256, 0, 0},
    {DeviceKind::gpu, Proposer::int8, Needs::nothing, 1e9, 1, 64, 32, 65536, 256, 0, 0},
    {DeviceKind::gpu, Proposer::int8, Needs::nothing, 1e8, 1, 1, 64, 65536, 256, 0, 0},
    // AMX multiplies twice as many bytes as bf16 at a time. On a grid of bytes that was 0.9 to 4.1 times as
    // fast, elsewhere 1.0 to 2.6 times from 2.5e7 numbers on; with fewer, the rows that bounds of bytes let
    // pass, too, cost as much. CPUs without AMX have no bf16, and a line below that covers these two.
    {DeviceKind::cpu, Proposer::int8, Needs::byte_grid, 3e8, 16, any, 64, 65536, 256, 3.5e6, 3e4},
    {DeviceKind::cpu, Proposer::int8, Needs::nothing, 3e8, 16, any, 64, 65536, 100, 2.5e7, 0},
    // On two cores with AMX, bf16 was twice as fast as the chain from 3e8 multiply-adds with 20 queries of
    // 768 columns on, and 7 times at 5e11. Products in single precision (dot) gained at most a quarter, and
    // lost as much with few queries.
    {DeviceKind::cpu, Proposer::bf16, Needs::nothing, 3e8, 16, any, 64, any, 256, 0, 0},
    // On two cores, bytes were 1.2 to 3.9 times as fast with AVX-512 VNNI, and 1.1 to 3.3 times with AVX2,
    // from 100,000 rows of 64 columns on, or 16,384 rows of 256 columns, with k = 10, and from 10^6 rows of
    // 32 columns on. A query lists 5 to 100 k candidates, however many rows there are, so that a larger k
    // needs more rows. Fewer queries gain once the quantized rows are there (few_on_host).
    {DeviceKind::cpu, Proposer::int8, Needs::nothing, 3e8, 16, any, 32, 65536, 256, 3.5e6, 3e4},
    // With fewer rows and 500 queries, k = 10 and the quantized rows included: on a grid of bytes, bytes were
    // 1.3 (2,048 rows of 256 columns) to 1.9 times (784 columns) as fast with AVX-512 VNNI, and 1.0 to 1.1
    // times with AVX2. Off such a grid, 2,048 rows gained nothing with AVX-512 VNNI and lost half with AVX2;
    // 5,000 rows of 256 or 784 columns became 1.3 to 1.4 times as fast with either.
    {DeviceKind::cpu, Proposer::int8, Needs::byte_grid, 2.5e8, 128, any, 64, 65536, 256, 5e5, 0, 2048},
    {DeviceKind::cpu, Proposer::int8, Needs::nothing, 3e8, 256, any, 64, 65536, 64, 7e5, 0, 4096, 400},
};

// With few queries threads of the host mostly read rows, by int8 a quarter of the bytes. On two cores with
// AVX2 that was mostly 1.3 to 3.1 times as fast as the chain, up to 8 queries, once its rows were made. Fewer
// values stay in the last cache, where the chain is as fast.
constexpr Pays few_on_host[] = {
    {DeviceKind::cpu, Proposer::int8, Needs::nothing, 0, 1, few_queries - 1, 64, 65536, 256, 1e7, 3e4},
    {DeviceKind::cpu, Proposer::int8, Needs::nothing, 0, 1, few_queries - 1, 32, 65536, 256, 3e7, 3e4},
};
// To rank a candidate without a copy of the rows takes as long as to read 16 of them. With 8 queries and
// k = 100 of 60,000 rows of 784 columns, 960 a query were ranked, and int8 was slower than the chain.
constexpr std::int64_t rows_a_ranked = 100;
// Making the rows of int8 took as long as it saves with 10 to 36 single queries, and up to 100 where memory
// had not been used before. With 2 to 8 queries it saves about twice as much.
constexpr std::int64_t scans_to_pay = 30;

/// Returns whether the lines were measured on such a device. Lines of int8 were measured on tensor cores,
/// which have fp16, too, and on threads of the host.
bool is_measured(const DeviceInfo& device, Proposer proposer) {
  return !spi::multiplies_bytes(proposer) || device.profile.host_threads || has(device, Proposer::fp16);
}

/// Returns whether a problem has the sizes of a line.
bool is_of(const Pays& line, const DeviceInfo& device, const Problem& problem) {
  const double numbers = static_cast<double>(problem.n) * static_cast<double>(problem.dims);
  return device.kind == line.kind && has(device, line.proposer) && is_measured(device, line.proposer) &&
         numbers * static_cast<double>(problem.m) >= line.fewest_multiply_adds &&
         problem.m >= line.fewest_queries && problem.m <= line.most_queries &&
         problem.dims >= line.fewest_dims && problem.dims <= line.most_dims &&
         problem.k <= line.most_neighbours &&
         problem.n >= std::max(line.fewest_rows, line.rows_a_neighbour * problem.k) &&
         numbers >= line.fewest_numbers + line.numbers_a_neighbour * static_cast<double>(problem.k);
}

/// Returns how many times as much bytes save as on an H200 by CUDA, where they are 1.7 times as fast as
/// 16-bit floats: fitted to 319 searches by OpenCL, whose kernels for 16-bit floats gain from 65 to 128
/// columns.
double times_saved(std::int64_t dims, double byte_speed) {
  if (byte_speed < 2 || dims > 256) return 1;
  return dims <= 64 ? 2.3 : dims <= 128 ? 1 : 1.8;
}

/// Returns how many further candidates a query may list before they cost more time than products of bytes
/// save, compared with fp16: fitted to 174 searches on an H200, by CUDA and OpenCL (docs/benchmarks.md).
double worth_listing(const Problem& problem, double byte_speed) {
  return 0.0068 * std::sqrt(static_cast<double>(problem.n)) * static_cast<double>(problem.dims) *
         times_saved(problem.dims, byte_speed);
}

/// Estimates how many times as many rows as the k nearest lie up to `wide` standard deviations of squared
/// distances beyond the k-th. If these are normally distributed, the k-th of n is z deviations below their
/// mean.
double times_as_many(const Problem& problem, double wide) {
  const double share = static_cast<double>(problem.k) / static_cast<double>(problem.n);
  const double twice = -2 * std::log(share);
  constexpr double log_two_pi = 1.8378770664093453;
  const double z = std::sqrt(std::max(twice - std::log(twice) - log_two_pi, 0.0));
  return wide < z ? std::exp(std::min(wide * (z - wide / 2), 50.0)) : std::numeric_limits<double>::infinity();
}

/// Rows that pass bounds of fp16, for each root of k.
constexpr double listed_a_root = 40;

/// Estimates how many more rows per query pass bounds of int8 than of fp16: those of the next `blur`
/// deviations. On an H200 as many were listed as with a blur 1.25 times as wide.
double more_listed(const Problem& problem, double blur) {
  return listed_a_root * std::sqrt(static_cast<double>(problem.k)) *
         (times_as_many(problem, 1.25 * blur) - 1);
}

/// Returns whether half bytes of few queries save more time than the rows cost that they list. Rows within
/// 0.75 blurs of the k-th were ranked on an H200, each at the cost of 6 ns, beside 45 us for longer lists and
/// a further step. Where they are more than 200 times k (normal numbers: 390, uniform ones: 120), lists
/// overflow.
bool half_bytes_pay(const Problem& problem, double blur) {
  constexpr double bytes_a_second = 4.1e12, of_steps = 45e-6, of_a_row = 6e-9, most_times = 200;
  const double saved =
      static_cast<double>(problem.n) * static_cast<double>(problem.dims) / 2 / bytes_a_second;
  const double times = times_as_many(problem, 0.75 * blur);
  const double ranked = static_cast<double>(problem.k * problem.m) * times;
  return times < most_times && saved > 1.1 * (of_steps + of_a_row * ranked);
}

/// Returns whether the needs of a line are met. Lines of bytes for many queries need a device that takes all
/// queries at once, as threads of the host do.
bool is_there(const Pays& line, const DeviceInfo& device, const Problem& problem, const Feedback& feedback) {
  const bool at_once = device.profile.host_threads || problem.m <= std::int64_t{device.profile.byte_queries};
  switch (line.needs) {
    case Needs::nothing:
      return true;
    case Needs::byte_grid:
      return at_once && feedback.byte_blur == 0;
    case Needs::fast_bytes:
      return at_once && feedback.byte_speed >= least_byte_speed &&
             more_listed(problem, feedback.byte_blur) <
                 std::min(worth_listing(problem, feedback.byte_speed),
                          longest_lists * times_saved(problem.dims, feedback.byte_speed));
    case Needs::close_half_bytes:
      return half_bytes_pay(problem, feedback.half_byte_blur);
  }
  return false;
}

/// Returns whether earlier searches showed that bounds of a proposer, or of a finer one, hardly
/// distinguish rows.
bool is_too_coarse(Proposer proposer, const Problem& problem, const Feedback& feedback) {
  const auto overwhelmed = [&](Proposer one) { return overwhelms(feedback, one, problem.k); };
  return overwhelmed(proposer) ||
         (spi::multiplies_bytes(proposer) && (overwhelmed(Proposer::bf16) || overwhelmed(Proposer::fp16))) ||
         (proposer == Proposer::int4 && overwhelmed(Proposer::int8));
}

/// Returns whether the caller leaves the choice to the rules, and the rules cover the problem.
bool is_free(const Problem& problem, const SearchOptions& options) {
  return options.selector == Selector::automatic && !options.fused && follows_from_products(problem.metric);
}

}  // namespace

std::size_t room_for_quantized_rows(const DeviceInfo& device, const SearchOptions& options) {
  return options.memory_limit ? options.memory_limit : device.memory_bytes / 4;
}

namespace {

/// Returns whether quantized rows fit into the memory that an index may keep beside its rows.
bool fits(Proposer proposer, const DeviceInfo& device, const Problem& problem, const SearchOptions& options) {
  return quantized_bytes(proposer, problem.n, problem.dims) <= room_for_quantized_rows(device, options);
}

/// Returns whether int8 answers such few queries faster than the chain, once its rows are made.
bool bytes_gain(const DeviceInfo& device, const Problem& problem, const SearchOptions& options) {
  const bool large = std::any_of(std::begin(few_on_host), std::end(few_on_host),
                                 [&](const Pays& line) { return is_of(line, device, problem); });
  return device.profile.host_threads && large && problem.n >= rows_a_ranked * problem.k * problem.m &&
         fits(Proposer::int8, device, problem, options);
}

}  // namespace

ProposerChoice choose_proposer(const DeviceInfo& device, const Problem& problem, const SearchOptions& options,
                               const Feedback& feedback) {
  if (!is_free(problem, options)) return {};
  const auto* const best = std::find_if(std::begin(pays), std::end(pays), [&](const Pays& line) {
    return is_of(line, device, problem) && is_there(line, device, problem, feedback) &&
           !is_too_coarse(line.proposer, problem, feedback);
  });
  if (best != std::end(pays)) {
    if (fits(best->proposer, device, problem, options)) return {best->proposer};
    return {};
  }
  if (!bytes_gain(device, problem, options) || is_too_coarse(Proposer::int8, problem, feedback)) return {};
  if (feedback.scans < 0) return {};  // nothing that is made would be kept
  if (feedback.bytes_made || feedback.scans >= scans_to_pay) return {Proposer::int8, true};
  return {Proposer::none, false, scans_to_pay - feedback.scans};
}

std::int64_t scans_to_count(const DeviceInfo& device, const Plan& plan, const SearchOptions& options) {
  const bool open = options.proposer == Proposer::automatic && is_free(plan.problem, options);
  const bool by_chain = plan.proposer == Proposer::none && !plan.boxes && (!plan.filters || plan.struck);
  if (!open || !by_chain || !bytes_gain(device, plan.problem, options)) return 0;
  constexpr std::int64_t queries_a_scan = 8;
  return plan.problem.m == 1 ? 1 : (plan.problem.m + queries_a_scan - 1) / queries_a_scan * 2;
}

bool asks_for_byte_speed(const DeviceInfo& device, const Problem& problem, const SearchOptions& options) {
  return options.proposer == Proposer::automatic && is_free(problem, options) &&
         problem.m <= std::int64_t{device.profile.byte_queries} &&
         std::any_of(std::begin(pays), std::end(pays), [&](const Pays& line) {
           return line.needs == Needs::fast_bytes && is_of(line, device, problem);
         });
}

bool lists_too_many(const Problem& problem, double ranked, double byte_speed) {
  const double k = static_cast<double>(problem.k);
  const double listed = std::min(4.0, listed_a_root / std::sqrt(k));  // for each that was ranked beyond k
  return listed * (ranked - k) > worth_listing(problem, byte_speed);
}

Choice choose_proposed(const DeviceInfo& device, const Problem& problem, const SearchOptions& options,
                       Proposer proposer) {
  Problem seeding = problem;
  seeding.n = std::max(seed_of(problem, options, proposer), problem.k);
  Choice choice = choose_chain(device, seeding, options);
  choice.proposer = proposer;
  choice.seed_rows = seed_of(problem, options, proposer);
  choice.train_tile = whole_quantized_blocks(problem.n);
  if (proposer == Proposer::gemm) limit_products(device, problem, choice);
  if (device.profile.host_threads) limit_products_cpu(device, problem, options, choice);
  choice.candidates = std::max(fewest_places, places_a_neighbour * problem.k);
  if (device.kind == DeviceKind::gpu && spi::is_scaled(proposer))
    visit_fast(device.profile, problem, options, choice);
  else
    visit_blocks(problem, options, choice);
  choice.reason = reasons::proposed(proposer, options.proposer != Proposer::automatic);
  return choice;
}

}  // namespace kith
