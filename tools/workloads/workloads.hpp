// Named problems that are timed, and the least time any device could take for them.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "kith/metric.hpp"
#include "kith/rows_view.hpp"
#include "workloads/rows.hpp"

namespace kith::workloads {

/// What is timed: a whole search on resident rows, or one stage.
enum class Timed { search, distance, select };

struct Workload {
  std::string_view name;
  Timed timed = Timed::search;
  std::int64_t n = 0, dims = 0, m = 0, k = 0;
  std::string_view about;  ///< where it comes from
  bool real_data = false;  ///< Fashion-MNIST instead of uniform rows
  Metric metric = Metric::squared_l2;
  bool own_rows = false;           ///< the queries are the training rows, each its own first neighbour
  Element element = Element::f32;  ///< of rows and queries; of bits `dims` is their number
  /// More rows than the host holds: they are made while the Index grows (made_rows.hpp). `all` leaves it out.
  bool grown = false;
};

/// All of them, in the order of docs/benchmarks.md.
const std::vector<Workload>& all_workloads();

/// Throws invalid_argument: there is none called `text`; the message lists those there are.
const Workload& find_workload(std::string_view text);

/// `scale` times the training rows and, where there are several, the queries; at least one of each.
///   scale  0 < scale <= 1
Workload scaled(const Workload& workload, double scale);

/// The highest rates of a device, as measured.
struct Ceilings {
  double lane_instructions = 0;  ///< fp32 instructions a second over all lanes: half the fma FLOP/s
  double bytes = 0;              ///< device memory, read and written, a second
  std::string_view source;
};

/// Returns the ceilings of a device, by the name its driver gives it. Null: they were not measured.
const Ceilings* find_ceilings(std::string_view device_name);

/// A time that no method of a kind can beat.
struct Floor {
  double seconds = 0;
  std::string why;  ///< the formula, with numbers
};

/// Returns the highest of the floors of the plain chain: two instructions a dimension and pair; one pass
/// over the rows, or over the distances; a radix sort where k = n.
Floor floor_of(const Workload& workload, const Ceilings& ceilings);

/// Returns what a rate counts: pairs of a query and a row, or bytes if memory is the floor.
double pairs_of(const Workload& workload);
double bytes_of(const Workload& workload);

}  // namespace kith::workloads
