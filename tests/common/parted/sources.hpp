// Sources written for tests.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstring>
#include <functional>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "common/data.hpp"
#include "kith/index.hpp"
#include "kith/source.hpp"

namespace kith::tests {

/// A Source that always copies its rows, even if they are in memory, and counts the reads.
class CopiedRows : public Source {
 public:
  explicit CopiedRows(const RowsView& rows) : rows_(memory_source(rows)) {}

  RowsInfo info() const override { return rows_->info(); }
  void read(std::int64_t first, std::int64_t count, void* to) const override {
    if (first < 0 || count < 1 || first + count > info().rows) throw std::logic_error("no such rows");
    ++reads;
    before_read(first, count);
    rows_->read(first, count, to);
  }

  std::function<void(std::int64_t first, std::int64_t count)> before_read = [](std::int64_t, std::int64_t) {};
  mutable std::atomic<int> reads = 0;

 private:
  const std::shared_ptr<const Source> rows_;
};

inline IndexOptions streamed(std::int64_t chunk_rows, IndexOptions options = {}) {
  options.residence = Residence::stream;
  options.chunk_rows = chunk_rows;
  return options;
}

}  // namespace kith::tests
