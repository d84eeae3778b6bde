#include "search/resident/rest_search.hpp"

#include <vector>

#include "plan/plan_memory.hpp"
#include "rows/rows.hpp"
#include "search/lists/trace_sums.hpp"
#include "search/resident/boxed_search.hpp"
#include "search/resident/pipeline.hpp"

namespace kith {
namespace {

/// Moves the keys of queries first, first + 1, ... of the rest to their places among the tile's keys.
void move_keys(Device::State& state, const Workspace& from, std::int64_t first, std::int64_t count,
               const Open& open, const Workspace& to) {
  const spi::Grid<Key> found = from.result(count), result = to.result(1);
  const std::size_t k = found.cols;
  std::vector<Key> keys(static_cast<std::size_t>(count) * k);
  const DeviceSession session(state);
  session->read(*found.memory, 0, keys.data(), keys.size() * sizeof(Key));
  for (std::int64_t i = 0; i < count; ++i) {
    const auto q = static_cast<std::size_t>(open.queries[static_cast<std::size_t>(first + i)]);
    session->write(*result.memory, q * k * sizeof(Key), keys.data() + static_cast<std::size_t>(i) * k,
                   k * sizeof(Key));
  }
}

}  // namespace

SearchOptions options_for_rest(const ResidentRows& index, const Plan& plan, const SearchOptions& options) {
  SearchOptions rest;
  rest.proposer = Proposer::none;
  rest.boxes = false;
  rest.filter = options.filter;
  rest.memory_limit = memory_budget(index.device.info(), plan, options);  // the other half
  rest.threads = options.threads;
  rest.stop = options.stop;
  return rest;
}

std::int64_t search_rest(const ResidentRows& index, const Plan& plan, const SearchOptions& options,
                         const QueryRows& queries, float largest, const Open& open, Proposer proposer,
                         const Workspace& workspace, Trace* trace) {
  const QueryRows rest = queries.chosen(open.queries);
  SearchOptions way = options_for_rest(index, plan, options);
  way.proposer = proposer;
  const Plan own = plan_search(index, rest.rows(), plan.problem.k, way, {});
  Trace more = trace ? asked_like(*trace) : Trace{};
  more.time_steps = trace && trace->time_steps;
  search_tiles({index, own, way, rest, largest, &more},
               [&](Workspace& from, std::int64_t first, std::int64_t count) {
                 move_keys(*index.device.state(), from, first, count, open, workspace);
               });
  if (trace) add_rest(*trace, more);
  return more.fallbacks;
}

}  // namespace kith
