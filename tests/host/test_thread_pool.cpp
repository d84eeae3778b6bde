// The pool of threads, compiled into the tests once more: each task runs once, threads have different
// numbers, and loops may be nested.
#include "common/test.hpp"
#include "host/thread_pool.hpp"

#include <signal.h>

#include <atomic>
#include <chrono>
#include <future>
#include <thread>

#include "base/float_guard.hpp"

namespace kith::tests {
namespace {

template <class Body>
void loop(std::size_t count, std::uint32_t team, const Body& body) {
  run_on_pool(
      count, team,
      [](const void* its, std::size_t task, std::size_t thread) {
        (*static_cast<const Body*>(its))(task, thread);
      },
      &body);
}

/// Runs a loop and returns what went wrong: a task that did not run exactly once, or two tasks with the same
/// thread number at once.
std::string loop_is_wrong(std::size_t count, std::uint32_t team) {
  std::vector<std::atomic<int>> done(count), busy(team);
  std::atomic<int> wrong = 0;
  loop(count, team, [&](std::size_t task, std::size_t thread) {
    if (thread >= team || busy[thread].fetch_add(1) != 0) ++wrong;
    ++done[task];
    if (thread < team) busy[thread].fetch_sub(1);
  });
  for (const std::atomic<int>& times : done)
    if (times != 1) ++wrong;
  return wrong == 0 ? "" : std::to_string(wrong) + " faults";
}

TEST_SUITE_BEGIN("device");

TEST_CASE("thread pool: every task once, by threads told apart") {
  for (const std::size_t count : {1u, 2u, 3u, 100u, 5000u})
    for (const std::uint32_t team : {1u, 2u, 3u, 8u, 40u}) {
      CAPTURE_ALL(count, team);
      CHECK(loop_is_wrong(count, team) == "");
    }
}

TEST_CASE("thread pool: loops within loops, of many callers at once") {
  std::atomic<int> done = 0;
  std::vector<std::thread> callers;
  for (int i = 0; i < 6; ++i)
    callers.emplace_back([&] {
      for (int again = 0; again < 20; ++again)
        loop(7, 4, [&](std::size_t, std::size_t) {
          loop(5, 3, [&](std::size_t, std::size_t) {
            loop(2, 2, [&](std::size_t, std::size_t) { done.fetch_add(1); });
          });
        });
    });
  for (std::thread& caller : callers) caller.join();
  CHECK(done == 6 * 20 * 7 * 5 * 2);
}

TEST_CASE("thread pool: several threads are in a loop at once, and wake for it again") {
  for (int again = 0; again < 3; ++again) {
    std::atomic<int> here = 0;
    std::atomic<bool> met = false;
    const auto late = std::chrono::steady_clock::now() + std::chrono::seconds(30);
    // Ends early only if all three threads are in the loop at once.
    loop(3, 3, [&](std::size_t, std::size_t) {
      if (++here == 3) met = true;
      while (!met && std::chrono::steady_clock::now() < late) std::this_thread::yield();
    });
    CHECK(met);
    std::this_thread::sleep_for(std::chrono::milliseconds(5));  // gives the threads time to fall asleep
  }
}

TEST_CASE("thread pool: a caller that sleeps is woken by its last helper") {
  std::promise<void> ended;
  std::future<void> end = ended.get_future();
  // If the caller is never woken, this detached thread sleeps for ever, and the test fails by its timeout.
  std::thread([ended = std::move(ended)]() mutable {
    std::atomic<int> here = 0;
    const auto late = std::chrono::steady_clock::now() + std::chrono::seconds(10);
    loop(2, 2, [&](std::size_t, std::size_t thread) {
      ++here;
      while (here < 2 && std::chrono::steady_clock::now() < late) std::this_thread::yield();
      if (thread != 0) std::this_thread::sleep_for(std::chrono::milliseconds(50));
    });
    ended.set_value();
  }).detach();
  CHECK(end.wait_for(std::chrono::seconds(15)) == std::future_status::ready);
}

TEST_CASE("thread pool: its threads take no signal of the host program") {
  std::atomic<int> unblocked = 0;
  std::atomic<int> here = 0;
  const auto late = std::chrono::steady_clock::now() + std::chrono::seconds(30);
  loop(2, 2, [&](std::size_t, std::size_t thread) {
    ++here;
    while (here < 2 && std::chrono::steady_clock::now() < late) std::this_thread::yield();
    sigset_t blocked;
    pthread_sigmask(SIG_SETMASK, nullptr, &blocked);
    if (thread != 0 && sigismember(&blocked, SIGUSR1) != 1) ++unblocked;
  });
  CHECK(here == 2);
  CHECK(unblocked == 0);
}

TEST_SUITE_END();

}  // namespace
}  // namespace kith::tests
