// Keeps training rows in a Source, while the device holds their quantized rows: the device
// proposes, and also ranks if it can read the memory of the host; else the host ranks.
// docs/certificate.md, docs/howto/beyond-one-card.md.
#pragma once

#include <memory>
#include <utility>

#include "certified/quantized_rows.hpp"
#include "rows/landed/borrowed.hpp"
#include "search/streams/streamed_store.hpp"

namespace kith {

/// Chooses the proposer whose quantized rows a device holds: fp16, which needs few candidates ranked, if the
/// device has it and its rows take at most half of the limit or, without one, of its memory; else int8.
Proposer proposer_of_quantized(const DeviceInfo& device, std::int64_t rows, std::int64_t dims,
                               std::size_t memory_limit);

/// Returns what is left of a limit, or of the device's memory, besides the quantized rows, for streamed
/// rows and a search. stream_sizes() takes it as IndexOptions::memory_limit. Throws out_of_memory: nothing
/// is left.
std::size_t room_beside_quantized(const DeviceInfo& device, std::int64_t rows, std::int64_t dims,
                                  std::size_t memory_limit);

/// Returns all rows of a source in host memory that is locked and that the device can read. Null if it
/// cannot, there are too few rows, or the device is the host.
std::unique_ptr<const ReachedMemory> reached(const StreamedSet& set);

class QuantizedStore final : public RowStore {
 public:
  /// Reads all rows once, or twice if a sample misled, and makes the quantized rows.
  ///   set       has sizes of room_beside_quantized()
  ///   proposer  the result of proposer_of_quantized(); rows on a grid of bytes take int8
  /// Throws what read_source() throws; unsupported: the device has no proposer int8, or the metric does not
  /// follow from products; out_of_memory.
  static std::shared_ptr<const QuantizedStore> made_of(const StreamedSet& set, Proposer proposer);

  ///   quantized  chunks without memory, and their quantized rows
  QuantizedStore(const StreamedSet& set, std::shared_ptr<const ResidentRows> quantized)
      : RowStore(quantized->rows, quantized->largest), stream_(set), quantized_(std::move(quantized)) {}

  StoreInfo info() const override;
  /// Returns null if the quantized rows cannot propose.
  std::shared_ptr<const ResidentRows> resident(const SearchRequest& request) const override;
  void each_part(const SearchRequest& request, const VisitPart& visit, Trace* trace) const override;
  Plan plan(std::int64_t m, std::int64_t k, const SearchOptions& options,
            const Feedback& feedback) const override;
  void read(std::int64_t first, std::int64_t count, float* to, std::uint32_t threads) const override {
    stream_.read(first, count, to, threads);
  }
  std::shared_ptr<const RowStore> appended(const RowSchema& all, const RowsForIndex& more) const override {
    return stream_.appended(all, more);
  }
  std::shared_ptr<const RowStore> subset(const RowSchema& schema,
                                         std::span<const std::int64_t> places) const override {
    return stream_.subset(schema, places);
  }

 private:
  const StreamedStore stream_;  ///< for queries that the certificate cannot decide
  const std::shared_ptr<const ResidentRows> quantized_;
};

}  // namespace kith
