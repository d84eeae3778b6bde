// The back ends of this process. A plug-in is loaded on first use.
#pragma once

#include <atomic>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "device/loader.hpp"
#include "host/fork_gate.hpp"
#include "kith/device.hpp"
#include "kith/spi.hpp"

namespace kith {

/// One back end, whether or not its plug-in exists.
class BackendEntry {
 public:
  /// Makes the CPU back end, which needs no plug-in.
  explicit BackendEntry(std::unique_ptr<spi::Backend> built_in);
  /// Makes the back end of a plug-in.
  ///   shipped  it is listed even if it cannot be used, with the reason
  BackendEntry(PluginFile file, bool shipped);
  /// Makes a back end whose plug-in is missing.
  BackendEntry(const std::string& name, const std::string& reason);

  const std::string& name() const { return info_.name; }
  /// Returns its devices, or the reason why there are none. Loads the plug-in. Safe from any thread.
  const BackendInfo& info();
  /// Opens a device that info() lists. Throws what the back end throws; a plug-in throws only kith::Error and
  /// std::bad_alloc. Safe from any thread.
  std::unique_ptr<spi::Device> open(std::uint32_t ordinal);
  /// Opens a device in the caller's context, with the same errors.
  std::unique_ptr<spi::Device> adopt(const spi::CallersDevice& callers);

  /// Returns whether its driver need not be tried any more, because it was tried or there is none.
  bool is_tried() const { return tried_ || !needs_loading(); }
  /// Forbids loading it, for this reason.
  void refuse(const std::string& why);
  void count_as_tried() { tried_ = true; }
  const PluginFile& file() const { return file_; }
  /// Returns the sentence of load_failures() about the plug-in; empty if it has not failed.
  const std::string& failure() const { return failure_; }
  /// Returns the sentences of load_failures() about its drivers.
  const std::vector<std::string>& driver_failures() const { return driver_failures_; }
  bool is_listed() const { return shipped_ || failure_.empty(); }
  /// Returns whether its driver was, or is being, started in this process.
  bool is_started() const { return started_; }

 private:
  bool needs_loading() const { return !file_.path.empty() && file_.refusal.empty(); }
  void load();

  PluginFile file_;  // without a path there is nothing to load
  bool shipped_ = true;
  std::atomic<bool> tried_ = false, started_ = false;
  std::mutex mutex_;  // guards every call of a back end with a driver
  bool loaded_ = false;
  std::unique_ptr<spi::Backend> backend_;  // null: info_ only has a reason
  BackendInfo info_;
  std::string failure_;
  std::vector<std::string> driver_failures_;
};

class Registry {
 public:
  static Registry& instance();

  /// Returns the back ends of this build, then those of other plug-ins. Loads none.
  const std::vector<std::unique_ptr<BackendEntry>>& entries() const { return entries_; }
  /// Returns all back ends except the CPU's, in groups, in the order in which `auto` asks them for GPUs. The
  /// drivers of a group are started together.
  std::vector<std::vector<BackendEntry*>> in_order_of_auto() const;
  /// Returns the back end of this name; null if there is none.
  BackendEntry* find(const std::string& name) const;
  /// Asks the drivers of these back ends in another process, once (driver_trial.hpp), and refuses those
  /// that fail.
  void try_drivers_of(const std::vector<BackendEntry*>& asked);
  /// Tries and loads all back ends and asks them for their devices.
  std::vector<BackendInfo> backends();
  std::vector<std::string> failures();

 private:
  /// In a forked child, refuses the back ends whose drivers the parent had started. The argument is null in
  /// other processes.
  explicit Registry(const Registry* of_parent);
  std::vector<BackendEntry*> all() const;

  const std::uint64_t made_at_ = fork_count();
  std::vector<std::unique_ptr<BackendEntry>> entries_;
  std::mutex trying_;
  std::string trial_note_;
};

}  // namespace kith
