#include "kith/feature_selection.hpp"

#include <algorithm>
#include <optional>
#include <string>
#include <utility>

#include "base/border.hpp"
#include "base/float_guard.hpp"
#include "base/names.hpp"
#include "base/refuse.hpp"
#include "kith/error.hpp"
#include "search/doubles/double_rows_of_index.hpp"
#include "structure/feature_sets.hpp"
#include "structure/structure_state.hpp"

namespace kith {
namespace {

void check_options(const RowsView& samples, const FeatureSelectionOptions& options) {
  const std::string dims = std::to_string(samples.cols);
  if (samples.rows < 1 || samples.cols < 1)
    refuse("select_features", "the samples are [" + std::to_string(samples.rows) + ", " + dims +
                                  "]; give at least one row and one column");
  if (options.most < 0 || options.most > samples.cols)
    refuse("select_features", "most = " + std::to_string(options.most) + " of " + dims +
                                  " features; choose 0 (all) ... " + dims);
  if (options.least < 1 || options.least > samples.cols)
    refuse("select_features",
           "least = " + std::to_string(options.least) + " of " + dims + " features; choose 1 ... " + dims);
  const std::int64_t others = samples.rows - 1;
  if (options.criterion == Criterion::leave_one_out && (options.k < 1 || options.k > others))
    refuse("select_features", "k = " + std::to_string(options.k) + ", but a row has " +
                                  std::to_string(others) + " others; choose k from 1 to " +
                                  std::to_string(others));
  if (options.plan.filter.rows() > 0)
    refuse("select_features", "the plan has a filter; give the rows that count instead");
  if (options.plan.self)
    refuse("select_features", "the plan has self, which is set where it is needed; leave it empty");
  if (options.plan.radius)
    refuse("select_features", "the plan has a radius, but the k nearest vote; leave it out");
}

/// Holds one set, which changes feature by feature.
class Walk {
 public:
  Walk(SetScores& scores, FeatureSet start) : scores_(scores), set_(std::move(start)) {}

  std::int64_t size() const { return std::count(set_.begin(), set_.end(), true); }
  std::vector<FeatureStep>& steps() { return steps_; }

  /// Tries all sets with one feature more, or one less, and returns the best; of equally good ones the one
  /// with the lowest feature.
  ///   later  number of sets that will follow
  FeatureStep best(bool add, std::int64_t later) {
    std::vector<FeatureSet> sets;
    std::vector<std::int64_t> features;
    for (std::size_t d = 0; d < set_.size(); ++d) {
      if (set_[d] == add) continue;
      sets.push_back(set_);
      sets.back()[d] = add;
      features.push_back(static_cast<std::int64_t>(d));
    }
    const std::vector<double> scores = scores_.of(sets, later);
    std::size_t first = 0;
    for (std::size_t i = 1; i < sets.size(); ++i)
      if (beats(scores[i], scores[first])) first = i;
    return {add, features[first], features_of(sets[first]), scores[first]};
  }

  void take(FeatureStep step) {
    set_[static_cast<std::size_t>(step.feature)] = step.added;
    steps_.push_back(std::move(step));
  }

