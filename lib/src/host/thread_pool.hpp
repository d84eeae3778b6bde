// Runs loops on a pool of threads on the host. They are made when a loop first needs them, sleep between
// loops, and stay.
#pragma once

#include <cstddef>
#include <cstdint>

namespace kith {

/// Does one task of a loop, on thread `thread` of its team.
using TaskFunction = void(const void* body, std::size_t task, std::size_t thread);

/// Calls run(body, task, thread) for every task below `count`, thread < team. The caller is thread 0; it
/// works too, and returns when all tasks are done. Free threads of the pool join, so that loops of several
/// callers, and loops within loops, share them, and none waits for a busy thread. If no thread can be made,
/// the caller does all tasks. `run` must not throw, and runs in the floating-point environment of the
/// contract. Team and count are at least 1.
void run_on_pool(std::size_t count, std::uint32_t team, TaskFunction* run, const void* body);

// fork_gate.cpp calls these around fork(): a child begins without threads.
void thread_pool_before_fork();
void thread_pool_in_parent();
void thread_pool_in_child();

/// Registers the handlers that prepare fork() (fork_gate.cpp).
void watch_forks();

}  // namespace kith
