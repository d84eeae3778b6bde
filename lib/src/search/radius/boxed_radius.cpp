// Radius searches by boxes: docs/boxes.md, section 3.
#include <algorithm>
#include <string>

#include "base/numbers.hpp"
#include "device/watcher.hpp"
#include "metric/chain.hpp"
#include "rows/row_filter.hpp"
#include "search/radius/radius.hpp"
#include "search/resident/boxed_search.hpp"
#include "search/resident/pipeline.hpp"

namespace kith {
namespace {

constexpr std::int64_t places = 256;  // places of a list

/// Returns the plan of a search for as many neighbours as a list holds; nothing if it does not use boxes.
std::optional<Plan> boxes_plan(const ResidentRows& index, MatrixView<const float> queries,
                               const SearchOptions& options, Trace& made) {
  const std::int64_t most = std::min<std::int64_t>(index.rows - (options.self ? 1 : 0),
                                                   index.device.info().boxes_max_k - (options.self ? 1 : 0));
  if (most < 1 || queries.rows() == 0) return std::nullopt;
  Plan plan =
      plan_search(index, queries.rows(), std::min(places, most), options, index.made->lessons.feedback());
  std::string why_not;
  if (!plan.boxes) return std::nullopt;
  if (plan.tried_queries > 0 && !boxes_pay(index, queries, options, plan, why_not, made)) return std::nullopt;
  return plan;
}

/// Fills the lists of a radius search by boxes.
class BoxedRadius {
 public:
  BoxedRadius(const ResidentRows& index, const Plan& plan, const SearchOptions& options, Trace* trace)
      : index_(index),
        plan_(plan),
        trace_(trace),
        state_(index.device.state()),
        workspace_(state_, plan, scratch_of(*state_, plan)),
        filter_(state_, plan, options),
        search_(index, plan, options, filter_, trace),
        bounds_(state_, size(plan.query_tile) * sizeof(float)) {}

  /// Searches for queries first, first + 1, ..., and appends those that it leaves open to `left`.
  ///   lists  [m], [out]  gets the keys of the others
  ///   left   [out]  gets the numbers of queries that are left open
  void run(MatrixView<const float> queries, std::int64_t first, std::span<const float> bounds,
           std::vector<std::vector<Key>>& lists, std::vector<std::int64_t>& left) {
    const std::size_t k = size(plan_.problem.k), count = size(queries.rows());
    upload_tile(index_, plan_, queries, first, workspace_, filter_, trace_);
    {
      const DeviceSession session(*state_);
      session->write(*bounds_.get(), 0, bounds.data(), bounds.size_bytes());
    }
    std::function<void()> nothing;
    const std::vector<std::uint32_t> leaves =
        search_.walk(queries, workspace_, trace_, nothing, {bounds_.get(), 0, count, 1, 1});
    keys_.resize(count * k);
    {
      const DeviceSession session(*state_);
      session->read(*workspace_.result(queries.rows()).memory, 0, keys_.data(), keys_.size() * sizeof(Key));
    }
    for (std::size_t q = 0; q < count; ++q) {
      const Key* const keys = keys_.data() + q * k;
      const std::int64_t number = first + static_cast<std::int64_t>(q);
      if (trace_) trace_->leaves += leaves[q];
      if (static_cast<std::int64_t>(leaves[q]) > plan_.most_leaves ||
          (keys[k - 1] != no_key && plan_.problem.k < index_.rows))
        left.push_back(number);
      else
        lists[size(number)].assign(keys, std::find(keys, keys + k, no_key));
    }
  }

 private:
  const ResidentRows& index_;
  const Plan& plan_;
  Trace* const trace_;
  const std::shared_ptr<Device::State>& state_;
  Workspace workspace_;
  const DeviceFilter filter_;
  const BoxedSearch search_;
  const DeviceMemory bounds_;  ///< [query_tile] floats
  std::vector<Key> keys_;
};

/// Joins lists, without the queries' own rows.
///   others  lists of the queries in `left`, in that order
RadiusKeys joined(const Plan& plan, const std::vector<std::vector<Key>>& lists,
                  const std::vector<std::int64_t>& left, const RadiusKeys& others) {
  RadiusKeys found{static_cast<std::int64_t>(lists.size()), {0}, {}, {}};
  const auto add = [&](std::int64_t q, std::uint32_t value, std::int64_t row) {
    if (plan.self && row == *plan.self + q) return;
    found.value.push_back(value);
    found.row.push_back(row);
  };
  std::size_t next = 0;
  for (std::int64_t q = 0; q < found.queries; ++q) {
    if (next < left.size() && left[next] == q) {
      for (std::size_t i = size(others.first[next]); i < size(others.first[next + 1]); ++i)
        add(q, others.value[i], others.row[i]);
      ++next;
    } else {
      for (const Key key : lists[size(q)])
        add(q, static_cast<std::uint32_t>(key >> 32), static_cast<std::int64_t>(row_of(key)));
    }
    found.first.push_back(static_cast<std::int64_t>(found.row.size()));
  }
  return found;
}

}  // namespace

void tell_of_boxes(const Plan& plan, std::int64_t tiles, const Trace& made, Trace& trace) {
  trace.plan = plan;
  trace.plan.problem.k = 0;
  trace.query_tiles = tiles;
  trace.train_tiles = 1;
  trace.boxes_seconds = made.boxes_seconds;
  trace.boxes_bytes = made.boxes_bytes;
}

std::optional<RadiusKeys> within_by_boxes(
    const ResidentRows& index, MatrixView<const float> queries, std::span<const float> bounds,
    const SearchOptions& options, Trace* trace,
    const std::function<RadiusKeys(const std::vector<std::int64_t>& queries)>& other_way) {
  Trace made;
  const std::optional<Plan> plan = boxes_plan(index, queries, options, made);
  if (!plan) return std::nullopt;
  const std::int64_t m = queries.rows(), tiles = divide_up(m, plan->query_tile);
  if (trace) tell_of_boxes(*plan, tiles, made, *trace);
  Watcher watcher(options, tiles);
  watcher.check_stop();
  std::vector<std::vector<Key>> lists(size(m));
  std::vector<std::int64_t> left;
  {
    BoxedRadius search(index, *plan, options, trace);
    for (std::int64_t first = 0; first < m; first += plan->query_tile) {
      const std::int64_t count = std::min(plan->query_tile, m - first);
      search.run(queries.slice(first, count), first, bounds.subspan(size(first), size(count)), lists, left);
      watcher.step_done();
    }
  }
  RadiusKeys others{0, {0}, {}, {}};
  if (!left.empty()) others = other_way(left);
  if (trace) trace->fallbacks = static_cast<std::int64_t>(left.size());
  return joined(*plan, lists, left, others);
}

}  // namespace kith
