// kith-lab bench --prepare: times how rows are made ready to be searched.
#include <algorithm>
#include <nlohmann/json.hpp>

#include "kith/index.hpp"
#include "kith/spi.hpp"
#include "lab/bench/bench.hpp"
#include "lab/experiments/measure.hpp"
#include "workloads/cases.hpp"

namespace kith::command {

using experiments::median;

namespace {

/// Measures the quantized rows of one proposer.
struct QuantizedRows {
  Proposer proposer;
  std::string refusal;
  std::string difference;       ///< between a search by it and one by the chain
  std::vector<double> seconds;  ///< device clock
  std::size_t bytes = 0;
};

struct Prepared {
  std::string refusal;
  std::vector<double> index;   ///< host clock: an Index of rows in host memory
  std::vector<double> upload;  ///< host clock: as many bytes written to the device, and nothing else
  std::size_t row_bytes = 0;   ///< device memory of the Index, without quantized rows
  std::vector<QuantizedRows> quantized_rows;
};

/// Writes the rows unchanged to device memory, in pieces as large as those of an Index, and returns
/// the seconds.
double upload_seconds(const Device& device, MatrixView<const float> rows) {
  constexpr std::size_t piece = std::size_t{32} << 20;
  const std::size_t bytes = static_cast<std::size_t>(rows.rows() * rows.cols()) * sizeof(float);
  const auto* const from = reinterpret_cast<const char*>(rows.row(0));
  double seconds = 0;
  spi::with_device(device, [&](spi::Device& opened) {
    const std::size_t block = std::min(bytes, device.info().largest_allocation);
    const auto memory = opened.allocate(block);
    const Clock clock;
    for (std::size_t at = 0; at < bytes; at += piece) {
      const std::size_t some = std::min({piece, bytes - at, block});
      opened.write(*memory, std::min(at % block, block - some), from + at, some);
    }
    opened.finish();
    seconds = clock.seconds();
  });
  return seconds;
}

/// Makes quantized rows by the first search with the proposer, whose trace has the time.
void make_quantized_rows(const Index& index, const BenchData& data, const BenchFlags& flags, bool counts,
                         QuantizedRows& quantized) {
  if (!quantized.refusal.empty() || !quantized.difference.empty()) return;
  const MatrixView<const float> query = data.queries.view().slice(0, 1);
  SearchOptions options = plan_options(flags.plan);
  options.proposer = quantized.proposer;
  Trace trace;
  trace.time_steps = false;
  trace.hold_queue = true;
  try {
    const Neighbors found = index.search(query, 1, options, &trace);
    if (trace.plan.proposer != quantized.proposer) {
      quantized.refusal = trace.plan.reason;
      return;
    }
    if (!counts) {
      options.proposer = Proposer::none;
      const Neighbors right = index.search(query, 1, options);
      if (found.row != right.row || found.distance != right.distance)
        quantized.difference = "row " + std::to_string(found.row[0]) + " at " +
                               format_float(found.distance[0]) + ", by the chain " +
                               std::to_string(right.row[0]) + " at " + format_float(right.distance[0]);
    }
  } catch (const Error& error) {
    if (!workloads::is_refusal(error)) throw;
    quantized.refusal = error.what();
    return;
  }
  quantized.bytes = trace.quantized_bytes;
  if (counts) quantized.seconds.push_back(trace.quantized_seconds);
}

Prepared prepare(const Device& device, const BenchData& data, const BenchFlags& flags) {
  Prepared prepared;
  const Proposer asked = flags.plan.how.proposer;
  for (const Proposer proposer : device.info().proposers)
    if (asked == Proposer::automatic || asked == proposer)
      prepared.quantized_rows.push_back({proposer, {}, {}, {}, 0});
  if (prepared.quantized_rows.empty() && asked != Proposer::automatic)
    prepared.quantized_rows.push_back(
        {asked, device.info().spec + " has no proposer " + std::string(name(asked)), {}, {}, 0});
  try {
    take_samples(flags, [&](bool counts) {
      const double upload = upload_seconds(device, data.train.view());
      const Clock clock;
      const Index index(device, data.train.view(), data.workload.metric);
      const double build = clock.seconds();
      prepared.row_bytes = index.memory_bytes();
      if (counts) {
        prepared.upload.push_back(upload);
        prepared.index.push_back(build);
      }
      for (QuantizedRows& quantized : prepared.quantized_rows)
        make_quantized_rows(index, data, flags, counts, quantized);
    });
  } catch (const Error& error) {
    if (!workloads::is_refusal(error)) throw;
    prepared.refusal = error.what();
  }
  return prepared;
}

/// Returns the seconds of reading the rows once; 0 if the speed of the device's memory was not measured.
double read_seconds(const Device& device, const workloads::Workload& w) {
  const workloads::Ceilings* ceilings = workloads::find_ceilings(device.info().name);
  if (!ceilings) return 0;
  return 4.0 * static_cast<double>(w.n) * static_cast<double>(w.dims) / ceilings->bytes;
}

void add_rows(const Device& device, const workloads::Workload& w, const Prepared& prepared,
              TextTable& table) {
  if (!prepared.refusal.empty()) return table.add({device.info().spec, "refused"});
  std::vector<std::string> cells = {device.info().spec, milliseconds(median(prepared.index)),
                                    milliseconds(median(prepared.upload)), format_bytes(prepared.row_bytes)};
  const double read = read_seconds(device, w);
  for (const QuantizedRows& quantized : prepared.quantized_rows) {
    cells.emplace_back(name(quantized.proposer));
    if (!quantized.refusal.empty() || !quantized.difference.empty()) {
      cells.emplace_back(quantized.refusal.empty() ? "WRONG" : "refused");
    } else {
      const auto [least, most] = std::minmax_element(quantized.seconds.begin(), quantized.seconds.end());
      const double middle = median(quantized.seconds);
      cells.insert(cells.end(), {milliseconds(middle), milliseconds(*least) + " .. " + milliseconds(*most),
                                 read > 0 ? format_number(middle / read, 2) : "-",
                                 format_bytes(quantized.bytes), std::to_string(quantized.seconds.size())});
    }
    table.add(cells);
    cells.assign(4, "");
    cells[0] = device.info().spec;
  }
  if (prepared.quantized_rows.empty()) table.add(cells);
}

std::string block(const BenchData& data, const std::vector<Device>& devices,
                  const std::vector<Prepared>& prepared) {
  const auto& w = data.workload;
  std::string text = std::string(w.name) + ": " + sizes(data) + "\n";
  for (const Device& device : devices)
    if (const workloads::Ceilings* ceilings = workloads::find_ceilings(device.info().name)) {
      const double seconds = read_seconds(device, w);
      text += "one read of the rows: " + milliseconds(seconds) + " ms, " +
              format_bytes(static_cast<std::uint64_t>(seconds * ceilings->bytes)) + " at " +
              format_number(ceilings->bytes / 1e12, 2) + " TB/s\n";
      break;
    }
  TextTable table({"device", "index", "upload", "rows", "proposer", "prepare", "least .. most", "reads",
                   "prepared rows", "samples"});
  for (std::size_t i = 0; i < devices.size(); ++i) add_rows(devices[i], w, prepared[i], table);
  text += table.text();
  for (std::size_t i = 0; i < devices.size(); ++i) {
    const std::string spec = devices[i].info().spec + ": ";
    if (!prepared[i].refusal.empty()) text += spec + "refused: " + prepared[i].refusal + "\n";
    for (const QuantizedRows& quantized : prepared[i].quantized_rows) {
      const std::string which = spec + std::string(name(quantized.proposer)) + ": ";
      if (!quantized.refusal.empty()) text += which + "refused: " + quantized.refusal + "\n";
      if (!quantized.difference.empty()) text += which + "WRONG: " + quantized.difference + "\n";
    }
  }
  return text + "\n";
}

nlohmann::ordered_json to_json(const Device& device, const BenchData& data, const Prepared& prepared) {
  nlohmann::ordered_json json = entry_of(device, data);
  if (!prepared.refusal.empty()) {
    json["refused"] = prepared.refusal;
    return json;
  }
  json["index_seconds"] = prepared.index;
  json["upload_seconds"] = prepared.upload;
  json["row_bytes"] = prepared.row_bytes;
  const double read = read_seconds(device, data.workload);
  if (read > 0) json["read_seconds"] = read;
  json["prepared"] = nlohmann::ordered_json::array();
  for (const QuantizedRows& quantized : prepared.quantized_rows) {
    nlohmann::ordered_json entry = {{"proposer", name(quantized.proposer)}};
    if (!quantized.refusal.empty()) {
      entry["refused"] = quantized.refusal;
    } else if (!quantized.difference.empty()) {
      entry["wrong"] = quantized.difference;
    } else {
      entry["device_seconds"] = quantized.seconds;
      entry["bytes"] = quantized.bytes;
      if (read > 0) entry["reads"] = median(quantized.seconds) / read;
    }
    json["prepared"].push_back(std::move(entry));
  }
  return json;
}

constexpr const char* columns_mean =
    "index: ms of the host's clock for an Index of rows in host memory, checked, put in order and uploaded; "
    "upload: for writing\nas many bytes alone; prepare: ms of the device's clock for what a proposer works "
    "on, once an Index; reads: the same in\nreads of the rows at the speed of the device's memory. Medians. "
    "What was prepared found the chain's neighbour first.\n\n";

}  // namespace

std::string why_not_prepared(const workloads::Workload& workload) {
  if (workload.timed != workloads::Timed::search) return "times a stage, not a search";
  if (workload.element == Element::f32) return "";
  return "has rows of " + std::string(name(workload.element)) + ", and only those of f32 are taken apart";
}

std::vector<workloads::Workload> workloads_to_prepare(const BenchFlags& flags,
                                                      std::vector<workloads::Workload> wanted) {
  if (flags.energy) refuse("bench", "--energy does not go with --prepare; leave one of them out");
  if (!flags.answers.empty())
    refuse("bench", "--answers does not go with --prepare, which searches nothing; leave one of them out");
  if (flags.plan.how.proposer == Proposer::none)
    refuse("bench", "--how proposer=none prepares no rows; leave it out, or name one that does");
  if (flags.workload == "all") {
    std::erase_if(wanted, [](const workloads::Workload& w) { return !why_not_prepared(w).empty(); });
    return wanted;
  }
  for (const workloads::Workload& workload : wanted)
    if (const std::string why = why_not_prepared(workload); !why.empty())
      refuse("bench", "--prepare: " + std::string(workload.name) + " " + why + "; leave it out");
  return wanted;
}

int bench_prepare(const BenchFlags& flags, const std::vector<workloads::Workload>& wanted,
                  const std::vector<Device>& devices, nlohmann::ordered_json& json) {
  print(device_lines(flags, devices) + columns_mean);
  bool wrong = false;
  for (const workloads::Workload& workload : wanted) {
    if (left_out(workload, flags)) continue;
    std::vector<Prepared> prepared;
    BenchData data;
    {
      const ActivityLine activity{std::string(workload.name)};
      data = make_data(workload, flags);
      for (const Device& device : devices) prepared.push_back(prepare(device, data, flags));
    }
    for (std::size_t i = 0; i < devices.size(); ++i) {
      for (const QuantizedRows& quantized : prepared[i].quantized_rows)
        wrong = wrong || !quantized.difference.empty();
      json["results"].push_back(to_json(devices[i], data, prepared[i]));
    }
    print(block(data, devices, prepared));
  }
  return wrong ? exit_failed_check : exit_ok;
}

}  // namespace kith::command
