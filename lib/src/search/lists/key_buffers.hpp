// Keeps memory of key lists from one search for the next.
#pragma once

#include <cstddef>
#include <mutex>
#include <vector>

#include "kith/keys.hpp"

namespace kith {

/// Keeps memory of merged keys, since allocating it for millions of keys takes longer than merging them. Any
/// thread may call it.
class KeyBuffers {
 public:
  /// Returns the keys of an earlier search, whose memory may be overwritten; empty if none are kept.
  Keys take() {
    const std::lock_guard lock(mutex_);
    if (kept_.empty()) return {};
    Keys keys = std::move(kept_.back());
    kept_.pop_back();
    return keys;
  }

  void put(Keys keys) {
    const std::lock_guard lock(mutex_);
    if (keys.row.capacity() <= most_keys && kept_.size() < most_kept) kept_.push_back(std::move(keys));
  }

 private:
  static constexpr std::size_t most_kept = 8, most_keys = std::size_t{1} << 22;  // 48 MiB each

  std::mutex mutex_;
  std::vector<Keys> kept_;
};

}  // namespace kith