 private:
  SetScores& scores_;
  FeatureSet set_;
  std::vector<FeatureStep> steps_;
};

/// Returns the number of sets that growing from `size` to `most` features will try. The set of all features
/// is known.
std::int64_t sets_to_grow(std::int64_t size, std::int64_t most, std::int64_t dims) {
  std::int64_t sets = 0;
  for (std::int64_t s = size; s < most; ++s) sets += s + 1 == dims ? 0 : dims - s;
  return sets;
}

std::int64_t sets_to_shrink(std::int64_t size, std::int64_t least) {
  return (size * (size + 1) - least * (least + 1)) / 2;
}

void go_forward(Walk& walk, std::int64_t most, std::int64_t dims) {
  for (std::int64_t size = 1; size <= most; ++size)
    walk.take(walk.best(true, sets_to_grow(size, most, dims)));
}

void go_backward(Walk& walk, std::int64_t least, std::int64_t dims) {
  for (std::int64_t size = dims - 1; size >= least; --size)
    walk.take(walk.best(false, sets_to_shrink(size, least)));
}

/// Searches by floating. It ends, since a feature is dropped only if the best score of a size rises, and
/// there are finitely many sets.
void go_floating(Walk& walk, std::int64_t most, std::int64_t dims) {
  std::vector<std::optional<double>> best_of(static_cast<std::size_t>(dims) + 1);  // [size]
  const auto take = [&](FeatureStep step) {
    std::optional<double>& best = best_of[step.features.size()];
    if (!best || beats(step.score, *best)) best = step.score;
    walk.take(std::move(step));
  };
  while (walk.size() < most) {
    take(walk.best(true, sets_to_grow(walk.size() + 1, most, dims)));
    while (walk.size() > 2) {  // the best single feature was found first
      FeatureStep drop = walk.best(false, sets_to_grow(walk.size(), most, dims));
      if (!beats(drop.score, *best_of[drop.features.size()])) break;
      take(std::move(drop));
    }
  }
}

/// Chooses the best set reached; of equally good ones the smallest, then the first.
///   start  the set of all features, if the steps began with it
void choose(FeatureSelection& selection, const std::optional<FeatureStep>& start) {
  const FeatureStep* best = start ? &*start : &selection.steps.front();
  for (const FeatureStep& step : selection.steps) {
    const bool as_good = !beats(best->score, step.score);
    if (beats(step.score, best->score) || (as_good && step.features.size() < best->features.size()))
      best = &step;
  }
  selection.best = best->features;
  selection.best_score = best->score;
}

}  // namespace

std::string_view name(Criterion criterion) {
  return name_in(names_of<Criterion>, criterion);
}
std::string_view name(SelectionMethod method) {
  return name_in(names_of<SelectionMethod>, method);
}

FeatureSelection select_features(const Device& device, const RowsView& samples,
                                 std::span<const std::int64_t> labels, Metric metric,
                                 const FeatureSelectionOptions& options) try {
  const FloatGuard guard;
  check_options(samples, options);
  if (compares_bits(metric))
    throw Error(Errc::unsupported,
                "select_features: " + std::string(kith::name(metric)) +
                    " compares whole rows of bits, of which no columns are chosen; give numbers, "
                    "and another metric");
  IndexOptions of_index;
  of_index.arithmetic = options.arithmetic;
  const Arithmetic arithmetic = arithmetic_of(of_index, metric, samples.element);
  SampleCopy numbers(arithmetic);
  numbers.append("select_features", "sample", samples, metric);
  const std::int64_t dims = samples.cols, most = options.most == 0 ? dims : options.most;
  const bool backward = options.method == SelectionMethod::backward;
  const FeatureSet all(static_cast<std::size_t>(dims), true);
  const std::int64_t later = backward ? sets_to_shrink(dims, options.least) : sets_to_grow(0, most, dims);
  SetScores scores(device, numbers, labels, metric, options);
  FeatureSelection selection;
  selection.arithmetic = arithmetic;
  selection.all_score = scores.of({&all, 1}, later)[0];
  Walk walk(scores, FeatureSet(all.size(), backward));
  if (options.method == SelectionMethod::forward) go_forward(walk, most, dims);
  if (options.method == SelectionMethod::floating) go_floating(walk, most, dims);
  if (backward) go_backward(walk, options.least, dims);
  selection.steps = std::move(walk.steps());
  selection.evaluated = scores.evaluated();
  std::optional<FeatureStep> start;
  if (backward) start = FeatureStep{true, 0, features_of(all), selection.all_score};
  choose(selection, start);
  return selection;
} catch (...) {
  rethrow_as_error();
}

}  // namespace kith
