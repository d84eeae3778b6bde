// Training rows that stay in a Source: each search passes them through the device, chunk by chunk.
#pragma once

#include "search/parted/kept_keys.hpp"
#include "search/parted/parted_rows.hpp"
#include "search/parted/search_pieces.hpp"
#include "search/streams/chunk_stream.hpp"

namespace kith {

class StreamedRows final : public PartedRows {
 public:
  explicit StreamedRows(StreamedSet set) : set_(std::move(set)) {}

  Keys search_keys(const Index::State& whole, const CheckedQueries& queries, std::int64_t k,
                   const PlanOptions& options, Trace* trace) const override;
  void take_back(Keys&& keys) const override { kept_.put(std::move(keys)); }
  RadiusKeys within_keys(const Index::State& whole, const CheckedQueries& queries,
                         std::span<const float> radii, const PlanOptions& options,
                         Trace* trace) const override;

  Plan plan(const Index::State& whole, std::int64_t m, std::int64_t k, const PlanOptions& options,
            const Feedback& feedback) const override;
  /// Nothing is kept of rows that pass.
  void prepare(const Index::State& whole, std::int64_t m, std::int64_t k,
               const PlanOptions& options) const override;
  Feedback feedback() const override { return {}; }
  float largest_element() const override { return set_.largest; }
  Residence residence() const override { return Residence::stream; }
  std::size_t memory_bytes() const override { return 0; }
  std::uint64_t state() const override { return set_.source ? set_.source->state() : 0; }

  void read_rows(std::int64_t first, std::int64_t count, float* to, std::uint32_t threads) const override;
  /// Throws unsupported.
  std::shared_ptr<const PartedRows> with(const Index::State& whole, MatrixView<const float> more,
                                         std::uint32_t threads) const override;
  /// Throws unsupported.
  std::shared_ptr<const PartedRows> of(const Index::State& whole,
                                       std::span<const std::int64_t> places) const override;
  bool is_compact() const override { return true; }

 private:
  void search_piece(const CheckedQueries& queries, const SearchPiece& piece, const PlanOptions& options,
                    Trace* trace) const;
  void search_what_is_left(const CheckedQueries& queries, const PlanOptions& options, Trace* trace) const;

  const StreamedSet set_;
  mutable KeptKeys kept_;
};

}  // namespace kith
