// The quantized training rows of an Index, on which proposers work. docs/certificate.md, section 2.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "kith/metric.hpp"
#include "kith/spi.hpp"
#include "kith/trace.hpp"
#include "kith/unstable/plan.hpp"
#include "plan/product_bounds.hpp"
#include "plan/proposal_sizes.hpp"
#include "rows/landed/borrowed.hpp"
#include "rows/landed/query_rows.hpp"
#include "rows/resident_rows.hpp"

namespace kith {

/// Returns the largest |element| of a sample of the rows, centred. int8 scales by it. Rows beyond it are
/// answered exactly, too, but cost more; to scale by a single outlier would round all other rows to
/// almost nothing.
double clip_range_of(MatrixView<const float> rows, const std::vector<float>& centre);

/// Training rows that are not on the device, although their quantized rows are.
class RowsElsewhere {
 public:
  virtual ~RowsElsewhere() = default;
  /// Reads rows by their places, as a search sees them, one behind the other.
  ///   places  ascending, without duplicates
  ///   to      [places.size(), dims]  out
  /// Throws what reading the rows throws.
  virtual void read(std::span<const std::uint32_t> places, float* to, std::uint32_t threads) const = 0;
  /// Returns all rows, [n, dims], if they lie in memory as a search sees them: then nothing need be read.
  /// Else null.
  virtual const float* in_memory() const = 0;
};

/// How rows are quantized.
struct QuantizedForm {
  std::vector<float> centre;
  float scale = 1;
  spi::OnGrid on_grid = spi::OnGrid::no;
  /// All rows lie on the grid, so that their terms are half norms alone: spi::QuantizedRows::row_terms.
  bool half_norms_only = false;
};

/// Of the training rows of an Index.
QuantizedForm form_for(const ResidentRows& index, Proposer proposer);

/// Returns the form of queries: that of the training rows' grid if the queries lie on it, too.
///   largest  max |element| of the queries
QuantizedForm form_of_queries(const ResidentRows& index, Proposer proposer, const QueryRows& queries,
                              float largest, std::uint32_t threads);

/// Whether a proposer has a bound for queries of which no element is above `largest`: where it has none, they
/// are left to the chain. Asked wherever that is decided, and of an index whose rows are elsewhere before it
/// is searched.
bool has_bound(const ResidentRows& index, Proposer proposer, float largest);

/// Feedback::byte_blur of the training rows.
double byte_blur_of(const ResidentRows& index);

/// The quantized training rows in device memory, one part for each chunk.
class IndexQuantizedRows {
 public:
  /// Allocates memory for the rows of each chunk, which fill() quantizes. Locks the device.
  /// Throws out_of_memory.
  ///   counts     rows of each chunk
  ///   elsewhere  has the rows; null: they are in the chunks
  IndexQuantizedRows(const std::shared_ptr<Device::State>& state, std::span<const std::int64_t> counts,
                     const QuantizedForm& form, Proposer proposer,
                     std::shared_ptr<const RowsElsewhere> elsewhere);

  /// Quantizes `count` rows of chunk `chunk`, from its row `first` on, a multiple of
  /// spi::quantized_block_rows. Waits until they are made. Throws unsupported.
  ///   rows  memory of the rows, which is free afterwards
  ///   from  the first of them in it, a multiple of the device's block
  void fill(Device::State& state, std::size_t chunk, std::int64_t first, std::int64_t count,
            const spi::Allocation& rows, std::uint32_t threads, std::int64_t from = 0);
  /// Checks whether rows lie on their grid exactly, once fill() has made all. Locks the device.
  void settle(Device::State& state);

  /// Enqueues one PrepareStep a chunk. If rows should lie on a grid exactly, reads how far they are from it.
  /// Locks the device. Throws out_of_memory, unsupported.
  ///   copy_rows  keeps the rows themselves, too, for rows()
  ///   trace      gets seconds and bytes; null: the device is waited for only in case of such a grid
  IndexQuantizedRows(const std::shared_ptr<Device::State>& state, const std::vector<Chunk>& chunks,
                     const QuantizedForm& form, Proposer proposer, bool copy_rows, std::uint32_t threads,
                     Trace* trace);

  /// Returns `rows` quantized rows of chunk `chunk`, from its row `first` on.
  spi::QuantizedRows of(std::size_t chunk, std::int64_t first, std::int64_t rows) const;
  /// All rows of chunk `chunk`, row-major: available if the first search kept a copy, or if the device reads
  /// rows that are elsewhere.
  bool has_rows(std::size_t chunk) const { return reached_ || parts_[chunk].copy.get(); }
  spi::RowBlocks rows(std::size_t chunk) const;
  /// Returns null if the rows are in the chunks.
  const RowsElsewhere* elsewhere() const { return elsewhere_.get(); }
  /// Lets the device read all rows that are elsewhere: has_rows() is true from then on.
  ///   rows  [all rows, dims]
  void reach(std::unique_ptr<const ReachedMemory> rows) { reached_ = std::move(rows); }
  spi::Grid<float> centre() const;
  float scale() const { return scale_; }
  spi::OnGrid on_grid() const { return on_grid_; }
  std::size_t bytes() const;

 private:
  struct Part {
    DeviceMemory rows, row_terms;
    DeviceMemory copy;  ///< of the rows, row-major; empty without one
    std::int64_t count;
  };
  bool all_on_grid(spi::Device& device) const;

  Proposer proposer_;
  std::size_t dims_;
  float scale_;
  spi::OnGrid on_grid_;
  std::size_t terms_a_row_;
  DeviceMemory centre_;
  std::vector<Part> parts_;
  std::shared_ptr<const RowsElsewhere> elsewhere_;
  std::unique_ptr<const ReachedMemory> reached_;  ///< declared after elsewhere_, which keeps its memory
};

/// Returns the quantized rows that `plan` needs; the first search that does makes them. Safe from any thread.
/// Throws out_of_memory, unsupported.
///   trace  is told what it took, if it was not there; may be null
std::shared_ptr<const IndexQuantizedRows> quantized_rows_for(const ResidentRows& index, const Plan& plan,
                                                             Trace* trace = nullptr);

}  // namespace kith
