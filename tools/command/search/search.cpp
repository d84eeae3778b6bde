// kith search: finds the nearest training rows of each query, or all rows within a radius.
#include <CLI/CLI.hpp>
#include <algorithm>
#include <cmath>
#include <filesystem>
#include <memory>

#include "command/input/elements.hpp"
#include "command/input/index_input.hpp"
#include "command/input/learned.hpp"
#include "command/input/source_input.hpp"
#include "command/results/distances.hpp"
#include "command/results/results_json.hpp"
#include "command/rows/group_column.hpp"
#include "command/rows/training_index.hpp"
#include "command/shared/command.hpp"
#include "command/shared/interrupt.hpp"
#include "command/words/place.hpp"
#include "command/words/write.hpp"
#include "files/output.hpp"
#include "kith/index.hpp"

namespace kith::command {
namespace {

constexpr std::int64_t shown_queries = 10, shown_neighbors = 8;

struct SearchFlags : QuestionFlags {
  std::string out_index;
  std::string out_distance;
  std::string checkpoint;
};

std::int64_t longest(const RadiusNeighbors& found) {
  std::int64_t most = 0;
  for (std::int64_t q = 0; q < found.queries; ++q) most = std::max(most, found.count(q));
  return most;
}

/// Shows the first rows as a table for readers.
std::string first_rows(const RadiusNeighbors& found, const std::string& radius) {
  std::vector<std::string> titles = {"query"};
  if (!radius.empty()) titles.emplace_back("rows");
  const std::int64_t most = longest(found), columns = std::min(most, shown_neighbors);
  for (std::int64_t j = 0; j < columns; ++j) titles.push_back("#" + std::to_string(j + 1));
  TextTable table(titles);
  for (std::int64_t q = 0; q < std::min(found.queries, shown_queries); ++q) {
    std::vector<std::string> cells = {std::to_string(q)};
    if (!radius.empty()) cells.push_back(std::to_string(found.count(q)));
    for (std::int64_t j = 0; j < std::min(columns, found.count(q)); ++j) {
      const auto at = static_cast<std::size_t>(found.first[static_cast<std::size_t>(q)] + j);
      cells.push_back(std::to_string(found.row[at]) + " (" + distance_text(found, at) + ")");
    }
    table.add(std::move(cells));
  }
  std::string text = "nearest training rows of each query, from 0 (and their distance)\n" + table.text();
  if (found.queries > shown_queries || most > shown_neighbors)
    text += "(" + std::to_string(found.queries) + " queries, " +
            (radius.empty() ? "k = " + std::to_string(most)
                            : "up to " + std::to_string(most) + " rows within " + radius) +
            "; --out-index and --out-distance write all, --json prints all)\n";
  return text;
}

void check_flags(const CLI::App& app, SearchFlags& flags) {
  check_element_flags(app, flags.training.tables, flags.metric);
  admit_metric("search", flags.training, flags.metric);
  if (!flags.checkpoint.empty() && !flags.by_k())
    throw Error(Errc::unsupported,
                "search: --checkpoint keeps the k nearest, and --radius asks for all rows within it; leave "
                "one of them out, or give -k, too");
  if (!check_query_flags(app, flags.training, flags.query_flags, false)) return;
  throw Error(Errc::invalid_argument, "search: --queries is missing; see `kith search --help`");
}

RadiusNeighbors find(const SearchFlags& flags, Training& training, DeviceInfo& device, Trace* trace) {
  const bool by_k = flags.by_k(), leave_one_out = flags.query_flags.leave_one_out;
  if (by_k) check_k("search", flags.query_flags.k, training, leave_one_out);
  const Rows own = read_asked(flags.training, flags.query_flags, training);
  const Rows& asked = leave_one_out ? training.rows : own;
  const RowsView queries = asked.searched();
  SearchOptions options = question_options(flags, training, asked);
  options.checkpoint = flags.checkpoint;
  if (flags.query_flags.k_in_radius)
    options.radius = radius_of("search", flags.query_flags, flags.metric, training.arithmetic).front();
  const Device opened = open_my_device(flags.device);
  const TrainingIndex index(training, opened, flags.metric, leave_one_out);
  device = opened.info();
  ProgressBar bar("searching");
  options.progress = [&bar](const Progress& progress) { bar.update(progress.fraction); };
  if (by_k) {
    Neighbors lists = index.search(queries, flags.query_flags.k, options, trace);
    spread(asked, training, lists);
    return as_lists(std::move(lists));
  }
  RadiusNeighbors found = index.within(
      queries, radius_of("search", flags.query_flags, flags.metric, training.arithmetic), options, trace);
  asked.spread(found);
  for (std::int64_t& row : found.row) row = training.file_row(row);
  return found;
}

/// Writes a matrix if all lists have k entries, else lists.
template <class T>
void write_found(files::AtomicFile& file, const RadiusNeighbors& found, const std::vector<T>& all,
                 std::int64_t k, const std::vector<std::string>& names) {
  if (k > 0)
    files::write_rows(file, MatrixView<const T>(all.data(), found.queries, k), names);
  else
    files::write_lists(file, found.first, std::span<const T>(all));
}

void print_json(const SearchFlags& flags, const Training& training, const RadiusNeighbors& found,
                const DeviceInfo& device, const Trace& trace) {
  report::Document document;
  files::Table asked;
  asked.rows = found.queries;
  add_asked(document, training, asked, flags.metric, device, flags.query_flags);
  add_members(document, trace);
  print_results(document, found.queries, [&](std::int64_t q) {
    return nlohmann::ordered_json{{"query", q}, {"neighbors", neighbors_json(found, q)}};
  });
}

void check_outputs(const SearchFlags& flags) {
  const std::string& format = flags.output.format;
  if (flags.shown.json)
    check_json_alone("search", {{"--out-index", flags.out_index}, {"--out-distance", flags.out_distance}});
  if (!flags.out_index.empty()) files::check_output_name(flags.out_index, files::Content::indices, format);
  if (!flags.out_distance.empty())
    files::check_output_name(flags.out_distance, files::Content::distances, format);
  for (const std::string& path : {flags.out_index, flags.out_distance})
    if (!flags.by_k() && files::has_equal_rows(path, format))
      throw Error(Errc::invalid_argument,
                  "search: " + path +
                      ": lists within --radius are of different lengths, which .npy, .ibin and .fbin do not "
                      "hold; choose .csv, .tsv, .txt or a .vecs format");
}

int run_search(const CLI::App& app, SearchFlags flags) {
  flags.query_flags.k_in_radius = app.count("-k") > 0 && app.count("--radius") > 0;
  take_index(app, flags, flags.query_flags.leave_one_out);
  check_flags(app, flags);
  if (!flags.checkpoint.empty()) tell_that_work_is_kept();
  if (flags.training.residence == Residence::stream && flags.by_k()) tell_that_work_can_be_kept();
  flags.training.tables.in_parts = ranks() && !flags.query_flags.leave_one_out;
  check_outputs(flags);
  OutputFile index_file(flags.out_index, flags.output.format),
      distance_file(flags.out_distance, flags.output.format);
  flags.training.single = why_single("--out-distance", flags.out_distance, flags.output);
  Training training = read_training("search", flags.training);
  check_distance_file("search", flags.out_distance, flags.output, training);
  take_metric_of_file(app, training.rows.table, flags.metric);
  DeviceInfo device;
  Trace trace;
  trace.time_steps = flags.diagnostics.any();
  const bool traced = flags.diagnostics.any() || flags.shown.json;
  const RadiusNeighbors found = find(flags, training, device, traced ? &trace : nullptr);
  note_overflow(found, asked_name(flags.training, flags.query_flags));
  const std::int64_t k = flags.by_k() ? flags.query_flags.k : 0;
  const auto names = [&](const char* what) { return header_of(flags.output, numbered(what, k)); };
  if (index_file) write_found(*index_file, found, found.row, k, names("neighbor"));
  if (distance_file)
    with_distances(found,
                   [&](const auto& all) { write_found(*distance_file, found, all, k, names("distance")); });
  index_file.commit();
  distance_file.commit();
  if (flags.shown.json) {
    print_json(flags, training, found, device, trace);
  } else {
    print(diagnostics(flags.diagnostics, trace, training.arithmetic));
    if (!index_file && !distance_file) print(first_rows(found, flags.by_k() ? "" : flags.query_flags.radius));
  }
  if (!flags.checkpoint.empty()) std::filesystem::remove(flags.checkpoint);
  return exit_ok;
}

}  // namespace

Subcommand add_search(CLI::App& parent) {
  auto flags = std::make_shared<SearchFlags>();
  CLI::App* app = parent.add_subcommand("search", "Find the k nearest training rows of each query, exactly");
  add_table_options(*app, flags->training.tables,
                    "Column of text files to leave out, because it holds labels: a name, or a number from 1; "
                    "-1 is the last",
                    true, {element_key(flags->training.tables)});
  add_index_option(*app, flags->training);
  add_query_options(*app, flags->query_flags, "");
  add_metric_options(*app, flags->metric, flags->training);
  add_device_option(*app, flags->device);
  add_filter_option(*app, flags->training);
  add_group_option(*app, flags->training);
  add_feature_option(*app, flags->training);
  add_box_option(*app, flags->training);
  add_preparation_options(*app, flags->training, {arithmetic_key(flags->training)});
  writes_file(app->add_option(
      "--out-index", flags->out_index,
      "Write the row numbers found, from 0, [queries, k]: .npy (int64), .ivecs, .ibin, .csv, .tsv, .txt; "
      "with --radius a list per query, empty where no row was found (not .npy or .ibin)"));
  writes_file(app->add_option(
      "--out-distance", flags->out_distance,
      "Write the distances in the same way: .npy (float32 or float64), .csv, .tsv, .txt; .fvecs, .fbin "
      "(float32 alone)"));
  keeps_file(app->add_option("--checkpoint", flags->checkpoint,
                             "With --place residence=stream: save the results after each chunk here, so that "
                             "the same command resumes after a stop; the file is removed at the end"));
  add_output_options(*app, flags->output);
  app->add_flag("--json", flags->shown.json, "Print all neighbours as JSON");
  add_diagnostic_options(*app, flags->diagnostics);
  add_plan_options(*app, flags->plan, rows_keys(flags->training));
  add_examples(
      *app, {"kith search --train train.npy --queries queries.npy -k 10 --out-index found.npy",
             "kith search --train base.fvecs --queries query.fvecs -k 100 --metric cosine \\",
             "            --device opencl:0 --out-index found.ivecs --out-distance far.fvecs",
             "kith search --train a.csv --queries b.csv --label-column -1 --explain --certify",
             "kith search --train a.csv --leave-one-out -k 1 --features 1-3 --scale standardize",
             "kith search --train points.npy --query 2.5,7 --radius 1.5 --metric l2",
             "kith search --train points.npy --query 2.5,7 -k 3 --radius 1.5",
             "kith search --train sessions.csv --leave-one-out -k 3 --groups-column user",
             "kith search --index base.kidx --queries query.u8bin -k 10 --out-index found.ivecs",
             "kith search --train codes.npy --queries asked.npy -k 10 --read element=bits --metric hamming"});
  return {app, [app, flags] { return run_search(*app, *flags); }};
}

}  // namespace kith::command
