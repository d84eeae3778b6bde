// Faults on purpose, shared by the parts of kith_fault_tests: which call fails, what is counted, and how an
// answer is judged.
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

/// Holds the fault of this thread: at `site`, call number `due` fails in the way `kind`; with `all_after` all
/// later calls fail, too.
struct Fault {
  Site site = Site::none;
  long due = 0;  // 0: none fails
  bool all_after = false;
  int kind = 0;
  long calls = 0;  // calls at `site` so far
};
extern thread_local Fault fault;
extern std::array<std::atomic<long>, static_cast<std::size_t>(Kept::count)> kept;

/// Says whether this thread is inside a call of a driver, whose own memory and files do not count.
extern thread_local int driver_depth;

/// While it exists, nothing fails and nothing is counted on this thread. For what a test itself does.
class Spared {
 public:
  Spared() : before_(fault.site) { fault.site = Site::none; }
  ~Spared() { fault.site = before_; }
  Spared(const Spared&) = delete;
  Spared& operator=(const Spared&) = delete;

 private:
  const Site before_;
};

/// Marks this thread as inside the driver while it exists.
class InDriver {
 public:
  InDriver() { ++driver_depth; }
  ~InDriver() { --driver_depth; }
  InDriver(const InDriver&) = delete;
  InDriver& operator=(const InDriver&) = delete;
};

/// Returns whether this thread runs the operation under test, and is not inside a call of a driver.
bool is_watched();

/// Counts a call. Returns whether it must fail.
bool is_due(Site site);
inline void keep(Kept what, long change) {
  kept[static_cast<std::size_t>(what)] += change;
}

/// An operation of kith that is repeated with every fault.
struct Operation {
  std::string name;
  std::function<bool()> is_right;  ///< runs it and checks the answer
};

/// A way to fail.
struct Kind {
  int number = 0;  ///< Fault::kind
  bool all_after = false;
  std::string name;            ///< such as `CL_OUT_OF_RESOURCES`
  std::vector<Errc> expected;  ///< errors that the operation may throw; empty: it must survive
  /// After an error other than out_of_memory the device may refuse further calls; opened again, it must work.
  bool loses_device = false;
};

/// Holds the command line, which is the same for all parts.
struct Asked {
  std::string spec = "cpu";
  long sample = 0;  ///< faults of each operation; 0: all
  std::uint64_t seed = 1;
  long share = 1, shares = 1;  ///< which of these faults this process makes, and how many processes there are
};

/// Returns the numbers 1 to `count`, or a sample of them if one is asked for; of these the share of
/// this process, ascending.
std::vector<long> numbers_of(const Asked& asked, const std::string& operation, long count);

/// Reports a fault in a form such as `search: call 17 fails with CL_...`.
void complain(const std::string& what);
/// Returns the number of complaints so far.
int complaints();

/// Returns whether a message has the form `where: what is wrong; what to do`.
bool is_sentence(const std::string& message);

/// Lets each call at `site` fail in its turn, in every operation and of every kind. The operation must then
/// give the right answer or throw what is expected, the same operation right after must give the right
/// answer, and at the end nothing may be lost. If a device kept more time stamps, the same faults are
/// repeated: in the last of a few rounds it must keep no more. Prints one line for each operation.
///   renew  opens the device again; called when it was lost
void fail_each(const Asked& asked, Site site, const std::vector<Operation>& operations,
               const std::vector<Kind>& kinds, const std::function<void()>& renew);

/// A device with everything that the operations need, and the operations. The expected answers come
/// from the CPU.
class Scene {
 public:
  explicit Scene(const std::string& spec);
  ~Scene();
  /// Opens the device again, and rebuilds everything on it.
  void renew();
  /// Closes the device.
  void close();
  ///   with_long  one, too, that takes long
  std::vector<Operation> operations(bool with_long);

 private:
  struct State;
  std::string spec_;
  std::unique_ptr<State> state_;
};

/// Installs hooks that tell what a driver does from what kith does. Must be called before the
/// device is opened.
void watch_driver(const std::string& spec);

// These are the parts of the program.
void fail_allocations(const Asked& asked, Scene& scene);
void fail_device_calls(const Asked& asked);
void fail_driver_calls(const Asked& asked, Scene& scene);
void fail_file_calls(const Asked& asked);
void fail_commands(const Asked& asked);

}  // namespace kith::tests::faults
