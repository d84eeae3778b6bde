#include "kith/device.hpp"

#include <algorithm>
#include <charconv>
#include <optional>

#include "base/border.hpp"
#include "base/float_guard.hpp"
#include "base/text.hpp"
#include "check/landing_check.hpp"
#include "check/self_test.hpp"
#include "device/device_set.hpp"
#include "device/device_state.hpp"
#include "device/registry.hpp"
#include "device/tuning_file.hpp"
#include "kith/error.hpp"

namespace kith {
namespace {

std::string lower(std::string_view text) {
  std::string result(text);
  for (char& c : result)
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  return result;
}

[[noreturn]] void unavailable(std::string_view spec, const std::string& why) {
  throw Error(Errc::unavailable, "open_device: " + escaped(spec) + ": " + why);
}

[[noreturn]] void refuse_spec(std::string_view spec, const std::string& why) {
  throw Error(Errc::invalid_argument, "open_device: \"" + escaped(spec) + "\": " + why);
}

std::shared_ptr<Device::State> state_of(std::unique_ptr<spi::Device> device) {
  auto state = Device::State::make(std::move(device));
  state->info.tuning = tuning_of(state->info);
  return state;
}

/// Opens and tests a device; null if it is not exact, with the reason in `why`.
std::shared_ptr<Device::State> open_tested(BackendEntry& backend, std::size_t ordinal, std::string& why) {
  const FloatGuard guard;
  std::unique_ptr<spi::Device> device = spi::retried(backend.info().devices[ordinal], [&] {
    auto opened = backend.open(static_cast<std::uint32_t>(ordinal));
    why = self_test(*opened);
    return opened;
  });
  return why.empty() ? state_of(std::move(device)) : nullptr;
}

[[noreturn]] void refuse_inexact(std::string_view spec, const std::string& name, const std::string& why) {
  unavailable(spec, name + " is not exact: " + why + "; update its driver or choose another device");
}

Device open_at(std::string_view spec, BackendEntry& backend, std::size_t ordinal) {
  std::string why;
  auto state = open_tested(backend, ordinal, why);
  if (!state) refuse_inexact(spec, backend.info().devices[ordinal].name, why);
  return Device(std::move(state));
}

/// Opens the first exact GPU of a back end; null if it has none.
std::shared_ptr<Device::State> open_gpu(BackendEntry& backend) {
  const std::vector<DeviceInfo>& devices = backend.info().devices;
  for (std::size_t i = 0; i < devices.size(); ++i) {
    if (devices[i].kind == DeviceKind::cpu) continue;
    try {
      std::string why;
      if (auto state = open_tested(backend, i, why)) return state;
    } catch (...) {  // a broken GPU must not keep `auto` from the next device
    }
  }
  return nullptr;
}

/// Opens the first exact GPU in the order of the registry.
std::optional<Device> open_first_gpu() {
  Registry& registry = Registry::instance();
  for (const std::vector<BackendEntry*>& some : registry.in_order_of_auto()) {
    registry.try_drivers_of(some);
    for (BackendEntry* entry : some)
      if (auto state = open_gpu(*entry)) return Device(std::move(state));
  }
  return std::nullopt;
}

Device open_gpu_or_refuse() {
  if (std::optional<Device> gpu = open_first_gpu()) return *gpu;
  unavailable("gpu",
              "no exact GPU is here; choose cpu, or auto, which takes the CPU then, or see `kith doctor`");
}

/// Opens the first exact GPU, else the CPU back end. OpenCL on a CPU is used only if named.
Device open_best() {
  if (std::optional<Device> gpu = open_first_gpu()) return *gpu;
  BackendEntry& cpu = *Registry::instance().find("cpu");
  if (cpu.info().devices.empty()) unavailable("auto", cpu.info().reason);
  return open_at("auto", cpu, 0);
}

BackendEntry& backend_called(std::string_view spec, const std::string& name) {
  Registry& registry = Registry::instance();
  if (BackendEntry* found = registry.find(name)) return *found;
  if (name == "gpu")
    refuse_spec(spec,
                "gpu alone means the first GPU; name others as `kith devices` lists them, such as cuda:1");
  std::string known = "auto, gpu";
  for (const auto& entry : registry.entries()) known += ", " + entry->name();
  refuse_spec(spec, "there is no back end called \"" + escaped(name) + "\"; choose one of " + known);
}

/// Returns the number of the device that `choice` names among those of a back end.
std::optional<std::size_t> find_device(const BackendInfo& backend, const std::string& choice) {
  const auto& devices = backend.devices;
  if (choice.empty()) {  // OpenCL on a CPU is used only if named
    for (std::size_t i = 0; i < devices.size(); ++i)
      if (devices[i].profile.host_threads || devices[i].kind != DeviceKind::cpu) return i;
    return std::nullopt;
  }
  std::size_t ordinal = 0;
  const auto [end, error] = std::from_chars(choice.data(), choice.data() + choice.size(), ordinal);
  if (error == std::errc() && end == choice.data() + choice.size())
    return ordinal < devices.size() ? std::optional(ordinal) : std::nullopt;
  const std::string wanted = lower(choice);
  for (std::size_t i = 0; i < devices.size(); ++i)
    if (lower(devices[i].name + "\n" + devices[i].platform).find(wanted) != std::string::npos) return i;
  // PoCL's platform is called "Portable Computing Language"; people call it PoCL.
  for (std::size_t i = 0; wanted == "pocl" && i < devices.size(); ++i)
    if (lower(devices[i].platform) == "portable computing language") return i;
  return std::nullopt;
}

std::string specs_of(const BackendInfo& backend) {
  std::string list;
  for (const DeviceInfo& device : backend.devices)
    list += (list.empty() ? "" : ", ") + device.spec + " (" + device.name + ")";
  return list;
}

/// Returns what a back end found. Throws unavailable if it has no devices.
const BackendInfo& devices_for(std::string_view spec, BackendEntry& entry) {
  const BackendInfo& backend = entry.info();
  if (backend.devices.empty())
    unavailable(spec, backend.reason + "; choose another device, or see `kith doctor`");
  return backend;
}

Device open_one(std::string_view spec) {
  const std::string whole = lower(spec);
  if (whole == "auto") return open_best();
  if (whole == "gpu") return open_gpu_or_refuse();
  const std::size_t colon = spec.find(':');
  const std::string name = lower(spec.substr(0, colon));
  const std::string choice(colon == std::string_view::npos ? "" : spec.substr(colon + 1));
  BackendEntry& entry = backend_called(spec, name);
  const BackendInfo& backend = devices_for(spec, entry);
  const std::optional<std::size_t> ordinal = find_device(backend, choice);
  if (!ordinal && choice.empty())
    unavailable(spec,
                "it has no GPU, and a CPU behind it is used only when named; there are " + specs_of(backend));
  if (!ordinal) unavailable(spec, "no such device; there are " + specs_of(backend));
  return open_at(spec, entry, *ordinal);
}

/// Opens the devices that one part of the spec of a set names: one, or with `*` all of a back end.
void open_part(std::string_view set, std::string_view spec, std::vector<Device>& members) {
  constexpr std::string_view all = ":*";
  if (spec.empty() && !set.empty()) refuse_spec(set, "a part between + is empty; name a device in each");
  if (!spec.ends_with(all)) {
    members.push_back(open_one(spec));
    return;
  }
  BackendEntry& entry = backend_called(spec, lower(spec.substr(0, spec.size() - all.size())));
  const std::size_t count = devices_for(spec, entry).devices.size();
  for (std::size_t ordinal = 0; ordinal < count; ++ordinal) members.push_back(open_at(spec, entry, ordinal));
}

}  // namespace

Device open_device(std::string_view spec) try {
  const FloatGuard guard;
  std::vector<Device> members;
  for (std::size_t begin = 0; begin <= spec.size();) {
    const std::size_t end = std::min(spec.find('+', begin), spec.size());
    open_part(spec, spec.substr(begin, end - begin), members);
    check_members(members);
    begin = end + 1;
  }
  if (members.size() == 1) return members.front();
  return set_of_devices(std::move(members));
} catch (...) {
  rethrow_as_error();
}

Device adopt_device(std::string_view backend, const spi::CallersDevice& callers) try {
  const FloatGuard guard;
  BackendEntry& entry = backend_called(backend, std::string(backend));
  const BackendInfo& info = entry.info();
  if (info.devices.empty())
    unavailable(backend, info.reason + "; choose another device, or see `kith doctor`");
  std::unique_ptr<spi::Device> device = entry.adopt(callers);
  std::string why = self_test(*device);
  if (why.empty() && !device->info.profile.lands_rows) why = landing_check(*device);
  if (!why.empty()) refuse_inexact(device->info.spec, device->info.name, why);
  return Device(state_of(std::move(device)));
} catch (...) {
  rethrow_as_error();
}

}  // namespace kith
