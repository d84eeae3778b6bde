// Loops over independent tasks on the host's cores.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#ifdef _OPENMP
#include <omp.h>
#endif

#include "float_guard.hpp"

namespace kith {

/// Threads for work that may use `asked` of them, 0 being as many as OpenMP would.
inline std::uint32_t team_size(std::uint32_t asked) {
#ifdef _OPENMP
  const auto usual = static_cast<std::uint32_t>(omp_get_max_threads());
  const auto cores = static_cast<std::uint32_t>(omp_get_num_procs());
  return asked ? std::min(asked, std::max(usual, cores)) : usual;
#else
  static_cast<void>(asked);
  return 1;
#endif
}

/// Fewer elementary operations than this are done before a second thread would have begun.
constexpr std::size_t least_shared_work = std::size_t{1} << 17;

/// body(task, thread) for every task below `count`, thread < team. Tasks go to threads as these come
/// free. `body` must not throw, and runs with the floating-point environment of the contract.
///   work  elementary operations of all tasks together, roughly
template <class Body>
void run_team(std::size_t count, std::size_t work, std::uint32_t team, const Body& body) {
  const auto tasks = static_cast<std::int64_t>(count);
#ifdef _OPENMP
#pragma omp parallel num_threads(static_cast <int>(team)) if (count > 1 && work >= least_shared_work)
  {
    const FloatGuard guard;
    const auto thread = static_cast<std::size_t>(omp_get_thread_num());
#pragma omp for schedule(dynamic)
    for (std::int64_t task = 0; task < tasks; ++task) body(static_cast<std::size_t>(task), thread);
  }
#else
  static_cast<void>(team);
  static_cast<void>(work);
  const FloatGuard guard;
  for (std::int64_t task = 0; task < tasks; ++task) body(static_cast<std::size_t>(task), std::size_t{0});
#endif
}

/// body(i) for i in 0 .. count-1, in any order, on up to `threads` threads (0: all cores).
///   elements  that all calls together look at
template <class Body>
void parallel_for(std::int64_t count, std::int64_t elements, std::uint32_t threads, const Body& body) {
  constexpr std::size_t work_an_element = 2;
  run_team(static_cast<std::size_t>(count), static_cast<std::size_t>(elements) * work_an_element,
           team_size(threads), [&](std::size_t task, std::size_t) { body(static_cast<std::int64_t>(task)); });
}

}  // namespace kith
