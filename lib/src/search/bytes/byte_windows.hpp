// Rows on their way into memory of bytes and out of it, some at a time.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "kith/matrix_view.hpp"
#include "rows/chunks.hpp"
#include "search/bytes/byte_store.hpp"
#include "search/device_memory/index_rows.hpp"
#include "search/parted/parted_rows.hpp"

namespace kith {

/// Put rows of a caller to places from `first` on, which are claimed.
///   like     the Index of them: device, metric and columns
///   returns  max |element|
/// Throws as put_rows() does.
float put_in_bytes(ByteStore& store, const Index::State& like, std::int64_t first, const RowsForIndex& given);
/// The same of prepared rows, all of which lie on the grid.
void put_in_bytes(ByteStore& store, const Device& device, std::int64_t first, MatrixView<const float> rows,
                  std::uint32_t threads);

float largest_of_rows(MatrixView<const float> rows);

/// Rows first ... first + count - 1 as floats: to [count, dims]. Locks the device now and then.
void read_recovered(const RowsOnDevice& store, const Device& device, std::int64_t dims, std::int64_t first,
                    std::int64_t count, float* to, std::uint32_t threads);

/// Chunks of floats as recovered_chunks() has them, without memory.
std::vector<Chunk> unmade_chunks(const DeviceInfo& device, std::int64_t rows, std::int64_t dims);

/// The first `rows` rows as chunks of floats. Throws out_of_memory.
std::vector<Chunk> recovered_chunks(const RowsOnDevice& store, const Device& device, std::int64_t rows,
                                    std::int64_t dims);

/// Reads rows first ... first + count - 1 as floats: to [count, dims].
using ReadRows = std::function<void(std::int64_t first, std::int64_t count, float* to)>;

/// Some of the rows, a stretch here and there: [some, dims].
std::vector<float> sampled_rows(const ReadRows& read, std::int64_t count, std::int64_t dims);
std::vector<float> sampled_rows(const PartedRows& rows, std::int64_t count, std::int64_t dims);

/// The first `rows` rows of one store into another, on the device.
void copy_rows(const ByteStore& from, const Device& device, std::int64_t dims, std::int64_t rows,
               ByteStore& to);

/// Takes rows [some, dims] that come behind `first` others.
using PutRows = std::function<void(std::int64_t first, MatrixView<const float> rows)>;

/// put() the rows at these places, which ascend, some at a time.
///   returns  max |element|
float copy_some(const PartedRows& from, std::int64_t dims, std::span<const std::int64_t> places,
                const PutRows& put);

}  // namespace kith
