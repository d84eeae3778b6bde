#include "search/resident/resident_search.hpp"

#include <algorithm>
#include <optional>
#include <span>
#include <vector>

#include "base/numbers.hpp"
#include "certified/quantized_rows.hpp"
#include "check/proposer_check.hpp"
#include "device/host_buffer.hpp"
#include "device/timing.hpp"
#include "host/parallel.hpp"
#include "kith/spi/product_error.hpp"
#include "plan/reasons.hpp"
#include "rows/row_filter.hpp"
#include "rows/rows.hpp"
#include "search/resident/boxed_search.hpp"
#include "search/resident/pipeline.hpp"
#include "search/resident/postfiltered_lists.hpp"
#include "search/resident/prefiltered_search.hpp"
#include "search/resident/sampling.hpp"

namespace kith {
namespace {

constexpr std::int64_t keys_a_share = 1 << 12;  // handing out fewer takes longer than finishing them

/// Calls body(q, some) for queries q ... q + some - 1 of `count`, by several threads, in shares that are
/// worth handing out.
template <class Body>
void for_each_share(std::int64_t count, const Plan& plan, const Body& body) {
  const std::int64_t a_share = std::max<std::int64_t>(1, keys_a_share / plan.problem.k);
  constexpr std::int64_t steps_a_key = 4;  // of those that parallel_for() counts by
  parallel_for(
      divide_up(count, a_share), steps_a_key * count * plan.problem.k, plan.threads,
      [&](std::int64_t share) { body(share * a_share, std::min(a_share, count - share * a_share)); });
}

/// Calls body(q) for q in 0 .. count - 1, likewise.
template <class Body>
void for_each_list(std::int64_t count, const Plan& plan, const Body& body) {
  for_each_share(count, plan, [&](std::int64_t first, std::int64_t some) {
    for (std::int64_t q = first; q < first + some; ++q) body(static_cast<std::size_t>(q));
  });
}

/// Reads the keys of a query tile from the device.
///   keys  at least [count, plan.problem.k]
void read_tile(const ResidentRows& index, const Workspace& workspace, std::int64_t count, Trace* trace,
               std::span<Key> keys) {
  const spi::Grid<Key> result = workspace.result(count);
  const Stopwatch download;
  {
    const DeviceSession session(*index.device.state());
    session->read(*result.memory, 0, keys.data(), result.rows * result.cols * sizeof(Key));
  }
  if (trace) trace->seconds["download"] += download.seconds();
}

/// Removes rows that do not count from the lists of a tile, unless the plan strikes them out, which happens
/// later.
void tidy_tile(const Plan& plan, std::int64_t first, std::int64_t count, Trace* trace, std::span<Key> keys) {
  const auto width = static_cast<std::size_t>(plan.problem.k);
  const Stopwatch tidying;
  for_each_list(count, plan, [&](std::size_t q) {
    std::optional<std::uint32_t> own;
    if (plan.self) own = static_cast<std::uint32_t>(*plan.self + first) + static_cast<std::uint32_t>(q);
    tidy({keys.data() + q * width, width}, own);
  });
  if (trace) trace->seconds["finish"] += tidying.seconds();
}

/// Passes the k nearest of each of `count` lists to `sink`, as queries first, first + 1, ...
void put_tile(const Plan& plan, std::int64_t first, std::int64_t count, std::int64_t k,
              std::span<const Key> keys, AnswerSink& sink, Trace* trace) {
  const Stopwatch finishing;
  const auto nearest = static_cast<std::size_t>(k), width = static_cast<std::size_t>(plan.problem.k);
  if (nearest == width) {
    const auto put = [&](std::int64_t q, std::int64_t some) {
      sink.put_lists(first + q, keys.subspan(size(q) * width, size(some) * width), width);
    };
    sink.takes_lists() ? put(0, count) : for_each_share(count, plan, put);
  } else if (sink.takes_lists()) {
    std::vector<Key> lists(static_cast<std::size_t>(count) * nearest);
    for (std::size_t q = 0; q < static_cast<std::size_t>(count); ++q)
      std::copy_n(keys.begin() + static_cast<std::ptrdiff_t>(q * width), nearest,
                  lists.begin() + static_cast<std::ptrdiff_t>(q * nearest));
    sink.put_lists(first, lists, nearest);
  } else {
    for_each_list(count, plan, [&](std::size_t q) {
      sink.put(first + static_cast<std::int64_t>(q), keys.subspan(q * width, nearest));
    });
  }
  if (trace) trace->seconds["finish"] += finishing.seconds();
}

/// Holds memory for the keys of a query tile on the host, made when it is first needed.
class KeysOfTile {
 public:
  KeysOfTile(const ResidentRows& index, const Plan& plan)
      : state_(*index.device.state()),
        count_(static_cast<std::size_t>(plan.query_tile) * static_cast<std::size_t>(plan.problem.k)) {}
  std::span<Key> keys() {
    if (!buffer_) buffer_.emplace(state_, count_ * sizeof(Key));
    return buffer_->as<Key>(count_);
  }

