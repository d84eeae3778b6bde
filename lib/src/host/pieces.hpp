// Loops over pieces of work that may fail.
#pragma once

#include <atomic>
#include <cstddef>
#include <exception>
#include <mutex>

#include "host/parallel.hpp"

namespace kith {

/// run_team() of a body(piece, thread) that may throw: what the first of the pieces that failed threw is
/// thrown when all threads are done, and pieces that no thread has begun by then are left out.
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
