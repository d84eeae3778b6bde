// Tells the caller how far a search is, and hears whether to go on.
#pragma once

#include <cstdint>
#include <string>

#include "kith/error.hpp"
#include "kith/plan.hpp"

namespace kith {

class Watcher {
 public:
  Watcher(const PlanOptions& options, std::int64_t steps) : options_(options), steps_(steps) {}
  bool watches() const { return options_.progress || options_.stop.stop_possible(); }

  void step_done() { steps_done(1); }

  void steps_done(std::int64_t steps) {
    done_ += steps;
    if (options_.progress) options_.progress({static_cast<double>(done_) / static_cast<double>(steps_)});
    check_stop();
  }

  void check_stop() const {
    if (options_.stop.stop_requested())
      throw Error(Errc::interrupted, "search: stopped after " + std::to_string(done_) + " of " +
                                         std::to_string(steps_) +
                                         " steps, as was asked; nothing is returned");
  }

 private:
  const PlanOptions& options_;
  std::int64_t steps_, done_ = 0;
};

}  // namespace kith
