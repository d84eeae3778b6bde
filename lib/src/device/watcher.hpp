// Reports the progress of a search to the caller, and stops it when asked.
#pragma once

#include <cstdint>
#include <stop_token>
#include <string>
#include <utility>

#include "base/float_guard.hpp"
#include "kith/error.hpp"
#include "kith/unstable/plan.hpp"

namespace kith {

/// During its lifetime, its token also stops all searches of this thread. Unlike with SearchOptions::stop, a
/// search never waits for its device between steps to check it.
class StopAlong {
 public:
  explicit StopAlong(std::stop_token token)
      : token_(std::move(token)), before_(std::exchange(innermost, this)) {}
  StopAlong(const StopAlong&) = delete;
  StopAlong& operator=(const StopAlong&) = delete;
  ~StopAlong() { innermost = before_; }

  static bool asks() { return innermost && innermost->token_.stop_requested(); }

 private:
  static inline thread_local const StopAlong* innermost = nullptr;

  const std::stop_token token_;
  const StopAlong* const before_;
};

/// Must be used under a FloatGuard.
class Watcher {
 public:
  Watcher(const SearchOptions& options, std::int64_t steps) : options_(options), steps_(steps) {}
  bool watches() const { return reports() || options_.stop.stop_possible(); }
  bool reports() const { return static_cast<bool>(options_.progress); }

  void step_done() { steps_done(1); }

  void steps_done(std::int64_t steps) {
    done_ += steps;
    if (options_.progress)
      call_back(options_.progress, Progress{static_cast<double>(done_) / static_cast<double>(steps_)});
    check_stop();
  }

  void check_stop() const {
    if (options_.stop.stop_requested() || StopAlong::asks())
      throw Error(Errc::interrupted, "search: stopped after " + std::to_string(done_) + " of " +
                                         std::to_string(steps_) +
                                         " steps, as was asked; nothing is returned");
  }

 private:
  const SearchOptions& options_;
  std::int64_t steps_, done_ = 0;
};

}  // namespace kith
