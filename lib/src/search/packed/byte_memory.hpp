// Rows of bytes in memory of a device, a byte a column: quantized rows of proposer int8 are the rows
// themselves where these are of bytes. Products of bytes are their chains, so that searches by proposer int8
// need nothing else of them. docs/certificate.md, section 4.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "certified/quantized_rows.hpp"
#include "search/packed/packed_memory.hpp"

namespace kith {

/// Whether rows are to stay as bytes: every chain of two such rows is exact, the device keeps and recovers
/// them, and floats would take so much more that they are worth being made only by searches that need them.
/// Rows of few columns go by boxes, which are floats.
///   reserve  IndexOptions::reserve
bool keeps_bytes(const RowSchema& schema, std::int64_t rows, std::int64_t reserve);

class ByteMemory final : public PackedMemory {
 public:
  /// Locks the device. Throws out_of_memory; unsupported: the device cannot recover rows.
  ///   room  rows that may be put here
  ByteMemory(const RowSchema& schema, std::int64_t room);

  bool takes_from(Where) const override { return true; }
  bool holds(MatrixView<const float> rows, std::uint32_t threads) const override;
  float put(std::int64_t first, const RowsView& rows, const Landing& how) override;
  void put(std::int64_t first, MatrixView<const float> rows, std::uint32_t threads) override;
  std::shared_ptr<PackedMemory> with_room(std::int64_t rows, std::int64_t more) const override;
  std::shared_ptr<const ResidentRows> exact_rows(std::int64_t rows, float largest) const override;
  std::size_t bytes() const override { return quantized_->bytes(); }
  /// Enqueued. `first` is a multiple of spi::quantized_block_rows.
  void land(std::int64_t first, std::int64_t count, const spi::Allocation& to) const override;

 private:
  void quantize(std::int64_t first, std::int64_t count, const spi::Allocation& from);
  void fill_block(std::int64_t first, MatrixView<const float> rows);
  /// act(part, its row, row of the range, rows) for each part that a range lies in.
  template <class Act>
  void for_each_part(std::int64_t first, std::int64_t count, const Act& act) const;

  const RowSchema schema_;
  const std::int64_t a_part_;  ///< rows of a part
  const std::shared_ptr<IndexQuantizedRows> quantized_;
};

}  // namespace kith
