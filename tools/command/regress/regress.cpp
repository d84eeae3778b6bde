// kith regress: gives each query a number, the mean of its nearest neighbours.
#include <CLI/CLI.hpp>
#include <cmath>
#include <cstdio>
#include <memory>

#include "command/input/elements.hpp"
#include "command/input/index_input.hpp"
#include "command/input/learned.hpp"
#include "command/input/source_input.hpp"
#include "command/results/distances.hpp"
#include "command/results/results_json.hpp"
#include "command/rows/group_column.hpp"
#include "command/rows/training_index.hpp"
#include "command/words/place.hpp"
#include "command/words/write.hpp"
#include "files/output.hpp"
#include "files/text/number.hpp"
#include "kith/model.hpp"
#include "kith/regressor.hpp"

namespace kith::command {
namespace {

using RegressFlags = LearnedFlags;

struct Regressed {
  Training training;
  Rows own_queries;
  bool leave_one_out = false;
  VotingOptions voting;
  std::vector<double> truth;  ///< [m, outputs]; empty if unknown
  std::vector<double> value;  ///< [m, outputs]
  RadiusNeighbors found;
  DeviceInfo device;
  Trace trace;

  const Rows& queries() const { return leave_one_out ? training.rows : own_queries; }
  std::size_t outputs() const { return training.value_names.size(); }
};

void check_flags(const CLI::App& app, RegressFlags& flags) {
  check_learned(app, flags);
  if (flags.shown.json) check_json_alone("regress", {{"--out", flags.out}});
  if (!flags.out.empty()) files::check_output_name(flags.out, files::Content::values, flags.output.format);
}

std::vector<double> true_values(const RegressFlags& flags, const Regressed& done) {
  if (done.leave_one_out && !done.training.rows.kept) return done.training.values;
  const files::Table& queries = done.queries().table;
  if (flags.query_flags.truth.empty()) return queries.targets;
  const auto outputs = static_cast<std::int64_t>(done.outputs());
  files::ValueOptions options(file_options(flags.training.tables));
  options.rows = queries.rows;
  files::Values truth = files::read_values(flags.query_flags.truth, options);
  if (truth.rows != queries.rows || truth.cols != outputs)
    refuse("regress", flags.query_flags.truth + " holds " + std::to_string(truth.rows) + " x " +
                          std::to_string(truth.cols) + " values but there are " +
                          std::to_string(queries.rows) + " queries with " + std::to_string(outputs) +
                          (outputs == 1 ? " value" : " values") + " each; give as many");
  return truth.values;
}

void read_all(const CLI::App& app, RegressFlags& flags, Regressed& done) {
  Model model;
  done.training = read_learned(app, flags, model);
  done.leave_one_out = flags.query_flags.leave_one_out;
  done.voting = voting_options("regress", flags.voting, nullptr, {}, flags.by_k() ? flags.query_flags.k : 0);
  if (!flags.model.empty() && !is_given(app, "--votes weights")) {
    done.voting.weights = model.voting.weights;
    done.voting.rank_weights = model.voting.rank_weights;
  }
  done.own_queries = read_asked(flags.training, flags.query_flags, done.training);
  done.truth = true_values(flags, done);
}

Regressed regress(const CLI::App& app, RegressFlags& flags) {
  Regressed done;
  read_all(app, flags, done);
  SearchOptions options = question_options(flags, done.training, done.queries());
  const Device device = open_my_device(flags.device);
  done.device = device.info();
  const TrainingRegressor regressor(done.training, device, flags.metric,
                                    done.leave_one_out || !flags.save_model.empty());
  if (done.queries().table.rows == 0) return done;
  ProgressBar bar("searching");
  options.progress = [&bar](const Progress& progress) { bar.update(progress.fraction); };
  done.trace.time_steps = flags.diagnostics.any();
  Trace* trace = flags.diagnostics.any() || flags.shown.json ? &done.trace : nullptr;
  const RowsView queries = done.queries().searched();
  if (flags.query_flags.radius.empty()) {
    Regression result = regressor.regress(queries, flags.query_flags.k, done.voting, options, trace);
    done.value = std::move(result.value);
    done.found = lists_of_rows(std::move(result.neighbors));
  } else {
    RadiusRegression result = regressor.regress_within(
        queries, radius_of("regress", flags.query_flags, flags.metric, done.training.arithmetic), done.voting,
        options, trace);
    done.value = std::move(result.value);
    done.found = std::move(result.neighbors);
  }
  done.queries().spread(done.value, done.outputs(), std::nan(""));
  done.queries().spread(done.found);
  note_overflow(done.found, asked_name(flags.training, flags.query_flags));
  return done;
}

/// The errors of one output, over the queries that have a value.
struct Errors {
  double mae = 0, rmse = 0, r2 = 0;
  std::int64_t rows = 0;
};

Errors errors_of(const Regressed& done, std::size_t output) {
  Errors errors;
  double absolute = 0, squared = 0, sum = 0, spread = 0;
  const auto each = [&](const auto& take) {
    for (std::size_t at = output; at < done.value.size(); at += done.outputs())
      if (!std::isnan(done.value[at])) take(done.value[at], done.truth[at]);
  };
  each([&](double value, double truth) {
    ++errors.rows;
    sum += truth;
    absolute += std::fabs(value - truth);
    squared += (value - truth) * (value - truth);
  });
  const auto count = static_cast<double>(errors.rows);
  each([&](double, double truth) { spread += (truth - sum / count) * (truth - sum / count); });
  errors.mae = absolute / count;
  errors.rmse = std::sqrt(squared / count);
  errors.r2 = spread > 0 ? 1 - squared / spread : std::nan("");
  return errors;
}

/// Makes the table of errors of each output; in JSON null if there is no value.
report::Table error_table(const Regressed& done) {
  using report::Kind, report::Value;
  report::Table table{"",
                      "errors",
                      {{Kind::name, "value", "", "value"},
                       {Kind::number, "MAE", "", "mae"},
                       {Kind::number, "RMSE", "", "rmse"},
                       {Kind::number, "R^2", "", "r2"},
                       {Kind::whole, "queries", "", "queries"}},
                      done.outputs(),
                      {}};
  table.row = [&done](std::size_t output) -> std::vector<Value> {
    const Errors errors = errors_of(done, output);
    const auto number = [](double value) { return std::isfinite(value) ? Value(value) : Value(); };
    return {done.training.value_names[output], number(errors.mae), number(errors.rmse), number(errors.r2),
            errors.rows};
  };
  return table;
}

/// Says how many queries have no value, and so are missing in the table.
std::string without_value(const Regressed& done) {
  const std::int64_t without = done.queries().table.rows - errors_of(done, 0).rows;
  if (without == 0) return "";
  return "(" + std::to_string(without) + (without == 1 ? " query has" : " queries have") +
         " no value: no row within the radius, or none of weight above 0" +
         (done.queries().kept ? ", or a cell is missing" : "") + ")\n";
}

/// Writes the shortest digits that give the same bits, with commas between outputs.
std::string value_text(const Regressed& done, std::size_t q) {
  std::string text;
  for (std::size_t output = 0; output < done.outputs(); ++output)
    text += (output ? "," : "") + format_double(done.value[q * done.outputs() + output]);
  return text;
}

std::string shown_values(const RegressFlags& flags, const Regressed& done) {
  std::string text;
  for (std::size_t q = 0; q < flags.query_flags.query.size(); ++q) {
    text += (q ? "\n" : "") + flags.query_flags.query[q] + ": " + value_text(done, q) + "\n";
    text += neighbor_table(done.found, static_cast<std::int64_t>(q), done.training, done.training.value_names,
                           [&](std::size_t row, std::size_t output) {
                             return format_double(done.training.values[row * done.outputs() + output]);
                           });
  }
  return text;
}

/// Returns `value`, or the names of several columns.
std::vector<std::string> value_columns(const Regressed& done) {
  const std::vector<std::string>& names = done.training.value_names;
  std::int64_t number = 0;
  if (names.size() != 1) return names;
  return files::parse_whole(names[0], number) ? std::vector<std::string>{"value"} : names;
}

using Json = nlohmann::ordered_json;

/// Returns a number, or a list for several columns; null if there is no value.
Json value_json(const std::vector<double>& values, std::size_t row, std::size_t outputs) {
  if (outputs == 1) return number_json(values[row]);
  Json list = Json::array();
  for (std::size_t output = 0; output < outputs; ++output)
    list.push_back(number_json(values[row * outputs + output]));
  return list;
}

void print_json(const RegressFlags& flags, const Regressed& done) {
  const std::int64_t m = done.queries().table.rows;
  report::Document document;
  add_asked(document, done.training, done.queries().table, flags.metric, done.device, flags.query_flags);
  add_members(document, done.trace);
  document.add(report::Fact{"values", "", done.training.value_names});
  if (m > 0 && !done.truth.empty()) document.add(error_table(done));
  print_results(document, m, [&](std::int64_t query) {
    const auto q = static_cast<std::size_t>(query);
    Json result = {{"query", query}, {"value", value_json(done.value, q, done.outputs())}};
    if (!done.truth.empty()) result["truth"] = value_json(done.truth, q, done.outputs());
    result["neighbors"] = neighbors_json(done.found, query, [&](std::size_t row, Json& neighbor) {
      neighbor["row"] = done.training.file_row(static_cast<std::int64_t>(row));
      neighbor["value"] = value_json(done.training.values, row, done.outputs());
    });
    return result;
  });
}

int run_regress(const CLI::App& app, RegressFlags flags) {
  take_index(app, flags, flags.query_flags.leave_one_out);
  check_flags(app, flags);
  OutputFile out(flags.out, flags.output.format);
  Regressed done = regress(app, flags);
  const std::int64_t m = done.queries().table.rows;
  if (out)
    files::write_rows(
        *out, MatrixView<const double>(done.value.data(), m, static_cast<std::int64_t>(done.outputs())),
        header_of(flags.output, value_columns(done)));
  save_learned(app, flags, done.training, done.voting);
  out.commit();
  if (flags.shown.json) return print_json(flags, done), exit_ok;
  if (m == 0) return exit_ok;
  print(diagnostics(flags.diagnostics, done.trace, done.training.arithmetic));
  if (!flags.query_flags.query.empty() && !out) print(shown_values(flags, done));
  if (!done.truth.empty()) {
    const report::Document document{{}, {}, {error_table(done), report::Words{without_value(done)}}};
    return print(report::text(document)), exit_ok;
  }
  if (out || !flags.query_flags.query.empty()) return exit_ok;
  std::string lines;
  for (std::size_t q = 0; q < static_cast<std::size_t>(m); ++q) lines += value_text(done, q) + "\n";
  print(lines);
  return exit_ok;
}

void add_rows_and_questions(CLI::App& app, RegressFlags& flags) {
  add_table_options(app, flags.training.tables, "", true, {element_key(flags.training.tables)});
  add_index_option(app, flags.training);
  add_value_options(app, flags.training);
  add_query_options(app, flags.query_flags, "True values of the queries, as in --values");
  add_metric_options(app, flags.metric, flags.training);
  add_device_option(app, flags.device);
  add_weight_options(app, flags.voting, {sample_weight_key(flags.training)});
  add_filter_option(app, flags.training);
  add_group_option(app, flags.training);
  add_feature_option(app, flags.training);
  add_preparation_options(app, flags.training, {arithmetic_key(flags.training)});
}

}  // namespace

Subcommand add_regress(CLI::App& parent) {
  auto flags = std::make_shared<RegressFlags>();
  CLI::App* app = parent.add_subcommand("regress", "Give each query the mean value of its k nearest rows");
  add_rows_and_questions(*app, *flags);
  writes_file(app->add_option("--out", flags->out,
                              "Write the values, [queries, values]: .npy (float64), .csv, .tsv, .txt"));
  writes_file(app->add_option("--save-model", flags->save_model,
                              "Write training rows, values, scaling, metric, -k and weights as one file"));
  reads_file(app->add_option("--model", flags->model,
                             "Use a file by --save-model instead of --train and its options"));
  add_output_options(*app, flags->output);
  app->add_flag("--json", flags->shown.json, "Print all values and neighbours as JSON");
  add_diagnostic_options(*app, flags->diagnostics);
  add_plan_options(*app, flags->plan, rows_keys(flags->training));
  add_examples(*app, {"kith regress --train houses.csv --target price --queries new.csv --out prices.csv",
                      "kith regress --train houses.csv --target price --scale standardize \\",
                      "             --votes weights=distance -k 7 --leave-one-out",
                      "kith regress --train x.npy --values y.npy --queries q.npy --truth t.npy"});
  return {app, [app, flags] { return run_regress(*app, *flags); }};
}

}  // namespace kith::command
