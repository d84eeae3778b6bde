// Measures the time of the steps of a search, for Trace.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "kith/spi.hpp"
#include "kith/trace.hpp"

namespace kith {

/// Counts the seconds of the host's clock since it was constructed.
class Stopwatch {
 public:
  double seconds() const {
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - start_).count();
  }

 private:
  std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
};

/// Clears the measurements of a trace, and keeps its options.
inline void restart(Trace& trace) {
  const bool time_steps = trace.time_steps, hold_queue = trace.hold_queue;
  trace = Trace{};
  trace.time_steps = time_steps;
  trace.hold_queue = hold_queue;
}

/// Runs `work` unless it is empty, and makes it empty.
inline void do_once(std::function<void()>& work) {
  if (const auto now = std::exchange(work, nullptr)) now();
}

/// If wanted, delays enqueued work until let_go() or the destructor. The caller holds the device's lock.
class Hold {
 public:
  Hold(spi::Device& device, bool wanted) : device_(device), held_(wanted) {
    if (held_) device_.hold();
  }
  Hold(const Hold&) = delete;
  Hold& operator=(const Hold&) = delete;
  ~Hold() {
    try {
      let_go();
    } catch (...) {  // the search has already failed, and the device starts by itself after a while
    }
  }

  void let_go() {
    if (std::exchange(held_, false)) device_.let_go();
  }

 private:
  spi::Device& device_;
  bool held_;
};

/// Collects time stamps of consecutive steps, and adds their times to a Trace when the device has finished.
/// Without a Trace it does nothing. The caller holds the device's lock.
class StepTimer {
 public:
  StepTimer(spi::Device& device, Trace* trace)
      : device_(device), trace_(trace), hold_(device, trace && trace->hold_queue && !trace->time_steps) {
    if (trace_) begin_ = last_ = device_.mark();
  }

  /// Ends the time of the last enqueued step, called `step`.
  void after(const char* step) {
    if (!trace_) return;
    if (!trace_->time_steps) return;
    const std::uint64_t now = device_.mark();
    steps_.push_back({step, last_, now});
    last_ = now;
  }

  /// Leaves out the time since the last step.
  void skip() {
    if (trace_ && trace_->time_steps) last_ = device_.mark();
  }

  void collect() {
    std::function<void()> nothing;
    collect(nothing);
  }

  /// Waits for all steps, which must be enqueued, and adds up their times. With a Trace it calls `overlap`
  /// before, under the lock: without the lock another thread might call finish(), which forgets the marks.
  void collect(std::function<void()>& overlap) {
    if (!trace_) return;
    const std::uint64_t end = trace_->time_steps ? last_ : device_.mark();
    hold_.let_go();
    do_once(overlap);
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
  Hold hold_;
  std::uint64_t begin_ = 0, last_ = 0;
  std::vector<Stamp> steps_;
};

}  // namespace kith
