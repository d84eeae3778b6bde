#include "command/groundtruth/recall.hpp"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <memory>
#include <numeric>
#include <span>

#include "files/source.hpp"

namespace kith::command {
namespace {

using files::NeighborLists;

template <class T>
std::span<const T> list_of(const std::vector<T>& all, std::int64_t k, std::int64_t query) {
  return std::span<const T>(all).subspan(static_cast<std::size_t>(query * k), static_cast<std::size_t>(k));
}

/// Returns the rows that count, ascending: the first k and those at the distance of the k-th.
std::vector<std::int64_t> rows_that_count(const NeighborLists& truth, std::int64_t query, std::int64_t k,
                                          std::size_t end) {
  const std::span<const std::int64_t> rows = list_of(truth.rows, truth.k, query).first(end);
  const auto none = std::find(rows.begin(), rows.begin() + k, -1);
  if (none != rows.begin() + k)
    throw Error(Errc::bad_file, truth.path + ": query " + std::to_string(query) + " has " +
                                    files::count_of(static_cast<std::uint64_t>(none - rows.begin()), "row") +
                                    ", and -1 after them; give a smaller -k, or make the truth again");
  std::vector<std::int64_t> sorted(rows.begin(), rows.end());
  std::sort(sorted.begin(), sorted.end());
  const auto twice = std::adjacent_find(sorted.begin(), sorted.end());
  if (twice != sorted.end() && *twice >= 0)
    throw Error(Errc::bad_file, truth.path + ": query " + std::to_string(query) + " has the row " +
                                    std::to_string(*twice) + " twice; make the truth again");
  return sorted;
}

void check_lists(const NeighborLists& truth, const NeighborLists& found, std::int64_t k) {
  if (truth.queries != found.queries)
    refuse("recall", truth.path + " has " + std::to_string(truth.queries) + " queries but " + found.path +
                         " has " + std::to_string(found.queries) + "; both must be about the same ones");
  for (const NeighborLists* lists : {&truth, &found})
    if (k > lists->k)
      refuse("recall", "-k " + std::to_string(k) + " but " + lists->path + " has " +
                           files::count_of(static_cast<std::uint64_t>(lists->k), "neighbour") +
                           " of each query; give " + std::to_string(std::min(truth.k, found.k)) +
                           " or fewer");
}

NeighborLists read_lists(const std::string& path, const TableFlags& tables) {
  ActivityLine activity("reading " + files::shown_name(path));
  files::FileOptions options = file_options(tables);
  options.progress = [&](double fraction) { activity.update(fraction); };
  return files::read_neighbors(path, options);
}

int run_recall(const RecallFlags& flags) {
  DocumentOutput output("recall", flags.shown);
  const NeighborLists truth = read_lists(flags.truth, flags.tables),
                      found = read_lists(flags.found, flags.tables);
  const Recall recall = score_recall(truth, found, flags.k > 0 ? flags.k : std::min(truth.k, found.k));
  const report::Document document = recall_document(truth, found, recall);
  output.write(document);
  output.commit();
  print_document(document, flags.shown);
  if (recall.share() >= flags.at_least) return exit_ok;
  complain("recall: " + format_double(recall.share()) + " is below --at-least " +
           format_double(flags.at_least));
  return exit_failed_check;
}

}  // namespace

Recall score_recall(const NeighborLists& truth, const NeighborLists& found, std::int64_t k) {
  check_lists(truth, found, k);
  Recall recall;
  recall.k = k;
  for (std::int64_t q = 0; q < truth.queries; ++q) {
    auto end = static_cast<std::size_t>(k);
    if (truth.has_distances()) {
      const std::span<const double> distances = list_of(truth.distances, truth.k, q);
      while (end < distances.size() && distances[end] == distances[static_cast<std::size_t>(k - 1)]) ++end;
      recall.tied += end > static_cast<std::size_t>(k);
      recall.open += end == distances.size();
    }
    const std::vector<std::int64_t> counting = rows_that_count(truth, q, k, end);
    const std::span<const std::int64_t> nearest =
        list_of(truth.rows, truth.k, q).first(static_cast<std::size_t>(k));
    const std::span<const std::int64_t> rows =
        list_of(found.rows, found.k, q).first(static_cast<std::size_t>(k));
    std::vector<std::int64_t> own(rows.begin(), rows.end());
    std::sort(own.begin(), own.end());
    own.erase(std::unique(own.begin(), own.end()), own.end());
    std::int64_t hits = 0;
    for (const std::int64_t row : own) {
      if (row < 0 || !std::binary_search(counting.begin(), counting.end(), row)) continue;
      ++hits;
      recall.by_tie += std::find(nearest.begin(), nearest.end(), row) == nearest.end();
    }
    recall.found.push_back(hits);
    recall.all += hits;
  }
  return recall;
}

Subcommand add_recall(CLI::App& parent) {
  auto flags = std::make_shared<RecallFlags>();
  CLI::App* app = parent.add_subcommand(
      "recall", "Score an approximate search: which share of the true neighbours did it find?");
  reads_file(app->add_option("--truth", flags->truth,
                             "The true neighbours: .ibin or .bin as kith groundtruth writes them, .ivecs, "
                             ".npz, .npy, .csv, ..."))
      ->required();
  reads_file(
      app->add_option("--found", flags->found, "The neighbours that were found, in any of these formats"))
      ->required();
  add_number(*app, "-k", flags->k, "Score the first k of each query (default: as many as both files have)",
             1);
  app->add_option("--at-least", flags->at_least, "Exit with 1 if the recall is below this")
      ->type_name("SHARE")
      ->check(CLI::Range(0.0, 1.0));
  add_text_options(*app, flags->tables);
  add_document_options(*app, flags->shown,
                       "Write how many neighbours each query was given, one query per line",
                       "Write a page with a chart for a browser");
  add_examples(*app, {"kith recall --truth gt.ibin --found ann.ibin -k 10",
                      "kith recall --truth sift_groundtruth.ivecs --found ann.npy --report recall.html",
                      "kith recall --truth gt.ibin --found ann.ibin --at-least 0.95 --quiet"});
  return {app, [flags] { return run_recall(*flags); }};
}

}  // namespace kith::command
