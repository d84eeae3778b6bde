// Time stamps around the steps of a search, for Trace.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>
#include <vector>

#include "kith/spi.hpp"
#include "kith/trace.hpp"

namespace kith {

/// Seconds of the host's clock since it was made.
class Stopwatch {
 public:
  double seconds() const {
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - start_).count();
  }

 private:
  std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
};

/// Forget what was measured, not what was asked for.
inline void restart(Trace& trace) {
  const bool time_steps = trace.time_steps, hold_queue = trace.hold_queue;
  trace = Trace{};
  trace.time_steps = time_steps;
  trace.hold_queue = hold_queue;
}

/// Collects the marks of one stretch of steps, and adds them to a Trace when the device is done.
/// Does nothing without a Trace. Used under the device's lock.
class StepTimer {
 public:
  StepTimer(spi::Device& device, Trace* trace) : device_(device), trace_(trace) {
    if (!trace_) return;
    held_ = trace_->hold_queue && !trace_->time_steps;
    if (held_) device_.hold();
    begin_ = last_ = device_.mark();
  }
  StepTimer(const StepTimer&) = delete;
  StepTimer& operator=(const StepTimer&) = delete;
  ~StepTimer() {
    if (held_) device_.let_go();  // a step was refused
  }

  /// The step enqueued just now was called `step`.
  void after(const char* step) {
    if (!trace_) return;
    if (!trace_->time_steps) return;
    const std::uint64_t now = device_.mark();
    steps_.push_back({step, last_, now});
    last_ = now;
  }

  /// What was done since the last step is no step.
  void skip() {
    if (trace_ && trace_->time_steps) last_ = device_.mark();
  }

  /// All steps are enqueued: wait for them, and add up.
  void collect() {
    if (!trace_) return;
    const std::uint64_t end = trace_->time_steps ? last_ : device_.mark();
    if (held_) device_.let_go();
    held_ = false;
    device_.finish();
    const double queued = watch_.seconds();
    for (const Stamp& s : steps_) trace_->seconds[s.step] += device_.elapsed(s.from, s.to);
    trace_->device_seconds += device_.elapsed(begin_, end);
    trace_->queue_seconds += queued;
  }

 private:
  struct Stamp {
    const char* step;
    std::uint64_t from, to;
  };
  spi::Device& device_;
  Trace* trace_;
  Stopwatch watch_;
  bool held_ = false;
  std::uint64_t begin_ = 0, last_ = 0;
  std::vector<Stamp> steps_;
};

}  // namespace kith
