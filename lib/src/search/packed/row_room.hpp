// Places of rows in memory that Index objects share: each has the first so many.
#pragma once

#include <cstdint>
#include <mutex>

namespace kith {

class RowRoom {
 public:
  ///   room     rows that have a place
  ///   claimed  of them, from the first on
  explicit RowRoom(std::int64_t room, std::int64_t claimed = 0) : room_(room), claimed_(claimed) {}

  /// Make places first ... first + count - 1 the caller's to put rows in. Returns whether they are: nobody
  /// was given any from `first` on, and there is room.
  bool claim(std::int64_t first, std::int64_t count) {
    const std::lock_guard lock(mutex_);
    if (first != claimed_ || count > room_ - first) return false;
    claimed_ += count;
    return true;
  }
  /// Claimed places where no rows were put after all.
  void give_back(std::int64_t first, std::int64_t count) {
    const std::lock_guard lock(mutex_);
    if (claimed_ == first + count) claimed_ = first;
  }
  /// Whether claim() of one place behind `rows` rows would succeed.
  bool has_room_behind(std::int64_t rows) const {
    const std::lock_guard lock(mutex_);
    return rows == claimed_ && rows < room_;
  }

 private:
  const std::int64_t room_;
  mutable std::mutex mutex_;  // around all below
  std::int64_t claimed_;
};

}  // namespace kith
