// Options from C: votes, training, searches.
#include <string>
#include <utility>

#include "c_api/c_arguments.hpp"
#include "c_api/c_structs.hpp"
#include "kith/error.hpp"
#include "kith/selector.hpp"
#include "rows/row_filter.hpp"

namespace kith::c_api {
namespace {

std::optional<bool> whether(const char* where, const char* what, std::int32_t wish) {
  if (wish < -1 || wish > 1)
    refuse(where, std::string(what) + " = " + std::to_string(wish) +
                      "; choose 0 (kith decides), 1 (yes) or -1 (never)");
  if (wish == 0) return std::nullopt;
  return wish == 1;
}

/// Words as PlanOptions takes them; the library checks how many filters there are.
MatrixView<const std::uint32_t> filter_of(const char* where, const kith_search_options& given, std::int64_t n,
                                          std::int64_t m) {
  if (given.filter_rows == 0) {
    if (given.filter && m != 0)
      refuse(where, "there is a filter, but filter_rows is 0; give 1 for all queries, or " +
                        std::to_string(m) + ", or set filter to NULL");
    return {};
  }
  check_array(where, "filter", given.filter, given.filter_rows);
  return {given.filter, given.filter_rows, words_of_filter(n)};
}

}  // namespace

Training training_of(const char* where, const kith_train_options* options) {
  const kith_train_options given = read_struct(where, options);
  return {choice_of(given.metric, default_metric, parse_metric),
          {copy_of(where, "features", given.features, given.feature_count),
           copy_of(where, "sample_weights", given.sample_weights, given.sample_weight_count),
           copy_of(where, "ids", given.ids, given.id_count)}};
}

VotingOptions voting_of(const char* where, const kith_vote_options* options) {
  const kith_vote_options given = read_struct(where, options);
  VotingOptions voting;
  voting.weights = choice_of(given.weights, voting.weights, weights_named);
  voting.tie = choice_of(given.tie, voting.tie, tie_rule_named);
  voting.rank_weights = copy_of(where, "rank_weights", given.rank_weights, given.rank_weight_count);
  voting.priors = copy_of(where, "priors", given.priors, given.prior_count);
  voting.costs = copy_of(where, "costs", given.costs, given.cost_count);
  voting.no_label = given.no_label;
  return voting;
}

PreparationOptions preparation_options_of(const char* where, const kith_preparation_options* options) {
  const kith_preparation_options given = read_struct(where, options);
  PreparationOptions result;
  for (const std::string& scaling : texts_of(where, "scaling", given.scalings, given.scaling_count))
    result.scalings.push_back(scaling_named(scaling));
  result.categorical = copy_of(where, "categorical", given.categorical, given.categorical_count);
  result.categories = choice_of(given.categories, result.categories, categories_named);
  result.missing = choice_of(given.missing, result.missing, missing_named);
  return result;
}

std::function<void(double)> progress_of(int32_t (*progress)(double fraction, void* user), void* user) {
  if (!progress) return {};
  return [progress, user](double fraction) {
    if (progress(fraction, user) != 0)
      throw Error(
          Errc::interrupted,
          "kith: stopped, as progress() asked by what it returned; nothing is returned: return 0 to go on");
  };
}

Asked::Asked(const char* where, const kith_search_options* options, std::int64_t n, std::int64_t m) {
  const kith_search_options given = read_struct(where, options);
  options_.selector = choice_of(given.selector, options_.selector, parse_selector);
  options_.proposer = choice_of(given.proposer, options_.proposer, parse_proposer);
  for (const std::string& selector : texts_of(where, "sample", given.sample, given.sample_count))
    options_.sample.push_back(parse_selector(selector));
  options_.fused = whether(where, "fused", given.fused);
  options_.boxes = whether(where, "boxes", given.boxes);
  options_.groups = given.groups;
  options_.query_tile = given.query_tile;
  options_.train_tile = given.train_tile;
  options_.filter = filter_of(where, given, n, m);
  if (given.self != -1) options_.self = given.self;
  options_.memory_limit = given.memory_limit;
  options_.threads = given.threads;
  if (given.stop) options_.stop = given.stop->source.get_token();
  if (given.progress)
    options_.progress = [told = progress_of(given.progress, given.user)](const Progress& progress) {
      told(progress.fraction);
    };
  trace_ = given.trace;
}

void Asked::tell() const {
  if (trace_) trace_->plan = explain(trace_->trace.plan);
}

}  // namespace kith::c_api
