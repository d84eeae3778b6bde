// Imitates a user's program: prints the neighbours of a point, and the devices of each back end.
#include <kith/kith.hpp>

#include <cstdio>
#include <vector>

int main() {
  try {
    const std::vector<float> train{0, 0, 3, 4, 6, 8, 0, 1};
    const std::vector<float> query{0, 0};
    const kith::Index index(kith::open_device("cpu"), {train.data(), 4, 2}, kith::Metric::l2);
    const kith::Neighbors found = index.search({query.data(), 1, 2}, 3, {.query_tile = 1});
    for (std::size_t j = 0; j < 3; ++j)
      std::printf("row %d at %g\n", static_cast<int>(found.row[j]), static_cast<double>(found.distance[j]));
    for (const kith::BackendInfo& backend : kith::backends())
      std::printf("%s: %s\n", backend.name.c_str(),
                  backend.reason.empty() ? "there" : backend.reason.c_str());
    for (const std::string& failure : kith::load_failures()) std::printf("failure: %s\n", failure.c_str());
    try {
      index.search({query.data(), 1, 2}, 5);
    } catch (const kith::Error& error) {  // thrown by the library, caught outside
      std::printf("%s\n", error.what());
    }
  } catch (const std::exception& error) {
    std::printf("failed: %s\n", error.what());
    return 1;
  }
}
