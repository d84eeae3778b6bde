#include "command/input/voting_flags.hpp"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cmath>

#include "command/how/choices.hpp"
#include "command/input/tables.hpp"
#include "command/words/keys.hpp"
#include "files/source.hpp"
#include "files/text/number.hpp"
#include "kith/parse.hpp"

namespace kith::command {
namespace {

std::vector<float> rank_weights(const std::string& where, const VotingFlags& flags, std::int64_t k) {
  const bool asked = flags.weights == "rank";
  if (!asked && flags.rank_weights.empty()) return {};
  if (!asked) refuse(where, "--votes rank-weights is for weights=rank; give both");
  if (flags.rank_weights.empty())
    refuse(where,
           "--votes weights=rank needs rank-weights; give a number for each rank, as rank-weights=3,2,1");
  std::vector<float> weights;
  for (const std::string& text : flags.rank_weights) {
    const files::Number number = files::parse_number(text);
    if (number.kind != files::Number::finite || number.value < 0)
      refuse(where, "--votes rank-weights: " + files::in_quotes(text) +
                        " is no finite number of at least 0; correct it");
    weights.push_back(number.value);
  }
  if (static_cast<std::int64_t>(weights.size()) < k)
    refuse(where, "--votes rank-weights has " + files::count_of(weights.size(), "number") + " but " +
                      std::to_string(k) + " neighbours vote; give one for each rank");
  return weights;
}

std::string class_list(const files::Labels& labels, const std::vector<std::int64_t>& classes) {
  constexpr std::size_t most_listed = 12;
  std::string text;
  for (std::size_t c = 0; c < std::min(classes.size(), most_listed); ++c)
    text += (c ? ", " : "") + files::printable(labels.text(classes[c]));
  return text + (classes.size() > most_listed ? ", ..." : "");
}

std::vector<double> priors(const std::string& where, const VotingFlags& flags, const files::Labels& labels,
                           const std::vector<std::int64_t>& classes) {
  if (flags.priors.empty()) return {};
  std::vector<double> result(classes.size(), 1.0);
  std::vector<bool> given(classes.size());
  for (const std::string& text : flags.priors) {
    const std::size_t colon = text.rfind(':');  // a label may have others
    const std::string label = text.substr(0, colon);
    const files::WideNumber number =
        colon == std::string::npos ? files::WideNumber{} : files::parse_wide(text.substr(colon + 1));
    if (number.kind != files::Number::finite || number.value <= 0)
      refuse(where, "--votes priors: " + files::in_quotes(text) +
                        " is no LABEL:P with P above 0; write it as priors=a:0.2,b:0.8");
    const auto at = std::find_if(classes.begin(), classes.end(),
                                 [&](std::int64_t code) { return labels.text(code) == label; });
    if (at == classes.end())
      refuse(where, "--votes priors: no training row has the label " + files::in_quotes(label) +
                        "; there are " + class_list(labels, classes));
    const auto place = static_cast<std::size_t>(at - classes.begin());
    if (given[place])
      refuse(where, "--votes priors gives " + files::in_quotes(label) + " twice; give it once");
    given[place] = true;
    result[place] = number.value;
  }
  return result;
}

std::vector<double> costs(const std::string& where, const VotingFlags& flags, const files::Labels& labels,
                          const std::vector<std::int64_t>& classes) {
  if (flags.costs.empty()) return {};
  const auto count = static_cast<std::int64_t>(classes.size());
  files::ValueOptions how(flags.reading);
  how.rows = count;
  files::Values values = files::read_values(flags.costs, how);
  if (values.rows != count || values.cols != count)
    refuse(where, flags.costs + " holds " + std::to_string(values.rows) + " x " +
                      std::to_string(values.cols) + " numbers but there are " + std::to_string(count) +
                      (count == 1 ? " class (" : " classes (") + class_list(labels, classes) +
                      "); give a row for each that is right, and a column for each that is answered");
  for (std::size_t c = 0; c < values.column_names.size(); ++c)
    if (values.column_names[c] != labels.text(classes[c]))
      refuse(where, flags.costs + ": column " + std::to_string(c + 1) + " is called " +
                        files::in_quotes(values.column_names[c]) + " but class " + std::to_string(c + 1) +
                        " is " + files::in_quotes(labels.text(classes[c])) +
                        "; put rows and columns in the order " + class_list(labels, classes));
  return values.values;
}

std::vector<Key> weight_keys(VotingFlags& flags) {
  return {
      {"weights", "WHAT",
       "weight of a neighbour's vote: uniform, distance (1 / distance), rank (see rank-weights); else "
       "uniform",
       [&flags](const std::string& text) { flags.weights = named_one(text, command::names_of<Weights>()); }},
      {"rank-weights", "W,W,...", "weights of the neighbours of rank 1, 2, 3, ..., for weights=rank",
       [&flags](const std::string& text) { flags.rank_weights = split_commas(text); }}};
}

std::vector<Key> class_keys(VotingFlags& flags) {
  return {{"tie", "WHAT",
           "how to break a tie between classes: smallest-label, nearest, smallest-distance, fewer-neighbors, "
           "abstain; else smallest-label",
           [&flags](const std::string& text) { flags.tie = named_one(text, command::names_of<TieRule>()); }},
          {"priors", "LABEL:P,...", "factors on the scores of classes; 1 for the others",
           [&flags](const std::string& text) {
             for (const std::string& one : split_commas(text)) flags.priors.push_back(one);
           }},
          {"costs", "FILE",
           "cost of each answer, [classes, classes]: a row for the true class, a column for the answer, in "
           "the order of the labels; the class of the smallest expected cost wins",
           [&flags](const std::string& text) { flags.costs = text; }}};
}

void add_votes_option(CLI::App& app, std::vector<Key> keys, const std::vector<Key>& more) {
  keys.insert(keys.end(), more.begin(), more.end());
  add_keys(
      app,
      {"--votes",
       "How the neighbours vote",
       std::move(keys),
       {"kith classify --train points.csv --label kind -k 3 --votes weights=rank,rank-weights=3,2,1 --query "
        "2,7",
        "kith classify --train points.csv --label kind -k 4 --votes tie=abstain,no-label=none --query 2,7"}});
}

}  // namespace

void add_voting_options(CLI::App& app, VotingFlags& flags, const std::vector<Key>& more) {
  std::vector<Key> keys = weight_keys(flags);
  for (Key& key : class_keys(flags)) keys.push_back(std::move(key));
  add_votes_option(app, std::move(keys), more);
}

void add_weight_options(CLI::App& app, VotingFlags& flags, const std::vector<Key>& more) {
  add_votes_option(app, weight_keys(flags), more);
}

VotingOptions voting_options(const std::string& where, const VotingFlags& flags, const files::Labels* labels,
                             const std::vector<std::int64_t>& classes, std::int64_t k) {
  VotingOptions options{.weights = parse<Weights>(flags.weights),
                        .tie = parse<TieRule>(flags.tie),
                        .rank_weights = rank_weights(where, flags, k)};
  if (!labels) return options;
  options.priors = priors(where, flags, *labels, classes);
  options.costs = costs(where, flags, *labels, classes);
  return options;
}

}  // namespace kith::command
