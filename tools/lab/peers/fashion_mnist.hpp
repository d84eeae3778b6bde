// Fashion-MNIST (Xiao, Rasul, Vollgraf 2017) as floats.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace kith::benchmark {

struct Rows {
  std::int64_t count = 0, dims = 0;
  std::vector<float> values;  ///< [count, dims]
};

/// The images of an idx3-ubyte.gz file, one a row, 0 ... 255.
/// Throws std::runtime_error: it is missing, damaged, or holds something else.
Rows read_images(const std::string& path);

}  // namespace kith::benchmark
