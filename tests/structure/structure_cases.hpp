// Declares helpers for tests of class structure.
#pragma once

#include "common/device.hpp"
#include "common/oracle.hpp"
#include "kith/structure.hpp"

namespace kith::tests {

using Labels = std::vector<std::int64_t>;
using Numbers = std::vector<std::int64_t>;

/// Returns seven points on a line: class 10 at 0, class 20 at 2 and 4, class 30 twice at 10 and twice at 13.
inline Structure seven(Metric metric = Metric::squared_l2) {
  return {device(), matrix(1, {4, 0, 10, 13, 2, 10, 13}), Labels{20, 10, 30, 30, 20, 30, 30}, metric};
}

inline bool same_bits(double a, double b) {
  return std::bit_cast<std::uint64_t>(a) == std::bit_cast<std::uint64_t>(b);
}

inline void check_equal(const ClassMatrix& found, const ClassMatrix& expected) {
  CHECK(found.classes == expected.classes);
  REQUIRE(found.mean.size() == expected.mean.size());
  for (std::size_t i = 0; i < found.mean.size(); ++i) CHECK(same_bits(found.mean[i], expected.mean[i]));
  CHECK(same_bits(found.informativeness, expected.informativeness));
}

inline void check_equal(const SampleClasses& found, const SampleClasses& expected) {
  CHECK(difference(bits(found.smallest), bits(expected.smallest)) == "");
  REQUIRE(found.mean.size() == expected.mean.size());
  for (std::size_t i = 0; i < found.mean.size(); ++i) CHECK(same_bits(found.mean[i], expected.mean[i]));
}

}  // namespace kith::tests
