// kith devices: lists the devices, and says whether each is exact.
#include <CLI/CLI.hpp>
#include <chrono>
#include <memory>

#include "command/shared/command.hpp"
#include "command/shared/device_report.hpp"
#include "command/shared/json.hpp"
#include "command/shared/ranks.hpp"
#include "kith/device.hpp"

namespace kith::command {
namespace {

using nlohmann::json;

/// Returns `, 9 programs compiled`, `, 9 programs from the cache` or `, 2 programs compiled, 7 from the
/// cache`; empty if no program was needed.
std::string programs_text(const spi::ProgramCounts& programs) {
  const auto count = [](std::size_t number) {
    return std::to_string(number) + (number == 1 ? " program" : " programs");
  };
  if (programs.compiled == 0)
    return programs.kept == 0 ? "" : ", " + count(programs.kept) + " from the cache";
  return ", " + count(programs.compiled) + " compiled" +
         (programs.kept == 0 ? "" : ", " + std::to_string(programs.kept) + " from the cache");
}

std::string device_line(const TestedDevice& tested) {
  const DeviceInfo& info = tested.info;
  std::string line = "  " + info.spec + "  " + info.name;
  line += "  (" + info.platform + (info.driver.empty() ? "" : ", " + info.driver) + "; " +
          std::to_string(info.compute_units) + (info.compute_units == 1 ? " unit, " : " units, ") +
          format_bytes(info.memory_bytes) + ")";
  line += tested.refusal.empty()
              ? "  self-test passed in " + format_seconds(tested.seconds) + programs_text(tested.programs)
              : "  refused: " + tested.refusal;
  return line + "\n";
}

json device_json(const TestedDevice& tested) {
  const DeviceInfo& info = tested.info;
  json selectors = json::array();
  for (Selector selector : info.selectors) selectors.push_back(name(selector));
  return {{"spec", info.spec},
          {"name", info.name},
          {"platform", info.platform},
          {"driver", info.driver},
          {"kind", name(info.kind)},
          {"compute_units", info.compute_units},
          {"memory_bytes", info.memory_bytes},
          {"largest_allocation", info.largest_allocation},
          {"local_memory_bytes", info.local_memory_bytes},
          {"selectors", selectors},
          {"fused_max_k", info.fused_max_k},
          {"exact", tested.refusal.empty()},
          {"refusal", tested.refusal},
          {"self_test_seconds", tested.seconds},
          {"programs_compiled", tested.programs.compiled},
          {"programs_kept", tested.programs.kept}};
}

/// Says how to name devices that search together: all that are exact, if there are at least two.
///   exact  their specs
std::string set_line(const std::vector<std::string>& exact) {
  std::string spec;
  for (const std::string& one : exact) spec += (spec.empty() ? "" : "+") + one;
  return exact.size() < 2 ? "" : "several as one device: --device " + spec + "\n";
}

int run_devices(bool as_json) {
  std::vector<std::string> exact;
  json all = {{"backends", json::array()}, {"load_failures", load_failures()}};
  for (const BackendInfo& backend : backends()) {
    if (!as_json) print(backend_line(backend) + "\n");
    json entry = {{"name", backend.name}, {"reason", backend.reason}, {"devices", json::array()}};
    for (const DeviceInfo& info : backend.devices) {
      const TestedDevice tested = test_device(info);
      if (tested.refusal.empty()) exact.push_back(info.spec);
      if (as_json)
        entry["devices"].push_back(device_json(tested));
      else
        print(device_line(tested));
    }
    all["backends"].push_back(std::move(entry));
  }
  if (as_json) return print(json_text(all)), exit_ok;
  for (const std::string& failure : other_load_failures()) print("cannot be used: " + failure + "\n");
  print(set_line(exact));
  return exit_ok;
}

}  // namespace

TestedDevice test_device(const DeviceInfo& info) {
  throw_if_interrupted("devices");
  TestedDevice tested{info, {}, 0, {}};
  const auto start = std::chrono::steady_clock::now();
  try {
    const Device opened = open_my_device(info.spec);
    spi::with_device(opened, [&](const spi::Device& device) { tested.programs = device.programs(); });
  } catch (const Error& error) {
    tested.refusal = error.what();
    const std::string where = "open_device: " + info.spec + ": ";
    if (tested.refusal.starts_with(where)) tested.refusal.erase(0, where.size());
  }
  tested.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  return tested;
}

std::string backend_line(const BackendInfo& backend) {
  const std::size_t count = backend.devices.size();
  if (count == 0) return backend.name + ": " + backend.reason;
  return backend.name + ": " + std::to_string(count) + (count == 1 ? " device" : " devices");
}

std::vector<std::string> other_load_failures() {
  std::vector<std::string> others;
  for (const std::string& failure : load_failures()) {
    bool shown = false;
    for (const BackendInfo& backend : backends())
      shown = shown || backend.reason.find(failure) != std::string::npos;
    if (!shown) others.push_back(failure);
  }
  return others;
}

Subcommand add_devices(CLI::App& parent) {
  auto as_json = std::make_shared<bool>(false);
  CLI::App* app =
      parent.add_subcommand("devices", "List every back end and device, and test each device: is it exact?");
  app->add_flag("--json", *as_json, "Print the same and more as JSON");
  add_examples(*app, {"kith devices", "kith devices --json | python3 -m json.tool"});
  return {app, [as_json] { return run_devices(*as_json); }};
}

}  // namespace kith::command
