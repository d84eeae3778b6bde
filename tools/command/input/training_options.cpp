// The options of training.hpp, and what they make of rows.
#include <CLI/CLI.hpp>
#include <charconv>
#include <utility>

#include "command/how/choices.hpp"
#include "command/input/training.hpp"
#include "command/input/training_parts.hpp"
#include "command/words/keys.hpp"
#include "files/source.hpp"
#include "kith/centre.hpp"
#include "kith/names.hpp"
#include "kith/parse.hpp"

namespace kith::command {
namespace {

Scaling parse_scaling(const std::string& text) {
  const std::vector<std::string> names = {"centre", "standardize", "min-max", "l2"};
  try {
    return parse<Scaling>(text);
  } catch (const Error&) {
    const std::string one = closest_name(text, names);
    throw Error(Errc::invalid_argument,
                "scale: there is none called \"" + text + "\"; " +
                    (one.empty() ? "choose one of centre (mean 0), standardize (mean 0, deviation 1), "
                                   "min-max (0 to 1), l2 (each row divided by its norm)"
                                 : "did you mean " + one + "?"));
  }
}

}  // namespace

void add_answer_options(CLI::App& app, TrainingFlags& flags) {
  flags.answers = TrainingFlags::Answers::labels;
  reads_file(app.add_option("--labels", flags.labels,
                            "Labels of the training rows in a file of their own, one per row; if it has "
                            "several columns, --label-column names the one to use"));
}

void add_value_options(CLI::App& app, TrainingFlags& flags) {
  flags.answers = TrainingFlags::Answers::values;
  reads_file(app.add_option("--values", flags.values,
                            "Values of the training rows in a file of their own, a column for each value to "
                            "predict: .npy, .csv, .tsv, .txt, idx"));
  add_texts(app, "--target", flags.tables.target_columns,
            "Columns of text files (with --values, of that file) that hold the values to predict: names, or "
            "numbers from 1; -1 is the last. If the queries have them, they are the truth. In .svm files "
            "each line begins with its value",
            "COLUMNS");
}

Key sample_weight_key(TrainingFlags& flags) {
  return {"sample-weights", "FILE", "factor on the vote of each training row, one per row, 0 or more",
          [&flags](const std::string& text) { flags.sample_weights = text; }};
}

void add_filter_option(CLI::App& app, TrainingFlags& flags) {
  reads_file(app.add_option(
      "--filter", flags.filter,
      "Search only these training rows: a file of row numbers from 0, one per line (or .npy)"));
}

double length_from(const std::string& text) {
  double length = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), length);
  if (error == std::errc() && end == text.data() + text.size()) return length;
  throw Error(Errc::invalid_argument,
              "box: " + files::in_quotes(text) + " is no length; give a number, or 0 for an open column");
}

void add_feature_option(CLI::App& app, TrainingFlags& flags) {
  flags.tables.may_drop = true;
  app.add_option("--features", flags.features,
                 "Use only these columns, in any order: names, numbers (from 1 in text files, else from 0) "
                 "and ranges, such as 2-5,width")
      ->type_name("LIST");
  app.add_option("--drop", flags.drop,
                 "Leave these columns out, named likewise, and use the others. They are not read, and "
                 "queries may have them or not; with --model or --index, columns of the queries")
      ->type_name("LIST");
}

void add_metric_options(CLI::App& app, Metric& metric, TrainingFlags& flags) {
  add_metric_option(app, metric);
  add_metric_params_option(app, flags.metric_params);
}

void add_box_option(CLI::App& app, TrainingFlags& flags) {
  CLI::Option* box =
      add_texts(app, "--box", flags.box,
                "The lengths of a periodic box, one for each column that counts, 0 for an open one: "
                "rows and queries are moved into it, and distances are those to the nearest image",
                "LENGTHS");
  check_by(app, box, "--box", [&flags](const std::string& text) {
    static_cast<void>(length_from(text));
    flags.index_moves = true;
  });
}

Key centre_key(TrainingFlags& flags) {
  return {"centre", "yes|no",
          "whether to subtract the mean of each column first, in double precision: for values that are far "
          "from 0 and near each other, such as coordinates of a map or times; else no",
          [&flags](const std::string& text) {
            flags.centre = named_one(text, {"yes", "no"}) == "yes";
          }};
}

Key arithmetic_key(TrainingFlags& flags) {
  flags.takes_doubles = true;
  return {"arithmetic", "f32|f64",
          "precision of values, distances and --radius: f32 (single), f64 (double); else f64 if a column's "
          "digits would be lost in float32, and f32 for all other rows",
          [&flags](const std::string& text) {
            flags.arithmetic = parse<Arithmetic>(named_one(text, {"f32", "f64"}));
          }};
}

