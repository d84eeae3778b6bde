// What a search did, for those who ask.
#pragma once

#include <cstdint>
#include <map>
#include <string>

#include "kith/plan.hpp"

namespace kith {

/// Filled by Index::search() and Classifier::classify() when given one. Asking costs a little:
/// each step is then bracketed by time stamps.
struct Trace {
  bool time_steps = true;  ///< in: time each step; false leaves only the totals, undisturbed
  Plan plan;
  /// Device seconds by step (`distance`, `select`, `nearest`, `merge`, `vote`), host seconds of the
  /// transfers (`upload`, `download`) and of `finish`.
  std::map<std::string, double> seconds;
  double device_seconds = 0;  ///< device clock from the first step of each query tile to its last
  double queue_seconds = 0;   ///< host clock around the same, until the device is done
  double total_seconds = 0;   ///< host clock around the whole call
  std::int64_t query_tiles = 0;
  std::int64_t train_tiles = 0;  ///< a query tile
  std::int64_t collected = 0;    ///< candidates that a proposer found and the chain ranked, of all queries
  std::int64_t fallbacks = 0;    ///< queries that had too many, and were searched by the chain alone
};

}  // namespace kith
