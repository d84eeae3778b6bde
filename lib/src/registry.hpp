// The back ends of this process, found once.
#pragma once

#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "fork_gate.hpp"
#include "kith/device.hpp"
#include "kith/spi.hpp"

namespace kith {

class Registry {
 public:
  static Registry& instance();

  const std::vector<BackendInfo>& backends() const { return infos_; }
  const std::vector<std::string>& failures() const { return failures_; }
  /// Open a device that backends() lists. Throws what the back end throws, and unavailable in a forked
  /// child of a process that had started the back end's driver. Any thread may.
  std::unique_ptr<spi::Device> open(const std::string& backend, std::uint32_t ordinal);

 private:
  Registry();
  void add(const std::string& name, std::unique_ptr<spi::Backend> backend);
  void add_missing(const std::string& name, const std::vector<std::string>& folders);

  std::vector<std::unique_ptr<spi::Backend>> backends_;  // null where infos_ has only a reason
  std::vector<BackendInfo> infos_;
  std::vector<std::string> failures_;
  const std::uint64_t loaded_at_ = fork_count();
  std::mutex opening_;  // around every call of a back end with a driver
};

}  // namespace kith
