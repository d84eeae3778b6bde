// Keeps the measurements of an experiment that was stopped, so that it can continue.
#pragma once

#include <functional>
#include <map>
#include <string>
#include <vector>

#include "lab/placement/placement.hpp"

namespace kith::experiments {

/// Holds the measurements of one run of one experiment. With equal Settings an experiment takes the same
/// measurements in the same order, so each is identified by its name and by how often the name came before.
class Memory {
 public:
  struct Kept {
    std::string what;
    std::size_t nth = 0;  ///< how many of this name were asked for before
    Measured measured;
    PlacedRun run = {};  ///< the run of a placed stage; else it has no steps

    bool operator==(const Kept&) const = default;
  };

  /// `before` is what an earlier run kept. `changed` is called after each new measurement, and may throw.
  explicit Memory(std::vector<Kept> before = {}, std::function<void()> changed = {});

  /// Returns the earlier measurement, or calls `body`. Only what was timed is kept: a refusal costs little,
  /// and the failure of a lost device would look like wrong bits. Calls within `body` are not remembered.
  Measured measure(const std::string& what, const std::function<Measured()>& body);

  /// Does the same for `measured` and `run` together.
  Kept take(const std::string& what, const std::function<Kept()>& body);

  const std::vector<Kept>& kept() const { return kept_; }

 private:
  std::vector<Kept> kept_;
  std::function<void()> changed_;
  std::map<std::string, std::size_t> asked_;  ///< how often each name was asked for
  bool within_ = false;
};

}  // namespace kith::experiments
