// What `kith select-features` prints and writes.
#include <algorithm>
#include <cmath>

#include "command/features/select_features.hpp"
#include "command/shared/json.hpp"
#include "files/shown.hpp"
#include "report/class_pages.hpp"

namespace kith::command {
namespace {

/// What the scores are.
std::string score_name(const SelectFeaturesFlags& flags) {
  return flags.judged_by() == Criterion::informativeness ? "informativeness Q" : "leave-one-out accuracy";
}

std::string score_text(double score) {
  return std::isnan(score) ? "-" : std::isinf(score) ? "inf" : format_number(score, 4);
}

/// The step that leads to the best set first; -1: none does.
std::ptrdiff_t best_step(const FeatureSelection& selection) {
  const auto& steps = selection.steps;
  const auto found = std::find_if(steps.begin(), steps.end(),
                                  [&](const FeatureStep& step) { return step.features == selection.best; });
  return found == steps.end() ? -1 : found - steps.begin();
}

nlohmann::ordered_json names_json(const Selected& done, const std::vector<std::int64_t>& features) {
  nlohmann::ordered_json json = nlohmann::ordered_json::array();
  for (const std::int64_t feature : features) json.push_back(done.name(feature));
  return json;
}

}  // namespace

std::vector<std::string> column_names(const Training& training) {
  const files::Table& table = training.rows.table;
  const auto base = [&](std::int64_t column) {
    return table.column_names.empty() ? table.column_text(column)
                                      : table.column_names[static_cast<std::size_t>(column)];
  };
  std::vector<std::string> names;
  if (training.preparation.changes_nothing()) {
    for (std::int64_t c = 0; c < table.cols; ++c) names.push_back(base(c));
    return names;
  }
  const Preparation::Learned learned = training.preparation.learned();
  const std::vector<std::int64_t>& coded = learned.options.categorical;
  std::size_t category = 0;
  std::int64_t before = -1;
  for (const std::int64_t source : training.preparation.sources()) {
    category = source == before ? category + 1 : 0;
    before = source;
    names.push_back(base(source));
    const auto at = std::lower_bound(coded.begin(), coded.end(), source);
    if (at == coded.end() || *at != source || learned.options.categories != Categories::one_hot) continue;
    const std::int64_t code = learned.categories[static_cast<std::size_t>(at - coded.begin())][category];
    const auto text = std::find_if(table.categories.begin(), table.categories.end(),
                                   [&](const files::Categories& known) { return known.column == source; });
    names.back() += " = " + (text == table.categories.end() ? std::to_string(code)
                                                            : text->names[static_cast<std::size_t>(code)]);
  }
  return names;
}

std::string features_argument(const Selected& done) {
  const files::Table& table = done.training.rows.table;
  if (done.training.rows.width != table.cols) return "";
  std::string list;
  for (const std::int64_t feature : done.selection.best) {
    std::int64_t in_file = done.columns[static_cast<std::size_t>(feature)];
    for (const std::int64_t absent : table.left_out) in_file += absent <= in_file;
    list += (list.empty() ? "" : ",") + std::to_string(in_file + (table.text ? 1 : 0));
  }
  return list;
}

std::string selection_text(const SelectFeaturesFlags& flags, const Selected& done) {
  const FeatureSelection& selection = done.selection;
  const std::string score = score_name(flags);
  std::string text = files::shown_in_line(done.training.rows.table.path) + ": " +
                     std::to_string(done.training.n()) + " rows, " + std::to_string(done.names.size()) +
                     " columns to choose from, " + std::to_string(done.classes) + " classes, " +
                     std::string(name(flags.metric)) + ", " + done.device.spec + "; " + flags.method +
                     " by " + score + "\n\n";
  TextTable table({"step", "columns", "change", score, ""});
  const std::ptrdiff_t best = best_step(selection);
  for (std::size_t i = 0; i < selection.steps.size(); ++i) {
    const FeatureStep& step = selection.steps[i];
    table.add({std::to_string(i + 1), std::to_string(step.features.size()),
               (step.added ? "add " : "drop ") + done.name(step.feature), score_text(step.score),
               static_cast<std::ptrdiff_t>(i) == best ? "best" : ""});
  }
  text += table.text() + "\nall " + std::to_string(done.names.size()) +
          " columns: " + score_text(selection.all_score) + "\nbest, " +
          std::to_string(selection.best.size()) + (selection.best.size() == 1 ? " column: " : " columns: ") +
          score_text(selection.best_score) + "\n";
  for (const std::int64_t feature : selection.best)
    text += "  " + files::shown_in_line(done.name(feature)) + "\n";
  if (const std::string list = features_argument(done); !list.empty())
    text += "for other commands: --features " + list + "\n";
  return text + std::to_string(selection.evaluated) + " sets tried in " +
         format_seconds(done.seconds.back().second) + "\n";
}

std::string selection_json(const SelectFeaturesFlags& flags, const Selected& done) {
  const FeatureSelection& selection = done.selection;
  nlohmann::ordered_json json = {{"file", done.training.rows.table.path},
                                 {"rows", done.training.n()},
                                 {"columns", done.names},
                                 {"metric", name(flags.metric)},
                                 {"device", done.device.spec},
                                 {"criterion", name(flags.judged_by())},
                                 {"method", flags.method},
                                 {"steps", nlohmann::ordered_json::array()},
                                 {"best", names_json(done, selection.best)},
                                 {"best_score", number_json(selection.best_score)},
                                 {"all_score", number_json(selection.all_score)},
                                 {"features", features_argument(done)},
                                 {"evaluated", selection.evaluated},
                                 {"seconds", done.seconds.back().second}};
  for (const FeatureStep& step : selection.steps)
    json["steps"].push_back({{"added", step.added},
                             {"column", done.name(step.feature)},
                             {"columns", names_json(done, step.features)},
                             {"score", number_json(step.score)}});
  return json_text(json);
}

std::string selection_csv(const Selected& done) {
  std::string csv = "step,change,column,columns,score\r\n";
  for (std::size_t i = 0; i < done.selection.steps.size(); ++i) {
    const FeatureStep& step = done.selection.steps[i];
    csv += std::to_string(i + 1) + "," + (step.added ? "add" : "drop") + "," +
           csv_cell(done.name(step.feature)) + "," + std::to_string(step.features.size()) + "," +
           (std::isfinite(step.score) ? nlohmann::json(step.score).dump() : "") + "\r\n";
  }
  return csv;
}

std::string selection_page(const SelectFeaturesFlags& flags, const Selected& done) {
  const FeatureSelection& selection = done.selection;
  report::SelectionReport page;
  page.path = done.training.rows.table.path;
  page.rows = done.training.n();
  page.columns = static_cast<std::int64_t>(done.names.size());
  page.classes = done.classes;
  page.metric = name(flags.metric);
  page.method = flags.method;
  page.score = score_name(flags);
  const std::ptrdiff_t best = best_step(selection);
  for (const FeatureStep& step : selection.steps)
    page.steps.push_back({step.added, done.name(step.feature),
                          static_cast<std::int64_t>(step.features.size()), step.score,
                          static_cast<std::ptrdiff_t>(page.steps.size()) == best});
  for (const std::int64_t feature : selection.best) page.best.push_back(done.name(feature));
  page.list = features_argument(done);
  page.best_score = selection.best_score;
  page.all_score = selection.all_score;
  page.evaluated = selection.evaluated;
  page.device = done.device;
  page.seconds = done.seconds;
  page.command = command_line();
  return report::html(page);
}

}  // namespace kith::command
