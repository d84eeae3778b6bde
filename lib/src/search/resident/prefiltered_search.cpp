#include "search/resident/prefiltered_search.hpp"

#include <algorithm>
#include <bit>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "base/numbers.hpp"
#include "boxes/packed_rows.hpp"
#include "device/timing.hpp"
#include "kith/error.hpp"
#include "plan/plan_filter.hpp"
#include "plan/reasons.hpp"
#include "rows/row_filter.hpp"
#include "rows/rows.hpp"
#include "search/resident/pipeline.hpp"
#include "search/resident/resident_search.hpp"
#include "search/resident/some_rows.hpp"

namespace kith {
namespace {

/// From this many queries on it pays to gather rows. A CPU reads rows directly: with 10^6 rows of 8 columns,
/// 200 queries took 6 ms when 1 % of them were gathered, 30 ms for 10 %, but 376 ms by all rows with a filter
/// (2 cores with AVX-512). A GPU gathers rows itself, as fast as its memory. Elsewhere rows pass a bus, which
/// takes as long as the chain of some thousand queries: this is estimated, not measured.
constexpr std::int64_t enough_there = 64, enough_elsewhere = 4096;

constexpr std::int64_t bits_of_word = 32;

std::vector<std::int64_t> kept_places(const ResidentRows& index, const SearchOptions& options) {
  std::vector<std::int64_t> places;
  const std::uint32_t* const words = options.filter.row(0);
  for (std::int64_t first = 0; first < index.rows; first += bits_of_word)
    for (std::uint32_t word = words[first / bits_of_word]; word != 0; word &= word - 1) {
      const std::int64_t place = first + std::countr_zero(word);
      if (place < index.rows) places.push_back(place);
    }
  return places;
}

/// Returns the bytes that a search may take, including those of the gathered rows.
std::size_t limit_of(const ResidentRows& index, const SearchOptions& options) {
  if (options.memory_limit) return options.memory_limit;
  const DeviceInfo& device = index.device.info();
  const std::size_t rows = packed_bytes(index.rows, index.dims, device.train_block);
  return device.memory_bytes > rows ? (device.memory_bytes - rows) / 2 : 0;
}

std::size_t bytes_of(const ResidentRows& index, std::int64_t kept) {
  return packed_bytes(kept, index.dims, index.device.info().train_block);
}

/// Returns the options of the search in the gathered rows, which needs neither the filter nor `self`.
SearchOptions options_within(const ResidentRows& index, const SearchOptions& options, std::int64_t kept) {
  SearchOptions way = options;
  way.filter = {};
  way.self.reset();
  way.memory_limit = limit_of(index, options) - bytes_of(index, kept);
  return way;
}

/// Returns how many neighbours to search for, with one more if the query's own row may have to leave
/// the list.
std::int64_t places_within(std::int64_t k, const SearchOptions& options, std::int64_t kept) {
  return std::min(k + (options.self ? 1 : 0), kept);
}

void tell(const SearchOptions& options, std::int64_t rows, Plan& plan) {
  plan.filters = 1;
  plan.gathered = true;
  plan.self = options.self;
  plan.reason += reasons::gathered(plan.problem.n, rows);
}

/// Receives answers from the search in the gathered rows, and passes them on with the places among all rows.
class PlacesSink final : public AnswerSink {
 public:
  ///   places  places of the rows that count, ascending
  ///   self    SearchOptions::self, by place
  PlacesSink(const std::vector<std::int64_t>& places, std::optional<std::int64_t> self, std::int64_t k,
             AnswerSink& to)
      : places_(places), self_(self), k_(k), to_(to) {}

  void begin(std::int64_t m, std::int64_t) override { to_.begin(m, k_); }
  bool takes_on_device() const override { return to_.takes_on_device(); }
  bool take_on_device(const KeysOnDevice& found, Trace* trace) override {
    KeysOnDevice by_place = found;
    by_place.k = k_;
    if (self_) by_place.own = *self_ + found.first;
    by_place.places = places_;
    return to_.take_on_device(by_place, trace);
  }
  void put(std::int64_t query, std::span<const Key> nearest) override {
    std::vector<Key> list;
    list.reserve(size(k_));
    for (const Key key : nearest) {
      if (key == no_key || static_cast<std::int64_t>(list.size()) == k_) break;
      const std::int64_t place = places_[row_of(key)];
      if (!self_ || place != *self_ + query)
        list.push_back((key >> 32) << 32 | static_cast<std::uint32_t>(place));
    }
    list.resize(size(k_), no_key);
    to_.put(query, list);
  }
  void put_all(Keys&) override {}  // never called, since these rows are not in parts
  void tile_done(Workspace& workspace, std::int64_t first, std::int64_t count) override {
    to_.tile_done(workspace, first, count);
  }

