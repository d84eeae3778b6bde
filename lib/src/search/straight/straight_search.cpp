#include "search/straight/straight_search.hpp"

#include <algorithm>
#include <array>
#include <atomic>
#include <bit>
#include <new>
#include <numeric>
#include <optional>
#include <utility>
#include <vector>

#include "base/float_guard.hpp"
#include "base/numbers.hpp"
#include "check/unit_check.hpp"
#include "device/device_set.hpp"
#include "device/device_state.hpp"
#include "device/timing.hpp"
#include "device/watcher.hpp"
#include "host/pieces.hpp"
#include "kith/error.hpp"
#include "metric/chain.hpp"
#include "metric/radius_bound.hpp"
#include "plan/reasons.hpp"
#include "rows/landed/borrowed.hpp"
#include "rows/landing.hpp"
#include "rows/rows.hpp"
#include "search/lists/whole_search.hpp"
#include "search/resident/pipeline.hpp"
#include "search/resident/query_set.hpp"

namespace kith {
namespace {

RowSchema row_schema(const SearchOnce& asked) {
  std::vector<std::int64_t> all(compares_bits(asked.metric) ? 0 : size(asked.rows.cols));
  std::iota(all.begin(), all.end(), 0);
  return {asked.device, asked.metric, asked.rows.cols, std::move(all)};
}

/// What landing found in the rows of one thread, in words of device memory; a line of its cache for each.
constexpr std::size_t words_a_thread = 16, unit_words = 8;
constexpr std::array<std::uint32_t, words_a_thread> nothing_found = {0, no_row, 0, 0, 0, 0, 0, 0, 0, no_row};
static_assert(spi::land_findings <= unit_words && unit_words + spi::unit_findings <= words_a_thread);

/// Searches rows that are checked by the way. While the device is locked its steps run on several threads
/// at once, each with memory of its own: the steps of a CPU (KernelProfile::host_threads) share nothing
/// else.
class Pass {
 public:
  ///   queries  prepared
  Pass(const SearchOnce& asked, const StraightPieces& cut, const RowSchema& schema, const QuerySet& queries)
      : asked_(asked),
        schema_(schema),
        state_(schema.device.state()),
        cut_(cut),
        m_(queries.count()),
        k_(size(asked.k)),
        is_unit_(prepare_of(schema.metric) == Prepare::unit_rows),
        rows_("index", "training", state_, asked.rows),
        queries_(state_, packed_bytes(m_, schema.dims, state_->info.query_block)),
        pieces_(state_, packed_bytes(cut_.rows, schema.dims, state_->info.train_block) * cut_.team),
        found_(state_, words_a_thread * sizeof(std::uint32_t) * cut_.team),
        result_(state_, size(m_) * k_ * sizeof(Key)) {
    queries.rows().put(*state_, *queries_.get(), state_->info.query_block, asked.options.threads);
    scratch_bytes_ = scratch_of({nearest(0, 0, result()), cut_.of_a_piece});
    for (std::uint32_t thread = 0; thread < cut_.team; ++thread)
      scratch_.emplace_back(state_, scratch_bytes_);
    if (cut_.count > 1) {
      for (std::size_t i = 0; i < (cut_.count > cut_.a_round ? 2u : 1u); ++i)
        lists_[i] = DeviceMemory(state_, size(m_) * width() * sizeof(Key));
      merge_bytes_ = scratch_of(merge(rounds() > 1 ? 1 : 0, cut_.a_round, result()));
      merging_ = DeviceMemory(state_, merge_bytes_);
    }
    const DeviceSession session(*state_);
    for (std::size_t thread = 0; thread < cut_.team; ++thread)
      session->write(*found_.get(), thread * sizeof nothing_found, nothing_found.data(),
                     sizeof nothing_found);
  }

  std::int64_t rounds() const { return divide_up(cut_.count, cut_.a_round); }

