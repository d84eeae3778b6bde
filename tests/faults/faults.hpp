// Faults on purpose: the parts of kith_fault_tests share which call fails, what is counted, and how an answer
// is judged.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "hooks.hpp"
#include "kith/kith.hpp"

namespace kith::tests::faults {

/// Of this thread: at `site` the call number `due` fails, or it and all after it, in the way `kind`.
struct Fault {
  Site site = Site::none;
  long due = 0;  // 0: none fails
  bool all_after = false;
  int kind = 0;
  long calls = 0;  // at `site` so far
};
extern thread_local Fault fault;
extern std::array<std::atomic<long>, static_cast<std::size_t>(Kept::count)> kept;

/// Whether this thread is in a call of a driver, whose own memory and files are not looked at.
extern thread_local int driver_depth;

/// While it exists, on this thread, nothing fails and nothing is counted: what a test itself does.
class Spared {
 public:
  Spared() : before_(fault.site) { fault.site = Site::none; }
  ~Spared() { fault.site = before_; }
  Spared(const Spared&) = delete;
  Spared& operator=(const Spared&) = delete;

 private:
  const Site before_;
};

/// While it exists this thread is in the driver.
class InDriver {
 public:
  InDriver() { ++driver_depth; }
  ~InDriver() { --driver_depth; }
  InDriver(const InDriver&) = delete;
  InDriver& operator=(const InDriver&) = delete;
};

/// Whether what this thread does now is kith's own: it is the one that asks, and in no driver.
bool is_watched();

/// Count a call; whether it is to fail.
bool is_due(Site site);
inline void keep(Kept what, long change) {
  kept[static_cast<std::size_t>(what)] += change;
}

/// What is asked of kith, again and again.
struct Operation {
  std::string name;
  std::function<bool()> is_right;  ///< do it, and look at the answer
};

/// A way to fail.
struct Kind {
  int number = 0;  ///< Fault::kind
  bool all_after = false;
  std::string name;            ///< `CL_OUT_OF_RESOURCES`
  std::vector<Errc> expected;  ///< of the error, where it is not survived; empty: it must be survived
  /// After an error that is not out_of_memory the device may refuse what follows; one opened anew works.
  bool loses_device = false;
};

/// What all faults are made to.
struct Asked {
  std::string spec = "cpu";
  long sample = 0;  ///< faults of an operation; 0: all
  std::uint64_t seed = 1;
  long share = 1, shares = 1;  ///< of these faults, those of this process among so many
};

/// Numbers from 1 to `count`: all, or as many as are asked for, in ascending order; of these, this share.
std::vector<long> numbers_of(const Asked& asked, const std::string& operation, long count);

/// Of a part, in the order of the sentence: `search: call 17 fails with CL_...`.
void complain(const std::string& what);
/// Complaints so far.
int complaints();

/// Whether a message reads `where: what is wrong; what to do`.
bool is_sentence(const std::string& message);

/// Each call of `site` in each operation fails in its turn, in each kind. Then the operation gives the right
/// answer or throws what is expected, the same right after gives the right answer, and at the end nothing is
/// lost. Where a device made more time stamps, the same faults are made again: in the last of a few rounds it
/// must make none. One line for each operation.
///   renew  open the device anew; it is called where one was lost
void fail_each(const Asked& asked, Site site, const std::vector<Operation>& operations,
               const std::vector<Kind>& kinds, const std::function<void()>& renew);

/// A device with all that the operations need, and the operations. Their right answers are the CPU's.
class Scene {
 public:
  explicit Scene(const std::string& spec);
  ~Scene();
  /// Open the device, and make all that lies on it, anew.
  void renew();
  /// Close the device.
  void close();
  std::vector<Operation> operations();

 private:
  struct State;
  std::string spec_;
  std::unique_ptr<State> state_;
};

/// Before a device is opened that counts: tell what its driver does from what kith does.
void watch_driver(const std::string& spec);

// The parts.
void fail_allocations(const Asked& asked, Scene& scene);
void fail_device_calls(const Asked& asked);
void fail_driver_calls(const Asked& asked, Scene& scene);
void fail_file_calls(const Asked& asked);
void fail_commands(const Asked& asked);

}  // namespace kith::tests::faults
