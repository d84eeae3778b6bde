// What makes kith go on working in a forked child.
//
// A child has one thread, and every lock as it was: what another thread of the parent held stays held for
// ever. So fork() waits until no thread is in a section, and lets none in until the child exists: then all
// locks of sections are free in the child, and what they protect is whole. No driver runs in a section, since
// drivers fork, too (compilers do), and would wait for themselves.
#pragma once

#include <cstdint>
#include <mutex>

namespace kith {

/// Forks between the process that loaded kith and this one.
std::uint64_t fork_count() noexcept;

/// A lock that is free in a forked child, unless the thread that forked holds it.
class HostMutex {
 public:
  HostMutex();
  void lock();
  void unlock();

 private:
  std::mutex mutex_;
};

}  // namespace kith
