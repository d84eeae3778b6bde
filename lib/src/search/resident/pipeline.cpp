#include "search/resident/pipeline.hpp"

#include <algorithm>
#include <numeric>
#include <optional>

#include "base/float_guard.hpp"
#include "boxes/boxes_rules.hpp"
#include "certified/bounded_search.hpp"
#include "check/byte_speed.hpp"
#include "device/timing.hpp"
#include "device/watcher.hpp"
#include "exact/exact_tile.hpp"
#include "plan/attempts.hpp"
#include "plan/plan_filter.hpp"
#include "plan/product_bounds.hpp"
#include "plan/reasons.hpp"
#include "plan/rules/plan_rules.hpp"
#include "rows/row_filter.hpp"
#include "rows/rows.hpp"
#include "search/resident/boxed_search.hpp"
#include "search/resident/rest_search.hpp"
#include "search/resident/staying_queries.hpp"

namespace kith {
namespace {

/// Fewer queries than this say little about others.
constexpr std::int64_t enough_to_tell = Lessons::enough_queries;

/// Returns whether lessons of this search hold for searches with another filter or none; not if few
/// rows count.
bool is_of_most_rows(const Plan& plan, const SearchOptions& options) {
  const std::int64_t n = plan.problem.n;
  return !plan.masked || keeps_most(fewest_kept(options.filter, n), n);
}

/// Makes the quantized rows of a search, and chooses the form of its quantized queries. For fp16 their scale
/// is at most that of training rows, so that half norms of rows stay comparable with products.
///   trace  is told if products are exact; may be null
QueryForm query_form_of(const ResidentRows& index, const Plan& plan, const QueryRows& queries,
                        float largest_query, Trace* trace) {
  if (plan.proposer == Proposer::none || queries.rows() == 0) return {};
  const QuantizedForm of = form_of_queries(index, plan.proposer, queries, largest_query, plan.threads);
  const auto takes = [&](spi::OnGrid rows, bool elsewhere) {
    return takes_products(index, rows, of.on_grid, elsewhere);
  };
  const bool ranks = !takes(form_for(index, plan.proposer).on_grid, plan.residence == Residence::quantized);
  auto train = quantized_rows_for(index, plan, ranks, trace);
  const bool takes_them = takes(train->on_grid(), train->elsewhere() != nullptr);
  if (!takes_them && !ranks) train = quantized_rows_for(index, plan, true, trace);  // the sample was not all
  const bool fp16 = plan.proposer == Proposer::fp16;
  const QueryForm form{fp16 ? std::min(of.scale, train->scale()) : of.scale, of.on_grid, takes_them};
  if (trace && form.takes_products) {
    trace->plan.exact_products = true;
    if (!train->has_rows(0)) trace->plan.row_copy_bytes = 0;
    trace->plan.reason += reasons::exact_products();
  }
  return form;
}

/// Returns queries 0, 1, ..., count - 1 as open, since none was searched yet.
Open all_open(std::int64_t count) {
  Open all{std::vector<std::int64_t>(static_cast<std::size_t>(count)), {}};
  std::iota(all.queries.begin(), all.queries.end(), 0);
  return all;
}

std::int64_t count_of(const Open& open) {
  return static_cast<std::int64_t>(open.queries.size());
}

/// Empties the lists of open queries, which the owner of the rows will search instead.
void leave_lists_empty(const ResidentRows& index, const Plan& plan, std::int64_t count, const Open& open,
                       const Workspace& workspace) {
  const spi::Grid<Key> result = workspace.result(count);
  const std::vector<Key> none(static_cast<std::size_t>(plan.problem.k), no_key);
  const DeviceSession session(*index.device.state());
  for (const std::int64_t q : open.queries)
    session->write(*result.memory, (result.first + static_cast<std::size_t>(q) * result.stride) * sizeof(Key),
                   none.data(), none.size() * sizeof(Key));
}

/// Makes the attempts of a plan, one after another, for each query tile.
class TileSearch {
 public:
  TileSearch(const PlannedSearch& search, const DeviceFilter& filter, const QueryForm& form)
      : index_(search.rows),
        plan_(search.plan),
        options_(search.options),
        largest_query_(search.largest_query),
        teaches_(is_of_most_rows(plan_, options_)) {
    if (plan_.boxes)
      boxed_.emplace(index_, plan_, options_, filter, search.trace);
    else if (plan_.proposer == Proposer::none)
      exact_.emplace(index_, plan_, filter);
    else
      bounded_.emplace(index_, plan_, form, filter, search.trace);
  }

