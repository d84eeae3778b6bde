// Compares random searches by proposers, many on one Index, with the chain alone.
#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "workloads/cases.hpp"

namespace kith::workloads {

/// So many successive cases are one set, and search the same rows.
inline constexpr std::uint64_t cases_a_set = 16;

/// Draws set `number` of the series `seed` for the proposers of `device`: [cases_a_set], of the same rows and
/// metric, with different queries (the first m of one list), k, proposers and tiles. Half of them use fp16 if
/// the device has it. They have fewer and more than 64 queries, where kernels change, and up to 20,000 rows;
/// CPUs get less.
std::vector<Case> proposed_cases(const DeviceInfo& device, std::span<const Proposer> proposers,
                                 std::uint64_t seed, std::uint64_t number);

/// Counts how the cases of a proposer, or of a kind of data, ended.
struct CaseCounts {
  std::uint64_t cases = 0;
  std::uint64_t queries = 0;
  std::uint64_t repeats = 0;       ///< queries that had too many candidates at first: Trace::repeats
  std::uint64_t fallbacks = 0;     ///< queries that had too many to the end: Trace::fallbacks
  std::uint64_t out_of_range = 0;  ///< queries of cases whose values no proposer takes: the chain searched

  CaseCounts& operator+=(const CaseCounts& more);
  bool operator==(const CaseCounts&) const = default;
};

/// Holds counts by name of the proposer, and by kind of data.
using AllCaseCounts = std::map<std::string, CaseCounts>;

struct ProposedOptions : RandomOptions {
  std::vector<Proposer> proposers;  ///< at least one, and the device has all
};

struct ProposedResult : RandomResult {
  AllCaseCounts case_counts;
  std::uint64_t vouched = 0;  ///< sets whose answers by the chain a second device gave, too

  /// Adds the counts of later cases; `next` becomes that of `more`.
  ProposedResult& operator+=(const ProposedResult& more);
};

/// Runs every case on all `workers` at once, and compares it with the chain
/// alone on the same worker. Every 16th set is also compared with the chain
/// of `voucher`, or with plain_answer() if there is none, for a few queries.
///   workers  the same device, opened several times: a thread each
///   options  first: any case. If time runs out, the rest of a set is skipped, and not counted
/// An error counts as a difference.
ProposedResult run_proposed_cases(std::span<const Device> workers, const Device* voucher,
                                  const ProposedOptions& options);

/// Returns the first k neighbours of the first m queries.
Neighbors first_of(const Neighbors& all, std::int64_t m, std::int64_t k);

}  // namespace kith::workloads
