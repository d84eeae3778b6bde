// kith compare --whole: the rows of files, searched by every proposer and by the chain alone. Same bits?
#include <CLI/CLI.hpp>
#include <algorithm>

#include "command/input/training.hpp"
#include "command/shared/json.hpp"
#include "kith/index.hpp"
#include "lab/compare/compare_cells.hpp"

namespace kith::command {
namespace {

/// Rows of files, as they are searched.
struct WholeSet {
  Training training;
  Rows own_queries;
  std::vector<float> picked;  ///< [m, width] where -m takes some of the queries
  MatrixView<const float> queries;

  MatrixView<const float> train() const { return training.rows.searched(); }
};

/// One way on one device.
struct Way {
  std::string device;
  Proposer proposer;
  std::string refusal;
  std::string difference;      ///< the first one; empty: same bits
  std::int64_t different = 0;  ///< queries
  Trace trace;

  bool ran() const { return refusal.empty() && trace.total_seconds > 0; }
};

/// The queries: all of them, or `count` spread evenly.
void take_queries(const CompareFlags& flags, bool some, WholeSet& set) {
  const MatrixView<const float> all =
      (flags.queries.empty() ? set.training.rows : set.own_queries).searched();
  set.queries = all;
  if (!some || flags.m >= all.rows()) return;
  set.picked.reserve(static_cast<std::size_t>(flags.m * all.cols()));
  for (std::int64_t i = 0; i < flags.m; ++i) {
    const float* const row = all.row(i * all.rows() / flags.m);
    set.picked.insert(set.picked.end(), row, row + all.cols());
  }
  set.queries = {set.picked.data(), flags.m, all.cols()};
}

WholeSet read_set(const CLI::App& app, const CompareFlags& flags) {
  WholeSet set;
  TrainingFlags training = flags.whole_set;
  training.tables.train = flags.train;
  training.tables.queries = flags.queries;
  set.training = read_training("compare", training);
  check_k("compare", flags.k, set.training, false);
  if (!flags.queries.empty()) set.own_queries = read_prepared_queries(training, set.training);
  take_queries(flags, app.count("-m") > 0, set);
  return set;
}

/// The proposers to try on a device; `none`, the chain alone, is one.
std::vector<Proposer> ways_of(const Device& device, Proposer asked) {
  if (asked != Proposer::automatic) return {asked};
  std::vector<Proposer> ways = {Proposer::none};
  ways.insert(ways.end(), device.info().proposers.begin(), device.info().proposers.end());
  return ways;
}

/// One search, steps timed and candidates counted.
Neighbors search_by(const Index& index, const CompareFlags& flags, const WholeSet& set, Proposer proposer,
                    Trace& trace) {
  throw_if_interrupted("compare");
  PlanOptions options = plan_options(flags.plan);
  options.proposer = proposer;
  return index.search(set.queries, flags.k, options, &trace);
}

Neighbors expected(const Subject& reference, const CompareFlags& flags, const WholeSet& set,
                   std::vector<Way>& ways) {
  if (!reference)
    return workloads::plain_answer(flags.metric, set.train(), set.queries, flags.k, nullptr).neighbors;
  const Index index(*reference, set.train(), flags.metric);
  Way way{reference->info().spec, Proposer::none, {}, {}, 0, {}};
  Neighbors right = search_by(index, flags, set, Proposer::none, way.trace);
  ways.push_back(std::move(way));
  return right;
}

std::vector<Way> run_ways(const CompareFlags& flags, const WholeSet& set, const std::vector<Device>& devices,
                          const Subject& reference) {
  const Waiting waiting("comparing");
  std::vector<Way> ways;
  const Neighbors right = expected(reference, flags, set, ways);
  const Proposer asked = parse_proposer(flags.plan.proposer);
  for (const Device& device : devices) {
    const bool is_reference = reference && reference->info().spec == device.info().spec;
    const Index index(device, set.train(), flags.metric);
    for (const Proposer proposer : ways_of(device, asked)) {
      if (is_reference && proposer == Proposer::none) continue;  // it is what the others are compared with
      Way way{device.info().spec, proposer, {}, {}, 0, {}};
      Cell cell;
      in_cell(cell, [&] {
        const Neighbors found = search_by(index, flags, set, proposer, way.trace);
        if (way.trace.plan.proposer != proposer) throw Error(Errc::unsupported, way.trace.plan.reason);
        way.different = workloads::different_queries(right, found);
        way.difference = workloads::difference({right, {}, {}}, {found, {}, {}});
      });
      way.refusal = cell.refusal;
      if (!cell.difference.empty()) way.difference = cell.difference;  // an error is one, too
      ways.push_back(std::move(way));
    }
  }
  return ways;
}

std::string table_of(const std::vector<Way>& ways, bool first_is_right) {
  TextTable table({"device", "proposer", "bits", "whole call", "listed / k", "ranked / k", "once more",
                   "by the chain alone"});
  std::string notes;
  for (std::size_t i = 0; i < ways.size(); ++i) {
    const Way& way = ways[i];
    const std::string which = way.device + ", " + std::string(name(way.proposer)) + ": ";
    std::vector<std::string> cells = {way.device, std::string(name(way.proposer))};
    if (!way.refusal.empty()) {
      cells.emplace_back("refused");
      notes += which + "refused: " + way.refusal + "\n";
    } else if (!way.difference.empty()) {
      cells.emplace_back("DIFFERENT");
      notes += which +
               (way.different > 0 ? std::to_string(way.different) + " queries DIFFERENT, first: " : "") +
               way.difference + "\n";
    } else {
      cells.emplace_back(i == 0 && first_is_right ? "reference" : "same");
    }
    if (way.ran()) {
      cells.push_back(format_seconds(way.trace.total_seconds));
      if (way.proposer != Proposer::none)
        cells.insert(cells.end(), {candidates_per_k(way.trace.listed, way.trace.plan),
                                   candidates_per_k(way.trace.collected, way.trace.plan),
                                   std::to_string(way.trace.repeats), std::to_string(way.trace.fallbacks)});
    }
    table.add(std::move(cells));
  }
  return table.text() + notes;
}

nlohmann::ordered_json json_of(const CompareFlags& flags, const WholeSet& set, const Subject& reference,
                               const std::vector<Way>& ways) {
  nlohmann::ordered_json json = {{"data", flags.train},
                                 {"metric", name(flags.metric)},
                                 {"n", set.train().rows()},
                                 {"m", set.queries.rows()},
                                 {"dims", set.train().cols()},
                                 {"k", flags.k},
                                 {"reference", subject_name(reference)}};
  for (const Way& way : ways) {
    nlohmann::ordered_json entry = {{"device", way.device}, {"proposer", name(way.proposer)}};
    if (!way.refusal.empty()) {
      entry["refused"] = way.refusal;
    } else {
      entry["same"] = way.difference.empty();
      if (!way.difference.empty()) entry["difference"] = way.difference;
      entry["queries_different"] = way.different;
    }
    if (way.ran()) {
      entry["total_seconds"] = way.trace.total_seconds;
      entry["device_seconds"] = way.trace.device_seconds;
      entry["listed"] = way.trace.listed;
      entry["ranked"] = way.trace.collected;
      entry["once_more"] = way.trace.repeats;
      entry["by_the_chain_alone"] = way.trace.fallbacks;
    }
    json["results"].push_back(std::move(entry));
  }
  return json;
}

}  // namespace

int compare_proposers(const CLI::App& app, const CompareFlags& flags) {
  if (flags.train.empty())
    throw Error(Errc::invalid_argument, "compare: --whole reads files; give --train FILE, too");
  if (flags.m == 0)
    throw Error(Errc::invalid_argument, "compare: -m = 0 leaves --whole no queries; take at least one");
  const std::vector<Device> devices = open_devices(flags.device);
  const Subject reference =
      flags.reference == "plain" ? Subject() : open_device(flags.reference.empty() ? "cpu" : flags.reference);
  const WholeSet set = read_set(app, flags);
  const std::vector<Way> ways = run_ways(flags, set, devices, reference);
  if (ways.size() == (reference ? 1 : 0))
    throw Error(Errc::invalid_argument, "compare: there is nothing beside the chain of " +
                                            subject_name(reference) +
                                            ", which is the reference; choose another --reference, --device "
                                            "or --proposer");
  Outcome outcome;
  for (std::size_t i = reference ? 1 : 0; i < ways.size(); ++i)
    outcome.take(!ways[i].refusal.empty(), !ways[i].difference.empty());
  if (flags.json) {
    print(json_text(json_of(flags, set, reference, ways)));
    return outcome.code();
  }
  print(flags.train + ": " + std::string(name(flags.metric)) + ", n = " + std::to_string(set.train().rows()) +
        ", m = " + std::to_string(set.queries.rows()) + ", dims = " + std::to_string(set.train().cols()) +
        ", k = " + std::to_string(flags.k) + "; compared with " + subject_name(reference) +
        (reference ? " by the chain alone\n" : "\n") + table_of(ways, reference.has_value()) + "\n" +
        outcome.text() + "\n");
  return outcome.code();
}

void add_whole_options(CLI::App& app, CompareFlags& flags) {
  app.add_flag("--whole", flags.whole,
               "Instead: the rows of --train searched for those of --queries (or for themselves; -m takes "
               "so many of them, spread evenly) by every proposer, beside the chain alone");
  TableFlags& tables = flags.whole_set.tables;
  add_text_options(app, tables);
  add_texts(app, "--label-column,--label", tables.label_columns,
            "A column of text files that is no feature: left out", "COLUMNS");
  add_texts(app, "--categorical", tables.categorical, "Columns of a text file whose numbers are categories",
            "COLUMNS");
  add_preparation_options(app, flags.whole_set);
  const std::string group = "Every proposer on the rows of files";
  app.get_option("--whole")->group(group);
  for (const char* option : whole_options) app.get_option(option)->group(group);
  for (const char* option : text_options) app.get_option(option)->group(group);
}

}  // namespace kith::command
