// A thread of one call's own, beside those of the pool: for work that waits.
#pragma once

#include <pthread.h>
#include <signal.h>

#include <exception>
#include <thread>
#include <utility>

#include "base/float_guard.hpp"

namespace kith {

/// It blocks all signals, which are for the host program's threads. Joined at its end.
class HostThread {
 public:
  HostThread() = default;
  ~HostThread() {
    if (thread_.joinable()) thread_.join();
  }
  HostThread(const HostThread&) = delete;
  HostThread& operator=(const HostThread&) = delete;

  /// Begin `body`, which throws nothing, in the floating-point environment of the contract. False: no thread
  /// can be made.
  template <class Body>
  bool start(Body body) {
    sigset_t all, before;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    try {
      thread_ = std::thread([work = std::move(body)] {
        const FloatGuard guard;
        work();
      });
    } catch (const std::exception&) {  // no thread, or no memory for one: the caller does without
    }
    pthread_sigmask(SIG_SETMASK, &before, nullptr);
    return thread_.joinable();
  }

 private:
  std::thread thread_;
};

}  // namespace kith
