// A checksum that shows whether bytes are still those that were written.
#pragma once

#include <cstddef>
#include <cstdint>

namespace kith {

/// FNV-1a of 64 bits. It detects accidental damage, and always that of a single byte, but it does not
/// detect forgery.
class Checksum {
 public:
  void add(const void* bytes, std::size_t size) {
    const auto* from = static_cast<const unsigned char*>(bytes);
    for (std::size_t i = 0; i < size; ++i) sum_ = (sum_ ^ from[i]) * 0x100000001b3u;
  }
  std::uint64_t value() const { return sum_; }

 private:
  std::uint64_t sum_ = 0xcbf29ce484222325u;
};

}  // namespace kith
