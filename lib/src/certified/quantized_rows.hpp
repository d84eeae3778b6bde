// The quantized training rows of an Index, which proposers multiply. docs/certificate.md, section 2.
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
#include "rows/queries/query_rows.hpp"
#include "rows/resident_rows.hpp"

namespace kith {

/// Returns the largest |element| of a sample of the rows, centred, which determines the scale of int8. Rows
/// with larger elements are also answered exactly, but cost more. If a single outlier determined the scale,
/// all other rows would be rounded to almost nothing.
double clip_range_of(MatrixView<const float> rows, const std::vector<float>& centre, std::uint32_t threads);

/// Training rows that are not on the device, although their quantized rows are.
class RowsElsewhere {
 public:
  virtual ~RowsElsewhere() = default;
  /// Reads rows by the places that a search has for them, into contiguous memory.
  ///   places  ascending, without duplicates
  ///   to      [places.size(), dims]  out
  /// Throws what reading the rows throws.
  virtual void read(std::span<const std::uint32_t> places, float* to, std::uint32_t threads) const = 0;
  /// Returns all rows, [n, dims], if they are in memory in the form that a search needs, so that they need
  /// not be read. Otherwise returns null.
  virtual const float* in_memory() const = 0;
};

/// How rows are quantized.
struct QuantizedForm {
  std::vector<float> centre;
  float scale = 1;
  spi::OnGrid on_grid = spi::OnGrid::no;
  /// All rows are on the grid, so that their only term is the half norm: spi::QuantizedRows::row_terms.
  bool half_norms_only = false;
};

/// Returns the form of the training rows of an Index.
QuantizedForm form_for(const ResidentRows& index, Proposer proposer);

/// Returns the grid by which rows are moved and scaled, if there is one. With more columns than exact
/// products allow, nothing is gained by knowing that all rows are on it.
ByteGrid grid_for(const ResidentRows& index, Proposer proposer);

/// Returns the form of queries. It has the grid of the training rows if the queries are on it, too.
///   largest  max |element| of the queries
QuantizedForm form_of_queries(const ResidentRows& index, Proposer proposer, const QueryRows& queries,
                              float largest, std::uint32_t threads);

/// Returns what form_of_queries() asks about so many queries.
QueryLook look_for(const ResidentRows& index, Proposer proposer, std::int64_t queries);

/// Returns whether a proposer has a bound for queries with no element above `largest`. Queries without a
/// bound are left to the chain. If the rows are not on the device, the chain cannot search them there, so
/// this is checked before such an index is searched.
bool has_bound(const ResidentRows& index, Proposer proposer, float largest);

/// Returns Feedback::byte_blur and Feedback::half_byte_blur of the training rows.
double byte_blur_of(const ResidentRows& index);
double half_byte_blur_of(const ResidentRows& index);

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

  /// Quantizes `count` rows of chunk `chunk`, from its row `first` on, which is a multiple of
  /// spi::quantized_block_rows. Waits until this is done. Throws unsupported.
  ///   rows  memory of the rows, which may be reused afterwards
  ///   from  the first row in this memory, a multiple of the device's block
  void fill(Device::State& state, std::size_t chunk, std::int64_t first, std::int64_t count,
            const spi::Allocation& rows, std::uint32_t threads, std::int64_t from = 0);
  /// Checks whether all rows are exactly on their grid, after fill() has quantized them. Locks the device.
  void settle(Device::State& state);

  /// Enqueues one PrepareStep per chunk. If rows should be exactly on a grid, reads their residuals. Locks
  /// the device. Throws out_of_memory, unsupported.
  ///   copy_rows  also keeps the rows, for rows()
  ///   trace      gets seconds and bytes; null: waits for the device only if there is such a grid
  IndexQuantizedRows(const std::shared_ptr<Device::State>& state, const std::vector<Chunk>& chunks,
                     const QuantizedForm& form, Proposer proposer, bool copy_rows, std::uint32_t threads,
                     Trace* trace);

  /// Returns `rows` quantized rows of chunk `chunk`, from its row `first` on.
  spi::QuantizedRows of(std::size_t chunk, std::int64_t first, std::int64_t rows) const;
  /// Returns whether rows() can return all rows of chunk `chunk`, row-major: if the first search kept a copy,
  /// or if the device reads rows that are elsewhere.
  bool has_rows(std::size_t chunk) const { return reached_ || parts_[chunk].copy.get(); }
  spi::RowBlocks rows(std::size_t chunk) const;
  /// Returns the source of rows that are elsewhere; null if the rows are in the chunks.
  const RowsElsewhere* elsewhere() const { return elsewhere_.get(); }
  /// Lets the device read all rows that are elsewhere; has_rows() is true from then on.
  ///   rows  [all rows, dims]
  void reach(std::unique_ptr<const ReachedMemory> rows) { reached_ = std::move(rows); }
  spi::Grid<float> centre() const;
  float scale() const { return scale_; }
  spi::OnGrid on_grid() const { return on_grid_; }
  std::size_t bytes() const;

 private:
  struct Part {
    DeviceMemory rows, row_terms;
    DeviceMemory copy;  ///< a row-major copy of the rows; empty without one
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
  std::unique_ptr<const ReachedMemory> reached_;  ///< declared after elsewhere_, whose memory it uses
};

/// Returns the quantized rows that `plan` needs; the first search that needs them makes them, and the first
/// that ranks rows and plans a copy of them makes them again with it, if there is memory. Safe from any
/// thread. Throws out_of_memory, unsupported.
///   ranks  rows are ranked by their elements, so that a copy pays; exact products rank few rows, or none
///   trace  gets the time and memory of making them, if they were not there; may be null
std::shared_ptr<const IndexQuantizedRows> quantized_rows_for(const ResidentRows& index, const Plan& plan,
                                                             bool ranks, Trace* trace = nullptr);

}  // namespace kith
