// Checks, prepares and packs rows of the caller for a device.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string_view>
#include <vector>

#include "device/device_state.hpp"
#include "device/host_buffer.hpp"
#include "kith/matrix_view.hpp"
#include "kith/metric.hpp"
#include "kith/rows_view.hpp"
#include "kith/spi.hpp"
#include "rows/landing.hpp"

namespace kith {

class SentQueries;

/// Rows that a search may use: checked, landed, and for cosine divided by their norms. They are in the
/// caller's memory, or in `own` if the element or the metric requires other values.
struct PreparedRows {
  MatrixView<const float> view;
  Floats own;
  float largest = 0;  ///< max |element|; 0 for bits
};

/// Refuses a view that no memory can contain: without an address, with rows that overlap, or too large.
///   what  names the rows in messages: "training" or "query"
/// Throws invalid_argument.
void check_view(std::string_view where, std::string_view what, const void* data, std::int64_t rows,
                std::int64_t cols, std::int64_t stride, std::int64_t element_bytes);

template <class T>
void check_view(std::string_view where, std::string_view what, MatrixView<const T> view) {
  check_view(where, what, view.data(), view.rows(), view.cols(), view.stride(), sizeof(T));
}

/// Returns a * b. Throws std::length_error if no memory has so many elements.
std::size_t cells_of(std::int64_t a, std::int64_t b);

/// Checks, lands and prepares rows for `metric`.
///   first_row  the number of row 0 in messages
///   what       names them in messages: "training" or "query"
///   features   the columns that count, ascending; the others are not checked. Empty: all
///   sent       takes rows while they are checked, and sends them; null: nobody does. Not for cosine
/// Throws as check_rows() and check_element() do, and invalid_argument: an infinity, or a NaN if the metric
/// takes no gaps (names the first one's row and column), or for cosine a row of zeros.
PreparedRows prepare_rows(std::string_view where, std::string_view what, const RowsView& given, Metric metric,
                          std::uint32_t threads, std::span<const std::int64_t> features = {},
                          std::int64_t first_row = 0, SentQueries* sent = nullptr);

/// Divides a row by its norm, in double; each element is rounded once: docs/contract.md, section 1. Returns
/// false for a row of zeros, which has no direction.
bool make_unit_row(const float* row, std::int64_t dims, float* unit);

/// Returns the columns that count, ascending; all if none is asked for. Throws invalid_argument: a column
/// does not exist, or is named twice.
std::vector<std::int64_t> ordered_features(const std::vector<std::int64_t>& asked, std::int64_t columns);

/// For negative_dot: refuses the first query whose chain could reach inf - inf, because dims * max|q| *
/// max|x| >= FLT_MAX. docs/contract.md, section 3.
void check_range(std::string_view where, Metric metric, MatrixView<const float> queries, float largest_train);

/// Returns how many bytes `rows` rows of `dims` floats take in blocks of `block`.
std::size_t packed_bytes(std::int64_t rows, std::int64_t dims, std::uint32_t block);

/// Writes bytes to device memory, from an offset on.
using WriteBytes = std::function<void(std::size_t offset, const void* from, std::size_t bytes)>;

/// Writes rows as RowBlocks, from row 0 of memory on. They pass through `staging`, which has space for at
/// least one block.
///   reader  who reads `staging`
void write_packed(MatrixView<const float> rows, std::uint32_t block, std::uint32_t threads,
                  std::span<float> staging, Reader reader, const WriteBytes& write);

/// Returns the useful size of staging memory for such rows, in floats.
std::size_t staging_floats(std::int64_t rows, std::int64_t dims, std::uint32_t block);

/// Writes rows to device memory as RowBlocks, from row `begin` of `to` on, a multiple of `block`. Locks
/// the device.
void upload_rows(Device::State& state, spi::Allocation& to, MatrixView<const float> rows, std::uint32_t block,
                 std::uint32_t threads, std::int64_t begin = 0);

/// Does the same from the beginning of `to` on, and may return before the device has copied the rows from the
/// host memory that it returns, which must live until the device has been waited for.
std::unique_ptr<HostBuffer> begin_upload(Device::State& state, spi::Allocation& to,
                                         MatrixView<const float> rows, std::uint32_t block,
                                         std::uint32_t threads);

}  // namespace kith
