// Stores training rows on one device as float32.
#pragma once

#include <memory>
#include <utility>

#include "search/stores/row_store.hpp"

namespace kith {

class ResidentStore final : public RowStore {
 public:
  explicit ResidentStore(std::shared_ptr<const ResidentRows> rows)
      : RowStore(rows->rows, rows->largest), resident_(std::move(rows)) {}

  const std::shared_ptr<const ResidentRows>& resident() const { return resident_; }

  StoreInfo info() const override;
  std::shared_ptr<const ResidentRows> resident(const SearchRequest&) const override { return resident_; }
  void each_part(const SearchRequest& request, const VisitPart& visit, Trace* trace) const override {
    visit(*this, request, trace);
  }
  void read(std::int64_t first, std::int64_t count, float* to, std::uint32_t threads) const override;
  Plan plan(std::int64_t m, std::int64_t k, const SearchOptions& options,
            const Feedback& feedback) const override;
  std::shared_ptr<const RowStore> appended(const RowSchema& all, const RowsForIndex& more) const override;
  std::shared_ptr<const RowStore> subset(const RowSchema& schema,
                                         std::span<const std::int64_t> places) const override;

 private:
  const std::shared_ptr<const ResidentRows> resident_;
};

/// Returns the rows if one device has them as float32, else null.
std::shared_ptr<const ResidentRows> resident_rows(const RowStore& store);

/// Returns the device memory of the rows, and of what searches have made of them.
std::size_t bytes_of(const ResidentRows& rows);

/// Do what Index::plan() and Index::prepare() do.
Plan plan_resident(const ResidentRows& rows, std::int64_t m, std::int64_t k, const SearchOptions& options,
                   const Feedback& feedback);
void prepare_resident(const ResidentRows& rows, std::int64_t m, std::int64_t k, const SearchOptions& options);

/// Returns the rows of these chunks, which are prepared and on the device of `schema`.
///   sample  all rows, or every sample_stride()-th
std::shared_ptr<const ResidentRows> resident_of(const RowSchema& schema, std::vector<Chunk> chunks,
                                                MatrixView<const float> sample, float largest);

/// Appends rows to others that one device has as float32.
///   all     the schema of all rows
///   before  rows in chunks
///   spread  whether what is known of the rows before is kept
std::shared_ptr<const RowStore> appended_to(const RowSchema& all, const ResidentRows& before,
                                            const RowsForIndex& more);

}  // namespace kith
