#include "command/input/tables.hpp"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <array>
#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <limits>

#include "command/input/elements.hpp"
#include "command/shared/ranks.hpp"
#include "command/words/keys.hpp"
#include "files/source.hpp"
#include "files/text/number.hpp"
#include "kith/names.hpp"

namespace kith::command {
namespace {

[[noreturn]] void refuse_query(std::size_t row, const std::string& what) {
  throw Error(Errc::invalid_argument, "--query " + std::to_string(row + 1) + ": " + what);
}

files::ReadOptions read_options(const TableFlags& flags) {
  files::ReadOptions options(file_options(flags));
  if (!flags.label_columns.empty()) {
    options.label_column = flags.label_columns[0];
    options.more_label_columns.assign(flags.label_columns.begin() + 1, flags.label_columns.end());
  }
  options.target_columns = flags.target_columns;
  options.group_column = flags.group_column;
  options.categorical = flags.categorical;
  options.missing = flags.missing != "refuse";
  options.missing_answers = flags.missing == "drop";
  options.first_index = flags.svm_base;
  options.unseen_is_zero = flags.unseen == "zero";
  options.unseen_is_new = options.unseen_is_zero && flags.unseen_is_new;
  options.keep = kept_elements(flags);
  options.doubles = flags.doubles;
  options.wide = flags.wide;
  if (!flags.if_too_large.empty()) options.if_too_large = flags.if_too_large;
  return options;
}

files::Table read(const std::string& path, const files::ReadOptions& options) {
  ActivityLine activity("reading " + files::shown_name(path));
  files::ReadOptions told = options;
  told.progress = [&](double fraction) { activity.update(fraction); };
  files::Table table = files::read_table(path, told);
  // Each rank adds as many numbers as it has columns: this detects a rank that reads another file.
  if (table.held) ranks()->sums(std::vector<std::int64_t>(static_cast<std::size_t>(table.cols)));
  return table;
}

bool is_read_twice(const std::string& path) {
  return path != "-" && std::filesystem::is_regular_file(path);
}

/// Says which digits of training rows float32 loses, and reads the rows again as doubles where they may be
/// doubles.
files::Table with_digits(const TableFlags& flags, files::ReadOptions options, files::Table table) {
  const std::string lost = files::lost_digits(table);
  if (lost.empty()) return table;
  if (!flags.may_double)
    return note(files::describe_lost_digits(table, flags.may_centre, flags.digits_advice)), table;
  if (!is_read_twice(flags.train)) {
    note(lost + "; a pipe is read once, so the values are rounded, and --prepare arithmetic=f64 keeps them");
    return table;
  }
  note(lost +
       "; kith therefore computes in double precision, and --prepare arithmetic=f32 would round the values" +
       files::advice_on_row_numbers(table));
  table = {};  // its memory is needed
  options.doubles = true;
  options.note = {};
  return read(flags.train, options);
}

/// Notes that a whole number was rounded, if there is a text that says so.
void tell_rounded_whole(const TableFlags& flags, const std::string& text) {
  if (!text.empty())
    note(text + "; subtract an offset beforehand, the same from rows and queries" +
         (flags.may_drop ? ", or leave the column out by --drop" : ""));
}

/// Reads one cell of a query from the command line.
double parse_cell(const std::string& text, std::size_t row, const files::Table& train, std::int64_t column,
                  const TableFlags& flags) {
  for (const files::Categories& known : train.categories) {
    if (known.column != column || (flags.missing != "refuse" && files::is_missing(text))) continue;
    const auto it = std::lower_bound(known.names.begin(), known.names.end(), text);
    if (it != known.names.end() && *it == text) return static_cast<double>(it - known.names.begin());
    if (flags.unseen == "zero") return flags.unseen_is_new ? static_cast<double>(known.names.size()) : 0;
    refuse_query(row, train.column_text(column) + ": \"" + text + "\" does not occur in " + train.path +
                          "; use one that does, or give --prepare unseen=zero");
  }
  if (flags.missing != "refuse" && files::is_missing(text)) return std::numeric_limits<double>::quiet_NaN();
  const files::Number number = files::parse_number(text, '.', flags.wide);
  if (number.kind != files::Number::finite)
    refuse_query(row,
                 train.column_text(column) + ": \"" + text + "\" is no finite number that fits " +
                     (flags.wide ? "float64" : "float32") + "; " +
                     (number.kind == files::Number::too_large && !flags.wide && !flags.if_too_large.empty()
                          ? flags.if_too_large
                          : "give one"));
  return flags.doubles ? files::parse_wide(text).value : static_cast<double>(number.value);
}

/// Blanks around a cell are not part of it, as in files.
std::vector<std::string> trimmed(std::vector<std::string> cells) {
  for (std::string& cell : cells) {
    cell.erase(cell.find_last_not_of(" \t") + 1);
    cell.erase(0, cell.find_first_not_of(" \t"));
  }
  return cells;
}

/// Chooses the cells of columns that count from the cells of all columns of a file.
std::vector<std::string> counted_cells(std::vector<std::string> cells, const files::Table& train) {
  if (train.unread.empty() || cells.size() != static_cast<std::size_t>(train.cols) + train.unread.size())
    return cells;
  for (auto place = train.unread.rbegin(); place != train.unread.rend(); ++place)
    cells.erase(cells.begin() + static_cast<std::ptrdiff_t>(*place));
  return cells;
}

}  // namespace

void add_text_options(CLI::App& app, TableFlags& flags, const std::vector<Key>& more) {
  add_keys(app, csv_topic(flags));
  Topic reading = read_topic(flags);
  reading.keys.insert(reading.keys.begin() + 1, more.begin(), more.end());
  add_keys(app, reading);
}

void add_table_options(CLI::App& app, TableFlags& flags, const std::string& label_help, bool queries,
                       const std::vector<Key>& more) {
  reads_file(app.add_option(
                 "--train", flags.train,
                 "Training rows: .npy, .npz, .hdf5, .csv, .tsv, -ubyte, .fvecs, .bvecs, .ivecs, .svm, .fbin, "
                 ".u8bin, .i8bin, .f16bin; also gzipped (.gz), except .npz and .hdf5; - reads stdin"))
      ->required();
  if (queries)
    reads_file(app.add_option("--queries", flags.queries, "Rows to search for, with the same columns"));
  if (!label_help.empty()) {
    add_texts(app, "--label-column,--label", flags.label_columns, label_help, "COLUMNS");
  }
  std::vector<Key> keys = {
      {"array", "NAME", "the array with the training rows in a .npz or HDF5 file; else train, or the first",
       [&flags](const std::string& text) { flags.array = text; }}};
  if (queries)
    keys.push_back({"query-array", "NAME",
                    "the array with the queries in a .npz or HDF5 file; else test, or the first",
                    [&flags](const std::string& text) { flags.query_array = text; }});
  keys.insert(keys.end(), more.begin(), more.end());
  add_text_options(app, flags, keys);
}

files::FileOptions file_options(const TableFlags& flags) {
  files::FileOptions options = flags.reading;
  options.format = flags.format;
  options.note = [](const std::string& text) { note(text); };
  return options;
}

files::Table read_train(const TableFlags& flags, bool features_chosen, const ChooseColumns& choose) {
  files::ReadOptions options = read_options(flags);
  options.choose = choose;
  options.array = flags.array;
  options.usual_array = "train";
  options.features_chosen = features_chosen;
  if (flags.in_parts) {
    options.part = ranks()->rank();
    options.parts = ranks()->size();
    options.sum_of_parts = [](const auto& mine) { return ranks()->sums(mine); };
  }
  // What is absent in such a file is 0, so training rows have the columns that only queries name. A pipe can
  // be read once: its queries must do with the columns of the training rows.
  if (files::is_svm(flags.train, flags.format) && files::is_svm(flags.queries, flags.format) &&
      std::filesystem::is_regular_file(flags.queries))
    options.also = files::read_svm_width(flags.queries, options);
  files::Table table = with_digits(flags, options, read(flags.train, options));
  tell_rounded_whole(flags, files::describe_rounded_wholes(table));
  store_as_asked(flags, table);
  return table;
}

files::Table read_queries(const TableFlags& flags, const files::Table& train, const ChooseColumns& choose) {
  files::ReadOptions options = read_options(flags);
  options.missing_answers = false;  // the truth of a query, which needs all of it or none
  options.choose = choose;
  options.array = flags.query_array;
  options.usual_array = "test";
  options.like = &train;
  options.label_optional = true;
  files::Table table = read(flags.queries, options);
  tell_rounded_whole(flags, files::describe_rounded_wholes(table));
  store_as_asked(flags, table);
  return table;
}

files::Table parse_queries(const TableFlags& flags, const std::vector<std::string>& rows,
                           const files::Table& train) {
  files::Table table;
  table.path = "--query";
  table.rows = static_cast<std::int64_t>(rows.size());
  table.cols = train.cols;
  std::string rounded;  // of the first number
  for (std::size_t r = 0; r < rows.size(); ++r) {
    const std::vector<std::string> cells = counted_cells(trimmed(split_commas(rows[r])), train);
    if (static_cast<std::int64_t>(cells.size()) != train.cols)
      refuse_query(r, std::to_string(cells.size()) + " values but " + train.path + " has " +
                          std::to_string(train.cols) + " columns" +
                          (train.labels.code.empty() ? "" : " beside the labels") +
                          (train.unread.empty() ? "" : " and those that are left out") +
                          "; give a value for each, with commas between them");
    for (std::size_t c = 0; c < cells.size(); ++c) {
      const double value = parse_cell(cells[c], r, train, static_cast<std::int64_t>(c), flags);
      table.values.push_back(static_cast<float>(value));
      if (flags.doubles) table.doubles.push_back(value);
      if (!flags.doubles || !rounded.empty() || !files::is_rounded_whole(cells[c], value)) continue;
      rounded = "--query " + std::to_string(r + 1) + ": " + train.column_text(static_cast<std::int64_t>(c)) +
                ": " + files::describe(files::RoundedWhole{0, 0, cells[c], value});
    }
  }
  tell_rounded_whole(flags, rounded);
  store_as_asked(flags, table);
  return table;
}

void take_metric_of_file(const CLI::App& app, const files::Table& train, Metric& metric) {
  if (train.distance.empty()) return;
  // As ann-benchmarks calls them.
  constexpr std::array<std::pair<std::string_view, Metric>, 4> names = {{{"angular", Metric::cosine},
                                                                         {"cosine", Metric::cosine},
                                                                         {"euclidean", Metric::l2},
                                                                         {"dot", Metric::negative_dot}}};
  const auto found = std::find_if(names.begin(), names.end(),
                                  [&](const auto& one) { return one.first == plain_name(train.distance); });
  const std::string says = train.path + ": calls its distance " + files::in_quotes(train.distance);
  const std::string asked(name(metric));
  if (found == names.end()) {
    note(says + ", for which kith has no metric; " + asked + " is measured");
  } else if (app.count("--metric") == 0) {
    metric = found->second;
    if (metric != default_metric)
      note(says + ", so " + std::string(name(metric)) + " is measured; --metric decides otherwise");
  } else if (metric != found->second) {
    note(says + ", which is " + std::string(name(found->second)) + ", but --metric says " + asked);
  }
}

void refuse_both(const CLI::App& app, const std::string& a, const std::string& b, const std::string& advice) {
  if (is_given(app, a) && is_given(app, b))
    throw Error(Errc::invalid_argument,
                app.get_name() + ": " + a + " and " + b + " are both given; " + advice);
}

double lap(std::chrono::steady_clock::time_point& start) {
  const auto now = std::chrono::steady_clock::now();
  const double seconds = std::chrono::duration<double>(now - start).count();
  start = now;
  return seconds;
}

}  // namespace kith::command
