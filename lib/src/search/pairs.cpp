#include "kith/pairs.hpp"

#include <cmath>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>

#include "base/border.hpp"
#include "base/float_guard.hpp"
#include "base/numbers.hpp"
#include "base/refuse.hpp"
#include "kith/index.hpp"
#include "rows/index_state.hpp"
#include "rows/mapped_options.hpp"
#include "rows/row_filter.hpp"
#include "search/doubles/double_index.hpp"
#include "search/doubles/double_queries.hpp"
#include "search/doubles/double_rows_of_index.hpp"
#include "search/doubles/double_search.hpp"
#include "search/groups/row_groups.hpp"
#include "search/lists/asked_part.hpp"
#include "search/nearest.hpp"
#include "search/stores/counts.hpp"
#include "search/stores/row_store.hpp"
#include "search/stores/search.hpp"

namespace kith {
namespace {

constexpr std::int64_t most_asked = 1 << 13;  ///< rows whose pairs are counted at a time

const SearchOptions& checked(const SearchOptions& options, double radius) {
  if (std::isnan(radius)) refuse("pairs", "radius is NaN; give a number");
  if (options.self) refuse("pairs", "no row is paired with itself already; leave self out");
  if (options.radius) refuse("pairs", "options have a radius, too; give only that of pairs");
  if (options.filter.rows() > 1)
    refuse("pairs", "the filter is of " + std::to_string(options.filter.rows()) +
                        " queries; give one row of words for all");
  return options;
}

/// Counts and finds the neighbours of training rows, by their places.
class RowsAsked {
 public:
  ///   places  ascending, at least one
  RowsAsked(const Index::State& index, std::span<const std::int64_t> places, std::uint32_t threads)
      : index_(index) {
    if (index.doubles) {
      const DoubleRows& rows = index.doubles->rows;
      const std::vector<std::uint32_t> few(places.begin(), places.end());
      doubles_.emplace("pairs", index,
                       rows.source() ? rows.source()->gathered(few, threads) : rows.gathered(places),
                       threads);
      return;
    }
    const auto count = static_cast<std::int64_t>(places.size());
    floats_.resize(places.size() * size(index.dims));
    for (std::size_t i = 0, next = 0; i < places.size(); i = next) {  // successive rows are read at once
      for (next = i + 1; next < places.size() && places[next] == places[next - 1] + 1;) ++next;
      index.store->read(places[i], static_cast<std::int64_t>(next - i), floats_.data() + i * size(index.dims),
                        threads);
    }
    const MatrixView<const float> view(floats_.data(), count, index.dims);
    check_range("pairs", index.metric, view, index.store->largest());
    queries_.emplace(RowsView(view), view, index.store->largest());
  }

  std::vector<std::int64_t> counts(double radius, const SearchOptions& options) {
    const std::int64_t count = doubles_ ? doubles_->count() : queries_->count();
    const CountRadii radii{{&radius, 1, 1}};
    std::vector<std::int64_t> counts(size(count));
    CountSum sum("pairs", 1, false, counts, options.threads);
    if (doubles_)
      count_doubles(index_, *doubles_, radii, options, sum, nullptr);
    else
      search_counts(index_, *queries_, radii, options, sum, nullptr);
    sum.finish();
    return counts;
  }

  RadiusNeighbors within(double radius, const SearchOptions& options) {
    if (!doubles_) return search_within(index_, *queries_, floats_below({&radius, 1}), options, nullptr);
    RadiusNeighbors found;
    finish_doubles(index_.shown,
                   search_doubles_within(index_, *doubles_, std::span(&radius, 1), options, nullptr), found);
    return found;
  }

 private:
  const Index::State& index_;
  Floats floats_;
  std::optional<QuerySet> queries_;
  std::optional<DoubleQueries> doubles_;
};

}  // namespace

/// Finds the pairs among the rows of an Index without groups, by places.
class PairsOfRows {
 public:
  /// All arguments must outlive this.
  ///   options  name rows by their places
  PairsOfRows(const Index::State& index, double radius, const SearchOptions& options)
      : index_(index), options_(options), radius_(radius) {}

  /// Returns false, and an empty block, if no pairs are left.
  bool next(Pairs& block) {
    block = {};
    block.arithmetic = index_.arithmetic;
    while (block.first.empty()) {
      if (asked_.empty() && !ask()) return false;
      std::size_t count = 1;
      for (std::int64_t pairs = counts_[0];
           count < asked_.size() && pairs + counts_[count] <= PairSearch::most_pairs;)
        pairs += counts_[count++];
      find(asked_.first(count), block);
      asked_ = asked_.subspan(count);
      counts_.erase(counts_.begin(), counts_.begin() + static_cast<std::ptrdiff_t>(count));
    }
    return true;
  }

