// Counts rows within radii by boxes: docs/boxes.md, section 3.
#include <algorithm>
#include <numeric>
#include <optional>
#include <string>
#include <vector>

#include "base/numbers.hpp"
#include "device/timing.hpp"
#include "device/watcher.hpp"
#include "kith/error.hpp"
#include "rows/row_filter.hpp"
#include "rows/rows.hpp"
#include "search/radius/counts.hpp"
#include "search/radius/radius.hpp"
#include "search/resident/boxed_search.hpp"
#include "search/resident/pipeline.hpp"

namespace kith {
namespace {

constexpr std::int64_t most_counts = std::int64_t{1} << 22;  // of a query tile

/// Holds the memory of one count by boxes, and makes its steps.
class BoxedCounts {
 public:
  ///   plan  of a search by boxes; all arguments must outlive this
  BoxedCounts(const ResidentRows& index, const Plan& plan, std::int64_t radii, const SearchOptions& options,
              Trace* trace)
      : plan_(plan),
        radii_(size(radii)),
        trace_(trace),
        state_(index.device.state()),
        boxes_(boxes_for(index, options, trace)),
        filter_(state_, plan, options),
        queries_(state_, packed_bytes(plan.query_tile, plan.problem.dims, block())),
        order_(state_, words(1)),
        bounds_(state_, words(radii_)),
        counts_(state_, words(radii_)),
        leaves_(state_, words(1)) {
    scratch_bytes_ =
        std::max(state_->check(step(plan.query_tile, false, plan.query_tile)).scratch_bytes,
                 boxes_->order() ? std::size_t{0} : state_->check(order_of(plan.query_tile)).scratch_bytes);
    if (scratch_bytes_) scratch_ = DeviceMemory(state_, scratch_bytes_);
  }

  /// Counts for a tile of queries. Returns the counts, [queries.rows(), radii].
  ///   first   number of the tile's first query in the search
  ///   bounds  [1 or queries.rows(), radii]
  const std::vector<std::uint32_t>& run(MatrixView<const float> queries, std::int64_t first,
                                        MatrixView<const float> bounds) {
    const Stopwatch upload;
    upload_rows(*state_, *queries_.get(), queries, block(), plan_.threads);
    filter_.upload(first, queries.rows());
    if (trace_) trace_->seconds["upload"] += upload.seconds();
    const bool ordered = queries.rows() >= worth_sorting;
    const std::vector<std::uint32_t> order = ordered ? order_on_host(queries) : std::vector<std::uint32_t>();
    numbers_.resize(size(queries.rows()) * radii_);
    read_.resize(trace_ ? size(queries.rows()) : 0);
    const DeviceSession session(*state_);
    if (!order.empty()) write(*session, order_, order);
    write(*session, bounds_,
          std::vector<float>(bounds.data(), bounds.data() + bounds.rows() * bounds.cols()));
    StepTimer timer(*session, trace_);
    if (ordered && order.empty()) {
      session->enqueue(order_of(queries.rows()));
      timer.after(spi::OrderStep::name);
    }
    session->enqueue(step(queries.rows(), ordered, bounds.rows()));
    timer.after(spi::CountStep::name);
    timer.collect();
    session->read(*counts_.get(), 0, numbers_.data(), numbers_.size() * sizeof(std::uint32_t));
    if (trace_) session->read(*leaves_.get(), 0, read_.data(), read_.size() * sizeof(std::uint32_t));
    return numbers_;
  }

  /// Returns how many leaves the queries of the last tile read, if there is a trace.
  std::int64_t leaves() const { return std::accumulate(read_.begin(), read_.end(), std::int64_t{0}); }

 private:
  std::uint32_t block() const { return state_->device->info.query_block; }
  std::size_t words(std::size_t a_query) const {
    return size(plan_.query_tile) * a_query * sizeof(std::uint32_t);
  }

  /// Returns an order in which queries read the same leaves; empty if the device makes it, by order_of().
  std::vector<std::uint32_t> order_on_host(MatrixView<const float> queries) const {
    if (!boxes_->order()) return {};
    const Stopwatch sorting;
    std::vector<std::uint32_t> order = boxes_->order()->order_of(queries, plan_.threads);
    if (trace_) trace_->seconds["sort"] += sorting.seconds();
    return order;
  }

  template <class T>
  static void write(spi::Device& device, const DeviceMemory& to, const std::vector<T>& values) {
    device.write(*to.get(), 0, values.data(), values.size() * sizeof(T));
  }

