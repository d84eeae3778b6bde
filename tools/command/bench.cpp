// kith bench: named workloads, timed on devices whose bits were checked first.
#include "bench.hpp"

#include <algorithm>
#include <cstdio>
#include <memory>
#include <nlohmann/json.hpp>

#include "files/output.hpp"
#include "kith/version.hpp"

namespace kith::command {
namespace {

std::vector<workloads::Workload> wanted_workloads(const BenchFlags& flags) {
  std::vector<workloads::Workload> wanted;
  if (flags.workload == "all") {
    wanted = workloads::all_workloads();
  } else {
    for (const std::string& text : split_commas(flags.workload))
      wanted.push_back(workloads::find_workload(text));
  }
  for (workloads::Workload& workload : wanted) workload = workloads::scaled(workload, flags.scale);
  return wanted;
}

std::string sizes(const BenchData& data) {
  const auto& w = data.workload;
  std::string text = "n = " + std::to_string(w.n);
  if (w.timed != workloads::Timed::select) text += ", dims = " + std::to_string(w.dims);
  text += ", m = " + std::to_string(w.m);
  if (w.timed != workloads::Timed::distance) text += ", k = " + std::to_string(w.k);
  return text + ", " + std::string(name(w.metric)) + ", " + data.source;
}

/// Milliseconds with four digits, so that columns can be compared.
std::string ms(double seconds) {
  const double value = seconds * 1e3;
  return format_number(value, value >= 1000 ? 0 : value >= 100 ? 1 : value >= 10 ? 2 : value >= 1 ? 3 : 4);
}

/// Bytes where rows are read for few queries, pairs elsewhere.
std::string rate(const workloads::Workload& w, double seconds) {
  const workloads::Workload& whole = workloads::find_workload(w.name);
  const bool few_queries = whole.timed == workloads::Timed::search && whole.m <= 64 && whole.k < whole.n;
  if (whole.timed == workloads::Timed::select || few_queries)
    return format_number(workloads::bytes_of(w) / seconds / 1e9, 1) + " GB/s";
  return format_number(workloads::pairs_of(w) / seconds / 1e9, 2) + " Gpairs/s";
}

std::string step(const Measured& measured, const char* name) {
  const auto found = measured.steps.find(name);
  return found == measured.steps.end() ? "-" : ms(found->second);
}

/// A joule with three digits; `-` where there is none.
std::string joules(const std::optional<energy::Energy>& energy) {
  if (!energy) return "-";
  char text[32];
  std::snprintf(text, sizeof text, "%.3g", energy->joules);
  return text;
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
                                    ms(middle),
                                    ms(*least) + " .. " + ms(*most),
                                    ms(median(measured.host)),
                                    of_floor,
                                    rate(w, middle),
                                    measured.total.empty() ? "-" : ms(median(measured.total)),
                                    ms(measured.first_run),
                                    ms(measured.index_build),
                                    step(measured, "upload"),
                                    step(measured, "download"),
                                    std::to_string(measured.device.size())};
  if (with_energy) cells.push_back(joules(measured.energy));
  cells.push_back(measured.short_plan);
  return cells;
}

nlohmann::ordered_json to_json(const Device& device, const BenchData& data, const Measured& measured) {
  const auto& w = data.workload;
  nlohmann::ordered_json json = {{"workload", w.name},
                                 {"device", device.info().spec},
                                 {"device_name", device.info().name},
                                 {"driver", device.info().driver},
                                 {"data", data.source},
                                 {"metric", name(w.metric)},
                                 {"n", w.n},
                                 {"dims", w.dims},
                                 {"m", w.m},
                                 {"k", w.k}};
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
  json["first_run_seconds"] = measured.first_run;
  json["index_build_seconds"] = measured.index_build;
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

/// One block: the workload, a row a device, and what needs more words.
std::string block(const BenchData& data, const std::vector<Device>& devices,
                  const std::vector<Measured>& measured, bool with_energy) {
  const auto& w = data.workload;
  std::string text = std::string(w.name) + ": " + sizes(data) + " (" + std::string(w.about) + ")\n";
  for (const Device& device : devices)
    if (const workloads::Ceilings* ceilings = workloads::find_ceilings(device.info().name)) {
      const workloads::Floor floor = workloads::floor_of(w, *ceilings);
      text += "floor " + ms(floor.seconds) + " ms: " + floor.why + "\n";
      break;
    }
  std::vector<std::string> head = {"device",  "ms",        "least .. most", "host ms", "of floor", "rate",
                                   "call ms", "first run", "index",         "upload",  "download", "samples"};
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

std::string preface(const BenchFlags& flags, const std::vector<Device>& devices) {
  std::string text;
  for (const Device& device : devices)
    text += device.info().spec + ": " + device.info().name + ", " + device.info().platform + ", " +
            device.info().driver + "\n";
  if (flags.scale < 1)
    text += "scale " + format_float(static_cast<float>(flags.scale)) +
            ": so many times the rows and queries of each "
            "workload; not comparable with full size\n";
  return text +
         "ms: median of the device's clock, rows resident; host ms: host clock around the same work "
         "until the device is done;\ncall ms: the whole call, transfers in; first run, index, upload, "
         "download: ms of the host's clock.\nBits are checked against the CPU first. What fits the device's "
         "cache stays there between samples.\n" +
         (flags.energy
              ? "J/search: joules of one whole call, or of one run where a stage is timed, the mean of "
                "many; where they come\nfrom is said at the end.\n"
              : "") +
         "\n";
}

/// What counts joules, one for each device; none where nobody asked.
using Meters = std::vector<energy::EnergyMeter>;

/// Where joules come from, a line each device.
std::string sources(const std::vector<Device>& devices, const Meters& meters) {
  std::string text;
  for (std::size_t i = 0; i < meters.size(); ++i)
    text += devices[i].info().spec + ": " + meters[i].source() + "\n";
  return text;
}

std::vector<Measured> measure_all(const workloads::Workload& workload, const std::vector<Device>& devices,
                                  const Device& cpu, const BenchFlags& flags, Meters& meters,
                                  BenchData& data) {
  const Waiting waiting{std::string(workload.name)};
  data = make_data(workload, flags);
  std::vector<Measured> measured;
  for (std::size_t i = 0; i < devices.size(); ++i) {
    throw_if_interrupted("bench");
    measured.push_back(measure(devices[i], cpu, data, flags, meters.empty() ? nullptr : &meters[i]));
  }
  return measured;
}

int run_bench(const BenchFlags& flags) {
  if (flags.list) {
    for (const workloads::Workload& workload : workloads::all_workloads())
      print(std::string(workload.name) + "\n");
    return exit_ok;
  }
  if (!(flags.scale > 0 && flags.scale <= 1))
    throw Error(Errc::invalid_argument, "bench: --scale = " + format_float(static_cast<float>(flags.scale)) +
                                            " is out of range; give a number above 0, up to 1");
  const std::vector<workloads::Workload> wanted = wanted_workloads(flags);
  std::optional<files::AtomicFile> file;
  if (!flags.json.empty()) file.emplace(flags.json);
  std::vector<Device> devices;
  for (const std::string& spec : split_commas(flags.device)) devices.push_back(open_device(spec));
  const Device cpu = open_device("cpu");
  Meters meters;
  for (std::size_t i = 0; flags.energy && i < devices.size(); ++i) meters.emplace_back(devices[i].info());

  print(preface(flags, devices));
  nlohmann::ordered_json json = {
      {"kith", std::to_string(KITH_VERSION_MAJOR) + "." + std::to_string(KITH_VERSION_MINOR) + "." +
                   std::to_string(KITH_VERSION_PATCH)},
      {"scale", flags.scale},
      {"results", nlohmann::ordered_json::array()}};
  bool wrong = false;
  for (const workloads::Workload& workload : wanted) {
    if (workload.real_data && flags.workload == "all" && !has_fashion_mnist(flags)) {
      note(std::string(workload.name) + " is left out: there is no " + flags.fashion_mnist +
           "; install dataset-fashion-mnist, or name its folder with --fashion-mnist");
      continue;
    }
    BenchData data;
    const std::vector<Measured> measured = measure_all(workload, devices, cpu, flags, meters, data);
    for (std::size_t i = 0; i < devices.size(); ++i) {
      wrong = wrong || !measured[i].difference.empty();
      json["results"].push_back(to_json(devices[i], data, measured[i]));
    }
    print(block(data, devices, measured, flags.energy));
  }
  print(sources(devices, meters));
  if (file) {
    for (std::size_t i = 0; i < meters.size(); ++i)
      json["energy"].push_back({{"device", devices[i].info().spec}, {"source", meters[i].source()}});
    file->write(json.dump(2) + "\n");
    file->commit();
  }
  return wrong ? exit_failed_check : exit_ok;
}

}  // namespace

Subcommand add_bench(CLI::App& parent) {
  auto flags = std::make_shared<BenchFlags>();
  CLI::App* app = parent.add_subcommand(
      "bench", "Time named workloads on devices; refuses to time a wrong answer (exit 1)");
  std::string names;
  for (const workloads::Workload& workload : workloads::all_workloads())
    names += (names.empty() ? "" : ", ") + std::string(workload.name);
  app->add_option("--workload", flags->workload, "all, or some of " + names)
      ->type_name("NAMES")
      ->capture_default_str();
  add_device_option(*app, flags->device, true);
  app->add_option("--scale", flags->scale, "Only this share of the rows and queries, for small machines")
      ->type_name("SHARE")
      ->capture_default_str();
  add_number(*app, "--repeats", flags->repeats, "Samples, after warming up", 1)->capture_default_str();
  add_number(*app, "--seconds", flags->seconds,
             "Fewer samples, but at least 3, when they take longer than this", 1)
      ->capture_default_str();
  app->add_option("--json", flags->json, "Write every sample, the plans and the floors here")
      ->type_name("FILE");
  app->add_flag("--energy", flags->energy,
                "Count joules, too, where the platform tells: repeats each workload for a second or more");
  app->add_flag("--list", flags->list, "Only print the names of the workloads");
  app->add_option("--fashion-mnist", flags->fashion_mnist, "Where the files of Fashion-MNIST are")
      ->type_name("DIR")
      ->capture_default_str();
  add_plan_options(*app, flags->plan);
  add_examples(*app, {"kith bench --workload knn03,pbknn64 --device cuda:0,opencl:nvidia",
                      "kith bench --device cpu --scale 0.01",
                      "kith bench --workload select32 --selector radix --json radix.json"});
  return {app, [flags] { return run_bench(*flags); }};
}

}  // namespace kith::command
