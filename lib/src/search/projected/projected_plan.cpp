// Decides whether projections propose for wide rows, and plans how.
#include <algorithm>

#include "base/float_guard.hpp"
#include "base/numbers.hpp"
#include "certified/quantized_rows.hpp"
#include "plan/plan_filter.hpp"
#include "plan/plan_memory.hpp"
#include "plan/proposal_sizes.hpp"
#include "plan/reasons.hpp"
#include "plan/rules/plan_rules.hpp"
#include "rows/row_filter.hpp"
#include "rows/rows.hpp"
#include "search/picked/picked_search.hpp"
#include "search/projected/projected_rows.hpp"
#include "search/projected/projected_search.hpp"
#include "search/resident/pipeline.hpp"
#include "search/resident/prefiltered_search.hpp"

namespace kith {
namespace {

constexpr std::size_t bytes_of_lists = std::size_t{1} << 27;

/// Returns whether projections, the copy of the rows, lists, and what directions are found with fit beside
/// the rows.
bool fits_projected(const ResidentRows& index, const SearchOptions& options) {
  constexpr std::int64_t columns = fine_columns + 4 * coarse_columns;
  const std::size_t of_directions =
      cells_of(most_rows_of_directions(index.dims) + 4 * fine_columns, index.dims) * sizeof(double);
  return cells_of(index.rows, index.dims + index.dims / 4 + columns) * sizeof(float) + of_directions +
             bytes_of_lists <=
         room_for_quantized_rows(index.device.info(), options);
}

/// Returns whether the device and the rows are such that projections may pay: with AMX all products take less
/// time, and vectors of four floats were not measured.
bool are_rows_right(const ResidentRows& index) {
  constexpr std::int64_t fewest_rows = 1 << 14, fewest_columns = 256, most_columns = std::int64_t{1} << 16;
  const DeviceInfo& device = index.device.info();
  const auto has = [&device](Proposer proposer) {
    return std::find(device.proposers.begin(), device.proposers.end(), proposer) != device.proposers.end();
  };
  const bool is_host = device.profile.host_threads != 0 && device.profile.vector_floats >= 8 &&
                       has(Proposer::dot) && !has(Proposer::bf16);
  return is_host && sums_squares(index.metric) && index.centre.size() == size(index.dims) && !index.terms &&
         !index.rows_are_bytes && index.residence == Residence::resident && index.rows >= fewest_rows &&
         index.dims >= fewest_columns && index.dims <= most_columns;
}

/// Returns whether distances are far below the largest float, whatever the queries; else nothing bounds them.
bool are_values_right(const ResidentRows& index) {
  constexpr double most = 0x1p40;
  return static_cast<double>(index.largest_of_all()) <= most;
}

bool are_sizes_for_projections(const ResidentRows& index, std::int64_t m, std::int64_t k) {
  constexpr std::int64_t rows_a_neighbour = 256, most_k = 256, fewest_queries = 64;
  return m >= fewest_queries && k <= most_k && index.rows >= rows_a_neighbour * k;
}

/// Returns whether projections are there, or are soon worth making: that takes as long as they save with so
/// many queries.
bool are_worth_making(const ResidentRows& index, std::int64_t m, std::int64_t k, bool prepares) {
  constexpr std::int64_t queries = 6000;
  if (const auto known = known_reaches(index); known && known->loses(k)) return false;
  if (made_projected_rows(index)) return true;
  if (index.made->projected_lack_room) return false;
  return prepares || m + index.made->lessons.feedback().queries >= queries;
}

/// Returns whether a search counts most rows, or others taught how far its neighbours are.
bool counts_enough(const ResidentRows& index, std::int64_t k, const SearchOptions& options) {
  if (counts_most_rows(index, options)) return true;
  const auto known = known_reaches(index);
  return known && known->reach(k);
}

}  // namespace

bool counts_most_rows(const ResidentRows& index, const SearchOptions& options) {
  const std::int64_t filters = options.filter.rows();
  return filters == 0 || (filters == 1 && fewest_kept(options.filter, index.rows) >= index.rows / 4 * 3);
}

bool takes_projections(const ResidentRows& index, std::int64_t m, std::int64_t k,
                       const SearchOptions& options, bool prepares) {
  // Rows that fill more directions alike are too much like noise: few directions say little about them.
  constexpr double most_filled = 40;
  if (!are_rows_right(index) || !leaves_way_open(options)) return false;
  const FloatGuard guard;
  return are_values_right(index) && are_sizes_for_projections(index, m, k) &&
         fits_projected(index, options) && are_worth_making(index, m, k, prepares) &&
         counts_enough(index, k, options) && !prefilters(index, m, k, options) &&
         filled_directions(index, options.threads) <= most_filled &&
         plans_to_propose([&] { return plan_projected(index, m, k, options); });
}

bool projections_pay(const ResidentRows& index, double listed, double ranked, bool bytes) {
  // Nanoseconds on a core with AVX2, fitted to searches of Fashion-MNIST: of a coarse row; of a column of a
  // query; of a row that has to be listed, of which there are several for each; of a column of a ranked row;
  // and of a column of a row by products of bytes. Those of wider vectors are estimates.
  constexpr double of_coarse = 2.6, of_column = 45, of_listed = 330, of_ranked = 0.6, of_ranked_byte = 0.15,
                   of_bytes = 0.0165, share = 0.8;
  const bool wide = index.device.info().profile.vector_floats >= 16;
  const auto rows = static_cast<double>(index.rows), dims = static_cast<double>(index.dims);
  const double projected = rows * (wide ? of_coarse / 2 : of_coarse) + dims * of_column + listed * of_listed +
                           ranked * dims * (bytes ? of_ranked_byte : of_ranked);
  return projected < share * rows * dims * (wide ? of_bytes / 2.5 : of_bytes);
}

Plan plan_projected(const ResidentRows& index, std::int64_t m, std::int64_t k, const SearchOptions& options) {
  // Lists have room for several times as many rows as should be listed, and those of a tile for 64 MiB.
  constexpr std::int64_t fewest = 1024, most = 1 << 14, times = 12, unknown = 1000, of_all = 1 << 22,
                         most_queries = 1024;
  const FloatGuard guard;
  check_k("search", k, index.rows, options);
  const std::shared_ptr<const ProjectedRows> made = made_projected_rows(index);
  ResidentRows shell = no_coarse_rows(index);
  shell.rows = index.rows;
  shell.chunks = chunks_without_memory(index.device.info(), index.rows, shell.dims);
  SearchOptions way = options;
  way.proposer = Proposer::dot;
  way.filter = {};
  way.self.reset();
  way.boxes = false;
  Plan plan = plan_search(made ? made->coarse() : shell, m, k, way, {});
  const auto reach = made ? made->reaches()->reach(k) : std::nullopt;
  plan.candidates = std::clamp(times * (reach ? reach->listed : unknown), fewest, most);
  plan.query_tile = std::clamp<std::int64_t>(of_all / plan.candidates, 64, most_queries);
  plan.query_tile = std::min(plan.query_tile, std::max<std::int64_t>(m, 1));
  plan.workspace_bytes = workspace_sizes(index.device.info(), plan).total() + ProposalSizes(plan).total() +
                         scratch_of(*index.device.state(), plan);
  plan.row_copy_bytes = 0;  // coarse rows are not ranked
  plan.self = options.self;
  plan.filters = options.filter.rows();
  plan.shown = {};
  plan.reason = reasons::projected(index.dims);
  return plan;
}

void prepare_projected(const ResidentRows& index, std::int64_t m, std::int64_t k,
                       const SearchOptions& options) {
  const auto made = projected_rows_with_room(index, options.threads);
  if (made) quantized_rows_for(made->coarse(), plan_projected(index, m, k, options), false);
}

}  // namespace kith