  /// Searches the pieces of a round. Returns false if a row is not as the metric needs it.
  bool search(std::int64_t round) {
    const std::int64_t first = round * cut_.a_round, count = std::min(cut_.a_round, cut_.count - first);
    const DeviceSession session(*state_);
    run_pieces(size(count), size(asked_.rows.rows * schema_.dims), cut_.team,
               [&](std::size_t piece, std::size_t thread) {
                 if (is_bad_) return;
                 const std::int64_t from = (first + static_cast<std::int64_t>(piece)) * cut_.rows;
                 if (!land(*session, from, thread)) {
                   is_bad_ = true;
                   return;
                 }
                 const spi::Grid<Key> out = cut_.count == 1 ? result() : list(round, piece + 1, asked_.k);
                 session->enqueue({nearest(from, thread, out), cut_.of_a_piece});
               });
    if (is_bad_) return false;
    if (cut_.count > 1)
      session->enqueue(merge(round, count, round + 1 == rounds() ? result() : list(round + 1, 0, asked_.k)));
    return true;
  }

  /// Returns max |element| of the rows.
  float largest() const {
    std::uint32_t most = 0;
    std::vector<std::uint32_t> words(words_a_thread * cut_.team);
    const DeviceSession session(*state_);
    session->read(*found_.get(), 0, words.data(), words.size() * sizeof(std::uint32_t));
    for (std::size_t thread = 0; thread < cut_.team; ++thread)
      most = std::max(most, words[thread * words_a_thread + spi::largest_bits]);
    return std::bit_cast<float>(most);
  }

  /// Returns the nearest rows, [m, k].
  std::vector<Key> keys() const {
    std::vector<Key> keys(size(m_) * k_);
    const DeviceSession session(*state_);
    session->read(*result_.get(), 0, keys.data(), keys.size() * sizeof(Key));
    return keys;
  }

 private:
  std::size_t width() const { return (size(cut_.a_round) + 1) * k_; }
  std::int64_t rows_from(std::int64_t first) const { return std::min(cut_.rows, asked_.rows.rows - first); }
  spi::Grid<Key> result() const { return {result_.get(), 0, size(m_), k_, k_}; }
  /// Returns list `at` of the queries of a round: list 0 is what earlier rounds found.
  spi::Grid<Key> list(std::int64_t round, std::size_t at, std::int64_t columns) const {
    return {lists_[round % 2].get(), at * k_, size(m_), size(columns), width()};
  }

  std::size_t scratch_of(const spi::Step& step) const {
    const spi::Support support = state_->check(step);
    if (!support.refusal.empty())
      throw Error(Errc::unsupported, "search: " + state_->info.spec + ": " + support.refusal);
    return support.scratch_bytes;
  }

  spi::RowBlocks piece(std::int64_t first, std::size_t thread) const {
    spi::RowBlocks blocks{pieces_.get(), static_cast<std::uint32_t>(size(cut_.rows) * thread),
                          static_cast<std::uint32_t>(rows_from(first)),
                          static_cast<std::uint32_t>(schema_.dims), state_->info.train_block};
    if (compares_bits(schema_.metric)) blocks.bits = static_cast<std::uint32_t>(schema_.columns);
    return blocks;
  }

  spi::NearestStep nearest(std::int64_t first, std::size_t thread, const spi::Grid<Key>& out) const {
    const spi::RowBlocks queries{queries_.get(), 0, static_cast<std::uint32_t>(m_),
                                 static_cast<std::uint32_t>(schema_.dims), state_->info.query_block};
    const spi::Scratch scratch{scratch_.empty() ? nullptr : scratch_[thread].get(), scratch_bytes_};
    return {schema_.metric,
            queries,
            piece(first, thread),
            static_cast<std::uint32_t>(first),
            static_cast<std::uint32_t>(k_),
            1,
            out,
            scratch};
  }

  /// Merges the lists of `count` pieces, and what earlier rounds found.
  spi::Step merge(std::int64_t round, std::int64_t count, const spi::Grid<Key>& out) const {
    const std::int64_t lists = count + (round > 0 ? 1 : 0);
    return {spi::MergeStep{static_cast<std::uint32_t>(lists),
                           static_cast<std::uint32_t>(k_),
                           list(round, round > 0 ? 0 : 1, lists * asked_.k),
                           out,
                           {merging_.get(), merge_bytes_}},
            cut_.team};
  }

