// Keeps rows of bytes in memory of a device, one byte per column: rows of bytes are their own quantized rows
// for proposer int8. Products of bytes give their chains exactly, so searches by proposer int8 need no other
// form of the rows. docs/certificate.md, section 4.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "certified/quantized_rows.hpp"
#include "search/packed/packed_memory.hpp"

namespace kith {

/// Returns whether rows stay as bytes: every chain of two such rows is exact, the device can keep and recover
/// them, and floats would take so much more memory that only searches which need them should make them. Rows
/// of few columns are searched by boxes, which need floats.
///   reserve  IndexOptions::reserve
bool keeps_bytes(const RowSchema& schema, std::int64_t rows, std::int64_t reserve);

class ByteMemory final : public PackedMemory {
 public:
  /// Locks the device. Throws out_of_memory; unsupported: the device cannot recover rows.
  ///   room  number of places for rows
  ByteMemory(const RowSchema& schema, std::int64_t room);

  bool takes_from(Where) const override { return true; }
  bool holds(MatrixView<const float> rows, std::uint32_t threads) const override;
  float put(std::int64_t first, const RowsView& rows, const Landing& how) override;
  void put(std::int64_t first, MatrixView<const float> rows, std::uint32_t threads) override;
  std::shared_ptr<PackedMemory> with_room(std::int64_t rows, std::int64_t more) const override;
  std::shared_ptr<const ResidentRows> exact_rows(std::int64_t rows, float largest) const override;
  std::size_t bytes() const override { return quantized_->bytes(); }
  /// Enqueues the step. `first` is a multiple of spi::quantized_block_rows.
  void land(std::int64_t first, std::int64_t count, const spi::Allocation& to) const override;

 private:
  void quantize(std::int64_t first, std::int64_t count, const spi::Allocation& from);
  void fill_block(std::int64_t first, MatrixView<const float> rows);
  /// Calls act(part, first row in the part, first row in the range, rows) for each part that the
  /// range overlaps.
  template <class Act>
  void for_each_part(std::int64_t first, std::int64_t count, const Act& act) const;

  const RowSchema schema_;
  const std::int64_t a_part_;  ///< rows of a part
  const std::shared_ptr<IndexQuantizedRows> quantized_;
};

}  // namespace kith
