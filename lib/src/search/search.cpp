#include "search/search.hpp"

#include <algorithm>
#include <functional>
#include <optional>

#include "base/float_guard.hpp"
#include "certified/quantized_rows.hpp"
#include "check/proposer_check.hpp"
#include "device/device_set.hpp"
#include "device/host_buffer.hpp"
#include "device/timing.hpp"
#include "host/parallel.hpp"
#include "kith/error.hpp"
#include "kith/spi/product_error.hpp"
#include "metric/chain.hpp"
#include "plan/product_bounds.hpp"
#include "plan/reasons.hpp"
#include "rows/landed/borrowed.hpp"
#include "rows/landed/centred_rows.hpp"
#include "rows/landed/landed_rows.hpp"
#include "rows/mapped_options.hpp"
#include "rows/row_filter.hpp"
#include "rows/rows.hpp"
#include "search/boxed_search.hpp"
#include "search/device_memory/device_answers.hpp"
#include "search/filtered/gathered_search.hpp"
#include "search/filtered/struck_lists.hpp"
#include "search/parted/parted_rows.hpp"
#include "search/queries_there.hpp"
#include "search/sampling.hpp"

namespace kith {
namespace {

constexpr std::int64_t keys_a_share = 1 << 12;  // fewer are finished sooner than handed out

/// body(q) for q in 0 .. count-1, as many at a time as are worth handing out.
template <class Body>
void for_each_list(std::int64_t count, const Plan& plan, const Body& body) {
  const std::int64_t a_share = std::max<std::int64_t>(1, keys_a_share / plan.problem.k);
  parallel_for((count + a_share - 1) / a_share, count * plan.problem.k, plan.threads,
               [&](std::int64_t share) {
                 for (std::int64_t q = share * a_share; q < std::min((share + 1) * a_share, count); ++q)
                   body(static_cast<std::size_t>(q));
               });
}

/// Keys of a query tile, read from the device, without those rows that do not count; where the plan strikes
/// them out, that is done afterwards.
///   keys  [count, plan.problem.k]
void read_tile(const Index::State& index, const Plan& plan, const Workspace& workspace, std::int64_t first,
               std::int64_t count, Trace* trace, std::span<Key> keys) {
  const auto width = static_cast<std::size_t>(plan.problem.k);
  const std::size_t bytes = static_cast<std::size_t>(count) * width * sizeof(Key);
  const spi::Grid<Key> result = workspace.result(count);
  const Stopwatch download;
  {
    const DeviceSession session(*index.device.state());
    session->read(*result.memory, 0, keys.data(), bytes);
  }
  if (trace) trace->seconds["download"] += download.seconds();
  if (plan.struck || (!plan.filters && !plan.self)) return;
  const Stopwatch tidying;
  for_each_list(count, plan, [&](std::size_t q) {
    std::optional<std::uint32_t> own;
    if (plan.self) own = static_cast<std::uint32_t>(*plan.self + first) + static_cast<std::uint32_t>(q);
    tidy({keys.data() + q * width, width}, own);
  });
  if (trace) trace->seconds["finish"] += tidying.seconds();
}

/// Keys of the device, whose rows have 32 bits, as keys that shards exchange.
void split(const Index::State& index, std::span<const Key> keys, std::uint32_t* value, std::int64_t* row) {
  for (std::size_t i = 0; i < keys.size(); ++i) {
    value[i] = static_cast<std::uint32_t>(keys[i] >> 32);
    row[i] = keys[i] == no_key
                 ? -1
                 : index.first_row + index.numbers.number(static_cast<std::int64_t>(row_of(keys[i])));
  }
}

/// The first k keys of each of `count` lists, finished into rows first, first + 1, ... of `found`.
void finish_tile(const Index::State& index, const Plan& plan, std::int64_t first, std::int64_t count,
                 Trace* trace, std::span<const Key> keys, std::int64_t neighbors, const FoundPlaces& found) {
  const Stopwatch finishing;
  const auto k = static_cast<std::size_t>(neighbors), width = static_cast<std::size_t>(plan.problem.k);
  for_each_list(count, plan, [&](std::size_t q) {
    const std::size_t to = (static_cast<std::size_t>(first) + q) * k;
    if (found.value)
      split(index, keys.subspan(q * width, k), found.value + to, found.index + to);
    else
      finish(index.metric, keys.subspan(q * width, k), found.distance + to, found.index + to);
  });
  if (trace) trace->seconds["finish"] += finishing.seconds();
}

/// Room for the keys of a query tile on the host, made when it is first asked for.
class KeysOfTile {
 public:
  KeysOfTile(const Index::State& index, const Plan& plan)
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

/// What a certificate rests on.
void tell_of_proposer(const Plan& plan, const DeviceInfo& device, Trace& trace) {
  if (plan.proposer == Proposer::none) return;
  trace.product_bound =
      spi::largest_product_error(plan.proposer, static_cast<std::size_t>(plan.problem.dims));
  trace.proposer_check = proposer_check(plan, device);
}

PreparedRows prepare(const Index::State& index, const RowsView& queries, const PlanOptions& options) {
  PreparedRows rows = prepare_rows("search", "query", queries, index.metric, options.threads, index.mask());
  const FloatGuard guard;
  check_range("search", index.metric, rows.view, index.largest_of_all());
  return rows;
}

/// What of a plan depends on the values of the queries: whether boxes pay, whether a proposer has a bound for
/// them, and the selector that is the fastest in a sample.
///   trace  is told what was made on the way
void decide_by_values(const Index::State& index, const CheckedQueries& queries, std::int64_t k,
                      const PlanOptions& given, const Feedback& feedback, Plan& plan, Trace& trace) {
  const std::int64_t m = queries.rows.rows();
  PlanOptions options = given;
  std::string why_not;
  if (plan.boxes && plan.tried_queries > 0 &&
      !boxes_pay(index, queries.rows, options, plan, why_not, trace)) {
    options.boxes = false;
    plan = plan_search(index, m, k, options, feedback);
    plan.reason += why_not;
  }
  const bool bounded = has_bound(index, plan.proposer, queries.largest);
  const bool samples = !options.sample.empty() && m > 0;
  if (bounded && !samples) return;
  PlanOptions way = options;
  if (!bounded) {
    way.proposer = Proposer::none;
    plan = plan_search(index, m, k, way, feedback);
    plan.reason = reasons::out_of_range(plan.reason);
  }
  if (samples) plan = plan_by_sample(index, queries.rows, k, way);
}

/// What a search by `plan` begins with of what is known: thresholds are those of proposers, and lists that
/// rows leave afterwards need more than the k nearest.
FoundBefore begins_with(const Index::State& index, const Plan& plan, const CheckedQueries& queries) {
  const bool takes = plan.proposer != Proposer::none && !plan.filters && !plan.self &&
                     plan.problem.k <= queries.before.k && has_numbers_before(index.rows, plan.problem.k);
  return takes ? queries.before : FoundBefore{};
}

void leave_out_lists(const Index::State& index, const Plan& plan, std::int64_t count, std::span<Key> keys) {
  const auto width = static_cast<std::size_t>(plan.problem.k);
  for_each_list(count, plan,
                [&](std::size_t q) { leave_out_before(keys.subspan(q * width, width), index.rows); });
}

/// search_to() of rows on one device.
///   prepared  the m queries, asked for once they are planned for
///   there     the queries as they lie in memory of the caller on the device; null: they do not
void search_rows(const Index::State& index, std::int64_t m, std::int64_t k, const PlanOptions& options,
                 Trace* trace, const MakeRoom& make_room, const Take& also,
                 const std::function<CheckedQueries()>& prepared, const RowsToLand* there) {
  const Feedback feedback = index.lessons.feedback();
  bool begun = false;
  FoundPlaces found;
  by_first_way(Ways(index, m, k, options, feedback), begun, [&](Plan& plan) {
    const CheckedQueries queries = prepared();
    Trace made;
    decide_by_values(index, queries, k, options, feedback, plan, made);
    if (trace) {
      restart(*trace);
      trace->boxes_seconds = made.boxes_seconds;
      trace->boxes_bytes = made.boxes_bytes;
      trace->plan = plan;
      tell_of_proposer(plan, index.device.info(), *trace);
    }
    KeysOfTile room(index, plan);
    const FoundBefore before = begins_with(index, plan, queries);
    std::optional<LandedQueries> landed;
    if (there) landed.emplace(*index.device.state(), *there);
    PlanOptions way = options;
    if (plan.struck) way.filter = {};
    run(
        index, plan, way, queries.rows, queries.largest, trace, [&] { found = make_room(); },
        [&](Workspace& workspace, std::int64_t first, std::int64_t count) {
          begun = true;
          if (found.on_device)
            return found.on_device->finish(index.metric, workspace.result(count), first, trace);
          const std::span<Key> keys = room.keys();
          read_tile(index, plan, workspace, first, count, trace, keys);
          if (!before.value.empty()) leave_out_lists(index, plan, count, keys);
          if (plan.struck)
            strike_lists(index, plan, options, queries.rows.slice(first, count), first, k, keys, trace);
          finish_tile(index, plan, first, count, trace, keys, k, found);
          if (also) also(workspace, first, count);
        },
        landed ? &*landed : queries.there, before);
  });
}

}  // namespace

void check_checkpoint(std::string_view where, const Index::State& index, const PlanOptions& options) {
  if (options.checkpoint.empty()) return;
  if (where == "search" && index.parted && index.parted->residence() == Residence::stream) return;
  throw Error(
      Errc::unsupported,
      std::string(where) +
          ": a checkpoint is kept of a search for k among rows that stay in a source (residence stream); "
          "leave it out, or choose these");
}

void search_to(const Index::State& index, const RowsView& given, std::int64_t k, const PlanOptions& options,
               Trace* trace, const MakeRoom& make_room, const Take& also) {
  check_checkpoint("search", index, options);
  if (index.parted && !index.rows_are_bytes) {
    if (const auto one = index.parted->as_one(index, {given, nullptr, k, options}))
      return search_to(*one->index, given, k, one->options, trace, make_room, nullptr);
    return search_parted(index, given, k, options, trace, make_room);
  }
  const Stopwatch total;
  std::vector<unsigned char> copy;
  std::optional<RowsToLand> there;
  if (given.where != Where::host && prepare_of(index.metric) == Prepare::none)
    there.emplace(index.device.state(), given, Landing{"search", "query", index.metric, index.mask()});
  const RowsView queries =
      there ? there->on_host(copy) : rows_on_host("search", "query", index.device.state(), given, copy);
  if (queries.cols != index.columns)
    throw Error(Errc::invalid_argument, "search: queries have " + std::to_string(queries.cols) +
                                            " columns but the index has " + std::to_string(index.columns) +
                                            "; give as many");
  check_rows("search", "query", queries);
  if (gathers(index, queries.rows, k, options) &&
      search_gathered(index, queries, k, options, trace, make_room, also))
    return;
  std::optional<PreparedRows> rows;
  const auto prepared = [&] {
    if (!rows) rows = prepare(index, queries, options);
    return CheckedQueries{queries, rows->view, rows->largest};
  };
  search_rows(index, queries.rows, k, options, trace, make_room, also, prepared, there ? &*there : nullptr);
  if (trace) trace->total_seconds = total.seconds();
}

void search_checked(const Index::State& index, const CheckedQueries& queries, std::int64_t k,
                    const PlanOptions& options, Trace* trace, const MakeRoom& make_room) {
  if (index.parted && !index.rows_are_bytes) {
    if (const auto one = index.parted->as_one(index, {queries.given, &queries.rows, k, options}))
      return search_checked(*one->index, queries, k, one->options, trace, make_room);
    return search_parted(index, queries, k, options, trace, make_room);
  }
  const Stopwatch total;
  const std::int64_t m = queries.given.rows;
  if (gathers(index, m, k, options) &&
      search_gathered(index, queries.given, k, options, trace, make_room, nullptr))
    return;
  search_rows(
      index, m, k, options, trace, make_room, nullptr, [&] { return queries; }, nullptr);
  if (trace) trace->total_seconds = total.seconds();
}

void search_numbers(const Index::State& index, const RowsView& given, std::int64_t k,
                    const PlanOptions& options, Trace* trace, const MakeRoom& make_room) {
  const CentredRows queries("search", "query", index, given);
  const MappedOptions mapped("search", index, options, given.rows, k);
  FoundPlaces found;
  search_to(
      index, queries, k, mapped.options(), trace, [&] { return found = make_room(); }, nullptr);
  if (found.index) index.numbers.to_numbers({found.index, cells_of(given.rows, k)});
}

void search_with(const Index::State& index, const RowsView& given, std::int64_t k, const PlanOptions& options,
                 Trace* trace, Neighbors& found, const Take& also) {
  const CentredRows queries("search", "query", index, given);
  const auto make_room = [&] {
    const std::size_t cells = cells_of(given.rows, k);
    const auto fit = [&](auto& values) {
      if (values.capacity() < cells) values.clear();  // so that they are not copied
      values.resize(cells);
    };
    found.queries = given.rows;
    found.k = k;
    fit(found.distance);
    fit(found.index);
    return FoundPlaces{found.distance.data(), found.index.data()};
  };
  search_to(index, queries, k, options, trace, make_room, also);
}

}  // namespace kith
