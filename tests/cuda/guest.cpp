// Tests kith inside a host program that uses CUDA itself: docs/contract.md, section 7. `kith_guest_tests
// --device=cuda:0` runs it on a card.
#include "guest.hpp"

#include <algorithm>
#include <chrono>
#include <optional>
#include <string>

#include "host_kernels.hpp"

namespace kith::tests {
namespace {

TEST_SUITE_BEGIN("device");

TEST_CASE("guest: the current device is as it was after every call") {
  if (!has_card()) return;
  int cards = 0;
  CUDA_OK(cudaGetDeviceCount(&cards));
  if (cards < 2) MESSAGE("skipped: one card only, so that the host and kith are not seen on different ones");
  const int before = current_device();
  for (int of_host = 0; of_host < std::min(cards, 2); ++of_host)
    for (int of_kith = 0; of_kith < std::min(cards, 2); ++of_kith) {
      CAPTURE(of_host);
      CAPTURE(of_kith);
      CUDA_OK(cudaSetDevice(of_host));
      CUDA_OK(cudaFree(nullptr));
      int* counter = nullptr;
      CUDA_OK(cudaMalloc(reinterpret_cast<void**>(&counter), sizeof *counter));
      CUDA_OK(cudaMemset(counter, 0, sizeof *counter));
      const CUcontext context = current_context();
      use("cuda:" + std::to_string(of_kith), nullptr, [&](const std::string& what) {
        CAPTURE(what);
        CHECK(current_device() == of_host);
        CHECK(current_context() == context);
      });
      CUDA_OK(launch_count(counter, 1, nullptr));  // works only if the host's device is still current
      CUDA_OK(cudaDeviceSynchronize());
      int counted = 0;
      CUDA_OK(cudaMemcpy(&counted, counter, sizeof counted, cudaMemcpyDefault));
      CHECK(counted == 1);
      CUDA_OK(cudaFree(counter));
    }
  CUDA_OK(cudaSetDevice(before));
}

TEST_CASE("guest: a thread without a current context has none afterwards") {
  if (!has_card()) return;
  on_a_thread([] {
    REQUIRE(current_context() == nullptr);
    use(device_spec(), nullptr, [](const std::string& what) {
      CAPTURE(what);
      CHECK(current_context() == nullptr);
    });
  });
}

TEST_CASE("guest: a handle that one thread opened, used and freed by others") {
  if (!has_card()) return;
  std::optional<Device> opened;
  std::optional<Index> index;
  const auto elsewhere = [](const auto& body) {
    on_a_thread([&] {
      body();
      CHECK(current_context() == nullptr);
    });
  };
  elsewhere([&] { opened = open_device(device_spec()); });
  elsewhere([&] { index.emplace(*opened, example().train, Metric::squared_l2); });
  elsewhere([&] { CHECK(outcome(*index, {}, nullptr) == ""); });
  elsewhere([&] { index.reset(); });
  elsewhere([&] { opened.reset(); });
}

TEST_CASE("guest: an error of the host's own launch stays the host's") {
  if (!has_card()) return;
  const Index index(device(), example().train, Metric::squared_l2);
  int* counter = nullptr;
  CUDA_OK(cudaMalloc(reinterpret_cast<void**>(&counter), sizeof *counter));
  // The launch is invalid; CUDA 13 calls it an invalid value.
  const cudaError_t error = launch_count(counter, 2048, nullptr);
  REQUIRE(error != cudaSuccess);
  CHECK(outcome(index, {}, nullptr) == "");
  use(device_spec(), nullptr, [](const std::string&) {});
  CHECK(cudaGetLastError() == error);
  CHECK(cudaGetLastError() == cudaSuccess);
  CUDA_OK(cudaFree(counter));
}

/// Returns seconds of a call that does nothing but switch to kith's context and back.
double seconds_of_a_visit() {
  double seconds = 0;
  spi::with_device(device(), [&](spi::Device& device) {
    constexpr int calls = 20000;
    const auto memory = device.allocate(1);
    const auto start = std::chrono::steady_clock::now();
    for (int i = 0; i < calls; ++i) device.write(*memory, 0, nullptr, 0);
    seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count() / calls;
  });
  return seconds;
}

TEST_CASE("guest: to come from the host's context and go back takes a share of a microsecond") {
  if (!has_card()) return;
  const auto check = [](const char* where) {
    const double nanoseconds = 1e9 * seconds_of_a_visit();
    MESSAGE(where << ": " << nanoseconds << " ns a call");
    CHECK(nanoseconds < 5000);
  };
  on_a_thread([&] { check("a thread without a context"); });
  {
    const OnCard there(card_of_kith());
    CUDA_OK(cudaFree(nullptr));
    check("a thread whose current device is kith's");
  }
  int cards = 0;
  CUDA_OK(cudaGetDeviceCount(&cards));
  if (cards < 2) return;
  const OnCard elsewhere(card_of_kith() == 0 ? 1 : 0);
  CUDA_OK(cudaFree(nullptr));
  check("a thread whose current device is another");
}

TEST_SUITE_END();

}  // namespace
}  // namespace kith::tests
