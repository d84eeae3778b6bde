// Memory of key lists, which one search leaves to the next.
#pragma once

#include <cstddef>
#include <mutex>
#include <vector>

#include "kith/keys.hpp"

namespace kith {

/// Millions of keys are merged sooner than new memory for them is made. Any thread takes and gives back.
class KeyBuffers {
 public:
  /// Keys of an earlier search, to be overwritten; empty where none are kept.
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
