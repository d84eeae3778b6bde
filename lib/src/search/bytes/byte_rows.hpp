// Training rows of bytes that stay on one device as bytes. Products of bytes are their chains, so that
// searches by proposer int8 need nothing else of them. What else wants rows recovers them: all of them once,
// where there is room for them as floats, else chunk by chunk for each search. docs/architecture.md.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "kith/index.hpp"
#include "search/bytes/byte_store.hpp"
#include "search/device_memory/index_rows.hpp"
#include "search/parted/parted_rows.hpp"
#include "search/streams/streamed_rows.hpp"

namespace kith {

class ByteRows final : public PartedRows {
 public:
  /// Rows of the caller, on the host or on the device, in memory with room for `room` rows.
  ///   like  the Index of them, but for its rows: device, metric, columns and element
  /// Throws as put_rows() does.
  static std::shared_ptr<const ByteRows> made_of(const Index::State& like, const RowsForIndex& given,
                                                 std::int64_t room);
  /// Rows that the host has prepared: of such elements, so that they lie on the grid.
  static std::shared_ptr<const ByteRows> made_of(const Index::State& like, MatrixView<const float> rows,
                                                 std::uint32_t threads);
  /// The first `rows` rows of `store`, of which none is above `largest`.
  ByteRows(const Index::State& like, std::shared_ptr<ByteStore> store, std::int64_t rows, float largest);

  std::optional<AsOne> as_one(const Index::State& whole, const AskedOfRows& asked) const override;
  Keys search_keys(const Index::State& whole, const CheckedQueries& queries, std::int64_t k,
                   const PlanOptions& options, Trace* trace) const override;
  RadiusKeys within_keys(const Index::State& whole, const CheckedQueries& queries,
                         std::span<const float> radii, const PlanOptions& options,
                         Trace* trace) const override;

  Plan plan(const Index::State& whole, std::int64_t m, std::int64_t k, const PlanOptions& options,
            const Feedback& feedback) const override;
  void prepare(const Index::State& whole, std::int64_t m, std::int64_t k,
               const PlanOptions& options) const override;
  Feedback feedback() const override;
  float largest_element() const override { return largest_; }
  std::size_t memory_bytes() const override;

  void read_rows(std::int64_t first, std::int64_t count, float* to, std::uint32_t threads) const override;
  std::shared_ptr<const PartedRows> with(const Index::State& whole, MatrixView<const float> more,
                                         std::uint32_t threads) const override;
  std::shared_ptr<const PartedRows> with_as_they_are(const Index::State& whole,
                                                     const RowsForIndex& more) const override;
  std::vector<Chunk> as_chunks(const Index::State& whole) const override;
  std::shared_ptr<const PartedRows> of(const Index::State& whole,
                                       std::span<const std::int64_t> places) const override;
  bool is_compact() const override { return true; }

 private:
  /// What searches make of the rows, which snapshots of the same rows share.
  struct Made;

  bool goes_by_bytes(const AskedOfRows& asked) const;
  bool has_plan(const AskedOfRows& asked) const;
  std::shared_ptr<Index::State> in_bytes(const Index::State& whole) const;
  std::shared_ptr<const Index::State> as_floats(const Index::State& whole) const;
  std::shared_ptr<ByteStore> store_with_room(const Index::State& whole, std::int64_t more) const;
  StreamedRows stream(const Index::State& whole) const;

  const Device device_;
  const Metric metric_;
  const Element element_;
  const std::int64_t columns_, dims_;
  const std::shared_ptr<ByteStore> store_;
  const std::int64_t rows_;
  const float largest_;
  const std::shared_ptr<Made> made_;
};

}  // namespace kith
