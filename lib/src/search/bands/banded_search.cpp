#include "search/bands/banded_search.hpp"

#include <algorithm>
#include <iterator>
#include <limits>
#include <utility>
#include <vector>

#include "base/float_guard.hpp"
#include "base/numbers.hpp"
#include "device/timing.hpp"
#include "metric/chain.hpp"
#include "metric/radius_bound.hpp"
#include "plan/reasons.hpp"
#include "rows/row_filter.hpp"
#include "search/bands/row_bands.hpp"
#include "search/lists/trace_sums.hpp"
#include "search/resident/pipeline.hpp"
#include "search/resident/resident_search.hpp"

namespace kith {
namespace {

/// Returns the least raw value of a query and the rows of a band: that of a row with as near a number of
/// ones, which has all ones of the query, or only such.
float least_value(const ResidentRows& index, std::uint32_t ones, const Band& band) {
  const std::uint32_t nearest = std::clamp(ones, band.least, band.most);
  const auto [both, either] = std::minmax(ones, nearest);
  return value_of_counts(index.metric, both, either - both, index.columns);
}

/// Takes the list of one query, with places among all rows.
class BandSink final : public AnswerSink {
 public:
  BandSink(const Band& band, std::vector<Key>& to) : band_(band), to_(to) {}
  void begin(std::int64_t, std::int64_t) override { to_.clear(); }
  void put(std::int64_t, std::span<const Key> nearest) override {
    for (const Key key : nearest)
      if (row_of(key) < band_.places.size() && value_of(key) < std::numeric_limits<float>::infinity())
        to_.push_back((key >> 32) << 32 | static_cast<std::uint32_t>(band_.places[row_of(key)]));
  }
  void put_all(Keys&) override {}  // never called, since these rows are not in parts

 private:
  const Band& band_;
  std::vector<Key>& to_;
};

/// Returns the bits of a filter for the rows of a band.
///   words  of the filter for all rows
std::vector<std::uint32_t> filter_of(const Band& band, const std::uint32_t* words) {
  std::vector<std::uint32_t> own(size(words_of_filter(band.rows->rows)));
  for (std::size_t t = 0; t < band.places.size(); ++t)
    if (counts(words, static_cast<std::uint32_t>(band.places[t]))) own[t / 32] |= 1u << t % 32;
  return own;
}

/// Searches the bands for one query.
class BandWalk {
 public:
  ///   k  neighbours, and one more if the query's own row may have to leave the list
  BandWalk(const ResidentRows& index, const RowBands& bands, const SearchOptions& options, std::int64_t k,
           Trace* trace)
      : index_(index), bands_(bands.all()), options_(options), k_(k), trace_(trace) {
    way_ = options;
    way_.boxes = false;
    way_.self.reset();
    way_.progress = nullptr;
    way_.filter = {};
    if (options.radius) within_ = bound_of_search<float>("search", index.shown, *options.radius);
  }

  /// Returns the nearest rows of a query, fewer than k if no more count.
  ///   query  its number in the search
  std::vector<Key> nearest(QuerySet& one, std::int64_t query) {
    const std::uint32_t ones = ones_of(one.rows().on_host().row(0), index_.dims);
    std::vector<std::pair<float, const Band*>> order;
    for (const Band& band : bands_) order.emplace_back(least_value(index_, ones, band), &band);
    std::stable_sort(order.begin(), order.end(),
                     [](const auto& a, const auto& b) { return a.first < b.first; });
    list_.clear();
    for (const auto& [least, band] : order) {
      const bool full = list_.size() == size(k_);
      if (least > (full ? std::min(value_of(list_.back()), within_) : within_)) break;
      add(one, *band, query);
    }
    return list_;
  }

 private:
  void add(QuerySet& one, const Band& band, std::int64_t query) {
    std::vector<std::uint32_t> words;
    if (has_filter(options_)) {
      words = filter_of(band, options_.filter.row(options_.filter.rows() == 1 ? 0 : query));
      if (std::all_of(words.begin(), words.end(), [](std::uint32_t word) { return word == 0; })) return;
      way_.filter = {words.data(), 1, static_cast<std::int64_t>(words.size())};
    }
    BandSink sink(band, found_);
    Trace more = trace_ ? asked_like(*trace_) : Trace();
    search_resident(*band.rows, {one, way_, std::min(k_, band.rows->rows)}, sink, trace_ ? &more : nullptr);
    if (trace_) {
      add_rest(*trace_, more);
      trace_->leaves += divide_up(band.rows->rows, std::int64_t{spi::box_rows});
    }
    joined_.clear();
    std::merge(list_.begin(), list_.end(), found_.begin(), found_.end(), std::back_inserter(joined_));
    joined_.resize(std::min(joined_.size(), size(k_)));
    list_.swap(joined_);
  }

  const ResidentRows& index_;
  const std::vector<Band>& bands_;
  const SearchOptions& options_;
  const std::int64_t k_;
  Trace* const trace_;
  SearchOptions way_;
  float within_ = std::numeric_limits<float>::infinity();
  std::vector<Key> list_, found_, joined_;
};

}  // namespace

bool takes_bands(const ResidentRows& index, const SearchOptions& options) {
  return options.boxes == true && is_of_sums(index.metric) && compares_bits(index.metric);
}

Plan plan_banded(const ResidentRows& index, std::int64_t m, std::int64_t k, const SearchOptions& options) {
  SearchOptions way = options;
  way.boxes = false;
  Plan plan = plan_search(index, m, k, way, {});
  plan.reason += reasons::bands();
  return plan;
}

void search_banded(const ResidentRows& index, const SearchRequest& request, AnswerSink& sink, Trace* trace) {
  const SearchOptions& options = request.options;
  const std::int64_t m = request.m();
  const Plan plan = plan_banded(index, m, request.k, options);
  check_rows_left_out("search", index.rows, m, options);
  request.queries.prepare(options.threads);
  if (trace) {
    restart(*trace);
    trace->plan = plan;
  }
  const std::shared_ptr<const RowBands> bands = bands_for(index, options, trace);
  sink.begin(m, request.k);
  const FloatGuard guard;  // for the bounds of bands
  BandWalk walk(index, *bands, options, request.k + (options.self ? 1 : 0), trace);
  for (std::int64_t q = 0; q < m; ++q) {
    QuerySet one = request.queries.slice(q, 1);
    std::vector<Key> list = walk.nearest(one, q);
    if (options.self) std::erase_if(list, [own = *options.self + q](Key key) { return row_of(key) == own; });
    list.resize(size(request.k), no_key);
    sink.put(q, list);
  }
}

}  // namespace kith
