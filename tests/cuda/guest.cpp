// kith inside a host program that uses CUDA itself: docs/contract.md, section 7. On a card: kith_guest_tests
// --device=cuda:0.
#include <cuda.h>
#include <cuda_runtime_api.h>
#include <dlfcn.h>
#include <doctest/doctest.h>

#include <algorithm>
#include <exception>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "common/device.hpp"
#include "common/oracle.hpp"
#include "host_kernels.hpp"
#include "kith/classifier.hpp"
#include "kith/index.hpp"

namespace kith::tests {
namespace {

bool has_card() {
  return device().info().backend == "cuda";
}

#define CUDA_OK(call) REQUIRE_MESSAGE((call) == cudaSuccess, #call)

int current_device() {
  int ordinal = -1;
  CUDA_OK(cudaGetDevice(&ordinal));
  return ordinal;
}

/// Null where the thread has none.
CUcontext current_context() {
  using Function = CUresult (*)(CUcontext*);
  static const auto get =
      reinterpret_cast<Function>(dlsym(dlopen("libcuda.so.1", RTLD_NOW), "cuCtxGetCurrent"));
  CUcontext context = nullptr;
  REQUIRE(get(&context) == CUDA_SUCCESS);
  return context;
}

/// Run on a thread of its own. What fails there fails here.
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

cudaStreamCaptureMode capture_mode() {
  cudaStreamCaptureMode mode = cudaStreamCaptureModeRelaxed;
  CUDA_OK(cudaThreadExchangeStreamCaptureMode(&mode));
  cudaStreamCaptureMode same = mode;
  CUDA_OK(cudaThreadExchangeStreamCaptureMode(&same));
  return mode;
}

constexpr std::int64_t n = 3000, m = 40, dims = 24, k = 9;

struct Example {
  Matrix train = hard_rows(DataKind::normal, Set::train, n, dims, Metric::squared_l2);
  Matrix queries = hard_rows(DataKind::normal, Set::queries, m, dims, Metric::squared_l2);
  Neighbors right = neighbors(Metric::squared_l2, queries, train, k);
};

const Example& example() {
  static const Example made;
  return made;
}

/// What a search gives: "" where it is right. Counts what is refused for the sake of a capture.
std::string outcome(const Index& index, const PlanOptions& options, int* refused) {
  try {
    return difference(index.search(example().queries, k, options), example().right);
  } catch (const Error& error) {
    const std::string said = error.what();
    if (refused && said.find("captures a CUDA graph") != std::string::npos) return ++*refused, "";
    return said;
  }
}

/// All that a program does with a device: it opens one, searches by every way and fails by every way.
/// `after` is called after each.
template <class After>
void use(const std::string& spec, int* refused, const After& after) {
  std::optional<Device> opened;
  const std::string refusal = error_of([&] { opened = open_device(spec); });
  after();
  if (!opened) {
    CAPTURE(refusal);
    CHECK(refused != nullptr);
    CHECK(refusal.find("captures a CUDA graph") != std::string::npos);
    if (refused) ++*refused;
    return;
  }
  {
    const Index index(*opened, example().train, Metric::squared_l2);
    after();
    for (const PlanOptions& options :
         {PlanOptions{}, PlanOptions{.fused = false}, PlanOptions{.selector = Selector::radix},
          PlanOptions{.proposer = Proposer::fp16}, PlanOptions{.proposer = Proposer::int8},
          PlanOptions{.proposer = Proposer::gemm}}) {
      const std::string why = outcome(index, options, refused);
      CHECK_MESSAGE((why == "" || why.find("proposer") != std::string::npos), why);
      after();
    }
    CHECK(error_of([&] { static_cast<void>(index.search(example().queries, n + 1)); }) != "");
    after();
    spi::with_device(*opened, [](spi::Device& device) {
      CHECK(error_of([&] { device.allocate(std::size_t{1} << 60); }).starts_with("out_of_memory: "));
      CHECK(error_of([&] { device.allocate_host(std::size_t{1} << 60); }) != "nothing was thrown");
      const auto host = device.allocate_host(1000);
    });
    after();
  }
  after();
  opened.reset();
  after();
}

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
      use("cuda:" + std::to_string(of_kith), nullptr, [&] {
        CHECK(current_device() == of_host);
        CHECK(current_context() == context);
      });
      CUDA_OK(launch_count(counter, 1, nullptr));  // its memory is of its device
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
    use(device_spec(), nullptr, [] { CHECK(current_context() == nullptr); });
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
  CHECK(launch_count(counter, 2048, nullptr) == cudaErrorInvalidConfiguration);
  CHECK(outcome(index, {}, nullptr) == "");
  use(device_spec(), nullptr, [] {});
  CHECK(cudaGetLastError() == cudaErrorInvalidConfiguration);
  CHECK(cudaGetLastError() == cudaSuccess);
  CUDA_OK(cudaFree(counter));
}

/// A capture of the host program, of a graph that counts to 2 and in whose midst kith is used.
void capture(cudaStreamCaptureMode mode, unsigned flags, bool by_another_thread, int& refused) {
  const Index before(device(), example().train, Metric::squared_l2);  // opened when nothing is captured
  int* counter = nullptr;
  CUDA_OK(cudaMalloc(reinterpret_cast<void**>(&counter), sizeof *counter));
  CUDA_OK(cudaMemset(counter, 0, sizeof *counter));
  CUDA_OK(cudaDeviceSynchronize());
  cudaStream_t stream = nullptr;
  CUDA_OK(cudaStreamCreateWithFlags(&stream, flags));
  CUDA_OK(cudaStreamBeginCapture(stream, mode));
  CUDA_OK(launch_count(counter, 1, stream));
  const auto kith = [&] {
    const cudaStreamCaptureMode own = capture_mode();
    use(device_spec(), &refused, [&] { CHECK(capture_mode() == own); });
    CHECK(outcome(before, {}, &refused) == "");
    CHECK(capture_mode() == own);
  };
  if (by_another_thread)
    on_a_thread(kith);
  else
    kith();
  CUDA_OK(launch_count(counter, 1, stream));
  cudaGraph_t graph = nullptr;
  REQUIRE(cudaStreamEndCapture(stream, &graph) == cudaSuccess);  // kith has not spoilt it
  cudaGraphExec_t executable = nullptr;
  CUDA_OK(cudaGraphInstantiateWithFlags(&executable, graph, 0));
  CUDA_OK(cudaGraphLaunch(executable, stream));
  CUDA_OK(cudaStreamSynchronize(stream));
  int counted = 0;
  CUDA_OK(cudaMemcpy(&counted, counter, sizeof counted, cudaMemcpyDefault));
  CHECK(counted == 2);
  CUDA_OK(cudaGraphExecDestroy(executable));
  CUDA_OK(cudaGraphDestroy(graph));
  CUDA_OK(cudaStreamDestroy(stream));
  CUDA_OK(cudaFree(counter));
  use(device_spec(), nullptr, [] {});
  CHECK(outcome(before, {}, nullptr) == "");
}

TEST_CASE("guest: kith works, or says what to do, while the host captures a graph, and works afterwards") {
  if (!has_card()) return;
  for (const cudaStreamCaptureMode mode :
       {cudaStreamCaptureModeGlobal, cudaStreamCaptureModeThreadLocal, cudaStreamCaptureModeRelaxed})
    for (const unsigned flags : {unsigned{cudaStreamNonBlocking}, unsigned{cudaStreamDefault}})
      for (const bool by_another_thread : {false, true}) {
        CAPTURE(mode);
        CAPTURE(flags);
        CAPTURE(by_another_thread);
        int refused = 0;
        capture(mode, flags, by_another_thread, refused);
        if (refused > 0)
          MESSAGE("mode " << mode << ", flags " << flags << ", "
                          << (by_another_thread ? "another" : "the same") << " thread: " << refused
                          << " calls were refused by a sentence");
      }
}

/// Memory of the card that the host program takes, down to what is to be left.
class Taken {
 public:
  explicit Taken(std::size_t left) {
    for (std::size_t bytes = std::size_t{1} << 36; bytes >= std::size_t{1} << 20;) {
      std::size_t free = 0, total = 0;
      CUDA_OK(cudaMemGetInfo(&free, &total));
      void* block = nullptr;
      if (free < left + bytes || cudaMalloc(&block, bytes) != cudaSuccess)
        bytes /= 2;
      else
        blocks_.push_back(block);
    }
    cudaGetLastError();
  }
  ~Taken() {
    for (void* block : blocks_) cudaFree(block);
  }
  Taken(const Taken&) = delete;
  Taken& operator=(const Taken&) = delete;

