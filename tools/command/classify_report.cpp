// From a classification to what its page says.
#include <algorithm>
#include <fstream>
#include <iterator>
#include <map>

#include "classify.hpp"
#include "report/report.hpp"

namespace kith::command {
namespace {

constexpr std::size_t shown_images = 12, shown_rows = 8;

/// Places of labels in the list of classes.
std::vector<std::size_t> places(const std::vector<std::int64_t>& labels,
                                const std::vector<std::int64_t>& classes) {
  std::vector<std::size_t> result;
  result.reserve(labels.size());
  for (std::int64_t label : labels)
    result.push_back(
        static_cast<std::size_t>(std::lower_bound(classes.begin(), classes.end(), label) - classes.begin()));
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
                         const std::vector<std::size_t>& train_classes, std::int64_t k) {
  report::Sample sample;
  sample.query = static_cast<std::int64_t>(q);
  sample.truth = truth;
  sample.predicted = predicted;
  const Neighbors& found = done.sweep.neighbors;
  for (std::size_t j = 0; j < static_cast<std::size_t>(k); ++j) {
    const std::size_t at = q * static_cast<std::size_t>(found.k) + j;
    const std::size_t c = train_classes[static_cast<std::size_t>(found.index[at])];
    sample.neighbors.push_back(found.index[at]);
    sample.distances.push_back(found.distance[at]);
    sample.neighbor_classes.push_back(c);
    sample.votes_truth += c == truth;
    sample.votes_predicted += c == predicted;
  }
  return sample;
}

std::vector<std::string> class_names(const ClassifyFlags& flags, const Classified& done) {
  std::vector<std::string> names;
  for (std::int64_t code : done.classes) {
    if (flags.class_names.empty()) {
      names.push_back(done.known.text(code));
    } else if (static_cast<std::size_t>(code) < flags.class_names.size()) {
      names.push_back(flags.class_names[static_cast<std::size_t>(code)]);
    } else {
      throw Error(Errc::invalid_argument, "classify: --class-names gives " +
                                              std::to_string(flags.class_names.size()) + " names but label " +
                                              std::to_string(code) +
                                              " occurs; give a name to each of 0, 1, 2, ...");
    }
  }
  return names;
}

}  // namespace

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
  report::Report page;
  page.train = &done.train;
  page.queries = &done.queries;
  page.metric = name(flags.metric);
  page.k = flags.k;
  page.classes = class_names(flags, done);
  const std::vector<std::size_t> truth = places(done.truth.code, done.classes);
  const std::vector<std::size_t> predicted = places(done.labels(), done.classes);
  const std::vector<std::size_t> train_classes = places(done.known.code, done.classes);
  page.confusion = report::Confusion(page.classes.size(), truth, predicted);
  if (!flags.k_sweep.empty())
    for (std::size_t i = 0; i < done.ks.size(); ++i) {
      std::int64_t correct = 0;
      for (std::size_t q = 0; q < truth.size(); ++q) correct += done.sweep.label[i][q] == done.truth.code[q];
      page.sweep.push_back({done.ks[i], correct});
    }
  const std::size_t count = done.train.image_shape.empty() ? shown_rows : shown_images;
  for (std::size_t q : choose(page.confusion, truth, predicted, count))
    page.samples.push_back(sample_of(done, q, truth[q], predicted[q], train_classes, flags.k));
  page.device = done.device;
  page.trace = done.trace;
  page.seconds = done.seconds;
  page.command = command_line();
  return report::html(page);
}

}  // namespace kith::command
