#include "host/thread_pool.hpp"

#include <pthread.h>
#include <signal.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <mutex>
#include <new>

#include "base/float_guard.hpp"
#if defined(__SSE2__)
#include <immintrin.h>
#endif

namespace kith {
namespace {

using Clock = std::chrono::steady_clock;

/// A thread spins so long for work between two steps of a search before it sleeps: waking it takes about
/// as long.
constexpr auto awake = std::chrono::microseconds(50);
/// After a thread could not be made, none is tried for so long.
constexpr auto pause_after_failure = std::chrono::seconds(1);

void relax() {
#if defined(__SSE2__)
  _mm_pause();
#else
  std::atomic_signal_fence(std::memory_order_seq_cst);
#endif
}

/// Spins until `done()`, for a while; returns whether it is done.
template <class Done>
bool spin(const Done& done) {
  constexpr int looks = 64;
  for (const auto end = Clock::now() + awake; Clock::now() < end;)
    for (int i = 0; i < looks; ++i) {
      if (done()) return true;
      relax();
    }
  return done();
}

/// Describes one call of run_on_pool(), on the stack of its caller.
struct Loop {
  const std::size_t count;
  const std::uint32_t team;
  TaskFunction* const run;
  const void* const body;
  std::atomic<std::size_t> next{0};       // the first task that no thread has taken
  std::atomic<std::uint32_t> joined{1};   // threads that joined, or came too late
  std::atomic<std::uint32_t> helpers{0};  // threads of the pool that work on it
  // These change under the lock of the pool:
  std::atomic<Loop*> older{nullptr};
  Loop* newer = nullptr;

  /// Lets a thread of the pool join. Returns its number in the team; 0 if no help is wanted.
  std::uint32_t join() {
    if (joined.load() >= team || next.load(std::memory_order_relaxed) >= count) return 0;
    const std::uint32_t thread = joined.fetch_add(1);
    if (thread >= team) return 0;
    helpers.fetch_add(1);
    return thread;
  }

  void work(std::size_t thread) {
    const FloatGuard guard;
    std::size_t end = 0;
    for (std::size_t task = 0; take(task, end);)
      for (; task < end; ++task) run(body, task, thread);
  }

 private:
  /// Takes the next tasks for one thread: a part of a fair share of those left, at the end a single one, so
  /// that threads seldom ask and all end together (guided self-scheduling: Polychronopoulos, Kuck 1987).
  bool take(std::size_t& first, std::size_t& end) {
    constexpr std::size_t parts = 4;
    first = next.load(std::memory_order_relaxed);
    do {
      if (first >= count) return false;
      end = first + std::max<std::size_t>((count - first) / (parts * team), 1);
    } while (!next.compare_exchange_weak(first, end, std::memory_order_relaxed));
    return true;
  }
};

class Pool {
 public:
  void run(Loop& loop);
  void lock() { mutex_.lock(); }
  void unlock() { mutex_.unlock(); }

 private:
  static void* thread_main(void* pool);
  [[noreturn]] void serve();
  void open(Loop& loop);
  void close(Loop& loop);
  void grow(std::uint32_t threads);
  bool help();
  void tell_waiting();
  void wait_for_helpers(const Loop& loop);

