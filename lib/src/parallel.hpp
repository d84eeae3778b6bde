// Loops over independent rows on the host's cores.
#pragma once

#include <cstdint>
#ifdef _OPENMP
#include <omp.h>
#endif

#include "float_guard.hpp"

namespace kith {

/// Less than this many elements are done before a second thread would have begun.
inline constexpr std::int64_t least_shared_elements = std::int64_t{1} << 16;

/// body(i) for i in 0 .. count-1, in any order, on up to `threads` threads (0: all cores). `body`
/// must not throw.
///   elements  that all calls together look at
template <class Body>
void parallel_for(std::int64_t count, std::int64_t elements, std::uint32_t threads, const Body& body) {
#ifdef _OPENMP
  const int team = threads ? static_cast<int>(threads) : omp_get_max_threads();
#pragma omp parallel num_threads(team) if (count > 1 && elements >= least_shared_elements)
  {
    const FloatGuard guard;
#pragma omp for schedule(dynamic)
    for (std::int64_t i = 0; i < count; ++i) body(i);
  }
#else
  static_cast<void>(threads);
  static_cast<void>(elements);
  const FloatGuard guard;
  for (std::int64_t i = 0; i < count; ++i) body(i);
#endif
}

}  // namespace kith
