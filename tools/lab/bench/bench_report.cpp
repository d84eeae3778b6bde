// Makes what `kith-lab bench` prints and writes.
#include <algorithm>
#include <nlohmann/json.hpp>

#include "files/printed.hpp"
#include "kith/spi/kernel_limits.hpp"
#include "lab/bench/bench.hpp"
#include "lab/experiments/measure.hpp"

namespace kith::command {

using experiments::median;

std::string sizes(const BenchData& data) {
  const auto& w = data.workload;
  std::string text = "n = " + std::to_string(w.n);
  if (w.timed != workloads::Timed::select) text += ", dims = " + std::to_string(w.dims);
  text += ", m = " + std::to_string(w.m);
  if (w.timed != workloads::Timed::distance) text += ", k = " + std::to_string(w.k);
  return text + ", " + std::string(name(w.metric)) + ", " + data.source;
}

std::string milliseconds(double seconds) {
  const double value = seconds * 1e3;
  return format_number(value, value >= 1000 ? 0 : value >= 100 ? 1 : value >= 10 ? 2 : value >= 1 ? 3 : 4);
}

namespace {

/// Returns a rate: bytes per second if rows are read for few queries, else pairs per second.
std::string rate(const workloads::Workload& w, double seconds) {
  const workloads::Workload& whole = workloads::find_workload(w.name);
  const bool few_queries =
      whole.timed == workloads::Timed::search && whole.m <= spi::small_batch && whole.k < whole.n;
  if (whole.timed == workloads::Timed::select || few_queries)
    return format_number(workloads::bytes_of(w) / seconds / 1e9, 1) + " GB/s";
  return format_number(workloads::pairs_of(w) / seconds / 1e9, 2) + " Gpairs/s";
}

std::string step(const Measured& measured, const char* name) {
  const auto found = measured.steps.find(name);
  return found == measured.steps.end() ? "-" : milliseconds(found->second);
}

/// Returns joules with three digits; `-` if they were not measured.
std::string joules(const std::optional<energy::Energy>& energy) {
  if (!energy) return "-";
  return files::printed("%.3g", energy->joules);
}

std::vector<std::string> row(const Device& device, const workloads::Workload& w, const Measured& measured,
                             bool with_energy) {
  const std::string spec = device.info().spec;
  if (!measured.refusal.empty()) return {spec, "refused"};
  if (!measured.difference.empty()) return {spec, "WRONG"};
  const auto [least, most] = std::minmax_element(measured.device.begin(), measured.device.end());
  const double middle = median(measured.device);
  const workloads::Ceilings* ceilings = workloads::find_ceilings(device.info().name);
  const std::string of_floor =
      ceilings ? format_number(100 * workloads::floor_of(w, *ceilings).seconds / middle, 1) + " %" : "-";
  std::vector<std::string> cells = {spec,
                                    milliseconds(middle),
                                    milliseconds(*least) + " .. " + milliseconds(*most),
                                    milliseconds(median(measured.host)),
                                    of_floor,
                                    rate(w, middle),
                                    measured.total.empty() ? "-" : milliseconds(median(measured.total)),
                                    milliseconds(measured.first_run),
                                    milliseconds(measured.index_build),
                                    step(measured, "upload"),
                                    step(measured, "download"),
                                    std::to_string(measured.device.size())};
  if (with_energy) cells.push_back(joules(measured.energy));
  cells.push_back(measured.short_plan);
  return cells;
}

}  // namespace

nlohmann::ordered_json entry_of(const Device& device, const BenchData& data) {
  const auto& w = data.workload;
  return {{"workload", w.name},
          {"device", device.info().spec},
          {"device_name", device.info().name},
          {"driver", device.info().driver},
          {"data", data.source},
          {"metric", name(w.metric)},
          {"n", w.n},
          {"dims", w.dims},
          {"m", w.m},
          {"k", w.k},
          {"element", name(w.element)},
          {"own_rows", w.own_rows}};
}

nlohmann::ordered_json to_json(const Device& device, const BenchData& data, const Measured& measured) {
  const auto& w = data.workload;
  nlohmann::ordered_json json = entry_of(device, data);
  if (!measured.refusal.empty()) {
    json["refused"] = measured.refusal;
    return json;
  }
  json["queries_checked"] = measured.checked;
  if (!measured.difference.empty()) {
    json["wrong"] = measured.difference;
    return json;
  }
  json["plan"] = measured.plan;
  json["median_seconds"] = median(measured.device);
  json["device_seconds"] = measured.device;
  json["host_seconds"] = measured.host;
  json["total_seconds"] = measured.total;
  if (!measured.total.empty()) json["host_to_answer_seconds"] = median(measured.total);
  json["first_run_seconds"] = measured.first_run;
  json["index_build_seconds"] = measured.index_build;
  if (measured.boxes > 0) json["boxes_seconds"] = measured.boxes;
  if (measured.device_bytes > 0) json["index_bytes"] = measured.device_bytes;
  json["step_seconds"] = measured.steps;
  if (measured.energy)
    json["energy"] = {{"joules_per_search", measured.energy->joules},
                      {"seconds_per_search", measured.energy->seconds},
                      {"searches", measured.energy->runs},
                      {"counter_steps", measured.energy->steps}};
  if (const workloads::Ceilings* ceilings = workloads::find_ceilings(device.info().name)) {
    const workloads::Floor floor = workloads::floor_of(w, *ceilings);
    json["floor_seconds"] = floor.seconds;
    json["floor"] = floor.why;
    json["ceilings"] = ceilings->source;
  }
  return json;
}

std::string block(const BenchData& data, const std::vector<Device>& devices,
                  const std::vector<Measured>& measured, bool with_energy) {
  const auto& w = data.workload;
  std::string text = std::string(w.name) + ": " + sizes(data) + " (" + std::string(w.about) + ")\n";
  for (const Device& device : devices)
    if (const workloads::Ceilings* ceilings = workloads::find_ceilings(device.info().name)) {
      const workloads::Floor floor = workloads::floor_of(w, *ceilings);
      text += "floor " + milliseconds(floor.seconds) + " ms: " + floor.why + "\n";
      break;
    }
  std::vector<std::string> head = {"device",   "ms",     "least .. most", "host ms",
                                   "of floor", "rate",   "to answer",     "first run",
                                   "index",    "upload", "download",      "samples"};
  if (with_energy) head.emplace_back("J/search");
  head.emplace_back("plan");
  TextTable table(head);
  for (std::size_t i = 0; i < devices.size(); ++i) table.add(row(devices[i], w, measured[i], with_energy));
  text += table.text();
  for (std::size_t i = 0; i < devices.size(); ++i) {
    const std::string spec = devices[i].info().spec + ": ";
    if (!measured[i].refusal.empty()) text += spec + "refused: " + measured[i].refusal + "\n";
    if (!measured[i].difference.empty())
      text += spec + "WRONG, so not timed: " + measured[i].difference + "\n";
  }
  return text + "\n";
}

std::string device_lines(const BenchFlags& flags, const std::vector<Device>& devices) {
  std::string text;
  for (const Device& device : devices)
    text += device.info().spec + ": " + device.info().name + ", " + device.info().platform + ", " +
            device.info().driver + "\n";
  if (flags.scale < 1)
    text += "scale " + format_float(static_cast<float>(flags.scale)) +
            ": so many times the rows and queries of each workload; not comparable with full size\n";
  return text;
}

std::string preface(const BenchFlags& flags, const std::vector<Device>& devices) {
  return device_lines(flags, devices) + "ms: median of the device's clock, rows " +
         (flags.residence == "stream" ? "in a stream" : flags.residence) +
         "; host ms: host clock around the same work until the device is done;\nto answer: ms from queries "
         "in host memory to neighbours in host memory, median of the host's clock around a whole "
         "call;\nfirst run, index, upload, download: ms of the host's clock. Bits are checked against the "
         "CPU first.\nWhat fits the device's cache stays there between samples.\n" +
         (flags.energy ? "J/search: joules of one whole call, or of one run where a stage is timed, the mean "
                         "of many; where they come\nfrom is said at the end.\n"
                       : "") +
         "\n";
}

nlohmann::ordered_json json_of(const BenchFlags& flags) {
  return {{"kith", report::version_number()},
          {"scale", flags.scale},
          {"residence", flags.residence},
          {"results", nlohmann::ordered_json::array()}};
}

}  // namespace kith::command
