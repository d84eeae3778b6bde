// Decides whether products propose for rows with missing values, and plans how.
#include <algorithm>

#include "base/float_guard.hpp"
#include "base/numbers.hpp"
#include "certified/quantized_rows.hpp"
#include "plan/plan_memory.hpp"
#include "plan/reasons.hpp"
#include "plan/rules/plan_rules.hpp"
#include "rows/row_filter.hpp"
#include "rows/rows.hpp"
#include "search/gaps/gap_rows.hpp"
#include "search/gaps/gapped_search.hpp"
#include "search/picked/picked_search.hpp"
#include "search/resident/pipeline.hpp"
#include "search/resident/prefiltered_search.hpp"

namespace kith {
namespace {

constexpr std::int64_t most_columns = std::int64_t{1} << 16;  // beyond it bounds would be wide

bool asks_for_proposer(const SearchOptions& options) {
  return options.proposer != Proposer::automatic && options.proposer != Proposer::none;
}

/// Returns whether extended rows and what proposers keep of them fit beside the rows.
bool has_room(const ResidentRows& index, const SearchOptions& options) {
  constexpr std::size_t times_the_rows = 5;
  const DeviceInfo& device = index.device.info();
  return times_the_rows * packed_bytes(index.rows, index.dims, device.train_block) <=
         room_for_quantized_rows(device, options);
}

/// Returns whether sizes are such that products and the sample take less time than the chain.
bool are_sizes_right(const ResidentRows& index, std::int64_t m, std::int64_t k) {
  constexpr std::int64_t fewest_rows = 1 << 15, rows_a_neighbour = 256, fewest_columns = 8, most_k = 256,
                         fewest_queries = 64;
  // With AVX2 on two cores products took 0.4 to 0.65 of the time of the chain from so many values on, and
  // with half as many they gained nothing. On GPUs it is an estimate: below it the chain takes milliseconds.
  constexpr double fewest_values = 3e6, fewest_on_gpu = 3e10;
  const double values = static_cast<double>(index.rows) * static_cast<double>(index.dims);
  const bool is_host = index.device.info().profile.host_threads != 0;
  return index.rows >= std::max(fewest_rows, rows_a_neighbour * k) && index.dims >= fewest_columns &&
         index.dims <= most_columns && k <= most_k && m >= fewest_queries && values >= fewest_values &&
         (is_host || values * static_cast<double>(m) >= fewest_on_gpu);
}

/// Returns whether extended rows are there, or are soon worth making: that takes as long as products save
/// with so many queries.
bool are_worth_extending(const ResidentRows& index, std::int64_t m, std::int64_t k) {
  constexpr std::int64_t queries_of_host = 2000, queries_of_gpu = 1 << 14;
  if (const auto made = made_gap_rows(index)) return !made->loses(k);
  if (index.made->gaps_lack_room) return false;
  const std::int64_t asked = m + index.made->lessons.feedback().queries;
  return asked >= (index.device.info().profile.host_threads ? queries_of_host : queries_of_gpu);
}

/// Plans the search of the extended rows, from which products propose.
Plan plan_of_extended(const ResidentRows& index, std::int64_t m, std::int64_t k,
                      const SearchOptions& options) {
  check_k("search", k, index.rows, options);
  const std::shared_ptr<const GapRows> made = made_gap_rows(index);
  ResidentRows shell = no_extended_rows(index);
  shell.rows = index.rows;
  shell.chunks = chunks_without_memory(index.device.info(), index.rows, shell.dims);
  const ResidentRows& extended = made ? made->extended() : shell;
  SearchOptions way = options;
  way.self.reset();
  way.boxes = false;
  return plan_search(extended, m, gaps_proposed_for(k, index.rows, options), way,
                     extended.made->lessons.feedback());
}

}  // namespace

bool takes_gap_products(const ResidentRows& index, std::int64_t m, std::int64_t k,
                        const SearchOptions& options, bool prepares) {
  if (index.metric != Metric::nan_euclidean || index.rows_are_bytes || index.residence != Residence::resident)
    return false;
  if (asks_for_proposer(options))  // which goes with neither boxes nor the fused step: plan_search() says so
    return options.boxes != true && options.fused != true && index.dims <= most_columns;
  const FloatGuard guard;
  if (!leaves_way_open(options) || !are_sizes_right(index, m, k) || !has_room(index, options) ||
      !(prepares || are_worth_extending(index, m, k)) || prefilters(index, m, k, options))
    return false;
  return plans_to_propose([&] { return plan_gapped(index, m, k, options); });
}

std::int64_t gaps_proposed_for(std::int64_t k, std::int64_t rows, const SearchOptions& options) {
  constexpr std::int64_t times = 2, least_more = 8;
  return std::min(times * k + least_more + (options.self ? 1 : 0), rows);
}

Plan plan_gapped(const ResidentRows& index, std::int64_t m, std::int64_t k, const SearchOptions& options) {
  const FloatGuard guard;
  Plan plan = plan_of_extended(index, m, k, options);
  plan.self = options.self;
  plan.reason += reasons::gaps();
  return plan;
}

void prepare_gapped(const ResidentRows& index, std::int64_t m, std::int64_t k, const SearchOptions& options) {
  const auto made = gap_rows_with_room(index, options);
  if (!made) return;
  const Plan plan = plan_of_extended(index, m, k, options);
  if (plan.proposer != Proposer::none) quantized_rows_for(made->extended(), plan, true);
}

}  // namespace kith
