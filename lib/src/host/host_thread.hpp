// Starts a thread for one call, besides those of the pool, for work that waits.
#pragma once

#include <pthread.h>
#include <signal.h>

#include <exception>
#include <thread>
#include <utility>

#include "base/float_guard.hpp"

namespace kith {

/// Blocks all signals, which are for the host program's threads. The destructor joins it.
class HostThread {
 public:
  HostThread() = default;
  ~HostThread() {
    if (thread_.joinable()) thread_.join();
  }
  HostThread(const HostThread&) = delete;
  HostThread& operator=(const HostThread&) = delete;

  /// Starts `body`, which must not throw, in the floating-point environment of the contract. Returns false if
  /// no thread can be made.
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
    } catch (const std::exception&) {  // without a thread, or memory for one, the caller goes on alone
    }
    pthread_sigmask(SIG_SETMASK, &before, nullptr);
    return thread_.joinable();
  }

 private:
  std::thread thread_;
};

}  // namespace kith
