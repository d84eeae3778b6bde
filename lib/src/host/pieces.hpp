// Runs loops over pieces of work that may throw.
#pragma once

#include <atomic>
#include <cstddef>
#include <exception>
#include <mutex>

#include "host/parallel.hpp"

namespace kith {

/// Calls run_team() with a body(piece, thread) that may throw. After a failure, pieces that have not begun
/// are left out; when all threads are done, the exception of the first failed piece is rethrown.
template <class Body>
void run_pieces(std::size_t count, std::size_t work, std::uint32_t team, const Body& body) {
  std::mutex mutex;
  std::exception_ptr failure;
  std::size_t failed = count;
  std::atomic<bool> gives_up = false;
  run_team(count, work, team, [&](std::size_t piece, std::size_t thread) {
    if (gives_up) return;
    try {
      body(piece, thread);
    } catch (...) {
      const std::lock_guard lock(mutex);
      gives_up = true;
      if (piece < failed) failure = std::current_exception();
      failed = piece < failed ? piece : failed;
    }
  });
  if (failure) std::rethrow_exception(failure);
}

}  // namespace kith
