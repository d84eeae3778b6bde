// What `kith verify --train` reads: the rows of files, their queries, and an earlier answer.
#include "command/results/distances.hpp"
#include "command/verify/verify_set.hpp"
#include "files/table.hpp"
#include "workloads/cases.hpp"

namespace kith::command {
namespace {

/// The queries: all of them, or `count` spread evenly.
void take_queries(const VerifyFlags& flags, WholeSet& set) {
  const RowsView all = (flags.set.tables.queries.empty() ? set.training.rows : set.own_queries).searched();
  set.queries = all;
  set.asked = all.rows;
  if (flags.m == 0 || flags.m >= all.rows) return;
  for (std::int64_t i = 0; i < flags.m; ++i) {
    const unsigned char* const row = all.row(workloads::spread_row(i, flags.m, all.rows));
    set.picked.insert(set.picked.end(), row, row + row_bytes(all.element, all.cols));
  }
  set.queries = RowsView(set.picked.data(), all.element, flags.m, all.cols);
}

/// A file that `kith search` wrote: a row of k numbers for each query.
files::Values read_found(const VerifyFlags& flags, const std::string& path) {
  return files::read_values(path, files::ValueOptions(file_options(flags.set.tables)));
}

/// Refuses distances that are of the other arithmetic than the search.
void check_width(const VerifyFlags& flags, const WholeSet& set, const files::Values& distances) {
  if (!distances.floats || (*distances.floats == Element::f64) == set.is_double()) return;
  const Element held = *distances.floats;
  refuse("verify", flags.found_distance + " holds " +
                       (held == Element::f64   ? "float64"
                        : held == Element::f16 ? "float16"
                                               : "float32") +
                       ", but " + flags.set.tables.train + " is searched in " +
                       (set.is_double() ? "double" : "single") +
                       " precision, so their bits cannot be compared; give --prepare arithmetic=" +
                       (set.is_double() ? "f32" : "f64") +
                       " as to that search, or leave --found-distance out");
}

/// Refuses an answer that is not to all queries.
void check_shape(const WholeSet& set, const std::string& path, const files::Values& values,
                 const std::string& rows_path, const files::Values& rows) {
  if (values.rows == set.asked && values.cols == rows.cols) return;
  refuse("verify", path + " is [" + std::to_string(values.rows) + ", " + std::to_string(values.cols) +
                       "], but there are " + std::to_string(set.asked) + " queries and " +
                       std::to_string(rows.cols) + " neighbours each in " + rows_path +
                       "; give the files of one search for all these queries");
}

}  // namespace

WholeSet read_set(const VerifyFlags& flags) {
  WholeSet set;
  TrainingFlags how = flags.set;
  how.single = why_single("--found-distance", flags.found_distance, {how.tables.format});
  admit_metric("verify", how, flags.metric);
  set.training = read_training("verify", how);
  set.k = flags.k;
  if (flags.found_index.empty()) check_k("verify", set.k, set.training, false);
  if (!how.tables.queries.empty()) set.own_queries = read_prepared_queries(how, set.training);
  take_queries(flags, set);
  return set;
}

Expected read_earlier(const VerifyFlags& flags, WholeSet& set) {
  Expected earlier{flags.found_index, {}, flags.found_distance.empty()};
  const files::Values rows = read_found(flags, flags.found_index);
  check_shape(set, flags.found_index, rows, flags.found_index, rows);
  set.k = rows.cols;
  check_k("verify", set.k, set.training, false);
  files::Values distances;
  if (!earlier.without_distances) {
    distances = read_found(flags, flags.found_distance);
    check_shape(set, flags.found_distance, distances, flags.found_index, rows);
    check_width(flags, set, distances);
  }
  Neighbors& found = earlier.found;
  found.queries = set.queries.rows;
  found.k = set.k;
  found.arithmetic = set.training.arithmetic;
  for (std::int64_t q = 0; q < found.queries; ++q)
    for (std::int64_t j = 0; j < set.k; ++j) {
      const auto at =
          static_cast<std::size_t>(workloads::spread_row(q, found.queries, set.asked) * set.k + j);
      found.row.push_back(static_cast<std::int64_t>(rows.values[at]));
      if (earlier.without_distances) continue;
      if (set.is_double())
        found.distance64.push_back(distances.values[at]);
      else
        found.distance.push_back(static_cast<float>(distances.values[at]));
    }
  return earlier;
}

}  // namespace kith::command
