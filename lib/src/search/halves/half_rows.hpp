// Training rows of f16 or bf16 that stay on one device as they are, two bytes a column, until a search comes
// and float32 has room: then they become float32, and what they were is let go. Where float32 has no room,
// each search lands them chunk by chunk. docs/architecture.md.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "certified/row_sample.hpp"
#include "kith/index.hpp"
#include "search/device_memory/index_rows.hpp"
#include "search/halves/half_store.hpp"
#include "search/parted/parted_rows.hpp"
#include "search/streams/streamed_rows.hpp"

namespace kith {

class HalfRows final : public PartedRows {
 public:
  /// Rows of the caller, which are on the host, in memory with room for `room` rows.
  ///   like  the Index of them, but for its rows: device, metric, columns and element
  /// Throws as put_rows() does.
  static std::shared_ptr<const HalfRows> made_of(const Index::State& like, const RowsForIndex& given,
                                                 std::int64_t room);
  /// Rows that the host has prepared: of such elements, so that each value is one.
  static std::shared_ptr<const HalfRows> made_of(const Index::State& like, MatrixView<const float> rows,
                                                 std::uint32_t threads);
  /// The first `rows` rows of `store`, of which none is above `largest`.
  HalfRows(const Index::State& like, std::shared_ptr<HalfStore> store, std::int64_t rows, float largest);

  Feedback feedback() const override { return of_floats_->lessons.feedback(); }
  Plan plan(const Index::State& whole, std::int64_t m, std::int64_t k, const PlanOptions& options,
            const Feedback& feedback) const override;
  std::optional<AsOne> as_one(const Index::State& whole, const AskedOfRows& asked) const override;
  void prepare(const Index::State& whole, std::int64_t m, std::int64_t k,
               const PlanOptions& options) const override;
  Keys search_keys(const Index::State& whole, const CheckedQueries& queries, std::int64_t k,
                   const PlanOptions& options, Trace* trace) const override;
  std::size_t memory_bytes() const override;
  RadiusKeys within_keys(const Index::State& whole, const CheckedQueries& queries,
                         std::span<const float> radii, const PlanOptions& options,
                         Trace* trace) const override;
  float largest_element() const override { return largest_; }

  bool is_compact() const override { return true; }
  std::shared_ptr<const PartedRows> of(const Index::State& whole,
                                       std::span<const std::int64_t> places) const override;
  void read_rows(std::int64_t first, std::int64_t count, float* to, std::uint32_t threads) const override;
  std::vector<Chunk> as_chunks(const Index::State& whole) const override;
  std::shared_ptr<const PartedRows> with_as_they_are(const Index::State& whole,
                                                     const RowsForIndex& more) const override;
  std::shared_ptr<const PartedRows> with(const Index::State& whole, MatrixView<const float> more,
                                         std::uint32_t threads) const override;

 private:
  /// How the rows are there: as halves, as floats or as both. Whoever reads the halves holds them, so that
  /// they may be let go meanwhile.
  struct Form {
    std::shared_ptr<HalfStore> halves;            ///< null: they were let go
    std::vector<Chunk> floats;                    ///< empty: they were not made
    std::shared_ptr<const SampledValues> sample;  ///< of the rows; null: no search has come
  };

  Form form() const;
  Form form_for_search() const;
  void take_sample() const;
  void make_floats() const;
  std::shared_ptr<const Index::State> as_floats(const Index::State& whole, const Form& of) const;
  std::shared_ptr<HalfStore> store_with_room(const Index::State& whole, std::int64_t more) const;
  StreamedRows stream(const Index::State& whole, const Form& of) const;
  /// The floats alone, without what an Index knows of its rows.
  Index::State in_chunks(const Form& of) const;

  const Device device_;
  const Metric metric_;
  const Element element_;
  const std::int64_t columns_, dims_;
  const std::vector<std::int64_t> features_;
  const std::int64_t rows_;
  const float largest_;
  const std::shared_ptr<MadeOfRows> of_floats_;
  mutable DeviceMutex mutex_;  // around all below
  mutable Form form_;
};

}  // namespace kith