 private:
  const std::vector<std::int64_t>& places_;
  const std::optional<std::int64_t> self_;
  const std::int64_t k_;
  AnswerSink& to_;
};

/// Returns whether a proposer reads all rows faster than some of them pass a bus.
bool masks(const ResidentRows& index, std::int64_t m, std::int64_t k, const SearchOptions& options,
           std::int64_t kept) {
  const Problem problem{index.metric, index.rows, m, index.dims, k, index.kind_of_terms()};
  if (!keeps_enough_to_mask(index.device.info().kind, kept, problem)) return false;
  try {
    return plan_search(index, m, k, options, index.made->lessons.feedback()).masked;
  } catch (const Error& error) {
    if (error.code() != Errc::out_of_memory && error.code() != Errc::unsupported) throw;
    return false;  // the gathered rows may fit
  }
}

/// Returns whether a GPU is faster with rows that it gathers than with all rows, masked. Finding and
/// numbering a row that counts takes as long as `pairs_a_row` pairs. With 10^6 rows of 128 columns an H100
/// took 0.8 ms for 256 queries if 10^4 rows count; for 10^4 queries and 10^5 rows that count 4.6 ms, against
/// 6.8 masked.
bool is_soon_packed(std::int64_t m, std::int64_t kept, std::int64_t n) {
  constexpr std::int64_t pairs_a_row = 40000, one_in = 64;
  return kept < n / one_in || kept < m * ((n - kept) / pairs_a_row);
}

}  // namespace

bool prefilters(const ResidentRows& index, std::int64_t m, std::int64_t k, const SearchOptions& options) {
  const bool free = options.sample.empty() && options.fused != true && options.boxes != true;
  const bool packs = packs_rows(*index.device.state(), index.dims);
  const std::int64_t enough =
      index.device.info().profile.host_threads || packs ? enough_there : enough_elsewhere;
  if (!free || m < enough || options.filter.rows() != 1 || index.rows_are_bytes) return false;
  check_k("search", k, index.rows, options);
  check_rows_left_out("search", index.rows, m, options);
  const std::int64_t kept = fewest_kept(options.filter, index.rows);
  return kept > 0 && !keeps_most(kept, index.rows) && 2 * bytes_of(index, kept) <= limit_of(index, options) &&
         ((packs && is_soon_packed(m, kept, index.rows)) || !masks(index, m, k, options, kept));
}

Plan plan_prefiltered(const ResidentRows& index, std::int64_t m, std::int64_t k,
                      const SearchOptions& options) {
  const std::int64_t kept = fewest_kept(options.filter, index.rows);
  ResidentRows shell(static_cast<const RowSchema&>(index));
  shell.rows = kept;
  shell.chunks = chunks_without_memory(index.device.info(), kept, index.dims);
  Plan plan =
      plan_search(shell, m, places_within(k, options, kept), options_within(index, options, kept), {});
  tell(options, index.rows, plan);
  return plan;
}

bool search_prefiltered(const ResidentRows& index, const SearchRequest& request, AnswerSink& sink,
                        Trace* trace) {
  const Stopwatch total;
  const SearchOptions& options = request.options;
  const std::vector<std::int64_t> places = kept_places(index, options);
  const auto kept = static_cast<std::int64_t>(places.size());
  std::shared_ptr<const ResidentRows> rows;
  try {
    rows = kept_rows(index, places, options.threads);
  } catch (const Error& error) {
    if (error.code() != Errc::out_of_memory) throw;
    return false;
  }
  const double gathering = total.seconds();
  const SearchOptions within = options_within(index, options, kept);
  PlacesSink by_places(places, options.self, request.k, sink);
  search_resident(*rows, {request.queries, within, places_within(request.k, options, kept)}, by_places,
                  trace);
  if (trace) {
    tell(options, index.rows, trace->plan);
    trace->seconds["upload"] += gathering;
    trace->total_seconds = total.seconds();
  }
  return true;
}

}  // namespace kith
