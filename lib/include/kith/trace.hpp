// What a search did, for those who ask.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "kith/plan.hpp"

namespace kith {

/// What one member of a set of devices did in a search.
struct MemberTrace {
  std::string device;         ///< DeviceInfo::spec
  std::int64_t rows = 0;      ///< training rows that it holds
  std::int64_t queries = 0;   ///< queries that it searched for
  double share = 0;           ///< of rows * queries of all members together: 0 ... 1
  double seconds = 0;         ///< host clock around its search
  double device_seconds = 0;  ///< as in Trace
  std::size_t bytes = 0;      ///< device memory of its rows, with what proposers and boxes keep of them
  Plan plan;                  ///< of the largest block of rows that it holds
};

/// Filled by Index::search(), Index::within() and Classifier::classify() when given one. Asking costs a
/// little: each step is then bracketed by time stamps.
struct Trace {
  bool time_steps = true;  ///< in: time each step; false leaves only the totals, undisturbed
  /// in: a device begins a tile when all its steps are in the queue (spi::Device::hold()), so that
  /// device_seconds are those of the device however slow the host is. Takes longer in all. Not where steps
  /// are timed.
  bool hold_queue = false;
  Plan plan;
  /// Device seconds by step (`distance`, `select`, `nearest`, `merge`, `mask`, `prepare`, `collect`,
  /// `tighten`, `prune`, `rerank`, `vote`), host seconds of the transfers (`upload`, `download`), of
  /// `finish`, and of what becomes of the neighbours (`decide`, where the host counts votes, and `average`).
  std::map<std::string, double> seconds;
  double device_seconds = 0;  ///< device clock from the first step of each query tile to its last
  double queue_seconds =
      0;  ///< host clock around the same, until the device is done and there is room for answers
  double total_seconds = 0;  ///< host clock around the whole call
  std::int64_t query_tiles = 0;
  std::int64_t train_tiles = 0;  ///< a query tile
  /// Candidates that a proposer listed, and of these the ones that the chain ranked, of all queries; of a
  /// radius search, what it found. Counted where steps are timed.
  std::int64_t listed = 0, collected = 0;
  std::int64_t repeats = 0;  ///< queries that had too many, or a guess that failed, but not when asked again
  std::int64_t fallbacks = 0;  ///< queries that had too many to the end, and were searched by the chain alone
  /// b of docs/certificate.md, section 3, the largest of the kernels that may have run; 0 without a proposer
  double product_bound = 0;
  std::string proposer_check;  ///< what this device passed before it could propose; empty without a proposer
  /// What a proposer works on instead of the training rows, where this search was the first to need it:
  /// seconds of the device's clock, which are not among device_seconds, and device memory. Else 0.
  double quantized_seconds = 0;
  std::size_t quantized_bytes = 0;
  /// Boxes, where this search was the first to need them: seconds of the host's clock, and device memory.
  double boxes_seconds = 0;
  std::size_t boxes_bytes = 0;
  std::int64_t leaves = 0;  ///< of 32 rows that a search by boxes read, of all queries
  /// With Residence::stream: chunks that were searched, and bytes that were read of the Source. `seconds` has
  /// `read` and `land` (rows checked, packed and copied to the device), which go on while a chunk is
  /// searched, and `wait`, how long the search waited for them. Where a device takes rows as they are, `read`
  /// is the way to it, and `land`, for which the search waits, what it does with them there.
  std::int64_t chunks = 0;
  std::uint64_t source_bytes = 0;
  /// On a set of devices: each member that took part, in the order of the set. The seconds of steps and what
  /// is counted above are then sums over the members, who work at the same time; device_seconds and
  /// queue_seconds are those of the member with the largest.
  std::vector<MemberTrace> members = {};
};

}  // namespace kith
