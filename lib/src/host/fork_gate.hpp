// Lets kith continue to work in a forked child.
//
// A child has one thread, and all locks in the state of the parent: a lock that another thread held would
// stay held for ever. So fork() waits until no thread is inside a section, and lets none in until the child
// exists. Then all locks of sections are free in the child, and what they protect is consistent. No driver is
// called inside a section: drivers fork, too (compilers do), and would wait for themselves.
#pragma once

#include <cstdint>
#include <mutex>

namespace kith {

/// Returns the number of forks between the process that loaded kith and this one.
std::uint64_t fork_count() noexcept;

/// Is free in a forked child, unless the thread that forked holds it.
class HostMutex {
 public:
  HostMutex();
  void lock();
  void unlock();

 private:
  std::mutex mutex_;
};

}  // namespace kith
