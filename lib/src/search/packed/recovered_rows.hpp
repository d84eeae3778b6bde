// Recovers packed rows of a device as floats, all of them or some at a time.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "kith/matrix_view.hpp"
#include "rows/chunks.hpp"
#include "rows/resident_rows.hpp"
#include "rows/rows_on_device.hpp"

namespace kith {

/// Returns how many rows are recovered at a time: whole blocks of quantized rows, 64 MiB as floats.
std::int64_t floats_at_once(std::int64_t dims);

/// Allocates memory on the device for `rows` rows as RowBlocks. Throws out_of_memory.
DeviceMemory memory_of_floats(const RowSchema& schema, std::int64_t rows);

float largest_of_rows(MatrixView<const float> rows);

/// Reads rows first ... first + count - 1 as floats, to [count, dims]. Locks the device now and then.
void read_recovered(const RowsOnDevice& rows, const RowSchema& schema, std::int64_t first, std::int64_t count,
                    float* to, std::uint32_t threads);

/// Returns the chunks of recovered_chunks() without memory.
std::vector<Chunk> unmade_chunks(const DeviceInfo& device, std::int64_t rows, std::int64_t dims);

/// Returns the first `count` rows as chunks of floats. Throws out_of_memory.
std::vector<Chunk> recovered_chunks(const RowsOnDevice& rows, const RowSchema& schema, std::int64_t count);

/// Reads rows first ... first + count - 1 as floats: to [count, dims].
using ReadRows = std::function<void(std::int64_t first, std::int64_t count, float* to)>;

/// Returns a sample of the rows, [some, dims], in blocks that are spread over all rows.
std::vector<float> sampled_rows(const ReadRows& read, std::int64_t count, std::int64_t dims);

/// Takes rows [some, dims], before which `first` others were taken.
using PutRows = std::function<void(std::int64_t first, MatrixView<const float> rows)>;

/// Passes the rows at these places, which ascend, to `put`, some at a time.
///   returns  max |element|
float copy_some(const ReadRows& read, std::int64_t dims, std::span<const std::int64_t> places,
                const PutRows& put);

}  // namespace kith