  spi::RowBlocks query_rows(std::int64_t count) const {
    return {queries_.get(), 0, static_cast<std::uint32_t>(count),
            static_cast<std::uint32_t>(plan_.problem.dims), block()};
  }

  spi::Step order_of(std::int64_t count) const {
    return order_step(query_rows(count), boxes_->frame(), order_.get(), {scratch_.get(), scratch_bytes_},
                      plan_.threads);
  }

  spi::Step step(std::int64_t count, bool ordered, std::int64_t bounds) const {
    const std::size_t q = size(count);
    spi::Grid<std::uint32_t> order;
    if (ordered) order = {order_.get(), 0, 1, q, q};
    return {spi::CountStep{plan_.problem.metric,
                           query_rows(count),
                           order,
                           boxes_->boxes(),
                           {bounds_.get(), 0, size(bounds), radii_, radii_},
                           filter_.words(count),
                           {counts_.get(), 0, q, radii_, radii_},
                           {leaves_.get(), 0, q, 1, 1},
                           {scratch_.get(), scratch_bytes_}},
            plan_.threads};
  }

  const Plan& plan_;
  const std::size_t radii_;
  Trace* const trace_;
  const std::shared_ptr<Device::State>& state_;
  const std::shared_ptr<const IndexBoxes> boxes_;
  const DeviceFilter filter_;
  const DeviceMemory queries_, order_, bounds_, counts_, leaves_;
  DeviceMemory scratch_;
  std::size_t scratch_bytes_ = 0;
  std::vector<std::uint32_t> numbers_, read_;
};

/// Returns why the device cannot count by boxes; empty if it can.
std::string refusal_of_counts(const ResidentRows& index) {
  const auto dims = static_cast<std::uint32_t>(index.dims);
  const spi::RowBlocks queries{nullptr, 0, 1, dims, index.device.info().query_block};
  const spi::Boxes boxes{{nullptr, 0, 1, dims, spi::box_rows}, {}, {}};
  return index.device.state()
      ->check({spi::CountStep{index.metric, queries, {}, boxes, {nullptr, 0, 1, 1, 1}, {}, {}, {}, {}}})
      .refusal;
}

/// Returns the plan of a count by boxes; nothing if there is none. It needs no sample of queries: a count
/// that reads all leaves takes about as long as one by distances.
std::optional<Plan> boxes_plan(const ResidentRows& index, const CountRequest& request) {
  const SearchOptions& options = request.search.options;
  if (options.boxes == false || request.search.m() == 0) return std::nullopt;
  const std::string refusal = refusal_of_counts(index);
  if (!refusal.empty()) {
    if (options.boxes != true) return std::nullopt;
    if (is_of_sums(index.metric))
      throw Error(Errc::unsupported, request.where + ": boxes were asked for, and counts by " +
                                         std::string(name(index.metric)) + " have none; leave them to kith");
    throw Error(Errc::unsupported, request.where + ": " + index.device.info().spec + ": " + refusal);
  }
  Feedback feedback = index.made->lessons.feedback();
  feedback.boxes_lose_from = 0;  // that is of lists
  Plan plan = plan_search(index, request.search.m(), 1, options, feedback);
  if (!plan.boxes) return std::nullopt;
  plan.tried_queries = 0;
  plan.query_tile = std::min(plan.query_tile, std::max<std::int64_t>(1, most_counts / request.bounds.cols()));
  return plan;
}

}  // namespace

bool count_by_boxes(const ResidentRows& index, const CountRequest& request, Trace* trace) {
  const std::optional<Plan> plan = boxes_plan(index, request);
  if (!plan) return false;
  const std::int64_t m = request.search.m(), tiles = divide_up(m, plan->query_tile);
  if (trace) tell_of_boxes(*plan, tiles, {}, *trace);
  Watcher watcher(request.search.options, tiles);
  watcher.check_stop();
  const MatrixView<const float> queries = request.search.queries.rows().on_host();
  BoxedCounts counts(index, *plan, request.bounds.cols(), request.search.options, trace);
  for (std::int64_t first = 0; first < m; first += plan->query_tile) {
    const std::int64_t count = std::min(plan->query_tile, m - first);
    const std::vector<std::uint32_t>& of_tile =
        counts.run(queries.slice(first, count), first, request.bounds_of(first, count));
    if (trace) trace->leaves += counts.leaves();
    request.take(first, {of_tile.data(), count, request.bounds.cols()});
    watcher.step_done();
  }
  return true;
}

}  // namespace kith