  /// Returns the steps of a query tile by the first attempt; progress counts them.
  std::int64_t steps() const { return boxed_ ? 1 : exact_ ? exact_->steps() : bounded_->steps(); }

  /// Takes what is already known about the queries of the next tile.
  void begin_with(const FoundBefore& known) {
    if (bounded_) bounded_->begin_with(known);
  }

  /// Returns the search by the chain alone if the plan has nothing else; null if try_attempts() must
  /// be called.
  const ExactSearch* exact() const { return exact_ ? &*exact_ : nullptr; }
  ///   first  number of the tile's first query in the search
  void try_attempts(const QueryRows& queries, std::int64_t first, Workspace& workspace, Watcher& watcher,
                    Trace* trace, std::function<void()>& overlap);
  /// Stores what the tiles taught for later searches.
  void tell() const;
  /// Returns the queries of all tiles whose lists are left empty.
  std::vector<std::int64_t> unanswered() { return std::move(unanswered_); }

 private:
  void learn(std::size_t from, std::size_t at, std::int64_t before, std::int64_t after);
  bool is_to_weigh() const;
  void weigh_bytes(std::int64_t count) const;
  bool leave_to_finer(const QueryRows& queries, const Open& open, const Workspace& workspace, Trace* trace);
  void leave_to_chain(const QueryRows& queries, std::int64_t first, const Open& open, bool asked,
                      const Workspace& workspace, Trace* trace);