 private:
  /// Takes the next rows, and counts the neighbours of each. Returns false if there are none.
  bool ask() {
    places_.clear();
    for (; next_ < index_.rows && static_cast<std::int64_t>(places_.size()) < most_asked; ++next_)
      if (!has_filter(options_) || counts(options_.filter.row(0), static_cast<std::uint32_t>(next_)))
        places_.push_back(next_);
    if (places_.empty()) return false;
    counts_ = RowsAsked(index_, places_, options_.threads).counts(radius_, options_);
    asked_ = places_;
    return true;
  }

  /// Appends the pairs of these rows with rows behind them.
  void find(std::span<const std::int64_t> places, Pairs& block) const {
    const RadiusNeighbors found = RowsAsked(index_, places, options_.threads).within(radius_, options_);
    for (std::size_t q = 0; q < places.size(); ++q)
      for (std::size_t i = size(found.first[q]); i < size(found.first[q + 1]); ++i) {
        if (found.row[i] <= places[q]) continue;
        block.first.push_back(places[q]);
        block.second.push_back(found.row[i]);
        if (found.arithmetic == Arithmetic::f64)
          block.distance64.push_back(found.distance64[i]);
        else
          block.distance.push_back(found.distance[i]);
      }
  }

  const Index::State& index_;
  const SearchOptions& options_;
  const double radius_;
  std::int64_t next_ = 0;                ///< the place behind those that were taken
  std::vector<std::int64_t> places_;     ///< that were taken last
  std::span<const std::int64_t> asked_;  ///< those of them whose pairs are not found yet
  std::vector<std::int64_t> counts_;     ///< neighbours of each of these, itself included
};

/// Finds the pairs among the rows of one group.
class PairsOfGroup {
 public:
  PairsOfGroup(const Index::State& all, std::int64_t group, double radius, const SearchOptions& options)
      : index_(all.groups->alone(all, group)),
        part_(1, options, {0, 1}, all.groups->rows(group)),
        pairs_(*index_, radius, part_.options()) {}
  bool next(Pairs& block) { return pairs_.next(block); }

 private:
  const std::shared_ptr<const Index::State> index_;
  const AskedPart part_;
  PairsOfRows pairs_;
};

class PairSearch::State {
 public:
  State(const Index& index, double radius, const SearchOptions& options)
      : index_(index),
        radius_(radius),
        given_(checked(options, radius)),
        mapped_("pairs", index.state(), given_, 1, std::nullopt) {
    if (state().groups && (!options.groups.empty() || options.rows_from_group))
      refuse("pairs",
             "rows are paired within their groups, and have their numbers in the whole; leave groups "
             "and rows_from_group out");
    given_.progress = nullptr;  // there are as many searches as blocks
    check_checkpoint("pairs", *index.state().store, options);
    check_rows_left_out("pairs", index.positions(), 1, options);
    if (!state().groups) whole_.emplace(state(), radius_, mapped_.options());
  }

  bool next(Pairs& block) {
    const FloatGuard guard;
    if (state().groups) return next_of_groups(block);
    if (!whole_->next(block)) return false;
    for (auto* rows : {&block.first, &block.second}) state().numbers.to_numbers(*rows);
    return true;
  }

 private:
  const Index::State& state() const { return index_.state(); }

  bool next_of_groups(Pairs& block) {
    for (; group_ < state().groups->count(); ++group_) {
      const RowRange rows = state().groups->rows(group_);
      if (rows.count < 2) continue;
      if (!of_group_) of_group_.emplace(state(), group_, radius_, mapped_.options());
      if (of_group_->next(block)) {
        for (auto* numbers : {&block.first, &block.second})
          for (std::int64_t& row : *numbers) row += rows.first;
        return true;
      }
      of_group_.reset();
    }
    block = {};
    block.arithmetic = index_.arithmetic();
    return false;
  }

  const Index index_;
  const double radius_;
  SearchOptions given_;
  const MappedOptions mapped_;
  std::optional<PairsOfRows> whole_;  ///< without groups
  std::int64_t group_ = 0;
  std::optional<PairsOfGroup> of_group_;  ///< group_; nothing before it is asked
};

PairSearch::PairSearch(const Index& index, double radius, const SearchOptions& options) try
    : state_(std::make_unique<State>(index, radius, options)) {
} catch (...) {
  rethrow_as_error();
}

PairSearch::PairSearch(PairSearch&&) noexcept = default;
PairSearch& PairSearch::operator=(PairSearch&&) noexcept = default;
PairSearch::~PairSearch() = default;

bool PairSearch::next(Pairs& block) try { return state_->next(block); } catch (...) {
  rethrow_as_error();
}

}  // namespace kith
