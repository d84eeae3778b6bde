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
  std::string format;
  std::string array, query_array;  ///< of .npz files; empty: train and test, or the first
  files::FileOptions reading;      ///< what --csv and --read say of files
  std::int64_t svm_base = -1;      ///< files::ReadOptions::first_index
  std::string unseen = "refuse";
  std::vector<std::string> categorical;
  std::string missing = "refuse";  ///< or drop, mean, median, most_frequent
  std::string element;             ///< empty: as the file has it
  bool keep_elements = false;  ///< what binary files hold in f16, u8 and i8 stays so: files::Table::stored
  bool in_parts = false;       ///< of many ranks each reads its own rows, where the file allows for it
  bool unseen_is_new = false;  ///< `zero` is 0 in every column of a one-hot code, not category 0
  bool doubles = false;        ///< numbers are prepared: files::Table::doubles
  bool may_centre = false;     ///< rows can be centred
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

/// A separator by its sign or name: comma, semicolon, tab, pipe, space, colon.
/// Throws invalid_argument: it can be none.
char separator_named(const std::string& text);

/// `,` or `.`, or comma, point. Throws invalid_argument: neither.
char decimal_named(const std::string& text);

/// utf-8, latin-1 (iso-8859-1), windows-1252 (cp1252), utf-16, utf-16le, utf-16be, in any case, `-` and `_`
/// left out or not. Throws invalid_argument: nothing is called so.
files::Encoding encoding_named(const std::string& name);

/// How files are read; what they are taken for unasked is told on stderr, as note().
files::FileOptions file_options(const TableFlags& flags);

/// The training rows; where they and the queries are .svm files, with as many columns as both need. Says on
/// stderr in which columns numbers were rounded, and unless the caller named features, which columns number
/// the rows.
files::Table read_train(const TableFlags& flags, bool features_chosen = false,
                        const ChooseColumns& choose = {});

/// The queries, read by the dictionaries of `train`; their label column may be absent.
files::Table read_queries(const TableFlags& flags, const files::Table& train,
                          const ChooseColumns& choose = {});

/// Queries from the command line: each is a row of values with commas between them, of the columns that count
/// or of all of the file.
files::Table parse_queries(const TableFlags& flags, const std::vector<std::string>& rows,
                           const files::Table& train);

/// Where the file of the training rows says what its distance is: that, unless --metric was given; says so.
void take_metric_of_file(const CLI::App& app, const files::Table& train, Metric& metric);

/// Throws invalid_argument: `WHERE: A and B are both given; ADVICE`.
void refuse_both(const CLI::App& app, const std::string& a, const std::string& b, const std::string& advice);

/// The seconds since `start`, which is set to now.
double lap(std::chrono::steady_clock::time_point& start);

inline MatrixView<const float> view(const files::Table& table) {
  return {table.values.data(), table.rows, table.cols};
}

}  // namespace kith::command
