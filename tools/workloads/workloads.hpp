// Names the problems that are timed, and computes the least time that a device could take for them.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "kith/metric.hpp"
#include "kith/rows_view.hpp"
#include "workloads/rows.hpp"

namespace kith::workloads {

/// Says what is timed: a whole search on resident rows, or one stage.
enum class Timed { search, distance, select };

struct Workload {
  std::string_view name;
  Timed timed = Timed::search;
  std::int64_t n = 0, dims = 0, m = 0, k = 0;
  std::string_view about;  ///< origin of the problem
  bool real_data = false;  ///< Fashion-MNIST instead of uniform rows
  Metric metric = Metric::squared_l2;
  bool own_rows = false;           ///< the queries are the training rows, each its own first neighbour
  Element element = Element::f32;  ///< element of rows and queries; for bits `dims` counts bits
  /// Whether there are more rows than the host can hold: they are made while the Index grows (made_rows.hpp),
  /// and `all` leaves the workload out.
  bool grown = false;
};

/// Returns all workloads, in the order of docs/benchmarks.md.
const std::vector<Workload>& all_workloads();

/// Returns the workload called `text`. Throws invalid_argument, and lists the names, if there is none.
const Workload& find_workload(std::string_view text);

/// Multiplies the training rows and, if there are several, the queries by `scale`; at least one of
/// each stays.
///   scale  0 < scale <= 1
Workload scaled(const Workload& workload, double scale);

/// Holds the highest measured rates of a device.
struct Ceilings {
  double lane_instructions = 0;  ///< fp32 instructions per second over all lanes: half of the fma FLOP/s
  double bytes = 0;              ///< bytes of device memory per second, read and written
  std::string_view source;
};

/// Returns the ceilings of a device, by the name its driver gives it. Null: they were not measured.
const Ceilings* find_ceilings(std::string_view device_name);

/// Holds a time that no method of a kind can beat.
struct Floor {
  double seconds = 0;
  std::string why;  ///< the formula, with numbers
};

/// Returns the highest of the floors of the plain chain: two instructions per dimension and pair; one pass
/// over the rows, or over the distances; a radix sort if k = n.
Floor floor_of(const Workload& workload, const Ceilings& ceilings);

/// Returns what a rate counts: pairs of a query and a row, or bytes if memory is the floor.
double pairs_of(const Workload& workload);
double bytes_of(const Workload& workload);

}  // namespace kith::workloads
