// Training rows that stay in a Source, while the device holds their quantized rows: the device proposes, and
// ranks where it reads the memory of the host; else the host ranks. docs/certificate.md,
// docs/howto/beyond-one-card.md.
#pragma once

#include <memory>
#include <utility>

#include "certified/quantized_rows.hpp"
#include "rows/landed/borrowed.hpp"
#include "search/parted/kept_keys.hpp"
#include "search/streams/streamed_rows.hpp"

namespace kith {

/// Whose quantized rows a device is to hold: those of fp16, of which few candidates are ranked, where it has
/// that proposer and they take at most half of the limit or, without one, of its memory; else those of int8.
Proposer proposer_of_quantized(const DeviceInfo& device, std::int64_t rows, std::int64_t dims,
                               std::size_t memory_limit);

/// What is left of a limit, or of the device's memory, beside the quantized rows: for rows on their way, and
/// for a search. IndexOptions::memory_limit of stream_sizes(). Throws out_of_memory: nothing is.
std::size_t room_beside_quantized(const DeviceInfo& device, std::int64_t rows, std::int64_t dims,
                                  std::size_t memory_limit);

/// All rows of a source as the device reads them in the host's memory, which the system then holds in place.
/// Null: it cannot, there are too few, or the device is the host.
std::unique_ptr<const ReachedMemory> reached(const StreamedSet& set);

class QuantizedElsewhere final : public PartedRows {
 public:
  /// Reads all rows once, or twice where a sample misled, and makes the quantized rows.
  ///   set       with sizes of room_beside_quantized()
  ///   proposer  of proposer_of_quantized(); rows on a grid of bytes take int8
  /// Throws what read_source() throws; unsupported: the device has no proposer int8, or the metric does not
  /// follow from products; out_of_memory.
  QuantizedElsewhere(const StreamedSet& set, Proposer proposer);

  Keys search_keys(const Index::State& whole, const CheckedQueries& queries, std::int64_t k,
                   const PlanOptions& options, Trace* trace) const override;
  void take_back(Keys&& keys) const override { kept_.put(std::move(keys)); }
  RadiusKeys within_keys(const Index::State& whole, const CheckedQueries& queries,
                         std::span<const float> radii, const PlanOptions& options,
                         Trace* trace) const override {
    return stream_.within_keys(whole, queries, radii, options, trace);
  }

  Plan plan(const Index::State& whole, std::int64_t m, std::int64_t k, const PlanOptions& options,
            const Feedback& feedback) const override;
  void prepare(const Index::State& whole, std::int64_t m, std::int64_t k,
               const PlanOptions& options) const override {
    static_cast<void>(plan(whole, m, k, options, {}));  // all is made already
  }
  Feedback feedback() const override { return {}; }
  float largest_element() const override { return rows_->largest; }
  Residence residence() const override { return Residence::quantized; }
  std::size_t memory_bytes() const override;

  void read_rows(std::int64_t first, std::int64_t count, float* to, std::uint32_t threads) const override {
    stream_.read_rows(first, count, to, threads);
  }
  std::shared_ptr<const PartedRows> with(const Index::State& whole, MatrixView<const float> more,
                                         std::uint32_t threads) const override {
    return stream_.with(whole, more, threads);
  }
  std::shared_ptr<const PartedRows> of(const Index::State& whole,
                                       std::span<const std::int64_t> places) const override {
    return stream_.of(whole, places);
  }
  bool is_compact() const override { return true; }

 private:
  void quantize(Index::State& rows, const QuantizedForm& form) const;
  bool proposes(const CheckedQueries& queries, std::int64_t k, const PlanOptions& options) const;
  PlanOptions device_options(const PlanOptions& options) const;
  void search_open(const Index::State& whole, const CheckedQueries& queries, const PlanOptions& options,
                   Trace* trace, Keys& found) const;

  const StreamedSet set_;
  const StreamedRows stream_;  ///< for what the certificate cannot decide
  Proposer proposer_;
  std::shared_ptr<const Index::State> rows_;  ///< chunks without memory, and their quantized rows
  mutable KeptKeys kept_;
};

}  // namespace kith
