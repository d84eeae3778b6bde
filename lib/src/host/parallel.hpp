// Runs loops over independent tasks on the host's cores.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>

#include "host/host_threads.hpp"
#include "host/thread_pool.hpp"

namespace kith {

/// Below least_shared_work operations, one thread is done before a second would have begun. Above it, each
/// thread needs least_share operations, or waking it takes as long as its work.
constexpr std::size_t least_shared_work = std::size_t{1} << 17, least_share = std::size_t{1} << 15;

constexpr bool is_shared(std::size_t work) {
  return work >= least_shared_work;
}

/// Returns how many of `team` threads are worth waking for so much work.
inline std::uint32_t team_for(std::size_t work, std::uint32_t team) {
  return is_shared(work) ? static_cast<std::uint32_t>(std::min<std::size_t>(team, work / least_share)) : 1;
}

/// Runs body(task, thread) for every task below `count`, thread < team. Threads take the next task when they
/// are free. `body` must not throw, and runs in the floating-point environment of the contract.
///   work  approximate number of elementary operations of all tasks together
template <class Body>
void run_team(std::size_t count, std::size_t work, std::uint32_t team, const Body& body) {
  run_on_pool(
      count, team_for(work, team),
      [](const void* its, std::size_t task, std::size_t thread) {
        (*static_cast<const Body*>(its))(task, thread);
      },
      &body);
}

/// Runs body(i) for i in 0 .. count-1, which may wait, at the same time on as many threads, or one after
/// another if there are too few.
template <class Body>
void run_each(std::size_t count, const Body& body) {
  run_on_pool(
      count, static_cast<std::uint32_t>(count),
      [](const void* its, std::size_t task, std::size_t) { (*static_cast<const Body*>(its))(task); }, &body);
}

/// Runs body(i) for i in 0 .. count-1, in any order, on up to `threads` threads (0: all cores).
///   elements  number that all calls together read
template <class Body>
void parallel_for(std::int64_t count, std::int64_t elements, std::uint32_t threads, const Body& body) {
  constexpr std::size_t work_an_element = 2;
  const std::size_t work = static_cast<std::size_t>(elements) * work_an_element;
  run_team(static_cast<std::size_t>(count), work, is_shared(work) ? team_size(threads) : 1,
           [&](std::size_t task, std::size_t) { body(static_cast<std::int64_t>(task)); });
}

/// Raises `known` to `value` if that is larger; several threads may call this at once.
template <class T>
void raise(std::atomic<T>& known, T value) {
  T before = known;
  while (before < value && !known.compare_exchange_weak(before, value)) {
  }
}

}  // namespace kith
