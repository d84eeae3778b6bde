#include "registry.hpp"

#include <algorithm>
#include <exception>
#include <sstream>

#include "cpu/backend.hpp"
#include "float_guard.hpp"
#include "kith/error.hpp"
#include "loader.hpp"

namespace kith {
namespace {

/// The plug-ins of this source tree, so that a missing one can be named. Set by lib/CMakeLists.txt.
constexpr const char* shipped_backends = KITH_SHIPPED_BACKENDS;

spi::Found find_in(spi::Backend& backend) {
  try {
    spi::Found found = backend.find();
    if (found.devices.empty() && found.reason.empty()) found.reason = "no devices";
    return found;
  } catch (const std::exception& error) {
    return {{}, std::string("looking for devices failed: ") + error.what()};
  } catch (...) {
    return {{}, "looking for devices failed with an unknown exception"};
  }
}

}  // namespace

// Never destroyed: drivers and plug-ins are torn down by the system after every handle is gone.
Registry& Registry::instance() {
  static Registry& registry = *new Registry;
  return registry;
}

Registry::Registry() {
  const FloatGuard guard;  // drivers start their threads with the environment they are started in
  add("cpu", cpu::create_backend());
  LoadResult loaded = load_backends();
  failures_ = std::move(loaded.failures);

  std::istringstream shipped{std::string(shipped_backends)};
  for (std::string name; std::getline(shipped, name, ',');) {
    auto it = std::find_if(loaded.backends.begin(), loaded.backends.end(),
                           [&](const LoadedBackend& b) { return b.name == name; });
    if (it != loaded.backends.end()) {
      add(name, std::move(it->backend));
    } else {
      add_missing(name, loaded.folders);
    }
  }
  for (LoadedBackend& other : loaded.backends)
    if (other.backend) add(other.name, std::move(other.backend));
}

void Registry::add(const std::string& name, std::unique_ptr<spi::Backend> backend) {
  spi::Found found = find_in(*backend);
  infos_.push_back({name, std::move(found.devices), std::move(found.reason)});
  backends_.push_back(std::move(backend));
}

void Registry::add_missing(const std::string& name, const std::vector<std::string>& folders) {
  const std::string file = "libkith_" + name + ".so";
  std::string reason;
  for (const std::string& failure : failures_)
    if (failure.find("/" + file + ":") != std::string::npos) reason = failure;
  if (reason.empty()) {
    reason = "not installed: there is no " + file + " in ";
    if (folders.empty()) reason += "any folder (KITH_BACKEND_PATH names no absolute one)";
    for (const std::string& folder : folders) reason += (&folder == folders.data() ? "" : ", ") + folder;
  }
  infos_.push_back({name, {}, std::move(reason)});
  backends_.push_back(nullptr);
}

std::unique_ptr<spi::Device> Registry::open(const std::string& backend, std::uint32_t ordinal) {
  const auto found =
      std::find_if(infos_.begin(), infos_.end(), [&](const auto& b) { return b.name == backend; });
  const auto b = static_cast<std::size_t>(found - infos_.begin());
  if (found == infos_.end() || !backends_[b]) return nullptr;
  if (backend == "cpu") return backends_[b]->open(ordinal);
  if (fork_count() != loaded_at_)
    throw Error(Errc::unavailable,
                backend +
                    ": its driver was started before fork(), and does not work in a forked child; "
                    "ask for devices after fork(), or start the child as a new program (spawn)");
  const std::lock_guard lock(opening_);
  return backends_[b]->open(ordinal);
}

}  // namespace kith
