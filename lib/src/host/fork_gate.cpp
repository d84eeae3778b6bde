#include "host/fork_gate.hpp"

#include <pthread.h>

#include <atomic>
#include <new>

#include "host/thread_pool.hpp"

namespace kith {
namespace {

std::atomic<std::uint64_t> forks{0};
std::atomic<int> inside{0};  // threads inside a section
std::atomic<int> closed{0};  // 1: a fork waits, and no thread may enter
thread_local int depth = 0;  // nested sections of this thread

/// Returns the lock that is held during a fork, so that only one happens at a time. It is never destroyed,
/// and made again in a child.
std::mutex& forking() {
  alignas(std::mutex) static unsigned char place[sizeof(std::mutex)];
  static std::mutex* const made = new (place) std::mutex;
  return *made;
}

void enter() {
  if (depth++ > 0) return;
  for (;;) {
    inside.fetch_add(1);
    if (!closed.load()) return;
    if (inside.fetch_sub(1) == 1) inside.notify_all();
    closed.wait(1);
  }
}

void leave() {
  if (--depth > 0) return;
  if (inside.fetch_sub(1) == 1 && closed.load()) inside.notify_all();
}

void open_gate() {
  closed.store(0);
  closed.notify_all();
}

// A thread that forks inside a section does not wait, since two such threads would wait for each other.
void before_fork() {
  if (depth == 0) {
    forking().lock();
    closed.store(1);
    for (int n; (n = inside.load()) != 0;) inside.wait(n);
  }
  thread_pool_before_fork();
}

void in_parent() {
  thread_pool_in_parent();
  if (depth > 0) return;
  open_gate();
  forking().unlock();
}

void in_child() {
  forks.fetch_add(1);
  thread_pool_in_child();
  new (&forking()) std::mutex;
  inside.store(depth > 0 ? 1 : 0);
  open_gate();
}

}  // namespace

void watch_forks() {
  static const int registered = pthread_atfork(before_fork, in_parent, in_child);
  static_cast<void>(registered);
}

std::uint64_t fork_count() noexcept {
  return forks.load(std::memory_order_relaxed);
}

HostMutex::HostMutex() {
  watch_forks();
}

void HostMutex::lock() {
  enter();
  mutex_.lock();
}

void HostMutex::unlock() {
  mutex_.unlock();
  leave();
}

}  // namespace kith