  const ResidentRows& index_;
  const Plan& plan_;
  const SearchOptions& options_;
  const float largest_query_;
  const bool teaches_;
  std::optional<BoxedSearch> boxed_;
  std::optional<ExactSearch> exact_;
  std::optional<BoundedSearch> bounded_;
  std::size_t begin_ = 0;  ///< attempt that a tile begins with; a later one after many queries were left open
  bool finer_ = false;     ///< most of a tile was left to a finer proposer
  /// Counts the queries that the proposer got, and those that it left to a finer one or to the chain.
  std::int64_t asked_ = 0, left_ = 0;
  std::int64_t guessed_ = 0,
               misled_ = 0;  ///< queries for which it guessed, and those that only the next answered
  std::vector<std::int64_t> unanswered_;
};

void TileSearch::try_attempts(const QueryRows& queries, std::int64_t first, Workspace& workspace,
                              Watcher& watcher, Trace* trace, std::function<void()>& overlap) {
  if (boxed_) return boxed_->find_nearest(queries, first, workspace, watcher, trace, overlap);
  const std::int64_t count = queries.rows();
  const std::size_t begin = begin_;
  Open open = all_open(count);
  if (finer_ && leave_to_finer(queries, open, workspace, trace)) return watcher.steps_done(steps());
  std::size_t before_at = begin;
  for (std::size_t at = begin; at < plan_.attempts.size(); ++at) {
    const Attempt& attempt = plan_.attempts[at];
    if (!applies(attempt, count_of(open), count)) continue;
    if (attempt.way == Attempt::Way::exact) {
      leave_to_chain(queries, first, open, at > begin, workspace, trace);
      break;
    }
    if (at > begin && attempt.when == Attempt::When::many && leave_to_finer(queries, open, workspace, trace))
      break;
    const std::int64_t before = count_of(open);
    const bool weighs = at == 0 && is_to_weigh();
    bounded_->count_ranked(weighs);
    open = bounded_->ask(attempt, queries, open, workspace, watcher, trace, overlap);
    if (weighs) weigh_bytes(count);
    if (at > begin) {
      if (trace) trace->repeats += std::max<std::int64_t>(before - count_of(open), 0);
      learn(before_at, at, before, count_of(open));
    }
    before_at = at;
  }
  if (begin < plan_.attempts.size() - 1) asked_ += count;
  if (plan_.attempts[begin].way == Attempt::Way::guess) guessed_ += count;
  if (begin > 0) watcher.steps_done(steps());
}

/// Lets later tiles begin without a guess if a guess left many queries open that the next attempt answered.
/// If ties fill the lists, the guess is not to blame.
void TileSearch::learn(std::size_t from, std::size_t at, std::int64_t before, std::int64_t after) {
  if (plan_.attempts[from].way != Attempt::Way::guess || plan_.attempts[at].when != Attempt::When::many)
    return;
  begin_ = at;
  misled_ += before - after;
  if (teaches_ && before >= enough_to_tell && 2 * (before - after) >= before)
    index_.made->lessons.tell_misleads(plan_.proposer);
}

/// Returns whether kith chose bytes because of a sample, so that the first searches must confirm the choice.
bool TileSearch::is_to_weigh() const {
  return teaches_ && plan_.proposer == Proposer::int8 && options_.proposer == Proposer::automatic &&
         !plan_.rows_are_bytes && !bounded_->is_exact() && plan_.problem.m > spi::small_batch &&
         index_.device.info().kind == DeviceKind::gpu && !index_.made->lessons.bytes_suit(plan_.problem.k);
}

/// Judges bytes by how many candidates the first attempt at `count` queries ranked.
void TileSearch::weigh_bytes(std::int64_t count) const {
  const double ranked = static_cast<double>(bounded_->ranked()) / static_cast<double>(count);
  if (lists_too_many(plan_.problem, ranked, known_byte_speed(*index_.device.state())))
    index_.made->lessons.tell_overwhelms(Proposer::int8, plan_.problem.k);
  else
    index_.made->lessons.tell_bytes_suit(plan_.problem.k);
}

/// If bytes, which kith chose itself, leave many queries open, searches these by proposer fp16, whose bounds
/// are closer to the distances; what half bytes leave open it searches by bytes. Returns false if that is
/// impossible.
bool TileSearch::leave_to_finer(const QueryRows& queries, const Open& open, const Workspace& workspace,
                                Trace* trace) {
  const bool halves = plan_.proposer == Proposer::int4,
             many_bytes = plan_.proposer == Proposer::int8 && count_of(open) > spi::small_batch;
  const Proposer finer = halves ? Proposer::int8 : Proposer::fp16;
  const auto& has = index_.device.info().proposers;
  const bool there =
      std::find(has.begin(), has.end(), finer) != has.end() && has_bound(index_, finer, largest_query_);
  const bool gave_up = begin_ + 1 == plan_.attempts.size();
  if (!(halves || many_bytes) || options_.proposer != Proposer::automatic || plan_.rows_are_bytes ||
      bounded_->rows_elsewhere() || gave_up || !there)
    return false;
  try {
    const std::int64_t many = count_of(open),
                       fell = search_rest(index_, plan_, options_, queries, largest_query_, open, finer,
                                          workspace, trace);
    left_ += many;
    if (finer_) asked_ += many;  // the proposer was not asked for this tile
    finer_ = 2 * many > queries.rows();
    if (finer_ && 2 * fell > many) {  // later tiles and searches go to the chain at once
      finer_ = false;
      begin_ = plan_.attempts.size() - 1;
      if (teaches_ && many >= enough_to_tell) index_.made->lessons.tell_overwhelms(finer, plan_.problem.k);
    }
    return true;
  } catch (const Error& error) {
    if (error.code() != Errc::out_of_memory && error.code() != Errc::unsupported) throw;
    return false;
  }
}

/// Searches open queries by the chain. A proposer that kith chose itself and that leaves most of a tile open
/// is not used again in this search.
///   asked  whether the proposer was used for this tile
void TileSearch::leave_to_chain(const QueryRows& queries, std::int64_t first, const Open& open, bool asked,
                                const Workspace& workspace, Trace* trace) {
  if (leave_to_finer(queries, open, workspace, trace)) return;
  const std::int64_t many = count_of(open);
  if (asked) left_ += many;
  if (options_.proposer == Proposer::automatic && 2 * many > queries.rows())
    begin_ = plan_.attempts.size() - 1;
  if (index_.rows_are_bytes || (bounded_ && bounded_->rows_elsewhere())) {
    leave_lists_empty(index_, plan_, queries.rows(), open, workspace);
    for (const std::int64_t q : open.queries) unanswered_.push_back(first + q);
  } else
    search_rest(index_, plan_, options_, queries, largest_query_, open, Proposer::none, workspace, trace);
  if (trace) trace->fallbacks += many;
}

void TileSearch::tell() const {
  const bool own_way = options_.proposer == Proposer::automatic && options_.train_tile == 0;
  if (!teaches_) return;
  if (plan_.problem.m < enough_to_tell) index_.made->lessons.tell_guesses(plan_.proposer, guessed_, misled_);
  if (own_way) index_.made->lessons.tell_left(plan_.proposer, asked_, left_, plan_.problem.k);
}

/// Returns whether the queries of a search are on its device, as those of its only tile.
bool sent_all(const PlannedSearch& search) {
  const SentQueries* const sent = search.queries.sent();
  return sent && sent->are_on(*search.rows.device.state()) && !search.staying_queries &&
         search.queries.rows() <= search.plan.query_tile;
}

}  // namespace

void upload_tile(const ResidentRows& index, const Plan& plan, const QueryRows& queries, std::int64_t first,
                 Workspace& workspace, const DeviceFilter& filter, Trace* trace,
                 StayingQueries* staying_queries) {
  const Stopwatch upload;
  if (staying_queries)
    staying_queries->place(plan, first, queries, workspace);
  else
    workspace.upload().hold(queries.begin_to_put(*index.device.state(), workspace.query_memory(),
                                                 index.device.info().query_block, plan.threads));
  filter.upload(first, queries.rows());
  if (trace) trace->seconds["upload"] += upload.seconds();
}

std::vector<std::int64_t> search_tiles(PlannedSearch search, const OnTile& on_tile) {
  const ResidentRows& index = search.rows;
  const Plan& plan = search.plan;
  Trace* const trace = search.trace;
  const std::shared_ptr<Device::State>& state = index.device.state();
  const std::int64_t m = search.queries.rows(), query_tiles = (m + plan.query_tile - 1) / plan.query_tile;
  SentQueries* const sent = sent_all(search) ? search.queries.sent() : nullptr;
  Workspace workspace(state, plan, scratch_of(*state, plan), sent ? sent->take_memory() : DeviceMemory());
  workspace.take_keys_to(search.room);
  const DeviceFilter filter(state, plan, search.options);
  std::optional<TileSearch> tiles;
  if (m > 0)
    tiles.emplace(search, filter, query_form_of(index, plan, search.queries, search.largest_query, trace));
  const std::int64_t steps = tiles ? tiles->steps() : 0;
  Watcher watcher(search.options, query_tiles * steps);
  watcher.check_stop();
  for (std::int64_t first = 0; first < m; first += plan.query_tile) {
    const std::int64_t count = std::min(plan.query_tile, m - first);
    const QueryRows of_tile = search.queries.slice(first, count);
    workspace.forget_keys();
    if (sent) {
      workspace.upload().hold(sent->take_buffer());
      filter.upload(first, count);
      if (trace) trace->seconds["upload"] += sent->seconds;
    } else {
      upload_tile(index, plan, of_tile, first, workspace, filter, trace, search.staying_queries);
    }
    if (const ExactSearch* const exact = tiles->exact()) {
      exact->find_nearest(count, workspace, watcher, trace, search.overlap);
    } else {
      tiles->begin_with(search.known.slice(first, count));
      tiles->try_attempts(of_tile, first, workspace, watcher, trace, search.overlap);
    }
    on_tile(workspace, first, count);
    workspace.upload().settle();
  }
  do_once(search.overlap);  // for a search without queries
  if (tiles) tiles->tell();
  if (!plan.boxes && search.options.boxes != false)
    index.made->lessons.tell_answered(queries_to_count(index.device.info(), plan.problem));
  index.made->lessons.tell_scans(scans_to_count(index.device.info(), plan, search.options));
  if (trace) {
    trace->query_tiles = query_tiles;
    trace->train_tiles = steps;
  }
  return tiles ? tiles->unanswered() : std::vector<std::int64_t>{};
}

}  // namespace kith
