// Keeps account of the places in memory that several Index objects share: each uses a number of the
// first rows.
#pragma once

#include <cstdint>
#include <mutex>

namespace kith {

class RowRoom {
 public:
  ///   room     number of places
  ///   claimed  places that are taken, from the first on
  explicit RowRoom(std::int64_t room, std::int64_t claimed = 0) : room_(room), claimed_(claimed) {}

  /// Claims places first ... first + count - 1, so that the caller may put rows there. Returns false if
  /// places from `first` on were claimed before, or there is no room.
  bool claim(std::int64_t first, std::int64_t count) {
    const std::lock_guard lock(mutex_);
    if (first != claimed_ || count > room_ - first) return false;
    claimed_ += count;
    return true;
  }
  /// Gives back claimed places in which no rows were put.
  void give_back(std::int64_t first, std::int64_t count) {
    const std::lock_guard lock(mutex_);
    if (claimed_ == first + count) claimed_ = first;
  }
  /// Returns whether claiming one place behind `rows` rows would succeed.
  bool has_room_behind(std::int64_t rows) const {
    const std::lock_guard lock(mutex_);
    return rows == claimed_ && rows < room_;
  }

 private:
  const std::int64_t room_;
  mutable std::mutex mutex_;  // guards all members below
  std::int64_t claimed_;
};

}  // namespace kith
