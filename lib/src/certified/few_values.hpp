// Collects the distinct values of a set, up to the number that a grid of bytes can have.
#pragma once

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace kith {

class FewValues {
 public:
  static constexpr std::size_t most = 256;

  void add(float value) {
    if (too_many()) return;
    value += 0.0f;  // turns -0 into 0
    std::size_t place = (std::bit_cast<std::uint32_t>(value) * 0x9E3779B1u) >> (32 - place_bits);
    for (; places_[place] != 0; place = (place + 1) % places_.size())
      if (values_[places_[place] - 1u] == value) return;
    values_.push_back(value);
    places_[place] = static_cast<std::uint16_t>(values_.size());
  }

  bool too_many() const { return values_.size() > most; }
  /// Returns the distinct values in the order of their first occurrence; if there are too many, the first
  /// of them.
  const std::vector<float>& values() const { return values_; }

 private:
  static constexpr unsigned place_bits = 10;

  std::vector<float> values_;
  std::array<std::uint16_t, std::size_t{1} << place_bits> places_ = {};  ///< 1 + the place in values_, or 0
};

}  // namespace kith
