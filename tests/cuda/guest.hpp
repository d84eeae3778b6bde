// Gives tests of kith as a guest the host program's view of CUDA, and everything that it can do with kith.
#pragma once

#include <cuda.h>
#include <cuda_runtime_api.h>
#include <dlfcn.h>
#include <doctest/doctest.h>

#include <exception>
#include <optional>
#include <string>
#include <thread>

#include "common/device.hpp"
#include "common/oracle.hpp"
#include "kith/index.hpp"

namespace kith::tests {

inline bool has_card() {
  return device().info().backend == "cuda";
}

#define CUDA_OK(call) REQUIRE_MESSAGE((call) == cudaSuccess, #call)

inline int current_device() {
  int ordinal = -1;
  CUDA_OK(cudaGetDevice(&ordinal));
  return ordinal;
}

/// Makes a card the host's current device until it is destroyed.
class OnCard {
 public:
  explicit OnCard(int ordinal) : before_(current_device()) { CUDA_OK(cudaSetDevice(ordinal)); }
  ~OnCard() { cudaSetDevice(before_); }
  OnCard(const OnCard&) = delete;
  OnCard& operator=(const OnCard&) = delete;

 private:
  const int before_;
};

/// Returns CUDA's number of the device under test.
inline int card_of_kith() {
  int ordinal = -1;
  CUDA_OK(cudaDeviceGetByPCIBusId(&ordinal, device().info().pci.c_str()));
  return ordinal;
}

/// Returns the current context of this thread, or null.
inline CUcontext current_context() {
  using Function = CUresult (*)(CUcontext*);
  static const auto get =
      reinterpret_cast<Function>(dlsym(dlopen("libcuda.so.1", RTLD_NOW), "cuCtxGetCurrent"));
  CUcontext context = nullptr;
  REQUIRE(get(&context) == CUDA_SUCCESS);
  return context;
}

/// Runs `body` on a new thread, and passes on what it throws.
template <class Body>
void on_a_thread(const Body& body) {
  std::exception_ptr failure;
  std::thread([&] {
    try {
      body();
    } catch (...) {
      failure = std::current_exception();
    }
  }).join();
  if (failure) std::rethrow_exception(failure);
}

inline cudaStreamCaptureMode capture_mode() {
  cudaStreamCaptureMode mode = cudaStreamCaptureModeRelaxed;
  CUDA_OK(cudaThreadExchangeStreamCaptureMode(&mode));
  cudaStreamCaptureMode same = mode;
  CUDA_OK(cudaThreadExchangeStreamCaptureMode(&same));
  return mode;
}

inline constexpr std::int64_t n = 3000, m = 40, dims = 24, k = 9;

struct Example {
  Matrix train = hard_rows(DataKind::normal, Set::train, n, dims, Metric::squared_l2);
  Matrix queries = hard_rows(DataKind::normal, Set::queries, m, dims, Metric::squared_l2);
  Neighbors right = neighbors(Metric::squared_l2, queries, train, k);
};

inline const Example& example() {
  static const Example made;
  return made;
}

/// Searches. Returns how the answer differs, or "". Counts searches that are refused because of
/// a graph capture.
inline std::string outcome(const Index& index, const SearchOptions& options, int* refused) {
  try {
    return difference(index.search(example().queries, k, options), example().right);
  } catch (const Error& error) {
    const std::string said = error.what();
    if (refused && said.find("captures a CUDA graph") != std::string::npos) return ++*refused, "";
    return said;
  }
}

struct Way {
  const char* what;
  SearchOptions options;
};

inline const Way ways[] = {{"a search", {}},
                           {"a search by matrices", {.fused = false}},
                           {"a search by selector radix", {.selector = Selector::radix}},
                           {"a search by proposer fp16", {.proposer = Proposer::fp16}},
                           {"a search by proposer int8", {.proposer = Proposer::int8}},
                           {"a search by proposer gemm", {.proposer = Proposer::gemm}}};

/// Does everything that a program can do with a device: opens it, searches in every way, and makes every kind
/// of call fail. Calls `after(what was done)` after each.
template <class After>
void use(const std::string& spec, int* refused, const After& after) {
  std::optional<Device> opened;
  const std::string refusal = error_of([&] { opened = open_device(spec); });
  after("open_device");
  if (!opened) {
    CAPTURE(refusal);
    CHECK(refused != nullptr);
    CHECK(refusal.find("captures a CUDA graph") != std::string::npos);
    if (refused) ++*refused;
    return;
  }
  {
    const Index index(*opened, example().train, Metric::squared_l2);
    after("an index");
    for (const Way& way : ways) {
      const std::string why = outcome(index, way.options, refused);
      CHECK_MESSAGE((why == "" || why.find("proposer") != std::string::npos), way.what << ": " << why);
      after(way.what);
    }
    CHECK(error_of([&] { static_cast<void>(index.search(example().queries, n + 1)); }) != "");
    after("a search that is refused");
    spi::with_device(*opened, [&](spi::Device& device) {
      CHECK(error_of([&] { device.allocate(std::size_t{1} << 60); }).starts_with("out_of_memory: "));
      after("device memory that there is not");
      CHECK(error_of([&] { device.allocate_host(std::size_t{1} << 60); }) != "nothing was thrown");
      after("locked memory that there is not");
      device.allocate(1 << 20).reset();
      after("device memory, freed");
      device.allocate_host(1000).reset();
      after("locked memory, freed");
      device.mark();
      device.finish();
      after("a time stamp");
    });
  }
  after("the index freed");
  opened.reset();
  after("the device closed");
}

}  // namespace kith::tests
