// The tables that subcommands read.
#pragma once

#include <string>
#include <vector>

#include "command/shared/command.hpp"
#include "command/shared/named_files.hpp"
#include "command/words/keys.hpp"
#include "files/table.hpp"
#include "kith/matrix_view.hpp"

namespace kith::command {

struct TableFlags {
  std::string train;
  std::string queries;
  std::vector<std::string> label_columns;
  std::vector<std::string> target_columns;
  std::string group_column;
  std::string format;
  std::string array, query_array;  ///< of .npz files; empty: train and test, or the first
  files::FileOptions reading;      ///< what --csv and --read say about files
  std::int64_t svm_base = -1;      ///< files::ReadOptions::first_index
  std::string unseen = "refuse";
  std::vector<std::string> categorical;
  std::string missing = "refuse";  ///< or drop, mean, median, most_frequent, pairwise
  bool missing_given = false;      ///< `missing` is what the user says
  std::string element;             ///< empty: as the file has it
  bool keep_elements = false;      ///< f16, u8 and i8 of binary files are not widened: files::Table::stored
  bool in_parts = false;           ///< each of many ranks reads only its own rows, if the file supports it
  bool unseen_is_new = false;      ///< `zero` means 0 in every column of a one-hot code, not category 0
  bool doubles = false;            ///< numbers are prepared, or searched as they are: files::Table::doubles
  bool wide = false;               ///< with doubles: they may be beyond float32
  bool may_double = false;         ///< doubles are read if float32 would lose digits of training rows
  bool may_centre = false;         ///< rows can be centred
  bool may_drop = false;           ///< columns can be left out by --drop
  std::string digits_advice;       ///< what keeps digits that float32 loses, where they cannot
  std::string if_too_large;        ///< files::ReadOptions::if_too_large, if it is not its default
};

/// As files::ReadOptions::choose.
using ChooseColumns = std::function<std::vector<std::int64_t>(const files::Table&)>;

/// --train, --queries where `queries` is set, and how text files are read: --label-column (or --label) where
/// there is a help for it, what add_text_options() adds, with the keys `more` of --read.
void add_table_options(CLI::App& app, TableFlags& flags, const std::string& label_help, bool queries = true,
                       const std::vector<Key>& more = {});

/// Of these, how files are laid out, and how large their parts may be: --csv, and --read, whose keys are the
/// format, `more` and the limits.
void add_text_options(CLI::App& app, TableFlags& flags, const std::vector<Key>& more = {});

/// --csv, whose keys set flags.reading and flags.svm_base.
Topic csv_topic(TableFlags& flags);

/// --read, whose keys set flags.format and flags.reading.limits.
Topic read_topic(TableFlags& flags);

/// Parses a separator, a sign or its name: comma, semicolon, tab, pipe, space, colon.
/// Throws invalid_argument: it cannot be a separator.
char separator_named(const std::string& text);

/// Parses `,` or `.`, or comma, point. Throws invalid_argument: it is neither.
char decimal_named(const std::string& text);

/// Parses utf-8, latin-1 (iso-8859-1), windows-1252 (cp1252), utf-16, utf-16le, utf-16be, in any case, with
/// or without `-` and `_`. Throws invalid_argument: no encoding has that name.
files::Encoding encoding_named(const std::string& name);

/// Returns how files are read; what is guessed about a file is told on stderr, by note().
files::FileOptions file_options(const TableFlags& flags);

/// Reads the training rows; if these and the queries are .svm files, with as many columns as both need. Says
/// on stderr in which columns numbers were rounded, or why they were read as doubles, and, unless the caller
/// named features, which columns number the rows.
files::Table read_train(const TableFlags& flags, bool features_chosen = false,
                        const ChooseColumns& choose = {});

/// Reads the queries with the dictionaries of `train`; their label column may be absent.
files::Table read_queries(const TableFlags& flags, const files::Table& train,
                          const ChooseColumns& choose = {});

/// Reads queries from the command line: each is a row of values with commas between them, one for each column
/// that counts or for each column of the file.
files::Table parse_queries(const TableFlags& flags, const std::vector<std::string>& rows,
                           const files::Table& train);

/// Takes the metric from the file of the training rows if the file names one and --metric is absent; says so.
void take_metric_of_file(const CLI::App& app, const files::Table& train, Metric& metric);

/// Throws invalid_argument: `WHERE: A and B are both given; ADVICE`.
void refuse_both(const CLI::App& app, const std::string& a, const std::string& b, const std::string& advice);

/// Returns the seconds since `start`, and sets `start` to now.
double lap(std::chrono::steady_clock::time_point& start);

inline MatrixView<const float> view(const files::Table& table) {
  return {table.values.data(), table.rows, table.cols};
}

}  // namespace kith::command
