// Reports what a search did.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "kith/unstable/plan.hpp"

namespace kith {

/// Holds what one member of a set of devices did in a search.
struct MemberTrace {
  std::string device;         ///< DeviceInfo::spec
  std::int64_t rows = 0;      ///< training rows that it holds
  std::int64_t queries = 0;   ///< queries that it searched
  double share = 0;           ///< its part of rows * queries of all members: 0 ... 1
  double seconds = 0;         ///< host clock during its search
  double device_seconds = 0;  ///< as in Trace
  std::size_t bytes = 0;      ///< device memory of its rows, and of what proposers and boxes keep of them
  Plan plan;                  ///< for the largest block of its rows
};

/// Holds what a search did. Index::search(), Index::within() and Classifier::classify() fill it if it is
/// given, which costs a little time: time stamps surround each step.
struct Trace {
  bool time_steps = true;  ///< in: whether to time each step; false: only totals, without disturbing
                           ///< the search
  /// in: whether a device begins a tile only when all its steps are in the queue (spi::Device::hold()), so
  /// that device_seconds do not depend on how fast the host is. The whole search then takes longer. It is
  /// ignored if steps are timed.
  bool hold_queue = false;
  Plan plan;
  /// Device seconds by step (`distance`, `select`, `nearest`, `merge`, `mask`, `prepare`, `collect`,
  /// `tighten`, `prune`, `rerank`, `vote`); host seconds of transfers (`upload`, `download`), of `finish`,
  /// and of what uses the neighbours (`decide`, if the host counts votes, and `average`). In double precision
  /// also device seconds of `chains_f64`, and host seconds of `round`, in which queries become floats, of
  /// `doubles`, all that follows the search of floats, and of `sum`, which adds distances to sums of classes.
  /// With missing values host seconds of `rank`, and of `extend`, which makes the rows whose products
  /// propose; by projections of `rank`, and of `project`, which makes these of rows and queries.
  std::map<std::string, double> seconds;
  double device_seconds = 0;  ///< device clock from the first step of each query tile to its last
  /// Host clock from the first step of each query tile until the device is done and answers have memory.
  double queue_seconds = 0;
  double total_seconds = 0;  ///< host clock during the whole call
  std::int64_t query_tiles = 0;
  std::int64_t train_tiles = 0;  ///< for one query tile
  /// Candidates of all queries that a proposer listed, and those of them that the chain ranked; for a radius
  /// search, the rows found. Counted if steps are timed.
  std::int64_t listed = 0, collected = 0;
  std::int64_t repeats = 0;  ///< queries whose list overflowed, or whose guess failed, but not when repeated
  std::int64_t fallbacks = 0;  ///< queries left open, for the chain alone (by projections: the ordinary way)
  /// In double precision: candidates whose chain was computed, and queries that were asked again, since other
  /// rows might have been as near.
  std::int64_t ranked_doubles = 0, repeated_doubles = 0;
  /// The b of docs/certificate.md, section 3: the largest of the kernels that may have run; 0 without
  /// a proposer.
  double product_bound = 0;
  std::string proposer_check;  ///< the test of this device's proposer; empty without a proposer
  /// Quantized rows, if this search was the first to need them: seconds of the device's clock, not included
  /// in device_seconds, and device memory. Else 0.
  double quantized_seconds = 0;
  std::size_t quantized_bytes = 0;
  /// Boxes, if this search was the first to need them: seconds of the host's clock, and device memory.
  /// Else 0.
  double boxes_seconds = 0;
  std::size_t boxes_bytes = 0;
  std::int64_t leaves = 0;  ///< leaves of 32 rows that a search by boxes read, for all queries
  /// With Residence::stream: chunks searched, and bytes read from the Source. `seconds` has `read` and `land`
  /// (rows are checked, packed and copied to the device), which run while a chunk is searched, and `wait`,
  /// the time that the search waited for them. If a device takes rows unconverted, `read` is the copy to it,
  /// and `land` is its conversion there, for which the search waits.
  std::int64_t chunks = 0;
  std::uint64_t source_bytes = 0;
  /// Bytes copied from the host to the device, or to the members of a set, and back, by all calls on these
  /// devices during this one. Queries and answers in memory of the device do not count.
  std::uint64_t bytes_to_device = 0, bytes_from_device = 0;
  /// On a set of devices: each member that took part, in the order of the set. The seconds of steps and the
  /// counts above are then sums over the members, which work at the same time; device_seconds and
  /// queue_seconds are the largest of all members.
  std::vector<MemberTrace> members = {};
};

}  // namespace kith