 private:
  std::vector<void*> blocks_;
};

constexpr std::size_t mebibyte = std::size_t{1} << 20;

/// 96 MiB of rows; a handle keeps as much of a card of 2 GiB or more.
const Matrix& many_rows() {
  static const Matrix made = [] {
    Matrix rows{96 * 4096, 64, std::vector<float>(96 * mebibyte / sizeof(float))};
    std::uint32_t state = 3;
    for (float& value : rows.values)
      value = static_cast<float>((state = state * 1664525u + 1013904223u) >> 20);
    return rows;
  }();
  return made;
}

TEST_CASE("guest: what another handle of the card keeps is given back before memory runs out") {
  if (!has_card()) return;
  const Device other = open_device(device_spec());
  const PlanOptions plain{.proposer = Proposer::none};
  const Matrix queries = hard_rows(DataKind::integers, Set::queries, 3, 64, Metric::l2);
  const auto small = [&](const Device& handle) {
    return Index(handle, many_rows().view().slice(0, 1000), Metric::l2).search(queries, k, plain);
  };
  CHECK(small(other) == small(device()));  // kernels are loaded
  spi::give_back(device().info());
  {
    const Taken all(48 * mebibyte);
    CHECK(error_of([&] { Index(device(), many_rows(), Metric::l2); }).starts_with("out_of_memory: "));
  }
  { const Index left_spare(other, many_rows(), Metric::l2); }
  const Taken all(48 * mebibyte);
  const Index index(device(), many_rows(), Metric::l2);
  const Index on_cpu(open_device("cpu"), many_rows(), Metric::l2);
  CHECK(index.search(queries, k, plain) == on_cpu.search(queries, k));
}

TEST_CASE("guest: a first launch of kernels on a full card takes what another handle keeps") {
  if (!has_card()) return;
  const Device other = open_device(device_spec());
  const Index index(device(), example().train, Metric::linf);
  { const Index left_spare(other, many_rows(), Metric::linf); }
  const Neighbors right = neighbors(Metric::linf, example().queries, example().train, 700);
  const Taken all(0);
  for (const Selector selector : {Selector::odd_even, Selector::merge_sort, Selector::k_min})
    CHECK(difference(index.search(example().queries, 700, {.selector = selector}), right) == "");
}

// The last of this program: the context is lost for good.
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
