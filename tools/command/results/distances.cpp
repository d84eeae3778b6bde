#include "command/results/distances.hpp"

#include <algorithm>
#include <limits>
#include <type_traits>

namespace kith::command {

std::string distance_text(const RadiusNeighbors& found, std::size_t at) {
  return found.arithmetic == Arithmetic::f64 ? format_double(found.distance64[at])
                                             : format_float(found.distance[at]);
}

std::string why_single(const std::string& option, const std::string& path, const OutputFlags& output) {
  if (path.empty() || !files::is_single(path, output.format)) return {};
  return option + " " + path + " holds float32 alone; choose .npy, .csv, .tsv or .txt";
}

void check_distance_file(const std::string& where, const std::string& path, const OutputFlags& output,
                         const Training& training) {
  if (training.arithmetic != Arithmetic::f64) return;
  if (const std::string why = why_single("--out-distance", path, output); !why.empty())
    refuse(where, training.rows.table.path + " is searched in double precision, but " + why);
}

void spread(const Rows& asked, const Training& training, Neighbors& found) {
  const auto width = static_cast<std::size_t>(found.k);
  asked.spread(found.row, width, no_neighbor);
  with_distances(found, [&](auto& all) {
    using Distance = typename std::decay_t<decltype(all)>::value_type;
    asked.spread(all, width, std::numeric_limits<Distance>::quiet_NaN());
  });
  found.queries = asked.table.rows;
  for (std::int64_t& row : found.row)
    if (row != no_neighbor) row = training.file_row(row);
}

void note_overflow(const RadiusNeighbors& found, const std::string& asked) {
  constexpr std::size_t most_listed = 5;
  std::vector<std::string> queries;
  for (std::int64_t q = 0; q < found.queries; ++q) {
    const auto begin = static_cast<std::size_t>(found.first[static_cast<std::size_t>(q)]);
    const auto end = static_cast<std::size_t>(found.first[static_cast<std::size_t>(q) + 1]);
    std::size_t last = end;  // infinite distances are at the end of a list, and rows -1 at the end of these
    while (last > begin && found.row[last - 1] < 0) --last;
    if (last > begin && distance_at(found, last - 1) == std::numeric_limits<double>::infinity())
      queries.push_back(std::to_string(q));
  }
  if (queries.empty()) return;
  std::string list;
  for (std::size_t i = 0; i < std::min(queries.size(), most_listed); ++i)
    list += (i ? ", " : "") + queries[i];
  if (queries.size() > most_listed) list += " and " + std::to_string(queries.size() - most_listed) + " more";
  const bool one = queries.size() == 1;
  note(asked + ": distances of " + (one ? "query " : "queries ") + list +
       " (from 0) overflow to infinity, and neighbours at infinity are in the order of their rows; correct "
       "the values, or scale all columns " +
       (found.arithmetic == Arithmetic::f64 ? "in the file" : "by --scale"));
}

std::string neighbor_table(const RadiusNeighbors& found, std::int64_t q, const Training& training,
                           const std::vector<std::string>& titles,
                           const std::function<std::string(std::size_t row, std::size_t column)>& answer) {
  if (found.count(q) == 0)
    return training.preparation.options().missing == Missing::drop
               ? "no neighbours: a value is missing, or no row is within the radius\n"
           : training.preparation.options().missing == Missing::pairwise
               ? "no neighbours: no row has a value in a column of this, or none is within the radius\n"
               : "no row within the radius\n";
  std::vector<std::string> head = {"rank", "row", "distance"};
  head.insert(head.end(), titles.begin(), titles.end());
  TextTable table(head);
  const auto begin = static_cast<std::size_t>(found.first[static_cast<std::size_t>(q)]);
  for (std::size_t i = 0; i < static_cast<std::size_t>(found.count(q)); ++i) {
    const std::int64_t row = found.row[begin + i];
    std::vector<std::string> cells = {std::to_string(i + 1), std::to_string(training.file_row(row)),
                                      distance_text(found, begin + i)};
    for (std::size_t c = 0; c < titles.size(); ++c) cells.push_back(answer(static_cast<std::size_t>(row), c));
    table.add(std::move(cells));
  }
  return table.text();
}

RadiusNeighbors as_lists(Neighbors&& found) {
  RadiusNeighbors lists;
  lists.queries = found.queries;
  for (std::int64_t q = 0; q <= found.queries; ++q) lists.first.push_back(q * found.k);
  lists.distance = std::move(found.distance);
  lists.distance64 = std::move(found.distance64);
  lists.arithmetic = found.arithmetic;
  lists.row = std::move(found.row);
  return lists;
}

RadiusNeighbors lists_of_rows(Neighbors&& found) {
  RadiusNeighbors lists = as_lists(std::move(found));
  std::size_t kept = 0, at = 0;
  for (std::size_t q = 0; q < static_cast<std::size_t>(lists.queries); ++q) {
    for (const auto end = static_cast<std::size_t>(lists.first[q + 1]); at < end; ++at) {
      if (lists.row[at] < 0) continue;
      lists.row[kept] = lists.row[at];
      with_distances(lists, [&](auto& all) { all[kept] = all[at]; });
      ++kept;
    }
    lists.first[q + 1] = static_cast<std::int64_t>(kept);
  }
  lists.row.resize(kept);
  with_distances(lists, [&](auto& all) { all.resize(kept); });
  return lists;
}

}  // namespace kith::command
