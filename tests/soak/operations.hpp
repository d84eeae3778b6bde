// Draws one thing that a program can do with kith, does it, and returns what is wrong with the answer.
#pragma once

#include <array>
#include <atomic>
#include <memory>
#include <mutex>
#include <optional>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

#include "kith/kith.hpp"
#include "problem.hpp"
#include "workloads/random.hpp"

namespace kith::tests::soak {

using workloads::Random;

/// Options that choose how a search is done.
struct Way {
  std::string title;
  Selector selector = Selector::automatic;
  Proposer proposer = Proposer::automatic;
  std::optional<bool> fused = {};
};

/// Holds a problem on a device.
struct Bench {
  const KnownProblem& problem;
  Index index;
  Classifier classifier;
  std::vector<Way> ways;  ///< the ways that this device has for this problem
  std::mutex growing;
  Index grown;  ///< an index of the first rows, which grows from time to time; replaced under the lock

  Bench(const Device& device, const KnownProblem& of);
  Index first_half() const;
};

inline constexpr std::array kinds = {"search",   "stop",   "progress", "filter", "leave-one-out", "with",
                                     "classify", "radius", "open",     "save",   "refuse"};

struct Place {
  Device device;
  std::vector<std::unique_ptr<Bench>> benches;
  std::array<std::atomic<std::int64_t>, kinds.size()> done{};  ///< right answers of each kind
  std::string without;                                         ///< ways that this device refuses
  std::atomic<std::int64_t> stopped = 0;                       ///< searches that were interrupted
  std::atomic<std::int64_t> opened = 0;                        ///< devices

  explicit Place(Device opened) : device(std::move(opened)) {}
};

/// Holds the state of one thread.
struct Worker {
  std::size_t number = 0;
  Random random{0};
  std::string file;  ///< for models, its own
  std::mutex stopping;
  std::stop_source stop;  ///< stops its present search; other workers use it, too
  std::atomic<std::int64_t> operations = 0;
  std::atomic<const char*> doing = "nothing";
};

/// Opens a device with all problems on it, and searches each in every way. Ways that are `unsupported`, or
/// lack a library, are left out and named. Throws std::runtime_error if an answer is wrong.
std::unique_ptr<Place> make_place(const std::string& spec, const std::vector<KnownProblem>& problems);

/// Does one thing, chosen by the worker's random numbers. Returns what is wrong, or an empty string.
std::string work(Worker& worker, Place& place, std::vector<std::unique_ptr<Worker>>& all);

}  // namespace kith::tests::soak
