// Makes the document that `kith select-features` prints and writes.
#include <algorithm>
#include <cmath>
#include <map>

#include "command/features/select_features.hpp"
#include "files/shown.hpp"
#include "report/charts/axis.hpp"
#include "report/charts/chart.hpp"
#include "report/class_parts.hpp"
#include "report/parts.hpp"
#include "report/text.hpp"

namespace kith::command {
namespace {

using report::Document, report::Fact, report::Kind, report::Picture, report::Section, report::Table;
using report::Value, report::Words;

/// Names the scores.
std::string score_name(const SelectFeaturesFlags& flags) {
  return flags.judged_by() == Criterion::informativeness ? "informativeness Q" : "leave-one-out accuracy";
}

std::string score_text(double score) {
  return std::isfinite(score) ? format_number(score, 4) : format_digits(score);
}

std::vector<std::string> names_of(const Selected& done, const std::vector<std::int64_t>& features) {
  std::vector<std::string> names;
  for (const std::int64_t feature : features) names.push_back(done.name(feature));
  return names;
}

report::Head head_of(const SelectFeaturesFlags& flags, const Selected& done) {
  const FeatureSelection& selection = done.selection;
  return {"columns of " + report::file_title(done.training.rows.table.path),
          "Which columns tell classes apart",
          report::grouped(static_cast<std::int64_t>(selection.best.size())),
          "of " + report::grouped(static_cast<std::int64_t>(done.names.size())) + " columns",
          "They have the best " + score_name(flags) + " of the sets on the way, " +
              report::value_text(selection.best_score) + "; all columns together have " +
              report::value_text(selection.all_score) + "."};
}

Words first_line(const SelectFeaturesFlags& flags, const Selected& done) {
  return {files::shown_in_line(done.training.rows.table.path) + ": " + std::to_string(done.training.n()) +
          " rows, " + std::to_string(done.names.size()) + " columns to choose from, " +
          std::to_string(done.classes) + " classes, " + std::string(name(flags.metric)) + ", " +
          done.device.spec + "; " + flags.method + " by " + score_name(flags) + "\n\n"};
}

void add_facts(Document& document, const SelectFeaturesFlags& flags, const Selected& done) {
  const std::string& path = done.training.rows.table.path;
  document.add(Fact{"file", "", path});
  document.add(Fact{"rows", "Rows", done.training.n(), report::file_name(path)});
  document.add(Fact{"columns", "Columns to choose from", done.names, "", std::to_string(done.names.size())});
  document.add(Fact{"arithmetic", "", name(done.selection.arithmetic)});
  document.add(Fact{"", "Classes", done.classes});
  document.add(report::metric_fact(std::string(name(flags.metric))));
  document.add(report::device_fact(done.device));
  document.add(Fact{"criterion", "What a set is judged by", name(flags.judged_by()), "", score_name(flags)});
  document.add(Fact{"method", "Method", flags.method});
}

/// Draws the best score of the steps for each number of columns, and the score of all columns.
report::Chart chart_of(const SelectFeaturesFlags& flags, const Selected& done) {
  const FeatureSelection& selection = done.selection;
  std::map<std::size_t, double> best;
  for (const FeatureStep& step : selection.steps) {
    const auto [at, is_new] = best.try_emplace(step.features.size(), step.score);
    if (!is_new && !(step.score <= at->second)) at->second = step.score;
  }
  const std::string score = score_name(flags);
  report::Chart chart{
      score + " over the number of columns",
      {"columns", false},
      {score, false, false},
      {{flags.method + " selection", "", "", {}}, {"the best set", "", "", {}}, {"all columns", "", "", {}}}};
  const auto add = [&](std::size_t series, std::size_t size, double height) {
    chart.series[series].points.push_back({static_cast<double>(size), height, {}});
  };
  for (const auto& [size, height] : best) add(0, size, height);
  add(1, selection.best.size(), selection.best_score);
  add(2, done.names.size(), selection.all_score);
  return chart;
}

Table steps_table(const SelectFeaturesFlags& flags, const Selected& done) {
  const std::string score = score_name(flags);
  const std::vector<FeatureStep>& steps = done.selection.steps;
  const auto best = std::find_if(steps.begin(), steps.end(), [&](const FeatureStep& step) {
    return step.features == done.selection.best;
  });
  Table table{"Step by step",
              "steps",
              {{Kind::whole, "step", "step", "", "step"},
               {Kind::name, "", "", "added"},
               {Kind::name, "", "", "", "change"},
               {Kind::name, "", "", "column", "column"},
               {Kind::html, "", "what was done"},
               {Kind::whole, "columns", "columns", "", "columns"},
               {Kind::name, "change"},
               {Kind::name, "", "", "columns"},
               {Kind::score, score, score, "score", "score"},
               {Kind::mark}},
              steps.size(),
              {}};
  table.row = [&done, &steps, best](std::size_t i) -> std::vector<Value> {
    const FeatureStep& step = steps[i];
    const std::string& column = done.name(step.feature);
    const std::string change = step.added ? "add" : "drop";
    return {i + 1,
            step.added,
            change,
            column,
            (step.added ? "+ " : "− ") + report::name_html(column),
            step.features.size(),
            change + " " + column,
            names_of(done, step.features),
            step.score,
            steps.begin() + static_cast<std::ptrdiff_t>(i) == best ? Value("best") : Value("")};
  };
  return table;
}

void add_best(Document& document, const Selected& done) {
  const FeatureSelection& selection = done.selection;
  const std::vector<std::string> names = names_of(done, selection.best);
  const std::string list = features_argument(done);
  std::string text = "\nall " + std::to_string(done.names.size()) +
                     " columns: " + score_text(selection.all_score) + "\nbest, " +
                     std::to_string(names.size()) + (names.size() == 1 ? " column: " : " columns: ") +
                     score_text(selection.best_score) + "\n";
  std::string html;
  for (const std::string& one : names) {
    text += "  " + files::shown_in_line(one) + "\n";
    html += (html.empty() ? "<p>" : ", ") + report::name_html(one);
  }
  if (!list.empty()) text += "for other commands: --features " + list + "\n";
  html += list.empty() ? "</p>"
                       : "</p><h3>For other commands</h3><pre>--features " + report::escape(list) + "</pre>";
  document.add(Words{text});
  document.add(Section{"The best set", "Of several with the same score it is the smallest."});
  document.add(Picture{[html] { return html; }});
  document.add(Fact{"best", "", names});
  document.add(Fact{"best_score", "", selection.best_score});
  document.add(Fact{"all_score", "", selection.all_score});
  document.add(Fact{"features", "", list});
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

Document selection_document(const SelectFeaturesFlags& flags, const Selected& done) {
  const double seconds = done.seconds.back().second;
  Document document{head_of(flags, done), {done.device, {}, done.seconds, command_line()}, {}};
  document.add(first_line(flags, done));
  add_facts(document, flags, done);
  document.add(Section{"How many columns?",
                       "Of several sets of one size the best is drawn. The height does not begin at 0."});
  document.add(Picture{
      [&flags, &done] { return report::line_chart(chart_of(flags, done)) + "<h3>Step by step</h3>"; }});
  document.add(steps_table(flags, done));
  add_best(document, done);
  document.add(Fact{"evaluated", "Sets tried", done.selection.evaluated});
  document.add(Fact{"seconds", "", seconds});
  document.add(
      Words{std::to_string(done.selection.evaluated) + " sets tried in " + format_seconds(seconds) + "\n"});
  return document;
}

}  // namespace kith::command
