// Training rows that stay on one device packed, as the bytes or halves that they were given as. Searches take
// them as float32, made by the first one where these have room, or chunk by chunk. Rows of bytes are searched
// by exact products, too, and stay beside the floats; halves are let go for them. docs/howto/elements.md.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>

#include "certified/row_sample.hpp"
#include "search/packed/packed_memory.hpp"
#include "search/packed/recovered_rows.hpp"
#include "search/stores/row_store.hpp"
#include "search/streams/streamed_store.hpp"

namespace kith {

class PackedStore final : public RowStore {
 public:
  /// Rows of the caller, in memory with room for `room` rows.
  /// Throws as put_rows() does.
  static std::shared_ptr<const PackedStore> made_of(const RowSchema& schema, const RowsForIndex& given,
                                                    std::int64_t room);
  /// Rows that the host has prepared: of such elements, so that each value is one.
  static std::shared_ptr<const PackedStore> made_of(const RowSchema& schema, MatrixView<const float> rows,
                                                    std::uint32_t threads);
  /// The first `rows` rows of `packed`, of which none is above `largest`.
  PackedStore(const RowSchema& schema, std::shared_ptr<PackedMemory> packed, std::int64_t rows,
              float largest);

  StoreInfo info() const override;
  std::shared_ptr<const ResidentRows> resident(const SearchRequest& request) const override;
  void each_part(const SearchRequest& request, const VisitPart& visit, Trace* trace) const override;
  Plan plan(std::int64_t m, std::int64_t k, const SearchOptions& options,
            const Feedback& feedback) const override;
  void read(std::int64_t first, std::int64_t count, float* to, std::uint32_t threads) const override;
  std::shared_ptr<const RowStore> appended(const RowSchema& all, const RowsForIndex& more) const override;
  std::shared_ptr<const RowStore> subset(const RowSchema& schema,
                                         std::span<const std::int64_t> places) const override;

 private:
  /// How the rows are there: packed, as floats or as both. Whoever reads the packed rows holds them, so that
  /// they may be let go at the same time.
  struct Form {
    std::shared_ptr<PackedMemory> packed;         ///< null: they were let go
    std::shared_ptr<const ResidentRows> floats;   ///< null: they were not made
    std::shared_ptr<const SampledValues> sample;  ///< of the rows; null: no search has asked
  };

  Form form() const;
  Form form_for_search() const;
  void take_sample() const;
  void make_floats() const;
  bool has_room_for_floats() const;
  bool goes_by_bytes(const SearchRequest& request) const;
  std::optional<Plan> plan_by_bytes(std::int64_t m, std::int64_t k, const SearchOptions& options,
                                    const Feedback& feedback) const;
  StreamedStore stream(const Form& of) const;
  ReadRows reader(const Form& of) const;
  std::shared_ptr<PackedMemory> room_behind(const Form& of, std::int64_t more) const;
  std::shared_ptr<const RowStore> appended_to_floats(const RowSchema& all, const RowsForIndex& more) const;
  template <class Put>
  std::shared_ptr<const RowStore> put_behind(const Form& of, const RowSchema& all, std::int64_t count,
                                             const Put& put) const;

  const RowSchema schema_;
  const std::shared_ptr<MadeOfRows> of_floats_;
  const std::shared_ptr<const ResidentRows> exact_;  ///< rows of bytes; null: halves
  mutable DeviceMutex mutex_;                        // around all below
  mutable Form form_;
};

}  // namespace kith
