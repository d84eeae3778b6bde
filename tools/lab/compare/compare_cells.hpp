// How the cells of `kith compare` are filled: the best of a few runs, and errors as text.
#pragma once

#include <algorithm>
#include <chrono>

#include "lab/compare/compare.hpp"

namespace kith::command {

inline constexpr int most_runs = 10;        ///< the first warms up
inline constexpr double long_enough = 0.2;  ///< seconds; after that no further run begins

/// The best of a few runs.
template <class Run>
double best_seconds(const Run& run) {
  double best = run(), all = best;
  for (int i = 1; i < most_runs && all < long_enough; ++i) {
    const double seconds = run();
    all += seconds;
    best = std::min(best, seconds);
  }
  return best;
}

inline double seconds_since(std::chrono::steady_clock::time_point start) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

/// Do `body`; an Error becomes the cell's.
template <class Body>
void in_cell(Cell& cell, const Body& body) {
  try {
    body();
  } catch (const Error& error) {
    if (error.code() == Errc::interrupted) throw;
    const bool refused = error.code() == Errc::unsupported || error.code() == Errc::out_of_memory;
    (refused ? cell.refusal : cell.difference) = error.what();
  }
}

}  // namespace kith::command
