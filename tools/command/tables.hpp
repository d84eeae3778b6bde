// The tables that `kith search` and `kith classify` read.
#pragma once

#include <string>
#include <vector>

#include "command.hpp"
#include "files/table.hpp"
#include "kith/matrix_view.hpp"

namespace kith::command {

struct TableFlags {
  std::string train;
  std::string queries;
  std::string label_column;
  std::string header = "automatic";
  std::string unseen = "refuse";
  std::vector<std::string> categorical;
};

/// --train, --queries, and how text files are read: --label-column, --header, --unseen, --categorical.
void add_table_options(CLI::App& app, TableFlags& flags, const std::string& label_help);

/// The training rows. Says on stderr in which columns numbers were rounded.
files::Table read_train(const TableFlags& flags);

/// The queries, read by the dictionaries of `train`; their label column may be absent.
files::Table read_queries(const TableFlags& flags, const files::Table& train);

/// Queries from the command line: each is a row of values with commas between them.
files::Table parse_queries(const TableFlags& flags, const std::vector<std::string>& rows,
                           const files::Table& train);

/// Throws invalid_argument: k is more than the training rows. Before the queries are read.
void check_k(const std::string& where, std::int64_t k, const files::Table& train);

/// The seconds since `start`, which is set to now.
double lap(std::chrono::steady_clock::time_point& start);

inline MatrixView<const float> view(const files::Table& table) {
  return {table.values.data(), table.rows, table.cols};
}

}  // namespace kith::command
