// Makes the page of a classification: which class was taken for which, and some misclassified rows.
#include <algorithm>
#include <limits>
#include <map>

#include "command/classify/classify.hpp"
#include "command/results/distances.hpp"
#include "report/class_parts.hpp"
#include "report/parts.hpp"
#include "report/text.hpp"

namespace kith::command {
namespace {

constexpr std::size_t shown_images = 12, shown_rows = 8;

/// Chooses misclassified queries: the first of each kind of mistake, the most frequent kind first; then the
/// second of each, and so on.
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
                         const std::vector<std::uint32_t>& train_classes, std::int64_t most) {
  report::Sample sample;
  sample.query = static_cast<std::int64_t>(q);
  sample.truth = truth;
  sample.predicted = predicted;
  const RadiusNeighbors& found = done.found;
  const std::int64_t end = std::min(found.first[q + 1], found.first[q] + most);
  for (auto at = static_cast<std::size_t>(found.first[q]); at < static_cast<std::size_t>(end); ++at) {
    const std::size_t c = train_classes[static_cast<std::size_t>(found.row[at])];
    sample.neighbors.push_back(done.training.file_row(found.row[at]));
    sample.distances.push_back(distance_at(found, at));
    sample.neighbor_classes.push_back(c);
    sample.votes_truth += c == truth;
    sample.votes_predicted += c == predicted;
  }
  return sample;
}

report::Head head_of(const ClassifyFlags& flags, const Classified& done, const report::Confusion& confusion) {
  const std::int64_t k = flags.query_flags.radius.empty() ? flags.query_flags.k : 0;
  const std::string others = done.leave_one_out ? " others" : k == 1 ? " neighbour" : " neighbours";
  const std::string voters = k == 0 ? "all" + (done.leave_one_out ? others : " training rows") + " within " +
                                          report::escape(flags.query_flags.radius)
                             : k == 1 ? "their nearest" + (done.leave_one_out ? " other" : others)
                                      : "their " + report::grouped(k) + " nearest" + others;
  const double share = confusion.accuracy();
  return {report::percent(share, 2) + " of " + report::file_title(done.queries().table.path),
          "Exact k-nearest-neighbour classification",
          report::percent(share, 2),
          "accuracy",
          report::grouped(confusion.correct()) + " of " + report::grouped(confusion.total()) +
              " rows were given their true class by a vote of " + voters + ".",
          share};
}

}  // namespace

void add_report(report::Document& document, const ClassifyFlags& flags, const Classified& done) {
  const Output& output = done.outputs[0];
  const Training& training = done.training;
  std::vector<std::int64_t> codes = output.classes;  // also those that only the truth has
  codes.insert(codes.end(), output.truth.code.begin(), output.truth.code.end());
  codes = classes_of(std::move(codes));
  std::vector<std::string> classes = class_names("classify", flags.class_names, codes, output.truth);
  const auto places = [&](const std::vector<std::int64_t>& labels) {
    const std::vector<std::uint32_t> found = class_codes(labels, codes);
    return std::vector<std::size_t>(found.begin(), found.end());
  };
  const std::vector<std::size_t> truth = places(output.truth.code);
  std::vector<std::size_t> predicted = places(output.answer);
  for (std::size_t q = 0; q < predicted.size(); ++q)  // the mark for no answer may be a label of the truth
    if (!std::binary_search(output.classes.begin(), output.classes.end(), output.answer[q]))
      predicted[q] = codes.size();
  const bool no_answer = std::find(predicted.begin(), predicted.end(), codes.size()) != predicted.end();
  document.add(report::Fact{"", "Classes", codes.size()});
  for (const auto& [name, value] : settings(training, done.voting))
    document.add(report::Fact{"", name, value});
  if (no_answer) classes.emplace_back("no answer");
  const report::Confusion confusion(classes.size(), truth, predicted);
  document.head = head_of(flags, done, confusion);
  report::add_confusion(document, confusion, classes);
  report::add_classes(document, confusion, classes, no_answer, {});
  report::Samples shown{&training.rows.table,
                        &done.queries().table,
                        classes,
                        flags.query_flags.radius.empty() ? flags.query_flags.k : 0,
                        confusion.total() - confusion.correct(),
                        {}};
  const std::vector<std::uint32_t> train_classes = class_codes(training.labels[0].code, codes);
  const std::size_t count = training.rows.table.image_shape.empty() ? shown_rows : shown_images;
  const bool has_rows = !training.rows.table.values.empty();  // a model keeps only prepared rows
  for (std::size_t q : choose(confusion, truth, predicted, has_rows ? count : 0))
    shown.list.push_back(sample_of(done, q, truth[q], predicted[q], train_classes,
                                   shown.k > 0 ? shown.k : std::numeric_limits<std::int32_t>::max()));
  if (shown.list.empty()) return;
  document.add(report::Section{"Misclassified", ""});
  document.add(report::Picture{[shown] { return report::samples(shown); }});
}

}  // namespace kith::command
