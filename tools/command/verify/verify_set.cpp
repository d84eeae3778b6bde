// kith verify --train: the rows of files, searched by every proposer and by the chain alone, or once more
// after an earlier search. Same bits?

#include "command/input/training.hpp"
#include "command/shared/json.hpp"
#include "command/verify/verify.hpp"
#include "files/table.hpp"
#include "kith/index.hpp"
#include "workloads/cases.hpp"

namespace kith::command {
namespace {

/// Rows of files, as they are searched.
struct WholeSet {
  Training training;
  Rows own_queries;
  workloads::Rows picked;  ///< where -m takes some of the queries
  MatrixView<const float> queries;
  std::int64_t asked = 0;  ///< queries before -m took some
  std::int64_t k = 1;

  MatrixView<const float> train() const { return training.rows.numbers(); }
};

/// The right answer.
struct Expected {
  std::string name;
  Neighbors found;
  bool without_distances = false;  ///< only the rows of an earlier answer are known
};

/// The outcome of one proposer on one device.
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
void take_queries(const VerifyFlags& flags, WholeSet& set) {
  const MatrixView<const float> all =
      (flags.set.tables.queries.empty() ? set.training.rows : set.own_queries).numbers();
  set.queries = all;
  set.asked = all.rows();
  if (flags.m == 0 || flags.m >= all.rows()) return;
  set.picked = workloads::spread_rows(all, flags.m);
  set.queries = set.picked.view();
}

WholeSet read_set(const VerifyFlags& flags) {
  WholeSet set;
  set.training = read_training("verify", flags.set);
  set.k = flags.k;
  if (flags.found_index.empty()) check_k("verify", set.k, set.training, false);
  if (!flags.set.tables.queries.empty()) set.own_queries = read_prepared_queries(flags.set, set.training);
  take_queries(flags, set);
  return set;
}

/// Returns the proposers to try on a device; `none`, the chain alone, is one of them.
std::vector<Proposer> ways_of(const Device& device, Proposer asked) {
  if (asked != Proposer::automatic) return {asked};
  std::vector<Proposer> ways = {Proposer::none};
  ways.insert(ways.end(), device.info().proposers.begin(), device.info().proposers.end());
  return ways;
}

/// Runs one search, with its steps timed and its candidates counted.
Neighbors search_by(const Index& index, const VerifyFlags& flags, const WholeSet& set, Proposer proposer,
                    Trace& trace) {
  throw_if_interrupted("verify");
  SearchOptions options = plan_options(flags.plan);
  options.proposer = proposer;
  return index.search(set.queries, set.k, options, &trace);
}

/// A file that `kith search` wrote: a row of k numbers for each query.
files::Values read_found(const VerifyFlags& flags, const std::string& path) {
  return files::read_values(path, files::ValueOptions(file_options(flags.set.tables)));
}

/// Reads the earlier answer to the queries that are searched. Its k becomes that of the search.
Expected read_earlier(const VerifyFlags& flags, WholeSet& set) {
  Expected earlier{flags.found_index, {}, flags.found_distance.empty()};
  const files::Values rows = read_found(flags, flags.found_index);
  const auto check = [&](const std::string& path, const files::Values& values) {
    if (values.rows != set.asked || values.cols != rows.cols)
      refuse("verify", path + " is [" + std::to_string(values.rows) + ", " + std::to_string(values.cols) +
                           "], but there are " + std::to_string(set.asked) + " queries and " +
                           std::to_string(rows.cols) + " neighbours each in " + flags.found_index +
                           "; give the files of one search for all these queries");
  };
  check(flags.found_index, rows);
  set.k = rows.cols;
  check_k("verify", set.k, set.training, false);
  files::Values distances;
  if (!earlier.without_distances)
    check(flags.found_distance, distances = read_found(flags, flags.found_distance));
  earlier.found.queries = set.queries.rows();
  earlier.found.k = set.k;
  for (std::int64_t q = 0; q < set.queries.rows(); ++q)
    for (std::int64_t j = 0; j < set.k; ++j) {
      const auto at =
          static_cast<std::size_t>(workloads::spread_row(q, set.queries.rows(), set.asked) * set.k + j);
      earlier.found.row.push_back(static_cast<std::int64_t>(rows.values[at]));
      if (!earlier.without_distances)
        earlier.found.distance.push_back(static_cast<float>(distances.values[at]));
    }
  return earlier;
}

Neighbors search_right(const Subject& reference, const VerifyFlags& flags, const WholeSet& set,
                       std::vector<Way>& ways) {
  if (!reference)
    return workloads::plain_answer(flags.metric, set.train(), set.queries, set.k, nullptr).neighbors;
  const Index index(*reference, set.train(), flags.metric);
  Way way{reference->info().spec, Proposer::none, {}, {}, 0, {}};
  Neighbors right = search_by(index, flags, set, Proposer::none, way.trace);
  ways.push_back(std::move(way));
  return right;
}

/// Searches by each proposer of each device; if an earlier answer is checked, only once, as the plan chooses.
void run_ways(const VerifyFlags& flags, const WholeSet& set, const std::vector<Device>& devices,
              const Expected& expected, std::vector<Way>& ways) {
  const Proposer asked = flags.plan.how.proposer;
  const bool again = !flags.found_index.empty();
  for (const Device& device : devices) {
    const Index index(device, set.train(), flags.metric);
    for (const Proposer proposer : again ? std::vector{asked} : ways_of(device, asked)) {
      if (proposer == Proposer::none && expected.name == device.info().spec)
        continue;  // the bits that others are compared with
      Way way{device.info().spec, proposer, {}, {}, 0, {}};
      Cell cell;
      in_cell(cell, [&] {
        const Neighbors found = search_by(index, flags, set, proposer, way.trace);
        if (proposer == Proposer::automatic) way.proposer = way.trace.plan.proposer;
        if (way.trace.plan.proposer != way.proposer) throw Error(Errc::unsupported, way.trace.plan.reason);
        Neighbors right = expected.found;
        if (expected.without_distances) right.distance = found.distance;
        way.different = workloads::different_queries(right, found);
        way.difference = workloads::difference({right, {}, {}}, {found, {}, {}});
      });
      way.refusal = cell.refusal;
      if (!cell.difference.empty()) way.difference = cell.difference;  // an error is one, too
      ways.push_back(std::move(way));
    }
  }
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

nlohmann::ordered_json json_of(const VerifyFlags& flags, const WholeSet& set, const std::string& reference,
                               const std::vector<Way>& ways) {
  nlohmann::ordered_json json =
      sizes_json(flags.set.tables.train, flags.metric, set.train(), set.queries, set.k);
  json["reference"] = reference;
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

int verify_set(const VerifyFlags& flags) {
  const bool again = !flags.found_index.empty();
  const std::vector<Device> devices = open_devices("verify", flags.device);
  Subject reference;
  if (!again && flags.reference != "plain")
    reference = open_device(flags.reference.empty() ? "cpu" : flags.reference);
  WholeSet set = read_set(flags);
  std::vector<Way> ways;
  Expected expected;
  {
    const ActivityLine activity("verifying");
    expected = again ? read_earlier(flags, set)
                     : Expected{subject_name(reference), search_right(reference, flags, set, ways)};
    run_ways(flags, set, devices, expected, ways);
  }
  if (ways.size() == (reference ? 1 : 0))
    refuse("verify", "there is nothing beside the chain of " + expected.name +
                         ", which is the reference; choose another --reference, --device or proposer");
  Outcome outcome;
  for (std::size_t i = reference ? 1 : 0; i < ways.size(); ++i)
    outcome.take(!ways[i].refusal.empty(), !ways[i].difference.empty());
  if (flags.json)
    print(json_text(json_of(flags, set, expected.name, ways)));
  else
    print(flags.set.tables.train + ": " + sizes_text(flags.metric, set.train(), set.queries, set.k) +
          "; compared with " + expected.name + (reference ? " by the chain alone\n" : "\n") +
          table_of(ways, reference.has_value()) + "\n" + outcome.text() + "\n");
  return outcome.code();
}

}  // namespace kith::command
