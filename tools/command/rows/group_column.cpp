#include "command/rows/group_column.hpp"

#include <algorithm>
#include <numeric>

#include "command/shared/ranks.hpp"
#include "command/words/write.hpp"
#include "kith/error.hpp"

namespace kith::command {
namespace {

/// Rows of one group, one behind the other.
struct Run {
  std::int64_t code, first, count;
};

std::vector<Run> runs_of(const std::vector<std::int64_t>& codes) {
  std::vector<Run> runs;
  for (std::size_t row = 0; row < codes.size(); ++row) {
    if (runs.empty() || runs.back().code != codes[row])
      runs.push_back({codes[row], static_cast<std::int64_t>(row), 0});
    ++runs.back().count;
  }
  return runs;
}

[[noreturn]] void refuse_groups(const std::string& path, const std::string& what) {
  throw Error(Errc::invalid_argument, path + ": " + what);
}

/// Returns the codes of the group column, of the rows that are searched.
std::vector<std::int64_t> codes_of(const Rows& rows) {
  const std::vector<std::int64_t>& all = rows.table.groups.code;
  if (!rows.kept || all.empty()) return all;
  std::vector<std::int64_t> codes;
  for (const std::int64_t row : *rows.kept) codes.push_back(all[static_cast<std::size_t>(row)]);
  return codes;
}

}  // namespace

void add_group_option(CLI::App& app, TrainingFlags& flags) {
  app.add_option("--groups-column", flags.tables.group_column,
                 "Column of text files that names the group of each row: a query asks the rows of its group "
                 "alone. The rows of a group stand side by side, and groups in one order in both files");
}

void check_groups(const std::string& where, const TrainingFlags& flags) {
  if (flags.tables.group_column.empty()) return;
  const std::string says = where + ": --groups-column ";
  if (!flags.index.empty())
    throw Error(
        Errc::invalid_argument,
        says + "divides the rows of --train, which an index file has instead; give the rows by --train");
  if (ranks())
    throw Error(Errc::invalid_argument, says + "is not for rows that several ranks hold; run one process");
}

void take_groups(const TableFlags& flags, Training& training) {
  if (flags.group_column.empty()) return;
  const std::vector<Run> runs = runs_of(codes_of(training.rows));
  training.groups = {0};
  for (const Run& run : runs) {
    training.group_codes.push_back(run.code);
    training.groups.push_back(run.first + run.count);
  }
  std::vector<std::size_t> order(runs.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(),
                   [&](std::size_t a, std::size_t b) { return runs[a].code < runs[b].code; });
  const auto twice = std::adjacent_find(
      order.begin(), order.end(), [&](std::size_t a, std::size_t b) { return runs[a].code == runs[b].code; });
  if (twice == order.end()) return;
  const Run& again = runs[*(twice + 1)];
  refuse_groups(flags.train, "row " + std::to_string(training.file_row(again.first)) +
                                 ", counted from 0, is of group " +
                                 training.rows.table.groups.text(again.code) +
                                 " again, behind rows of others; sort the file by " + flags.group_column);
}

std::vector<std::int64_t> groups_of(const Rows& queries, const TableFlags& flags, const Training& training) {
  if (flags.group_column.empty()) return {};
  const std::vector<std::int64_t> codes = codes_of(queries);
  const std::string& path = queries.table.path;
  if (codes.empty() && queries.count() > 0)
    refuse_groups(path, "a query has no column " + flags.group_column +
                            ", which names groups; give the queries as a file with this column");
  std::vector<std::int64_t> borders{0};
  const files::Labels& names = queries.table.groups;
  std::size_t group = 0;
  for (const Run& run : runs_of(codes)) {
    const auto found = std::find(training.group_codes.begin(), training.group_codes.end(), run.code);
    if (found == training.group_codes.end())
      refuse_groups(path, "group " + names.text(run.code) + " has no training rows; leave its queries out");
    const auto at = static_cast<std::size_t>(found - training.group_codes.begin());
    if (at < group)
      refuse_groups(path, "group " + names.text(run.code) + " stands behind others that follow it in " +
                              flags.train + "; sort both files by " + flags.group_column);
    for (; group < at; ++group) borders.push_back(run.first);
    borders.push_back(run.first + run.count);
    group = at + 1;
  }
  borders.resize(training.groups.size(), static_cast<std::int64_t>(codes.size()));
  return borders;
}

}  // namespace kith::command
