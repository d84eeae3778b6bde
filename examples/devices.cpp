// Runs the same search on every device of this machine: the answers are equal, bit for bit.
#include <cstdio>
#include <kith/kith.hpp>
#include <random>
#include <vector>

int main() {
  constexpr std::int64_t n = 2000, m = 50, dims = 16, k = 5;
  std::mt19937 random(1);
  std::normal_distribution<float> normal;
  std::vector<float> train(n * dims), queries(m * dims);
  for (float& value : train) value = normal(random);
  for (float& value : queries) value = normal(random);

  const kith::Index reference(kith::open_device("cpu"), {train.data(), n, dims});
  const kith::Neighbors right = reference.search({queries.data(), m, dims}, k);
  bool same = true;
  for (const kith::DeviceInfo& device : kith::devices()) {
    const kith::Index index(kith::open_device(device.spec), {train.data(), n, dims});
    const bool equal = index.search({queries.data(), m, dims}, k) == right;
    std::fprintf(stderr, "%s (%s): %s\n", device.spec.c_str(), device.name.c_str(),
                 equal ? "same bits" : "DIFFERENT");
    same = same && equal;
  }
  std::printf("%s\n",
              same ? "every device gives the same bits" : "a device gives other bits: please report it");
  return same ? 0 : 1;
}
//> every device gives the same bits
