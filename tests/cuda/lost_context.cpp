// Loses the context for good. doctest runs files in the order of their names, so this file runs last.
#include <string>

#include "guest.hpp"
#include "host_kernels.hpp"

namespace kith::tests {
namespace {

TEST_SUITE_BEGIN("device");

TEST_CASE("guest: a kernel of the host that crashes loses the device, and every call says so") {
  if (!has_card()) return;
  const Index index(device(), example().train, Metric::squared_l2);
  CUDA_OK(launch_trap(nullptr));
  CHECK(cudaDeviceSynchronize() != cudaSuccess);
  const auto search = [&] { return error_of([&] { index.search(example().queries, k); }); };
  const std::string first = search();
  CHECK(first.starts_with("device_failure: "));
  CHECK(first.ends_with("; the device is lost to this process: start it again"));
  CHECK(search() == first);
}

TEST_SUITE_END();

}  // namespace
}  // namespace kith::tests