  std::mutex mutex_;
  std::condition_variable work_, done_;
  std::atomic<Loop*> newest_{nullptr};  // changes under the lock
  std::uint32_t threads_ = 0, sleeping_ = 0;
  Clock::time_point try_again_{};
  std::atomic<std::uint32_t> opened_{0};    // loops opened so far
  std::atomic<std::uint32_t> seeking_{0};   // threads that look for work
  std::atomic<std::uint32_t> visitors_{0};  // threads that look at loops
  std::atomic<std::uint32_t> waiting_{0};   // callers that sleep in wait_for_helpers
};

/// The pool is never destroyed, because its threads outlive main(). It is made again in a forked child, which
/// has no threads.
alignas(Pool) unsigned char place[sizeof(Pool)];

Pool& pool() {
  static Pool* const made = [] {
    watch_forks();
    return new (place) Pool;
  }();
  return *made;
}

void* Pool::thread_main(void* pool) {
  static_cast<Pool*>(pool)->serve();
}

/// Makes threads. The caller holds the lock. The threads block signals, which are for the host
/// program's threads.
void Pool::grow(std::uint32_t threads) {
  if (threads_ >= threads || Clock::now() < try_again_) return;
  sigset_t all, before;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  pthread_attr_t detached;
  pthread_attr_init(&detached);
  pthread_attr_setdetachstate(&detached, PTHREAD_CREATE_DETACHED);
  while (threads_ < threads) {
    pthread_t thread;
    if (pthread_create(&thread, &detached, thread_main, this) != 0) {
      try_again_ = Clock::now() + pause_after_failure;
      break;
    }
    ++threads_;
  }
  pthread_attr_destroy(&detached);
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
}

/// Helps the newest loop that wants help, since it may be inside an older one, which waits for it. Returns
/// false if there is none. Many threads come at the same moment, and do not queue for the lock: a caller
/// whose loop has ended waits until none looks at loops.
bool Pool::help() {
  visitors_.fetch_add(1);
  Loop* loop = newest_.load();
  std::uint32_t thread = 0;
  while (loop && (thread = loop->join()) == 0) loop = loop->older.load();
  if (visitors_.fetch_sub(1) == 1) tell_waiting();
  if (!loop) return false;
  loop->work(thread);
  // Once the last helper has left, the caller may return and destroy the loop: it must not be touched
  // after this.
  if (loop->helpers.fetch_sub(1) == 1) tell_waiting();
  return true;
}

void Pool::tell_waiting() {
  if (waiting_.load() == 0) return;
  const std::lock_guard lock(mutex_);
  done_.notify_all();
}

void Pool::serve() {
  for (;;) {
    const std::uint32_t seen = opened_.load();
    if (help()) continue;
    seeking_.fetch_add(1);
    const bool opened = spin([&] { return opened_.load(std::memory_order_relaxed) != seen; });
    seeking_.fetch_sub(1);
    if (opened) continue;
    std::unique_lock lock(mutex_);
    if (opened_.load() != seen) continue;
    ++sleeping_;
    work_.wait(lock);
    --sleeping_;
  }
}

void Pool::open(Loop& loop) {
  const auto useful = static_cast<std::uint32_t>(std::min<std::size_t>(loop.team, loop.count)) - 1;
  std::uint32_t to_wake = 0;
  bool all = false;
  {
    const std::lock_guard lock(mutex_);
    grow(useful);
    Loop* const older = newest_.load();
    loop.older.store(older);
    if (older) older->newer = &loop;
    newest_.store(&loop);
    opened_.fetch_add(1);
    const std::uint32_t seeking = seeking_.load();
    to_wake = std::min(sleeping_, useful > seeking ? useful - seeking : 0);
    all = to_wake == sleeping_;
  }
  if (all) return work_.notify_all();  // one call of the system
  for (; to_wake > 0; --to_wake) work_.notify_one();
}

void Pool::close(Loop& loop) {
  {
    const std::lock_guard lock(mutex_);
    Loop* const older = loop.older.load();
    if (loop.newer)
      loop.newer->older.store(older);
    else
      newest_.store(older);
    if (older) older->newer = loop.newer;
  }
}

/// Waits for threads that look at loops first: one of them may be about to join.
void Pool::wait_for_helpers(const Loop& loop) {
  const auto alone = [&] { return visitors_.load() == 0 && loop.helpers.load() == 0; };
  if (spin(alone)) return;
  std::unique_lock lock(mutex_);
  waiting_.fetch_add(1);
  done_.wait(lock, alone);
  waiting_.fetch_sub(1);
}

/// The end of a thread in the middle of a task (pthread_cancel) waits for the helpers, too.
void Pool::run(Loop& loop) {
  struct Ending {
    Pool& pool;
    Loop& loop;
    ~Ending() {
      pool.close(loop);
      pool.wait_for_helpers(loop);
    }
  };
  open(loop);
  const Ending ending{*this, loop};
  loop.work(0);
}

}  // namespace

void run_on_pool(std::size_t count, std::uint32_t team, TaskFunction* run, const void* body) {
  Loop loop{count, team, run, body};
  if (count > 1 && team > 1) {
    pool().run(loop);
  } else {
    loop.work(0);
  }
}

void thread_pool_before_fork() {
  pool().lock();
}

void thread_pool_in_parent() {
  pool().unlock();
}

void thread_pool_in_child() {
  new (&pool()) Pool;
}

}  // namespace kith
