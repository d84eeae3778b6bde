// The threads of kith on the host: made when a loop first wants them, asleep between loops, kept.
#pragma once

#include <cstddef>
#include <cstdint>

namespace kith {

/// What a loop does for one task, on thread `thread` of its team.
using TaskFunction = void(const void* body, std::size_t task, std::size_t thread);

/// run(body, task, thread) for every task below `count`, thread < team. The caller is thread 0, works, and
/// returns when all are done; threads of the pool join it as they are free, so that loops of several
/// callers, and loops within loops, share them, and none waits for a thread that has other work. Where no
/// thread can be made, the caller does all. `run` must not throw, and runs with the floating-point
/// environment of the contract. Team and count are at least 1.
void run_on_pool(std::size_t count, std::uint32_t team, TaskFunction* run, const void* body);

// Around fork(), called by fork_gate.cpp: a child begins without threads.
void thread_pool_before_fork();
void thread_pool_in_parent();
void thread_pool_in_child();

/// From now on fork() is prepared for (fork_gate.cpp).
void watch_forks();

}  // namespace kith