 private:
  Device::State& state_;
  const std::size_t count_;
  std::optional<HostBuffer> buffer_;
};

/// Reports the proposer's bound and self-test, on which a certificate rests.
void tell_of_proposer(const Plan& plan, const DeviceInfo& device, Trace& trace) {
  if (plan.proposer == Proposer::none) return;
  trace.product_bound =
      spi::largest_product_error(plan.proposer, static_cast<std::size_t>(plan.problem.dims));
  trace.proposer_check = proposer_check(plan, device);
}

/// Decides what depends on the values of the queries: whether boxes pay, whether a proposer has a bound for
/// them, and which selector is the fastest in a sample.
///   trace  gets the seconds and bytes of anything made meanwhile
void decide_by_values(const ResidentRows& index, const QuerySet& queries, std::int64_t k,
                      const SearchOptions& given, const Feedback& feedback, Plan& plan, Trace& trace) {
  const std::int64_t m = queries.count();
  const bool tries_boxes = plan.boxes && plan.tried_queries > 0;
  const bool samples = !given.sample.empty() && m > 0;
  if (!tries_boxes && !samples && has_bound(index, plan.proposer, queries.largest())) return;
  SearchOptions options = given;
  std::string why_not;
  if (tries_boxes && !boxes_pay(index, queries.rows(), options, plan, why_not, trace)) {
    options.boxes = false;
    plan = plan_search(index, m, k, options, feedback);
    plan.reason += why_not;
  }
  if (!has_bound(index, plan.proposer, queries.largest())) {
    options.proposer = Proposer::none;
    plan = plan_search(index, m, k, options, feedback);
    plan.reason = reasons::out_of_range(plan.reason);
  }
  if (samples) plan = plan_by_sample(index, queries.rows(), k, options);
}

/// Returns what a search by `plan` can use of what is known: only proposers have thresholds, and lists from
/// which rows are removed later need more than k rows.
FoundBefore begins_with(const ResidentRows& index, const Plan& plan, const FoundBefore& known) {
  const bool takes = plan.proposer != Proposer::none && !plan.filters && !plan.self &&
                     plan.problem.k <= known.k && has_numbers_before(index.rows, plan.problem.k);
  return takes ? known : FoundBefore{};
}

void leave_out_lists(const ResidentRows& index, const Plan& plan, std::int64_t count, std::span<Key> keys) {
  const auto width = static_cast<std::size_t>(plan.problem.k);
  for_each_list(count, plan,
                [&](std::size_t q) { leave_out_before(keys.subspan(q * width, width), index.rows); });
}

/// Resets the trace at the beginning of a search by a plan.
void begin_trace(const ResidentRows& index, const Plan& plan, const Trace& made, Trace& trace) {
  restart(trace);
  trace.boxes_seconds = made.boxes_seconds;
  trace.boxes_bytes = made.boxes_bytes;
  trace.plan = plan;
  tell_of_proposer(plan, index.device.info(), trace);
}

/// Answers one request by one plan.
class AnswerSearch {
 public:
  /// All arguments must outlive this.
  AnswerSearch(const ResidentRows& index, const SearchRequest& request, const SearchOptions& options,
               const Plan& plan, AnswerSink& sink, Trace* trace)
      : index_(index),
        request_(request),
        options_(options),
        plan_(plan),
        sink_(sink),
        trace_(trace),
        known_(begins_with(index, plan, request.known)),
        room_(index, plan) {}

  PlannedSearch planned() {
    const QuerySet& queries = request_.queries;
    if (plan_.struck) unfiltered_.emplace(options_).filter = {};
    std::function<std::span<Key>()> room;
    if (!sink_.takes_on_device()) room = [this] { return room_.keys(); };
    return {index_,
            plan_,
            unfiltered_ ? *unfiltered_ : options_,
            queries.rows(),
            queries.largest(),
            trace_,
            [this] { sink_.begin(request_.m(), request_.k); },
            request_.staying_queries,
            room,
            known_};
  }

  void take_tile(Workspace& workspace, std::int64_t first, std::int64_t count) {
    if (is_taken_on_device(workspace, first, count)) return;
    const std::span<Key> keys = room_.keys();
    if (workspace.keys_read(count).empty()) read_tile(index_, workspace, count, trace_, keys);
    workspace.upload().let_go();
    if (!plan_.struck && (plan_.filters || plan_.self || takes_gaps(plan_.problem.metric)))
      tidy_tile(plan_, first, count, trace_, keys);
    if (!known_.value.empty()) leave_out_lists(index_, plan_, count, keys);
    if (plan_.struck)
      leave_filtered_out(index_, plan_, options_, request_.queries.rows().slice(first, count), first,
                         request_.k, keys, trace_);
    put_tile(plan_, first, count, request_.k, keys, sink_, trace_);
    sink_.tile_done(workspace, first, count);
  }

