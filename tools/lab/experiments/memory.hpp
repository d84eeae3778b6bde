// What was measured within an experiment, for one that was stopped to go on from there.
#pragma once

#include <functional>
#include <map>
#include <string>
#include <vector>

#include "lab/placement/placement.hpp"

namespace kith::experiments {

/// The measurements of one run of one experiment. An experiment asks for the same ones in the same order
/// whenever its Settings are the same, so each is known by its name and by how often that came before.
class Memory {
 public:
  struct Kept {
    std::string what;
    std::size_t nth = 0;  ///< so many of this name were asked for before it
    Measured measured;
    PlacedRun run = {};  ///< of stages that are placed; else without steps

    bool operator==(const Kept&) const = default;
  };

  /// `before`: what an earlier run kept. `changed` is called whenever there is more, and may throw.
  explicit Memory(std::vector<Kept> before = {}, std::function<void()> changed = {});

  /// What was measured before, or else what `body` gives. That is kept where it was timed: refusals cost
  /// little, and a device that was lost would look like other bits. Within `body` nothing is remembered.
  Measured measure(const std::string& what, const std::function<Measured()>& body);

  /// The same of `measured` and `run`.
  Kept take(const std::string& what, const std::function<Kept()>& body);

  const std::vector<Kept>& kept() const { return kept_; }

 private:
  std::vector<Kept> kept_;
  std::function<void()> changed_;
  std::map<std::string, std::size_t> asked_;  ///< how often
  bool within_ = false;
};

}  // namespace kith::experiments
