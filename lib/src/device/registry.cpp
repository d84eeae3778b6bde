#include "device/registry.hpp"

#include <algorithm>
#include <sstream>
#include <string_view>

#include "base/float_guard.hpp"
#include "cpu/backend.hpp"
#include "device/driver_trial.hpp"
#include "device/plugin_device.hpp"
#include "kith/error.hpp"

namespace kith {
namespace {

/// The plug-ins of this source tree, so that a missing one can be reported. lib/CMakeLists.txt sets it.
constexpr const char* shipped_backends = KITH_SHIPPED_BACKENDS;

/// The back ends whose GPUs `auto` prefers. lib/CMakeLists.txt sets it.
constexpr std::string_view first_backends = "," KITH_FIRST_BACKENDS ",";

constexpr const char* started_before_fork =
    "its driver was started before fork(), and does not work in a forked child; ask for devices after "
    "fork(), or start the child as a new program (spawn)";

std::string not_installed(const std::string& name, const std::vector<std::filesystem::path>& folders) {
  std::string reason = "not installed: there is no libkith_" + name + ".so in ";
  if (folders.empty()) reason += "any folder (KITH_BACKEND_PATH names no absolute one)";
  for (const auto& folder : folders) reason += (&folder == folders.data() ? "" : ", ") + folder.string();
  return reason;
}

}  // namespace

BackendEntry::BackendEntry(std::unique_ptr<spi::Backend> built_in)
    : loaded_(true), backend_(std::move(built_in)) {
  const FloatGuard guard;
  spi::Found found = backend_->find();
  info_ = {"cpu", std::move(found.devices), std::move(found.reason)};
}

BackendEntry::BackendEntry(PluginFile file, bool shipped) : file_(std::move(file)), shipped_(shipped) {
  info_.name = file_.name;
  if (!file_.refusal.empty()) refuse(file_.refusal);
}

BackendEntry::BackendEntry(const std::string& name, const std::string& reason) : loaded_(true) {
  info_ = {name, {}, reason};
}

void BackendEntry::refuse(const std::string& why) {
  const std::lock_guard lock(mutex_);
  if (loaded_) return;
  loaded_ = true;
  failure_ = info_.reason = file_.path.string() + ": " + why;
}

/// The caller holds the lock.
void BackendEntry::load() {
  const FloatGuard guard;  // threads of a driver inherit the floating-point environment
  started_ = true;
  loaded_ = true;
  std::string why;
  backend_ = load_plugin(file_, why);
  if (!backend_) {
    failure_ = info_.reason = file_.path.string() + ": " + why;
    return;
  }
  spi::Found found = find_devices(*backend_);
  info_.devices = std::move(found.devices);
  info_.reason = std::move(found.reason);
  driver_failures_ = std::move(found.failures);
}

const BackendInfo& BackendEntry::info() {
  if (file_.path.empty()) return info_;
  const std::lock_guard lock(mutex_);
  if (!loaded_) load();
  return info_;
}

std::unique_ptr<spi::Device> BackendEntry::open(std::uint32_t ordinal) {
  if (file_.path.empty()) return backend_->open(ordinal);
  const std::lock_guard lock(mutex_);
  return guarded(open_device_of(*backend_, info_.name, ordinal));
}

std::unique_ptr<spi::Device> BackendEntry::adopt(const spi::CallersDevice& callers) {
  if (file_.path.empty()) return backend_->adopt(callers);
  const std::lock_guard lock(mutex_);
  return guarded(adopt_device_of(*backend_, info_.name, callers));
}

// It is never destroyed, because the system unloads drivers and plug-ins after the last handle is gone.
Registry& Registry::instance() {
  static std::atomic<Registry*> current = nullptr;
  static HostMutex& making = *new HostMutex;
  Registry* found = current.load();
  if (found && found->made_at_ == fork_count()) return *found;
  const std::lock_guard lock(making);
  found = current.load();
  if (!found || found->made_at_ != fork_count()) current = found = new Registry(found);
  return *found;
}

Registry::Registry(const Registry* of_parent) {
  entries_.push_back(std::make_unique<BackendEntry>(cpu::create_backend()));
  const std::vector<std::filesystem::path> folders = plugin_folders();
  std::vector<PluginFile> files = plugin_files(folders);
  std::istringstream shipped{std::string(shipped_backends)};
  const auto add = [&](PluginFile file, bool of_this_build) {
    const BackendEntry* const before = of_parent ? of_parent->find(file.name) : nullptr;
    if (before && before->is_started()) {
      entries_.push_back(std::make_unique<BackendEntry>(file.name, started_before_fork));
    } else {
      entries_.push_back(std::make_unique<BackendEntry>(std::move(file), of_this_build));
    }
  };
  for (std::string name; std::getline(shipped, name, ',');) {
    const auto file = std::find_if(files.begin(), files.end(), [&](const auto& f) { return f.name == name; });
    if (file == files.end()) {
      entries_.push_back(std::make_unique<BackendEntry>(name, not_installed(name, folders)));
    } else {
      add(std::move(*file), true);
      files.erase(file);
    }
  }
  for (PluginFile& file : files) add(std::move(file), false);
}

BackendEntry* Registry::find(const std::string& name) const {
  for (const auto& entry : entries_)
    if (entry->name() == name) return entry.get();
  return nullptr;
}

std::vector<BackendEntry*> Registry::all() const {
  std::vector<BackendEntry*> list;
  for (const auto& entry : entries_) list.push_back(entry.get());
  return list;
}

std::vector<std::vector<BackendEntry*>> Registry::in_order_of_auto() const {
  std::vector<std::vector<BackendEntry*>> groups(2);
  for (std::size_t i = 1; i < entries_.size(); ++i) {  // entry 0 is the CPU back end
    const bool is_first = first_backends.find("," + entries_[i]->name() + ",") != std::string_view::npos;
    groups[is_first ? 0 : 1].push_back(entries_[i].get());
  }
  return groups;
}

void Registry::try_drivers_of(const std::vector<BackendEntry*>& asked) {
  const std::lock_guard lock(trying_);
  std::vector<BackendEntry*> untried;
  std::vector<std::filesystem::path> files;
  for (BackendEntry* entry : asked)
    if (!entry->is_tried() && !entry->is_started()) {
      untried.push_back(entry);
      files.push_back(entry->file().path);
    }
  if (files.empty()) return;
  const std::vector<std::string> failed = try_drivers(files, trial_note_);
  for (std::size_t i = 0; i < untried.size(); ++i) {
    if (!failed[i].empty()) untried[i]->refuse(failed[i]);
    untried[i]->count_as_tried();
  }
}

std::vector<BackendInfo> Registry::backends() {
  try_drivers_of(all());
  std::vector<BackendInfo> infos;
  for (const auto& entry : entries_) {
    const BackendInfo& info = entry->info();
    if (entry->is_listed()) infos.push_back(info);
  }
  return infos;
}

std::vector<std::string> Registry::failures() {
  static_cast<void>(backends());
  std::vector<std::string> sentences;
  for (const auto& entry : entries_) {
    if (!entry->failure().empty()) sentences.push_back(entry->failure());
    const std::vector<std::string>& of_drivers = entry->driver_failures();
    sentences.insert(sentences.end(), of_drivers.begin(), of_drivers.end());
  }
  const std::lock_guard lock(trying_);
  if (!trial_note_.empty()) sentences.push_back(trial_note_);
  return sentences;
}

}  // namespace kith
