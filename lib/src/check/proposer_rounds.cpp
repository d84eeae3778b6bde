#include "check/proposer_rounds.hpp"

#include <algorithm>
#include <cstddef>
#include <iterator>
#include <limits>
#include <string>

#include "certified/quantized_rows.hpp"
#include "check/hard_rows.hpp"
#include "kith/spi.hpp"

namespace kith {
namespace {

// There are as many queries as rows: more than the kernels for few queries take, and one more than fills
// whole tasks of 32 on a CPU.
constexpr std::uint32_t rows = 97, columns = 131;
// AMX adds 16 products of pairs of bf16 first, then adds them to the sum so far: beyond 32 columns its errors
// stay below a quarter of what sums in order may have.
constexpr std::uint32_t columns_of_bf16 = 32;
// These rounds have visits, so that the kernel with the fused test runs.
constexpr std::uint32_t more_rows = 200;
constexpr Round few_column_rounds[] = {{more_rows, 3, more_rows, true}, {more_rows, 20, more_rows, true}};

/// Returns the columns to test on tensor cores instead of `dims`. A short line is filled, since every product
/// counts. For long lines we test several lengths; if the queries of a step may not fit into fast memory, one
/// of them is so long that they never do.
std::vector<std::uint32_t> columns_for(Proposer proposer, std::int64_t dims) {
  constexpr std::size_t longest_short = 64, fitting_bytes = 512, too_many_bytes = 1700;
  const Proposer queries = spi::proposer_of_queries(proposer);
  const std::size_t line = spi::quantized_columns(queries, static_cast<std::size_t>(dims)),
                    element = spi::quantized_bits(queries) / 8;
  if (proposer == Proposer::fp16 && dims <= spi::most_split_dims)
    return {spi::most_split_dims, static_cast<std::uint32_t>(line)};
  const bool short_rows = proposer == Proposer::int4 &&
                          spi::quantized_bytes_a_row(proposer, static_cast<std::size_t>(dims)) <= 64;
  if (line <= longest_short || short_rows) return {static_cast<std::uint32_t>(line)};
  if (line * element <= fitting_bytes) return {columns};
  return {columns, static_cast<std::uint32_t>(too_many_bytes / element)};
}

/// Returns how many queries to ask at once, so that the kernels for few queries are those that a search of m
/// queries begins with: there may be one kernel for each power of two from 8 on.
std::uint32_t small_batch_at_once(std::int64_t m) {
  std::uint32_t at_once = 8;
  while (at_once < spi::small_batch && at_once < m) at_once *= 2;
  return at_once;
}

}  // namespace

std::vector<Round> rounds_of(const Plan& plan, const DeviceInfo& device) {
  const bool halves = plan.proposer == Proposer::fp16;
  if (plan.proposer == Proposer::bf16)
    return {{rows, columns_of_bf16, rows, false}, {rows, columns, rows, false}};
  if (!halves && (!spi::multiplies_bytes(plan.proposer) || device.profile.host_threads))
    return {{rows, columns, rows, false}};
  const auto most = halves                            ? std::numeric_limits<std::uint32_t>::max()
                    : plan.proposer == Proposer::int4 ? spi::small_batch
                                                      : device.profile.byte_queries;
  const bool many = std::min({plan.problem.m, plan.query_tile, std::int64_t{most}}) > spi::small_batch;
  std::vector<Round> rounds;
  for (const std::uint32_t dims : columns_for(plan.proposer, plan.problem.dims)) {
    rounds.push_back({rows, dims, small_batch_at_once(plan.problem.m), false});
    if (many) rounds.push_back({rows, dims, rows, false});
  }
  if (halves && plan.problem.m > spi::small_batch && plan.problem.dims <= spi::most_fused_test_dims)
    rounds.insert(rounds.end(), std::begin(few_column_rounds), std::end(few_column_rounds));
  return rounds;
}

std::string proposer_check(const Plan& plan, const DeviceInfo& device) {
  const auto text = [](std::uint32_t count) { return std::to_string(count); };
  std::string rounds;
  for (const Round& round : rounds_of(plan, device)) {
    if (!rounds.empty()) rounds += ", ";
    rounds += text(round.n) + " rows of " + text(round.dims) + " columns" +
              (round.at_once < round.n ? " by " + text(round.at_once) + " queries at a time" : "");
  }
  return "self-test on " + rounds +
         ", all difficult (cancelling sums, mixed magnitudes, subnormals, equal elements), with " +
         text(hard_kinds) +
         " queries for each row: no neighbour was missed, and no candidate lay beyond the bound, by double "
         "precision";
}

}  // namespace kith