std::vector<Key> category_keys(TableFlags& flags) {
  return {
      {"categorical", "COLUMNS", "columns of a text file whose numbers are categories, separated by commas",
       [&flags](const std::string& text) {
         for (const std::string& one : split_commas(text)) flags.categorical.push_back(one);
       }},
      {"unseen", "refuse|zero",
       "what to do with a category that no training row has: refuse it, or take it as zero; else refuse",
       [&flags](const std::string& text) {
         flags.unseen = named_one(text, {"refuse", "zero"});
       }}};
}

CLI::Option* add_prepare_option(CLI::App& app, std::vector<Key> keys) {
  return add_keys(app, {"--prepare",
                        "What is done to values before they are compared",
                        std::move(keys),
                        {"kith classify --train flowers.csv --label kind --prepare "
                         "missing=median,categories=one-hot --leave-one-out",
                         "kith search --train map.csv --prepare centre=yes --leave-one-out",
                         "kith search --train map.csv --prepare arithmetic=f64 --leave-one-out"}});
}

void add_preparation_options(CLI::App& app, TrainingFlags& flags, std::vector<Key> more) {
  CLI::Option* scale = add_texts(app, "--scale", flags.scale,
                                 "How to scale the columns, fitted on the training rows; several are applied "
                                 "in order: centre, standardize, min-max, l2 (divide each row by its norm)",
                                 "NAMES");
  check_by(app, scale, "--scale", [](const std::string& text) { parse_scaling(text); });
  flags.tables.may_centre = true;
  std::vector<Key> keys = {
      centre_key(flags),
      {"missing", "WHAT",
       "what to do with missing values (an empty cell, NA, NaN, null, None, ?, - and the like), or which "
       "value of the column in the training rows to fill in: refuse, drop (the row; a query gets no answer), "
       "mean, median, most-frequent (always used for text); pairwise leaves them out of each pair, as "
       "--metric nan_euclidean, nan_manhattan and nan_gower do by themselves; else refuse",
       [&flags](const std::string& text) {
         flags.tables.missing = named_one(text, names_of<Missing>());
         flags.tables.missing_given = true;
       }},
      {"categories", "ordinal|one-hot",
       "how to encode a column of text: ordinal (its place in the sorted list of texts), one-hot; else "
       "ordinal",
       [&flags](const std::string& text) { flags.categories = named_one(text, names_of<Categories>()); }}};
  for (Key& key : category_keys(flags.tables)) keys.push_back(std::move(key));
  for (Key& key : more) keys.push_back(std::move(key));
  add_prepare_option(app, std::move(keys));
}

void admit_metric(const std::string& where, TrainingFlags& flags, Metric metric) {
  if (flags.index.empty()) check_metric_params(where, flags.metric_params, metric);  // else it has them
  if (metric == Metric::haversine && flags.index.empty() && flags.arithmetic == Arithmetic::automatic)
    flags.arithmetic = Arithmetic::f64;
  if (is_of_sums(metric) && flags.arithmetic == Arithmetic::automatic) flags.arithmetic = Arithmetic::f32;
  if (takes_gaps(metric) && !flags.tables.missing_given && flags.tables.element.empty())
    flags.tables.missing = "pairwise";
  if (flags.tables.missing == "pairwise" && !takes_gaps(metric))
    refuse(where, "--prepare missing=pairwise leaves values out, which " + std::string(name(metric)) +
                      " does not take; choose --metric nan_euclidean, nan_manhattan or nan_gower, or fill "
                      "them in by missing=median");
  if (takes_centre(metric)) return;
  flags.tables.may_centre = false;
  if (flags.centre)
    refuse(where, "--prepare centre=yes is for differences of values, and " + std::string(name(metric)) +
                      " is none of l2, squared_l2, l1 and linf; leave it out, or choose one of these");
}

void add_class_rows(CLI::App& app, TrainingFlags& flags) {
  add_table_options(
      app, flags.tables,
      "Column of text files (or .svm) that holds the labels: a name, or a number from 1; -1 is the last",
      false);
  add_answer_options(app, flags);
  add_feature_option(app, flags);
  add_preparation_options(app, flags, {arithmetic_key(flags)});
}

PreparationOptions preparation_options(const std::string& where, const TrainingFlags& flags,
                                       const files::Table& train) {
  PreparationOptions options;
  if (flags.centre) options.scalings.push_back(Scaling::centre);
  for (const std::string& text : flags.scale) options.scalings.push_back(parse_scaling(text));
  options.categories = parse<Categories>(flags.categories);
  options.missing = parse<Missing>(flags.tables.missing);
  const bool fills = options.missing != Missing::refuse && options.missing != Missing::drop;
  if (options.categories == Categories::ordinal && !fills) return options;  // codes are what they are
  for (const files::Categories& known : train.categories) options.categorical.push_back(known.column);
  if (options.categories == Categories::ordinal) return options;
  if (options.categorical.empty())
    refuse(where, "--prepare categories=one-hot: no column of " + train.path +
                      " holds text; name columns of numbers that are categories by --prepare categorical=");
  return options;
}

}  // namespace kith::command
