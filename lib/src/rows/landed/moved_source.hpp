// A Source of rows as an Index compares them: moved by a centre, into a box, or as its metric prepares them.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "kith/source.hpp"
#include "rows/index_state.hpp"

namespace kith {

/// Moves the rows of another Source each time they are read, on the host.
class MovedSource final : public Source {
 public:
  /// `by` has no rows; its first_row is the number of row 0 in messages.
  MovedSource(std::shared_ptr<const Source> all, std::shared_ptr<const Index::State> by);

  RowsInfo info() const override;
  /// Throws as the other Source does, and as MovedRows does for rows that cannot be moved.
  void read(std::int64_t first, std::int64_t count, void* to) const override;
  std::uint64_t state() const override;
  std::string name() const override { return all_->name(); }

 private:
  const std::shared_ptr<const Source> all_;
  const std::shared_ptr<const Index::State> by_;
  std::uint64_t moves_;  ///< a fingerprint of how rows are moved
};

}  // namespace kith