 private:
  /// Lets the sink take answers on the device. Returns false also if the host must still strike rows out
  /// of lists.
  bool is_taken_on_device(const Workspace& workspace, std::int64_t first, std::int64_t count) const {
    if (plan_.struck || !known_.value.empty() || !sink_.takes_on_device()) return false;
    KeysOnDevice found{workspace.result(count), first, request_.k};
    if (plan_.self) found.own = *plan_.self + first;
    return sink_.take_on_device(found, trace_);
  }

  const ResidentRows& index_;
  const SearchRequest& request_;
  const SearchOptions& options_;
  const Plan& plan_;
  AnswerSink& sink_;
  Trace* const trace_;
  const FoundBefore known_;
  KeysOfTile room_;
  std::optional<SearchOptions> unfiltered_;  ///< options without the filter, if rows are struck
                                             ///< out afterwards
};

/// Returns the plan by which an earlier chunk was searched; null if none fits.
const Plan* plan_of_alike(const ResidentRows& index, const SearchRequest& request) {
  if (!request.stream_plan || !*request.stream_plan || has_filter(request.options)) return nullptr;
  const Plan& plan = **request.stream_plan;
  return plan.problem.n == index.rows ? &plan : nullptr;
}

/// Returns what sends the queries while they are checked; null if that is of no use. Bytes are landed before
/// the search takes the rest of its memory, so that both must only fit into this.
std::shared_ptr<SentQueries> sent_for(const ResidentRows& index, const Plan& plan,
                                      const SearchRequest& request) {
  const std::int64_t m = request.m();
  if (m > plan.query_tile || request.staying_queries || !request.queries.can_be_sent()) return nullptr;
  const std::size_t landed = packed_bytes(m, index.dims, index.device.info().query_block);
  const bool as_bytes = landed + size(m * index.dims) <= plan.workspace_bytes;
  return SentQueries::of(index.device.state(), m, index.dims, look_for(index, plan.proposer, m), as_bytes);
}

}  // namespace

const SearchOptions& options_for(const ResidentRows& rows, const SearchOptions& given, SearchOptions& own) {
  if (!rows.rows_are_bytes && rows.residence == Residence::resident) return given;
  const auto& [proposer, quantized] = *rows.made->quantized_rows.begin();
  const std::size_t memory = rows.device.info().memory_bytes, bytes = quantized->bytes();
  own = given;
  own.proposer = proposer;
  own.boxes = false;
  own.sample.clear();
  if (!rows.rows_are_bytes)
    own.memory_limit =
        given.memory_limit ? std::min(given.memory_limit, rows.search_bytes) : rows.search_bytes;
  else if (!given.memory_limit && memory > bytes)
    own.memory_limit = (memory - bytes) / 2;
  return own;
}

std::vector<std::int64_t> search_resident(const ResidentRows& index, const SearchRequest& request,
                                          AnswerSink& sink, Trace* trace) {
  SearchOptions own;
  const SearchOptions& options = options_for(index, request.options, own);
  if (prefilters(index, request.m(), request.k, options) && search_prefiltered(index, request, sink, trace))
    return {};
  Feedback feedback = index.made->lessons.feedback();
  if (request.stream_plan) feedback.scans = scans_of_passing_rows;
  SearchPlanner planner(index, request.m(), request.k, options, feedback);
  const Plan* const alike = plan_of_alike(index, request);
  for (bool begun = false, gave_way = false;; gave_way = true) {
    std::optional<Plan> plan;
    try {
      plan = alike && !gave_way ? *alike : planner.plan();
      if (request.stream_plan && !alike) *request.stream_plan = plan;
      request.queries.prepare(options.threads, sent_for(index, *plan, request),
                              grid_for(index, plan->proposer));
      if (request.queries.passes_host()) plan->reason += reasons::unit_rows_of_host();
      Trace made;
      decide_by_values(index, request.queries, request.k, options, feedback, *plan, made);
      if (request.m() > plan->query_tile) request.queries.forget_sent();
      if (trace) begin_trace(index, *plan, made, *trace);
      AnswerSearch answers(index, request, options, *plan, sink, trace);
      return search_tiles(answers.planned(),
                          [&](Workspace& workspace, std::int64_t first, std::int64_t count) {
                            begun = true;
                            answers.take_tile(workspace, first, count);
                          });
    } catch (const Error& error) {
      if (begun || !planner.give_way(error, plan ? &*plan : nullptr)) throw;
      request.queries.forget_sent();
    }
  }
}

}  // namespace kith
