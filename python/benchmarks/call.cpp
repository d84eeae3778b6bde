// What one search for one query costs in C++: microseconds, the median of 21 rounds. calls.py compiles and
// runs it.
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <vector>

#include "kith/kith.hpp"

int main() {
  constexpr std::int64_t n = 1000, dims = 16, calls = 500;
  std::vector<float> train(n * dims);
  unsigned state = 1;
  for (float& value : train) value = static_cast<float>((state = state * 1664525 + 1013904223) >> 8);
  const kith::Index index(kith::open_device("cpu"), {train.data(), n, dims});
  std::vector<double> rounds(21);
  for (double& round : rounds) {
    const auto begin = std::chrono::steady_clock::now();
    for (std::int64_t i = 0; i < calls; ++i) index.search({train.data(), 1, dims}, 5);
    round =
        std::chrono::duration<double, std::micro>(std::chrono::steady_clock::now() - begin).count() / calls;
  }
  std::sort(rounds.begin(), rounds.end());
  std::printf("%.2f\n", rounds[rounds.size() / 2]);
}