  /// Lands a piece. Returns whether its rows are as the metric needs them.
  bool land(spi::Device& device, std::int64_t first, std::size_t thread) const {
    const spi::RowBlocks to = piece(first, thread);
    const std::size_t at = thread * words_a_thread;
    const spi::Grid<std::uint32_t> found{found_.get(), at, 1, spi::land_findings, spi::land_findings};
    device.enqueue(
        {spi::LandStep{rows_.raw(first, rows_from(first)), {}, to, found, static_cast<std::uint32_t>(first)},
         cut_.of_a_piece});
    if (is_unit_)
      device.enqueue(
          {spi::UnitStep{to,
                         {found_.get(), at + unit_words, 1, spi::unit_findings, spi::unit_findings},
                         static_cast<std::uint32_t>(first)},
           cut_.of_a_piece});
    std::array<std::uint32_t, words_a_thread> words;
    device.read(*found_.get(), at * sizeof(std::uint32_t), words.data(), sizeof words);
    return words[spi::bad_row] == no_row && words[unit_words + spi::zero_row] == no_row;
  }

  const SearchOnce& asked_;
  const RowSchema& schema_;
  const std::shared_ptr<Device::State> state_;
  const StraightPieces cut_;
  const std::int64_t m_;
  const std::size_t k_;
  const bool is_unit_;
  const BorrowedRows rows_;
  const DeviceMemory queries_, pieces_, found_, result_;
  std::size_t scratch_bytes_ = 0, merge_bytes_ = 0;
  std::vector<DeviceMemory> scratch_;
  DeviceMemory lists_[2], merging_;
  std::atomic<bool> is_bad_ = false;
};

/// Makes the plan of a search that is to be told.
Plan plan_of(const SearchOnce& asked, const RowSchema& schema, const StraightPieces& cut) {
  ResidentRows rows(schema);
  rows.rows = asked.rows.rows;
  rows.chunks.push_back({nullptr, 0, rows.rows});
  SearchOptions way = asked.options;
  way.fused = true;
  way.boxes = false;
  way.proposer = Proposer::none;
  Plan plan = plan_search(rows, asked.queries.rows, asked.k, way, {.scans = scans_of_passing_rows});
  plan.lists = 1;
  plan.query_tile = asked.queries.rows;
  plan.train_tile = cut.rows;
  plan.reason = reasons::straight();
  return plan;
}

void tell_plan(const SearchOnce& asked, const RowSchema& schema, const StraightPieces& cut, Trace& trace) {
  restart(trace);
  trace.plan = plan_of(asked, schema, cut);
  trace.query_tiles = 1;
  trace.train_tiles = cut.count;
}

}  // namespace

bool search_straight(const SearchOnce& asked, AnswerSink& to, Trace* trace) {
  const FloatGuard guard;
  if (is_set(asked.device)) return false;
  const std::optional<StraightPieces> pieces = straight_pieces(asked);
  if (!pieces) return false;
  if (!prepares_on_device(*asked.device.state(), asked.metric)) return false;
  const WholeSearch whole(asked.device);
  std::optional<RowSchema> schema;
  std::optional<CutSink> cut;
  std::optional<QuerySet> queries;
  std::optional<Pass> pass;
  try {
    check_rows("index", "training", asked.rows);
    check_element("index", "training", asked.rows, asked.metric);
    schema.emplace(row_schema(asked));
    if (asked.options.radius)
      cut.emplace(to, bound_of_search<float>("search", schema->shown, *asked.options.radius));
    queries.emplace("search", *schema, 0.0f, asked.queries);
    queries->prepare(asked.options.threads);
    pass.emplace(asked, *pieces, *schema, *queries);
  } catch (const Error& error) {
    if (error.code() != Errc::invalid_argument && error.code() != Errc::unsupported &&
        error.code() != Errc::out_of_memory)
      throw;
    return false;
  } catch (const std::bad_alloc&) {
    return false;
  }
  if (trace) tell_plan(asked, *schema, *pieces, *trace);
  Watcher watcher(asked.options, pass->rounds());
  watcher.check_stop();
  const Stopwatch searching;
  for (std::int64_t round = 0; round < pass->rounds(); ++round) {
    if (!pass->search(round)) return false;
    watcher.step_done();
  }
  check_range("search", schema->metric, queries->rows().on_host(), pass->largest());
  if (trace)
    trace->seconds[spi::NearestStep::name] = trace->device_seconds = trace->queue_seconds =
        searching.seconds();
  AnswerSink& sink = cut ? *cut : to;
  const Stopwatch finishing;
  sink.begin(asked.queries.rows, asked.k);
  sink.put_lists(0, pass->keys(), size(asked.k));
  if (trace) trace->seconds["finish"] = finishing.seconds();
  whole.tell(trace);
  return true;
}

}  // namespace kith
