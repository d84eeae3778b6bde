// Keeps training rows in a Source: each search streams them through the device, chunk by chunk.
#pragma once

#include "search/stores/row_store.hpp"
#include "search/streams/chunk_stream.hpp"

namespace kith {

class StreamedStore final : public RowStore {
 public:
  explicit StreamedStore(StreamedSet set) : RowStore(set.rows.rows, set.largest), set_(std::move(set)) {}

  StoreInfo info() const override;
  std::shared_ptr<const ResidentRows> resident(const SearchRequest&) const override { return nullptr; }
  void each_part(const SearchRequest& request, const VisitPart& visit, Trace* trace) const override;
  Plan plan(std::int64_t m, std::int64_t k, const SearchOptions& options,
            const Feedback& feedback) const override;
  void read(std::int64_t first, std::int64_t count, float* to, std::uint32_t threads) const override;
  /// Throws unsupported.
  std::shared_ptr<const RowStore> appended(const RowSchema& all, const RowsForIndex& more) const override;
  /// Throws unsupported.
  std::shared_ptr<const RowStore> subset(const RowSchema& schema,
                                         std::span<const std::int64_t> places) const override;

 private:
  const StreamedSet set_;
};

}  // namespace kith
