// Rows and answers in the memory of callers: rows become RowBlocks, keys become what a caller sees.
#pragma once

#include <cstddef>
#include <cstdint>

#include "kith/key.hpp"
#include "kith/metric.hpp"
#include "kith/rows_view.hpp"
#include "kith/spi/memory.hpp"

namespace kith::spi {

/// Rows as a caller has them, in memory of the device, at any address.
struct RawRows {
  const Allocation* memory = nullptr;
  Element element = Element::f32;
  std::size_t first = 0;   ///< the byte of `memory` at which row 0 begins
  std::size_t stride = 0;  ///< bytes from one row to the next
  std::uint32_t rows = 0;
  std::uint32_t cols = 0;  ///< of bits their number
};

/// Columns of LandStep::found.
enum LandFinding : std::uint32_t {
  largest_bits,  ///< bits of the largest |value|; of rows that hold a NaN or an infinity, of these
  bad_row,       ///< the first row that holds one; no_row: none does
};
inline constexpr std::size_t land_findings = 2;

/// Rows as the chain takes them: each value the float32 that it equals, in blocks. Of bits a column is a word
/// of 32, the bytes in their order; those behind the last bit are 0, and nothing is found.
struct LandStep {
  static constexpr const char* name = "land";
  RawRows from;                 ///< read only
  Grid<std::uint32_t> columns;  ///< [1, out.dims]  those that count; empty: all. Read only
  RowBlocks out;                ///< written, the last block to its end; `first` is a multiple of `block`
  Grid<std::uint32_t> found;    ///< [1, land_findings]  in and out: what is found joins what was before
  std::uint32_t first_row;      ///< the number of row 0 in `found`
};

/// Keys as a caller sees them: the distance of metrics.def, its root rounded correctly; the row, or -1.
struct FinishStep {
  static constexpr const char* name = "finish";
  Metric metric;
  Grid<Key> keys;           ///< [q, k or more]  of each row the first k; read only
  Grid<float> distance;     ///< [q, k]  out
  Grid<std::int64_t> rows;  ///< [q, k]  out
};

/// Memory that belongs to a caller.
struct CallersMemory {
  Where where;
  void* memory;           ///< a device pointer of CUDA, a cl_mem, or an address of the host
  std::size_t bytes;      ///< that are used, from its beginning on
  bool is_written;        ///< else it is read only
  void* stream_or_queue;  ///< of the caller, whose work on the memory comes first
};

/// What a caller of OpenCL has opened: a cl_context, cl_device_id and cl_command_queue.
struct CallersDevice {
  void* context;
  void* device;
  void* queue;
};

}  // namespace kith::spi
