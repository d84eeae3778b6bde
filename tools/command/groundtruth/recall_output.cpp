// Makes the document that `kith recall` prints and writes.
#include <algorithm>
#include <cmath>
#include <numeric>

#include "command/groundtruth/recall.hpp"
#include "files/shown.hpp"
#include "report/charts/chart.hpp"
#include "report/parts.hpp"
#include "report/text.hpp"

namespace kith::command {
namespace {

using report::Document, report::Fact, report::Kind, report::Picture, report::Section, report::Table;
using report::Value, report::Words;

constexpr std::int64_t bands = 10;  ///< for recall below 1
constexpr std::size_t worst_listed = 10;

std::string recall_name(const Recall& recall) {
  return "recall@" + std::to_string(recall.k);
}

/// Sorts queries by recall, the least first; those of equal recall keep their order.
std::vector<std::int64_t> worst_first(const Recall& recall) {
  std::vector<std::int64_t> order(recall.found.size());
  std::iota(order.begin(), order.end(), std::int64_t{0});
  std::stable_sort(order.begin(), order.end(), [&](std::int64_t a, std::int64_t b) {
    return recall.found[static_cast<std::size_t>(a)] < recall.found[static_cast<std::size_t>(b)];
  });
  return order;
}

/// Describes ties: rows at the distance of the k-th.
std::string ties_text(const files::NeighborLists& truth, const Recall& recall) {
  const std::string kth = "neighbour " + std::to_string(recall.k);
  if (!truth.has_distances())
    return "the truth has no distances: rows that are as near as " + kth +
           " count only if the truth lists them before it; kith groundtruth writes distances";
  std::string text = recall.tied == 0
                         ? "no query has further rows at the distance of " + kth
                         : std::to_string(recall.tied) + " queries have further rows at the distance of " +
                               kth + ", of which " + std::to_string(recall.by_tie) + " were found and count";
  if (recall.open > 0)
    text += "; for " + std::to_string(recall.open) + (recall.open == 1 ? " query" : " queries") +
            " the truth stops at a possible tie: recompute it with a larger k to count all ties";
  return text;
}

report::Head recall_head(const files::NeighborLists& truth, const files::NeighborLists& found,
                         const Recall& recall) {
  return {recall_name(recall) + " of " + report::file_title(found.path),
          "An approximate search against the truth",
          report::percent(recall.share(), 2),
          recall_name(recall),
          report::grouped(recall.all) + " of the " + report::grouped(recall.k * recall.queries()) +
              " nearest neighbours of " + report::grouped(recall.queries()) + " queries were found; " +
              report::said(ties_text(truth, recall)) + ".",
          recall.share()};
}

void add_recall_facts(Document& document, const files::NeighborLists& truth,
                      const files::NeighborLists& found, const Recall& recall) {
  const auto complete = std::count(recall.found.begin(), recall.found.end(), recall.k);
  const std::vector<std::int64_t> order = worst_first(recall);
  document.add(Words{files::shown_in_line(found.path) + " against " + files::shown_in_line(truth.path) +
                     ": " + std::to_string(recall.queries()) + " queries\n\n" + recall_name(recall) + " = " +
                     format_number(recall.share(), 4) + " (" + std::to_string(recall.all) + " of " +
                     std::to_string(recall.k * recall.queries()) + ")\n" + ties_text(truth, recall) +
                     "\n\n"});
  document.add(Fact{"truth", "Truth", truth.path, "", report::file_name(truth.path)});
  document.add(Fact{"found_by", "Found", found.path, "", report::file_name(found.path)});
  document.add(Fact{"queries", "Queries", recall.queries()});
  document.add(Fact{"k", "k", recall.k});
  document.add(Fact{"recall", "", recall.share()});
  document.add(Fact{"neighbors_found", "", recall.all});
  document.add(Fact{"complete", "Queries with all", complete});
  document.add(Fact{"worst", "Least of a query", recall.found[static_cast<std::size_t>(order[0])],
                    "query " + report::grouped(order[0])});
  document.add(Fact{"truth_has_distances", "", truth.has_distances()});
  document.add(Fact{"found_by_tie", "", recall.by_tie});
  document.add(Fact{"tied_queries", "", recall.tied});
  document.add(Fact{"open_ties", "", recall.open});
  document.add(report::Data{"found", [&recall] { return Value(recall.found); }});
}

/// Draws the recall at each twentieth of the queries, the worst first; of all queries if they are few.
report::Chart recall_chart(const Recall& recall) {
  constexpr std::int64_t steps = 20;
  const std::vector<std::int64_t> order = worst_first(recall);
  report::Chart chart{recall_name(recall) + " of the queries, the worst first",
                      {"queries, %", false},
                      {recall_name(recall), false, true},
                      {{"a query", "", "", {}}, {"mean of all", "", "", {}}}};
  const auto last = recall.queries() - 1;
  const std::int64_t count = std::min(last, steps);
  for (std::int64_t i = 0; i <= count; ++i) {
    const std::int64_t at = count == 0 ? 0 : last * i / count;
    const double x = count == 0 ? 0 : 100 * static_cast<double>(i) / static_cast<double>(count);
    chart.series[0].points.push_back({x, recall.share(order[static_cast<std::size_t>(at)]), {}});
  }
  chart.series[1].points = {{0, recall.share(), {}}, {100, recall.share(), {}}};
  return chart;
}

/// Returns the band of a query: the last band is for all k, the one before it for nine tenths and more.
std::size_t band_of(const Recall& recall, std::int64_t found) {
  return static_cast<std::size_t>(found == recall.k ? bands : found * bands / recall.k);
}

/// Counts the queries in each band of recall; leaves out empty bands.
Table bands_table(const Recall& recall) {
  std::vector<std::int64_t> counts(static_cast<std::size_t>(bands) + 1);
  for (const std::int64_t found : recall.found) ++counts[band_of(recall, found)];
  std::vector<std::size_t> listed;
  for (std::size_t band = counts.size(); band-- > 0;)
    if (counts[band] > 0) listed.push_back(band);
  Table table{"How many queries have which recall",
              "",
              {{Kind::name, recall_name(recall), recall_name(recall)},
               {Kind::whole, "queries", "queries"},
               {Kind::bar, "share", "share"}},
              listed.size(),
              {}};
  const auto queries = static_cast<double>(recall.queries());
  table.row = [counts, listed, queries](std::size_t i) -> std::vector<Value> {
    const std::size_t band = listed[i];
    const auto tenths = static_cast<double>(band) / bands;
    const std::string name = band == static_cast<std::size_t>(bands)
                                 ? "1"
                                 : format_number(tenths, 1) + " to " + format_number(tenths + 0.1, 1);
    return {name, counts[band], static_cast<double>(counts[band]) / queries};
  };
  return table;
}

Table queries_table(const Recall& recall) {
  Table table{"The queries with the least recall",
              "",
              {{Kind::whole, "", "query", "", "query"},
               {Kind::whole, "", "found", "", "found"},
               {Kind::number, "", recall_name(recall), "", "recall"}},
              recall.found.size(),
              {}};
  table.row = [&recall](std::size_t query) -> std::vector<Value> {
    return {query, recall.found[query], recall.share(static_cast<std::int64_t>(query))};
  };
  for (const std::int64_t query : worst_first(recall))
    if (table.listed.size() < worst_listed) table.listed.push_back(static_cast<std::size_t>(query));
  return table;
}

}  // namespace

Document recall_document(const files::NeighborLists& truth, const files::NeighborLists& found,
                         const Recall& recall) {
  Document document{recall_head(truth, found, recall), {{}, {}, {}, command_line()}, {}};
  add_recall_facts(document, truth, found, recall);
  document.add(Section{"Recall by query",
                       "Queries in the order of their recall: where the line leaves the ground, and where it "
                       "reaches 1."});
  document.add(Picture{[&recall] {
    return report::line_chart(recall_chart(recall)) + "<h3>How many queries have which recall</h3>";
  }});
  document.add(bands_table(recall));
  document.add(Section{"The queries with the least recall", "Of the same recall in the order of the file."});
  document.add(queries_table(recall));
  return document;
}

}  // namespace kith::command
