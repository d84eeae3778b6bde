// The tables that subcommands read.
#pragma once

#include <string>
#include <vector>

#include "command/shared/command.hpp"
#include "command/shared/named_files.hpp"
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
  std::string header = "automatic";
  std::string delimiter;  ///< empty: guessed
  std::string decimal;    ///< empty: guessed
  std::string encoding = "utf-8";
  files::Quotes quotes = files::Quotes::automatic;  ///< as the next, of --csv
  std::int64_t skip = 0;
  std::string labels_are = "automatic";  ///< or text
  std::string unseen = "refuse";
  std::vector<std::string> categorical;
  std::string missing = "refuse";                              ///< or drop, mean, median, most_frequent
  std::string svm_base = "automatic";                          ///< or 0, 1
  std::int64_t max_columns = 0, max_axes = 0, max_growth = 0;  ///< 0: as files::Limits
  std::string max_line;                                        ///< a size; empty: as files::Limits
  std::string element;                                         ///< of --element; empty: as the file has it
  bool keep_elements = false;  ///< what binary files hold in f16, u8 and i8 stays so: files::Table::stored
  bool in_parts = false;       ///< of many ranks each reads its own rows, where the file allows for it
  bool unseen_is_new = false;  ///< `zero` is 0 in every column of a one-hot code, not category 0
  bool doubles = false;        ///< numbers are prepared: files::Table::doubles
  bool may_centre = false;     ///< there is --centre
};

/// As files::ReadOptions::choose.
using ChooseColumns = std::function<std::vector<std::int64_t>(const files::Table&)>;

/// --train, --queries where `queries` is set, and how text files are read: --label-column (or --label) where
/// there is a help for it, what add_text_options() adds, --unseen, --categorical, --svm-base.
void add_table_options(CLI::App& app, TableFlags& flags, const std::string& label_help, bool queries = true);

/// Of these, how files are laid out, and how large their parts may be: --format, --header, --delimiter,
/// --decimal, --encoding, --csv, --max-columns, --max-line, --max-axes, --max-growth.
void add_text_options(CLI::App& app, TableFlags& flags);

/// An option of several texts, with commas between them or given several times.
CLI::Option* add_texts(CLI::App& app, const std::string& name, std::vector<std::string>& values,
                       const std::string& help, const std::string& type);

/// One of `choices`, which are spelled as the library does, checked while parsing: in any case, with - or _.
/// Messages spell them with -.
CLI::Option* add_choice(CLI::App& app, const std::string& name, std::string& value, const std::string& help,
                        const std::vector<std::string>& choices);

/// How files are read; what is guessed is told on stderr, as note().
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
