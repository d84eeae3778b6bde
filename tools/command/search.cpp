// kith search: the nearest training rows of each query.
#include <algorithm>
#include <memory>
#include <optional>

#include "command.hpp"
#include "files/output.hpp"
#include "kith/index.hpp"
#include "tables.hpp"

namespace kith::command {
namespace {

constexpr std::int64_t shown_queries = 10, shown_neighbors = 8;

struct SearchFlags {
  TableFlags tables;
  PlanFlags plan;
  Metric metric = Metric::squared_l2;
  std::string device = "auto";
  std::int64_t k = 5;
  std::string out_index;
  std::string out_distance;
  bool explain = false;
};

/// The first rows, for reading.
std::string first_rows(const Neighbors& found) {
  std::vector<std::string> titles = {"query"};
  const std::int64_t columns = std::min(found.k, shown_neighbors);
  for (std::int64_t j = 0; j < columns; ++j) titles.push_back("#" + std::to_string(j + 1));
  TextTable table(titles);
  for (std::int64_t q = 0; q < std::min(found.queries, shown_queries); ++q) {
    std::vector<std::string> cells = {std::to_string(q)};
    for (std::int64_t j = 0; j < columns; ++j) {
      const auto at = static_cast<std::size_t>(q * found.k + j);
      cells.push_back(std::to_string(found.index[at]) + " (" + format_float(found.distance[at]) + ")");
    }
    table.add(std::move(cells));
  }
  std::string text = "nearest training rows of each query, from 0 (and their distance)\n" + table.text();
  if (found.queries > shown_queries || found.k > shown_neighbors)
    text += "(" + std::to_string(found.queries) + " queries, k = " + std::to_string(found.k) +
            "; --out-index and --out-distance write all)\n";
  return text;
}

int run_search(const SearchFlags& flags) {
  if (!flags.out_index.empty() && flags.out_index == flags.out_distance)
    throw Error(Errc::invalid_argument,
                "search: --out-index and --out-distance are the same file; give two names");
  std::optional<files::AtomicFile> index_file, distance_file;
  if (!flags.out_index.empty()) {
    files::check_output_name(flags.out_index, files::Content::indices);
    index_file.emplace(flags.out_index);
  }
  if (!flags.out_distance.empty()) {
    files::check_output_name(flags.out_distance, files::Content::distances);
    distance_file.emplace(flags.out_distance);
  }
  const files::Table train = read_train(flags.tables);
  check_k("search", flags.k, train);
  const files::Table queries = read_queries(flags.tables, train);
  PlanOptions options = plan_options(flags.plan);
  const Index index(open_device(flags.device), view(train), flags.metric);
  Trace trace;
  Neighbors found;
  {
    ProgressBar bar("searching");
    options.progress = [&bar](const Progress& progress) { bar.update(progress.fraction); };
    found = index.search(view(queries), flags.k, options, flags.explain ? &trace : nullptr);
  }
  if (index_file) files::write_rows(*index_file, {found.index.data(), found.queries, found.k});
  if (distance_file) files::write_rows(*distance_file, {found.distance.data(), found.queries, found.k});
  if (index_file) index_file->commit();
  if (distance_file) distance_file->commit();
  if (flags.explain) print(explain(trace.plan) + "\n" + stage_times(trace));
  if (!index_file && !distance_file) print(first_rows(found));
  return exit_ok;
}

}  // namespace

Subcommand add_search(CLI::App& parent) {
  auto flags = std::make_shared<SearchFlags>();
  CLI::App* app = parent.add_subcommand("search", "Find the k nearest training rows of each query, exactly");
  add_table_options(*app, flags->tables,
                    "A column of text files that is no feature: left out. A name, or a number from 1; "
                    "-1 is the last");
  app->get_option("--queries")->required();
  add_number(*app, "-k", flags->k, "Neighbours a query", 1)->capture_default_str();
  add_metric_option(*app, flags->metric);
  add_device_option(*app, flags->device);
  app->add_option("--out-index", flags->out_index,
                  "Write the rows found, [queries, k], from 0: .npy (int64), .ivecs, .csv, .tsv, .txt")
      ->type_name("FILE");
  app->add_option("--out-distance", flags->out_distance,
                  "Write their distances, [queries, k]: .npy (float32), .fvecs, .csv, .tsv, .txt")
      ->type_name("FILE");
  app->add_flag("--explain", flags->explain, "Print how it was done, and the seconds of each stage");
  add_plan_options(*app, flags->plan);
  add_examples(*app, {"kith search --train train.npy --queries queries.npy -k 10 --out-index found.npy",
                      "kith search --train base.fvecs --queries query.fvecs -k 100 --metric cosine \\",
                      "            --device opencl:0 --out-index found.ivecs --out-distance far.fvecs",
                      "kith search --train a.csv --queries b.csv --label-column -1 --explain"});
  return {app, [flags] { return run_search(*flags); }};
}

}  // namespace kith::command
