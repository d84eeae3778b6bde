// The back ends of this process. A plug-in is loaded when it is first asked for.
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

/// One back end, whether or not its plug-in is there.
class BackendEntry {
 public:
  /// The CPU's, which needs no plug-in.
  explicit BackendEntry(std::unique_ptr<spi::Backend> built_in);
  /// Of a plug-in.
  ///   shipped  it is listed where it cannot be used, too, with the reason
  BackendEntry(PluginFile file, bool shipped);
  /// Of a plug-in that is not there.
  BackendEntry(const std::string& name, const std::string& reason);

  const std::string& name() const { return info_.name; }
  /// Devices, or the reason why there are none. Loads the plug-in. Any thread may.
  const BackendInfo& info();
  /// Open a device that info() lists. Throws what the back end throws, of a plug-in kith::Error and
  /// std::bad_alloc alone. Any thread may.
  std::unique_ptr<spi::Device> open(std::uint32_t ordinal);
  /// The same of a device in the caller's context.
  std::unique_ptr<spi::Device> adopt(const spi::CallersDevice& callers);

  /// Its driver need not be tried any more: it was, or it has none.
  bool is_tried() const { return tried_ || !needs_loading(); }
  /// It is not to be loaded, for this reason.
  void refuse(const std::string& why);
  void count_as_tried() { tried_ = true; }
  const PluginFile& file() const { return file_; }
  /// Sentence for load_failures() about the plug-in; empty: none.
  const std::string& failure() const { return failure_; }
  /// Such sentences about its drivers.
  const std::vector<std::string>& driver_failures() const { return driver_failures_; }
  bool is_listed() const { return shipped_ || failure_.empty(); }
  /// Its driver was, or is being, started in this process.
  bool is_started() const { return started_; }
  bool is_shipped() const { return shipped_; }

 private:
  bool needs_loading() const { return !file_.path.empty() && file_.refusal.empty(); }
  void load();

  PluginFile file_;  // without a path: there is nothing to load
  bool shipped_ = true;
  std::atomic<bool> tried_ = false, started_ = false;
  std::mutex mutex_;  // around every call of a back end with a driver
  bool loaded_ = false;
  std::unique_ptr<spi::Backend> backend_;  // null: info_ has only a reason
  BackendInfo info_;
  std::string failure_;
  std::vector<std::string> driver_failures_;
};

class Registry {
 public:
  static Registry& instance();

  /// Those of this build, then other plug-ins. None is loaded by this.
  const std::vector<std::unique_ptr<BackendEntry>>& entries() const { return entries_; }
  /// All but the CPU's, in the order in which `auto` asks for GPUs; the drivers of a group are started
  /// together.
  std::vector<std::vector<BackendEntry*>> in_order_of_auto() const;
  /// Null where there is none of this name.
  BackendEntry* find(const std::string& name) const;
  /// Ask the drivers of these in another process, once (driver_trial.hpp); those that fail are refused.
  void try_drivers_of(const std::vector<BackendEntry*>& asked);
  /// All of them, tried, loaded and asked for their devices.
  std::vector<BackendInfo> backends();
  std::vector<std::string> failures();

 private:
  /// A child begins with what its parent had not begun.
  explicit Registry(const Registry* of_parent);
  std::vector<BackendEntry*> all() const;

  const std::uint64_t made_at_ = fork_count();
  std::vector<std::unique_ptr<BackendEntry>> entries_;
  std::mutex trying_;
  std::string trial_note_;
};

}  // namespace kith
