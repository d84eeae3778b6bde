// Keeps training rows packed on one device, as the bytes or halves in which they were given. Searches
// use float32, which the first one makes if there is room, else chunk by chunk. Rows of bytes can
// also be searched by exact products, and stay beside the floats; halves are released when floats are
// made. docs/howto/elements.md.
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
  /// Stores rows of the caller, in memory with room for `room` rows. Throws as put_rows() does.
  static std::shared_ptr<const PackedStore> made_of(const RowSchema& schema, const RowsForIndex& given,
                                                    std::int64_t room);
  /// Stores rows that the host has prepared, all of whose values the element can hold.
  static std::shared_ptr<const PackedStore> made_of(const RowSchema& schema, MatrixView<const float> rows,
                                                    std::uint32_t threads);
  /// Takes the first `rows` rows of `packed`, none of whose elements is above `largest`.
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
  /// Says in which forms the rows exist: packed, as floats, or both. A reader of the packed rows shares them,
  /// so that they can be released meanwhile.
  struct Form {
    std::shared_ptr<PackedMemory> packed;         ///< null: they were released
    std::shared_ptr<const ResidentRows> floats;   ///< null: they were not made
    std::shared_ptr<const SampledValues> sample;  ///< sample of the rows; null: no search has needed it
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
  mutable DeviceMutex mutex_;                        // guards all members below
  mutable Form form_;
};

}  // namespace kith
