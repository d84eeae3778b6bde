// kith verify --train: the rows of files, searched by every proposer and by the chain alone, or once more
// after an earlier search. Same bits?
#include <cstring>

#include "command/shared/json.hpp"
#include "command/verify/verify_set.hpp"
#include "kith/index.hpp"
#include "workloads/cases.hpp"

namespace kith::command {
namespace {

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

/// Returns the values of rows of f32 or f64, which are searched as doubles.
std::vector<double> as_doubles(const RowsView& rows) {
  std::vector<double> values;
  const auto add = [&](auto element) {
    for (std::int64_t i = 0; i < rows.rows * rows.cols; ++i) {
      std::memcpy(&element, rows.row(i / rows.cols) + i % rows.cols * element_bytes(rows.element),
                  sizeof element);
      values.push_back(static_cast<double>(element));
    }
  };
  rows.element == Element::f64 ? add(double{}) : add(float{});
  return values;
}

/// Returns what the plain program finds.
Neighbors plain_neighbors(const VerifyFlags& flags, const WholeSet& set) {
  if (!set.is_double()) {
    const auto floats = [](const RowsView& rows) {
      return MatrixView<const float>(reinterpret_cast<const float*>(rows.row(0)), rows.rows, rows.cols);
    };
    return workloads::plain_answer(flags.metric, floats(set.train()), floats(set.queries), set.k, nullptr)
        .neighbors;
  }
  const std::vector<double> train = as_doubles(set.train()), queries = as_doubles(set.queries);
  return workloads::plain_answer(
             flags.metric, MatrixView<const double>(train.data(), set.train().rows, set.train().cols),
             MatrixView<const double>(queries.data(), set.queries.rows, set.queries.cols), set.k, nullptr)
      .neighbors;
}

Neighbors search_right(const Subject& reference, const VerifyFlags& flags, const WholeSet& set,
                       std::vector<Way>& ways) {
  if (!reference) return plain_neighbors(flags, set);
  const Index index(*reference, set.train(), flags.metric, set.training.index_options());
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
    const Index index(device, set.train(), flags.metric, set.training.index_options());
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
        if (expected.without_distances) right.distance = found.distance, right.distance64 = found.distance64;
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
  json["arithmetic"] = name(set.training.arithmetic);
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
          (set.is_double() ? "; in double precision, compared with " : "; compared with ") + expected.name +
          (!reference        ? "\n"
           : set.is_double() ? ", where the chain of floats alone proposes\n"
                             : " by the chain alone\n") +
          table_of(ways, reference.has_value()) + "\n" + outcome.text() + "\n");
  return outcome.code();
}

}  // namespace kith::command
