// Declares steps for rows and answers in the memory of callers: they turn rows into RowBlocks, and keys
// into answers.
#pragma once

#include <cstddef>
#include <cstdint>

#include "kith/key.hpp"
#include "kith/metric.hpp"
#include "kith/rows_view.hpp"
#include "kith/spi/memory.hpp"

namespace kith::spi {

/// Describes rows as a caller stores them, in memory of the device, at any address.
struct RawRows {
  const Allocation* memory = nullptr;
  Element element = Element::f32;
  std::size_t first = 0;   ///< byte of `memory` at which row 0 begins
  std::size_t stride = 0;  ///< bytes from one row to the next
  std::uint32_t rows = 0;
  std::uint32_t cols = 0;  ///< for bits, the number of bits
};

/// Names the columns of LandStep::found.
enum LandFinding : std::uint32_t {
  largest_bits,  ///< bits of the largest |value|; those of a NaN or an infinity if there is one
  bad_row,       ///< the first row with a NaN or an infinity; no_row: none
  off_grid,      ///< 1: a value is not on LandStep::grid
};
inline constexpr std::size_t land_findings = 3;

/// A grid of floats that bytes stand for: centre + step i with whole i from least_on_grid to most_on_grid.
/// The step is a power of two, and the centre a whole number of steps.
struct FloatGrid {
  float centre = 0;
  float step = 0;   ///< 0: there is no grid
  float scale = 0;  ///< 1 / step
};

/// Converts rows to the form that the chain uses: each value becomes the float32 that it equals, in blocks.
/// For bits a column is a word of 32 bits, with the bytes in their order; bits after the last are 0, and
/// nothing is reported.
struct LandStep {
  static constexpr const char* name = "land";
  RawRows from;                 ///< read only
  Grid<std::uint32_t> columns;  ///< [1, out.dims]  columns of `from` to take; empty: all. Read only
  RowBlocks out;                ///< written, with all of the last block; `first` is a multiple of `block`
  Grid<std::uint32_t> found;    ///< [1, land_findings]  in and out: merged with earlier findings
  std::uint32_t first_row;      ///< the number of row 0 of the caller, for `found`
  /// [1, from.rows]  the rows of the caller to convert, in this order; empty: 0, 1, ... Read only
  Grid<std::uint32_t> chosen = {};
  FloatGrid grid = {};  ///< values are compared to it
};

/// Names the columns of UnitStep::found.
enum UnitFinding : std::uint32_t {
  largest_unit_bits,  ///< bits of the largest |value| of a unit row
  zero_row,           ///< the first row that is all zeros; no_row: none
};
inline constexpr std::size_t unit_findings = 2;

/// Divides rows in place by their Euclidean norms, in double precision: the norm is the square root of the
/// sum of squares, added from column 0 on; each value is divided by it, rounded to double and then to float.
/// Each operation is rounded once, to nearest. A row of zeros has no direction: its values become undefined.
struct UnitStep {
  static constexpr const char* name = "unit";
  RowBlocks rows;             ///< in and out; `first` is a multiple of `block`
  Grid<std::uint32_t> found;  ///< [1, unit_findings]  in and out: merged with earlier findings
  std::uint32_t first_row;    ///< the number of row 0, for `found`
};

/// Turns keys into answers: the distance of metrics.def, with a correctly rounded root, and the number of the
/// row, or -1. A key of a masked pair counts as no_key. The answers of a query are those of its first k keys;
/// with `own`, of its first k keys except that of the row which the query is.
struct FinishStep {
  static constexpr const char* name = "finish";
  Metric metric;
  Grid<Key> keys;           ///< [q, w]  each list ascending; if w < k, there are no more keys. Read only
  Grid<float> distance;     ///< [q, k]  out
  Grid<std::int64_t> rows;  ///< [q, k]  out
  /// [1, rows of keys]  the place of the row of a key; empty: the row itself. Read only
  Grid<std::uint32_t> places = {};
  Grid<std::int64_t> numbers =
      {};                 ///< [1, places]  the number of a place; empty: the place itself. Read only
  std::int64_t own = -1;  ///< query q is at place own + q; below 0: at none
};

/// Describes memory that belongs to a caller.
struct CallersMemory {
  Where where;
  void* memory;           ///< a device pointer of CUDA, a cl_mem, or an address of the host
  std::size_t bytes;      ///< bytes used, from its beginning
  bool is_written;        ///< false: it is only read
  void* stream_or_queue;  ///< the caller's stream or queue, whose work on the memory comes first
};

/// Holds what a caller of OpenCL has opened: a cl_context, cl_device_id and cl_command_queue.
struct CallersDevice {
  void* context;
  void* device;
  void* queue;
};

}  // namespace kith::spi
