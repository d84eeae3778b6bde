// kith-lab bench times named workloads on devices, whose bits are checked first.
#include "lab/bench/bench.hpp"
#include "command/shared/json.hpp"
#include "kith/parse.hpp"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <iterator>
#include <memory>

#include "command/input/tables.hpp"
#include "command/shared/named_files.hpp"
#include "command/shared/output_file.hpp"
#include "command/words/place.hpp"
#include "files/named.hpp"
#include "lab/subcommands.hpp"

namespace kith::command {
namespace {

/// Returns the key of --place that says where training rows stay.
Key residence_key(BenchFlags& flags) {
  return {"residence", "WHAT",
          "where to keep the training rows: resident (on the device), stream (in the host's memory; they "
          "pass through the device in chunks), quantized (in the host's memory; the device holds quantized "
          "rows); else resident",
          [&flags](const std::string& text) {
            const Residence residence = parse<Residence>(text);
            if (residence == Residence::automatic)
              throw Error(Errc::invalid_argument,
                          "residence: automatic is not timed; choose one of resident, stream, quantized");
            flags.residence = std::string(name(residence));
          }};
}

/// Returns whether the workload searches rows that exist before the search.
bool is_plain_search(const workloads::Workload& workload) {
  return workload.timed == workloads::Timed::search && !workload.grown;
}

std::vector<workloads::Workload> wanted_workloads(const BenchFlags& flags) {
  std::vector<workloads::Workload> wanted;
  if (flags.workload == "all") {
    std::copy_if(workloads::all_workloads().begin(), workloads::all_workloads().end(),
                 std::back_inserter(wanted), [&](const auto& workload) {
                   return flags.residence == "resident" ? !workload.grown : is_plain_search(workload);
                 });
  } else {
    for (const std::string& text : split_commas(flags.workload))
      wanted.push_back(workloads::find_workload(text));
  }
  for (workloads::Workload& workload : wanted) workload = workloads::scaled(workload, flags.scale);
  return wanted;
}

}  // namespace

bool left_out(const workloads::Workload& workload, const BenchFlags& flags) {
  if (!workload.real_data || flags.workload != "all" || has_fashion_mnist(flags)) return false;
  note(std::string(workload.name) + " is left out: there is no " + flags.fashion_mnist +
       "; install dataset-fashion-mnist, or name its folder with --fashion-mnist");
  return true;
}

namespace {

/// Holds a meter for each device; empty unless joules are asked for.
using Meters = std::vector<energy::EnergyMeter>;

/// Returns where joules come from, one line per device.
std::string sources(const std::vector<Device>& devices, const Meters& meters) {
  std::string text;
  for (std::size_t i = 0; i < meters.size(); ++i)
    text += devices[i].info().spec + ": " + meters[i].source() + "\n";
  return text;
}

std::vector<Measured> measure_all(const workloads::Workload& workload, const std::vector<Device>& devices,
                                  const Device& cpu, const BenchFlags& flags, Meters& meters,
                                  BenchData& data) {
  const ActivityLine activity{std::string(workload.name)};
  data = make_data(workload, flags);
  std::vector<Measured> measured;
  for (std::size_t i = 0; i < devices.size(); ++i) {
    throw_if_interrupted("bench");
    measured.push_back(measure(devices[i], cpu, data, flags, meters.empty() ? nullptr : &meters[i]));
  }
  return measured;
}

int bench_searches(const BenchFlags& flags, const std::vector<workloads::Workload>& wanted,
                   const std::vector<Device>& devices, nlohmann::ordered_json& json) {
  const Device cpu = open_device("cpu");
  Meters meters;
  for (std::size_t i = 0; flags.energy && i < devices.size(); ++i) meters.emplace_back(devices[i].info());

  print(preface(flags, devices));
  bool wrong = false;
  for (const workloads::Workload& workload : wanted) {
    if (left_out(workload, flags)) continue;
    BenchData data;
    const std::vector<Measured> measured = measure_all(workload, devices, cpu, flags, meters, data);
    for (std::size_t i = 0; i < devices.size(); ++i) {
      wrong = wrong || !measured[i].difference.empty();
      json["results"].push_back(to_json(devices[i], data, measured[i]));
    }
    print(block(data, devices, measured, flags.energy));
  }
  print(sources(devices, meters));
  for (std::size_t i = 0; i < meters.size(); ++i)
    json["energy"].push_back({{"device", devices[i].info().spec}, {"source", meters[i].source()}});
  return wrong ? exit_failed_check : exit_ok;
}

/// Refuses a residence for workloads that do not search rows which exist before the search.
void check_residence(const BenchFlags& flags, const std::vector<workloads::Workload>& wanted) {
  if (flags.prepare)
    refuse("bench", "--place residence=" + flags.residence +
                        " does not go with --prepare, which times rows on the device; leave one of them out");
  for (const workloads::Workload& workload : wanted)
    if (flags.workload != "all" && !is_plain_search(workload))
      refuse("bench", "--place residence=" + flags.residence + ": " + std::string(workload.name) +
                          " has no training rows to keep elsewhere; leave it out");
}

int run_bench(const BenchFlags& flags) {
  if (flags.list) {
    for (const workloads::Workload& workload : workloads::all_workloads())
      if (!flags.prepare || why_not_prepared(workload).empty()) print(std::string(workload.name) + "\n");
    return exit_ok;
  }
  if (!(flags.scale > 0 && flags.scale <= 1))
    throw Error(Errc::invalid_argument, "bench: --scale = " + format_float(static_cast<float>(flags.scale)) +
                                            " is out of range; give a number above 0, up to 1");
  std::vector<workloads::Workload> wanted = wanted_workloads(flags);
  if (flags.prepare) wanted = workloads_to_prepare(flags, std::move(wanted));
  if (parse<Residence>(flags.residence) != Residence::resident) check_residence(flags, wanted);
  OutputFile file(flags.json);
  std::vector<Device> devices;
  for (const std::string& spec : split_commas(flags.device)) devices.push_back(open_device(spec));
  nlohmann::ordered_json json = json_of(flags);
  const int code = flags.prepare ? bench_prepare(flags, wanted, devices, json)
                                 : bench_searches(flags, wanted, devices, json);
  if (file) file->write(json_text(json));
  file.commit();
  return code;
}

}  // namespace

Subcommand add_bench(CLI::App& parent) {
  auto flags = std::make_shared<BenchFlags>();
  CLI::App* app =
      parent.add_subcommand("bench", "Time named workloads on devices; a wrong answer is not timed (exit 1)");
  const std::string names = files::joined(workloads::all_workloads(), ", ", &workloads::Workload::name);
  app->add_option("--workload", flags->workload, "all, or some of " + names)
      ->type_name("NAMES")
      ->capture_default_str();
  add_device_option(*app, flags->device, true);
  app->add_option("--scale,--share", flags->scale,
                  "Use only this share of the rows and queries, for small machines")
      ->type_name("SHARE")
      ->capture_default_str();
  add_number(*app, "--repeats", flags->repeats, "Samples after warming up", 1)->capture_default_str();
  add_number(*app, "--seconds", flags->seconds,
             "Take fewer samples, but at least 3, if they last longer than this", 1)
      ->capture_default_str();
  writes_file(
      app->add_option("--json", flags->json, "Write every sample, the plans and the floors; - is stdout"));
  writes_folder(
      app->add_option(
          "--answers", flags->answers,
          "Write what each search found into this folder, as WORKLOAD.index.npy and WORKLOAD.distance.npy"),
      {".index.npy", ".distance.npy"});
  app->add_flag(
      "--energy", flags->energy,
      "Also count joules where the platform tells them; repeats each workload for a second or more");
  app->add_flag("--prepare", flags->prepare,
                "Time the making of an Index instead: the upload alone, and what proposers make of the rows, "
                "beside one read of the rows");
  app->add_flag("--list", flags->list, "Print only the names of the workloads");
  reads_folder(
      app->add_option("--fashion-mnist", flags->fashion_mnist, "Where the files of Fashion-MNIST are"),
      {"-ubyte", "-ubyte.gz"})
      ->capture_default_str();
  add_plan_options(*app, flags->plan, {residence_key(*flags)});
  add_examples(*app,
               {"kith-lab bench --workload knn03,pbknn64 --device cuda:0,opencl:nvidia",
                "kith-lab bench --device cpu --scale 0.01",
                "kith-lab bench --prepare --workload sift_k10,emb768 --how proposer=fp16 --device cuda:0",
                "kith-lab bench --workload sift_k10 --place residence=quantized --device cuda:0",
                "kith-lab bench --workload select32 --how selector=radix --json radix.json"});
  return {app, [flags] { return run_bench(*flags); }};
}

}  // namespace kith::command
