// From a classification to what its page says.
#include <algorithm>
#include <fstream>
#include <iterator>
#include <limits>
#include <map>

#include "command/classify/classify.hpp"
#include "report/report.hpp"

namespace kith::command {
namespace {

constexpr std::size_t shown_images = 12, shown_rows = 8;

/// Places of labels in the list of classes; the place behind them for what is none of them.
std::vector<std::size_t> places(const std::vector<std::int64_t>& labels,
                                const std::vector<std::int64_t>& classes) {
  std::vector<std::size_t> result;
  result.reserve(labels.size());
  for (std::int64_t label : labels) {
    const auto at = std::lower_bound(classes.begin(), classes.end(), label);
    const bool known = at != classes.end() && *at == label;
    result.push_back(static_cast<std::size_t>((known ? at : classes.end()) - classes.begin()));
  }
  return result;
}

/// Misclassified queries: the first of each kind of mistake, the most frequent kind first; then
/// the second of each, and so on.
std::vector<std::size_t> choose(const report::Confusion& confusion, const std::vector<std::size_t>& truth,
                                const std::vector<std::size_t>& predicted, std::size_t count) {
  std::map<std::pair<std::size_t, std::size_t>, std::vector<std::size_t>> of_kind;
  for (std::size_t q = 0; q < truth.size(); ++q) {
    if (truth[q] == predicted[q]) continue;
    auto& queries = of_kind[{truth[q], predicted[q]}];
    if (queries.size() < count) queries.push_back(q);
  }
  const auto kinds = confusion.mistakes();
  std::vector<std::size_t> chosen;
  for (std::size_t round = 0; round < count; ++round)
    for (const auto& kind : kinds) {
      const auto& queries = of_kind[{kind.truth, kind.predicted}];
      if (round < queries.size() && chosen.size() < count) chosen.push_back(queries[round]);
    }
  return chosen;
}

report::Sample sample_of(const Classified& done, std::size_t q, std::size_t truth, std::size_t predicted,
                         const std::vector<std::size_t>& train_classes, std::int64_t most) {
  report::Sample sample;
  sample.query = static_cast<std::int64_t>(q);
  sample.truth = truth;
  sample.predicted = predicted;
  const RadiusNeighbors& found = done.found;
  const std::int64_t end = std::min(found.first[q + 1], found.first[q] + most);
  for (auto at = static_cast<std::size_t>(found.first[q]); at < static_cast<std::size_t>(end); ++at) {
    const std::size_t c = train_classes[static_cast<std::size_t>(found.index[at])];
    sample.neighbors.push_back(done.training.file_row(found.index[at]));
    sample.distances.push_back(found.distance[at]);
    sample.neighbor_classes.push_back(c);
    sample.votes_truth += c == truth;
    sample.votes_predicted += c == predicted;
  }
  return sample;
}

}  // namespace

std::vector<std::string> class_names(const std::string& where, const std::vector<std::string>& given,
                                     const std::vector<std::int64_t>& classes, const files::Labels& known) {
  std::vector<std::string> names;
  for (std::int64_t code : classes) {
    const auto at = static_cast<std::size_t>(code);
    if (!given.empty() && at >= given.size())
      throw Error(Errc::invalid_argument, where + ": --class-names gives " + std::to_string(given.size()) +
                                              " names but label " + std::to_string(code) +
                                              " occurs; give a name to each of 0, 1, 2, ...");
    names.push_back(given.empty() ? known.text(code) : given[at]);
  }
  return names;
}

std::vector<std::pair<std::string, std::string>> settings(const Training& training,
                                                          const VotingOptions& voting) {
  std::vector<std::pair<std::string, std::string>> list;
  if (voting.weights != Weights::uniform) list.emplace_back("Votes weigh by", name(voting.weights));
  if (voting.tie != TieRule::smallest_label) list.emplace_back("Ties go to", name(voting.tie));
  if (!voting.priors.empty()) list.emplace_back("Priors", "given");
  if (!voting.costs.empty()) list.emplace_back("Costs", "given");
  if (!training.sample_weights.empty()) list.emplace_back("Sample weights", "given");
  std::string scale;
  for (Scaling scaling : training.preparation.options().scalings)
    scale += (scale.empty() ? "" : ", ") + std::string(name(scaling));
  if (!scale.empty()) list.emplace_back("Scale", scale);
  if (const Missing missing = training.preparation.options().missing; missing != Missing::refuse)
    list.emplace_back("Missing values", name(missing));
  if (!training.preparation.options().categorical.empty())
    list.emplace_back("Text columns", name(training.preparation.options().categories));
  if (!training.features.empty())
    list.emplace_back(
        "Features", std::to_string(training.features.size()) + " of " + std::to_string(training.rows.width));
  if (training.filter)
    list.emplace_back("Training rows that count", std::to_string(training.filter->count()));
  return list;
}

std::string command_line() {
  std::ifstream file("/proc/self/cmdline", std::ios::binary);
  std::string text, word;
  while (std::getline(file, word, '\0')) {
    if (text.empty()) word = "kith";
    const bool plain = !word.empty() && word.find_first_not_of(
                                            "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
                                            "0123456789-_./:,=+@%") == std::string::npos;
    std::string quoted;
    for (char c : word) quoted += c == '\'' ? std::string("'\\''") : std::string(1, c);
    text += (text.empty() ? "" : " ") + (plain ? word : "'" + quoted + "'");
  }
  return text;
}

std::string report_page(const ClassifyFlags& flags, const Classified& done) {
  const Output& output = done.outputs[0];
  const Training& training = done.training;
  report::Report page;
  page.train = &training.rows.table;
  page.queries = &done.queries().table;
  page.metric = name(flags.metric);
  page.k = flags.asking.radius.empty() ? flags.asking.k : 0;
  page.radius = flags.asking.radius;
  page.leave_one_out = done.leave_one_out;
  std::vector<std::int64_t> classes = output.classes;  // and those that the truth alone has
  classes.insert(classes.end(), output.truth.code.begin(), output.truth.code.end());
  classes = distinct(classes);
  page.classes = class_names("classify", flags.class_names, classes, output.truth);
  page.settings = settings(training, done.voting);
  const std::vector<std::size_t> truth = places(output.truth.code, classes);
  std::vector<std::size_t> predicted = places(output.answer, classes);
  for (std::size_t q = 0; q < predicted.size(); ++q)  // a mark for no answer may be a label of the truth
    if (!std::binary_search(output.classes.begin(), output.classes.end(), output.answer[q]))
      predicted[q] = classes.size();
  const std::vector<std::size_t> train_classes = places(training.labels[0].code, classes);
  page.no_answer = std::find(predicted.begin(), predicted.end(), page.classes.size()) != predicted.end();
  if (page.no_answer) page.classes.emplace_back("no answer");
  page.confusion = report::Confusion(page.classes.size(), truth, predicted);
  for (std::size_t i = 0; i < done.ks.size(); ++i)
    page.sweep.push_back({done.ks[i], count_right(done.swept[i], output.truth.code, output.classes)});
  const std::size_t count = training.rows.table.image_shape.empty() ? shown_rows : shown_images;
  const bool has_rows = !training.rows.table.values.empty();  // a model keeps them as they are searched
  for (std::size_t q : choose(page.confusion, truth, predicted, has_rows ? count : 0))
    page.samples.push_back(sample_of(done, q, truth[q], predicted[q], train_classes,
                                     page.k > 0 ? page.k : std::numeric_limits<std::int32_t>::max()));
  page.device = done.device;
  page.trace = done.trace;
  page.seconds = done.seconds;
  page.command = command_line();
  return report::html(page);
}

}  // namespace kith::command
