// Rows that projections are tested with.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <vector>

#include "common/data.hpp"
#include "workloads/random.hpp"

namespace kith::tests {

constexpr std::int64_t wide_columns = 768;

inline float noise(workloads::Random& random) {
  return static_cast<float>(random.below(2001) - 1000) / 1000;
}

/// What rows look like.
struct Look {
  float spread = 1, blur = 0.01f;  ///< along six directions, and in every column
  float offset = 0;
  bool bytes = false;             ///< whole numbers from 0 to 255
  float middle = 128, step = 20;  ///< of these
  bool repeats = false;           ///< a third of the rows repeat others, up to 21 times
  std::int64_t ball = 0;          ///< every so many rows are in a ball in which all are as far apart; 0: none
};

/// Makes rows along six directions, which do not depend on the seed.
inline Matrix rows_along(const Look& look, std::int64_t count, std::uint64_t seed,
                         std::int64_t cols = wide_columns) {
  constexpr std::int64_t rank = 6;
  workloads::Random of_directions(3), random(seed);
  std::vector<float> along(size(rank * cols));
  for (float& value : along) value = noise(of_directions);
  Matrix rows{count, cols, {}};
  rows.values.reserve(size(count * cols));
  for (std::int64_t r = 0; r < count; ++r) {
    if (look.repeats && r % 60 >= 40) {
      const std::vector<float> again(rows.values.end() - cols, rows.values.end());
      rows.values.insert(rows.values.end(), again.begin(), again.end());
      continue;
    }
    float weights[rank];
    const bool in_ball = look.ball > 0 && r % look.ball == look.ball - 1;
    for (float& weight : weights) weight = in_ball ? 3 : noise(random);
    for (std::int64_t d = 0; d < cols; ++d) {
      float value = look.blur * noise(random);
      for (std::int64_t i = 0; i < rank; ++i) value += look.spread * weights[i] * along[size(i * cols + d)];
      value = look.bytes ? std::clamp(std::round(look.middle + look.step * value), 0.0f, 255.0f)
                         : value + look.offset;
      rows.values.push_back(value);
    }
  }
  return rows;
}

}  // namespace kith::tests
