// What proposers work on instead of the training rows of an Index. docs/certificate.md, section 2.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "kith/metric.hpp"
#include "kith/plan.hpp"
#include "kith/spi.hpp"
#include "kith/trace.hpp"
#include "plan/product_bounds.hpp"
#include "plan/proposal_sizes.hpp"
#include "rows/landed/borrowed.hpp"
#include "rows/resident_rows.hpp"

namespace kith {

/// The largest |element| of a sample of the rows, centred. int8 scales by it: what lies beyond is as right as
/// ever, but dearer, and a single row far from all others is no reason to round these to nothing.
double clip_range_of(MatrixView<const float> rows, const std::vector<float>& centre);

/// Training rows that are not on the device, although their quantized rows are.
class RowsElsewhere {
 public:
  virtual ~RowsElsewhere() = default;
  /// Rows by their places, as they are searched, one behind the other.
  ///   places  ascending, none twice
  ///   to      [places.size(), dims]  out
  /// Throws what reading them throws.
  virtual void read(std::span<const std::uint32_t> places, float* to, std::uint32_t threads) const = 0;
  /// All rows as they are searched, one behind the other, where they lie so in memory: then nothing is to be
  /// read. Null: they do not.
  virtual const float* in_memory() const = 0;
};

/// How rows are quantized.
struct QuantizedForm {
  std::vector<float> centre;
  float scale = 1;
  spi::OnGrid on_grid = spi::OnGrid::no;
  bool half_norms_only =
      false;  ///< of row terms, as spi::QuantizedRows may have it: all rows lie on the grid
};

/// Of the training rows of an Index.
QuantizedForm form_for(const ResidentRows& index, Proposer proposer);

/// Of queries that are multiplied with them: on the same grid where they lie there, too.
///   largest  max |element| of the queries
QuantizedForm form_of_queries(const ResidentRows& index, Proposer proposer, MatrixView<const float> queries,
                              float largest, std::uint32_t threads);

/// Whether a proposer has a bound for queries of which no element is above `largest`: where it has none, they
/// are left to the chain. Asked wherever that is decided, and of an index whose rows are elsewhere before it
/// is searched.
bool has_bound(const ResidentRows& index, Proposer proposer, float largest);

/// Feedback::byte_blur of the training rows.
double byte_blur_of(const ResidentRows& index);

/// The quantized training rows, a part for each chunk, in device memory.
class IndexQuantizedRows {
 public:
  /// Room for the rows of each chunk, which fill() makes. Locks the device. Throws out_of_memory.
  ///   counts     of each chunk
  ///   elsewhere  who has the rows; null: they are in the chunks
  IndexQuantizedRows(const std::shared_ptr<Device::State>& state, std::span<const std::int64_t> counts,
                     const QuantizedForm& form, Proposer proposer,
                     std::shared_ptr<const RowsElsewhere> elsewhere);

  /// Make `count` quantized rows of chunk number `chunk`, from its row `first` on, a multiple of
  /// spi::quantized_block_rows. Waits until they are there. Throws unsupported.
  ///   rows  the rows, in memory that is free afterwards
  ///   from  where the first of them is there, a multiple of the device's block
  void fill(Device::State& state, std::size_t chunk, std::int64_t first, std::int64_t count,
            const spi::Allocation& rows, std::uint32_t threads, std::int64_t from = 0);
  /// All are made: find out whether they lie on their grid exactly. Locks the device.
  void settle(Device::State& state);

  /// Enqueues one PrepareStep a chunk, and reads how far rows are from a grid that they should lie on
  /// exactly. Locks the device. Throws out_of_memory, unsupported.
  ///   copy_rows  keep the rows themselves, too, for rows()
  ///   trace    is told the seconds and the bytes; null: the device is not waited for, but for such a grid
  IndexQuantizedRows(const std::shared_ptr<Device::State>& state, const std::vector<Chunk>& chunks,
                     const QuantizedForm& form, Proposer proposer, bool copy_rows, std::uint32_t threads,
                     Trace* trace);

  /// `rows` quantized rows of chunk number `chunk`, from its row `first` on.
  spi::QuantizedRows of(std::size_t chunk, std::int64_t first, std::int64_t rows) const;
  /// All rows of chunk number `chunk`, one behind the other: where the first search wanted them kept, or the
  /// device reads them elsewhere.
  bool has_rows(std::size_t chunk) const { return reached_ || parts_[chunk].copy.get(); }
  spi::RowBlocks rows(std::size_t chunk) const;
  /// Null where the rows are in the chunks.
  const RowsElsewhere* elsewhere() const { return elsewhere_.get(); }
  /// All rows elsewhere as the device reads them there: has_rows() from then on.
  ///   rows  [of all chunks, dims]
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
  std::unique_ptr<const ReachedMemory> reached_;  ///< after who keeps its memory
};

/// The quantized rows of an Index that `plan` wants, made by the first search that does. Any thread.
/// Throws out_of_memory, unsupported.
///   trace  is told what it took, if it was not there; may be null
std::shared_ptr<const IndexQuantizedRows> quantized_rows_for(const ResidentRows& index, const Plan& plan,
                                                             Trace* trace = nullptr);

}  // namespace kith
