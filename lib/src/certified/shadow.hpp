// What proposers work on instead of the training rows of an Index. docs/certificate.md, section 2.
#pragma once

#include <atomic>
#include <cstdint>
#include <limits>
#include <memory>
#include <string>
#include <vector>

#include "rows/chunks.hpp"
#include "device/device_state.hpp"
#include "kith/metric.hpp"
#include "kith/plan.hpp"
#include "kith/spi.hpp"
#include "kith/trace.hpp"

namespace kith {

/// Whether distances by this metric follow from inner products, with a bound for the error.
bool follows_from_products(Metric metric);

/// The centre that rows are moved by: about the mean of the training rows for distances, whole where
/// the rows are, so that whole numbers stay exact; zero for inner products.
///   returns [dims]
std::vector<float> centre_of(MatrixView<const float> train, Metric metric);

/// The largest |element| of a sample of the rows, centred. int8 scales by it: what lies beyond is as right as
/// ever, but dearer, and a single row far from all others is no reason to round these to nothing.
double reach_of(MatrixView<const float> rows, const std::vector<float>& centre);

/// Whether shadows are in an order of the device's own, in memory for whole multiples of rows and columns,
/// and products are tested as they come: all but gemm, whose library takes rows and writes products.
bool has_own_order(Proposer proposer);

/// Bytes of the shadow of `rows` rows, without their facts.
std::size_t shadow_row_bytes(Proposer proposer, std::int64_t rows, std::int64_t dims);

/// `rows`, or the next multiple of spi::shadow_rows.
std::int64_t whole_shadow_rows(std::int64_t rows);

/// An upper bound for the elements of rows of which none is above `largest`, once they are centred.
double largest_centred(float largest, const std::vector<float>& centre);

/// Whether the bound of `proposer` holds for rows whose centred elements reach these magnitudes.
bool within_range(Proposer proposer, std::int64_t dims, double largest_query, double largest_train);

/// How far a product may be from the exact product of shadows, per unit of their norms: b of
/// docs/certificate.md, section 3, of the kernels for many queries and columns.
double product_bound(Proposer proposer, std::int64_t dims);

/// The largest b of the kernels of a proposer: those of fp16 for few queries and for few columns add
/// in orders of their own.
double largest_product_bound(Proposer proposer, std::int64_t dims);

/// What elements up to `largest` are multiplied by in a shadow: by a power of two for fp16, to become at most
/// 127 for int8. 1 where exponents are those of a float.
float scale_of(Proposer proposer, double largest);

/// The shadow of the training rows, a part for each chunk, in device memory.
class IndexShadow {
 public:
  /// Enqueues one PrepareStep a chunk. Locks the device. Throws out_of_memory, unsupported.
  ///   largest    as largest_centred() says, for int8 reach_of()
  ///   copy_rows  keep the rows themselves, too, for rows()
  ///   trace    is told the seconds and the bytes; null: nobody waits for the device
  IndexShadow(const std::shared_ptr<Device::State>& state, const std::vector<Chunk>& chunks,
              const std::vector<float>& centre, double largest, Proposer proposer, bool copy_rows,
              std::uint32_t threads, Trace* trace);

  /// The shadow of `rows` rows of chunk number `chunk`, from its row `first` on.
  spi::Shadow of(std::size_t chunk, std::int64_t first, std::int64_t rows) const;
  /// All rows of chunk number `chunk`, one behind the other, where the first search wanted them kept.
  bool has_rows(std::size_t chunk) const { return parts_[chunk].copy.get() != nullptr; }
  spi::RowBlocks rows(std::size_t chunk) const;
  spi::Grid<float> centre() const;
  float scale() const { return scale_; }
  std::size_t bytes() const;

  /// Whether a guess from the first blocks was wrong for many queries: neighbours lie in few blocks, and
  /// searches to come should not guess. Any thread.
  bool misleads() const { return misleads_; }
  void tell_misleads() const { misleads_ = true; }

  /// Whether a search for at most k neighbours left most of its queries to the chain: more rows were as near
  /// as bounds can tell than a list holds, and searches that may choose should not propose. Any thread.
  bool overwhelms(std::int64_t k) const { return k >= overwhelms_from_; }
  void tell_overwhelms(std::int64_t k) const {
    std::int64_t from = overwhelms_from_;
    while (k < from && !overwhelms_from_.compare_exchange_weak(from, k)) {
    }
  }

 private:
  struct Part {
    DeviceMemory rows, facts;
    DeviceMemory copy;  ///< of the rows, row-major; empty without one
    std::int64_t count;
  };
  Proposer proposer_;
  std::size_t dims_;
  float scale_;
  DeviceMemory centre_;
  std::vector<Part> parts_;
  mutable std::atomic<bool> misleads_ = false;
  mutable std::atomic<std::int64_t> overwhelms_from_ = std::numeric_limits<std::int64_t>::max();
};

/// Bytes of the shadow of `rows` rows: the rows and their facts.
std::size_t shadow_bytes(Proposer proposer, std::int64_t rows, std::int64_t dims);

/// Bytes of a copy of the rows, row-major, that an Index keeps beside a shadow, for a device that reads
/// single rows faster so; 0 where it keeps none.
std::size_t row_copy_bytes(const DeviceInfo& device, Proposer proposer, std::int64_t rows, std::int64_t dims);

/// Why the proposer of a plan cannot be used on an opened device: what its check() says, or what the kernels
/// that the plan may use make of hard values: every row within its limit must be proposed, and none beyond
/// the bound. Empty when it can. Locks the device.
std::string test_proposer(Device::State& state, const Plan& plan);

/// What test_proposer() does on a device of this kind, in words.
std::string proposer_check(const Plan& plan, DeviceKind kind);

}  // namespace kith
