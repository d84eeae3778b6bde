// Tests kith while the host program captures a CUDA graph: docs/contract.md, section 7.
#include <string>
#include <thread>
#include <vector>

#include "guest.hpp"
#include "host_kernels.hpp"

namespace kith::tests {
namespace {

struct CaptureCase {
  int card;
  cudaStreamCaptureMode mode;
  unsigned flags;
  bool by_another_thread;

  std::string text() const {
    constexpr const char* modes[] = {"global", "thread-local", "relaxed"};
    return "a capture on card " + std::to_string(card) + ", kith on card " + std::to_string(card_of_kith()) +
           ", mode " + modes[mode] + ", a stream that " +
           (flags == cudaStreamNonBlocking ? "does not wait" : "waits") +
           " for the default stream, kith by " + (by_another_thread ? "another thread" : "the same thread");
  }
};

/// Captures a graph that adds 1 to a counter at its beginning and at its end. The destructor always ends the
/// capture, since a thread with an open capture can make no other CUDA call.
class HostCapture {
 public:
  explicit HostCapture(const CaptureCase& what) : mode_(what.mode), thread_(std::this_thread::get_id()) {
    CUDA_OK(cudaMalloc(reinterpret_cast<void**>(&counter_), sizeof *counter_));
    CUDA_OK(cudaMemset(counter_, 0, sizeof *counter_));
    CUDA_OK(cudaDeviceSynchronize());
    CUDA_OK(cudaStreamCreateWithFlags(&stream_, what.flags));
    begin();
  }
  ~HostCapture() {
    end();
    if (graph_) cudaGraphDestroy(graph_);
    cudaStreamDestroy(stream_);
    cudaFree(counter_);
    cudaGetLastError();
  }
  HostCapture(const HostCapture&) = delete;
  HostCapture& operator=(const HostCapture&) = delete;

  /// Records `what` if it invalidated the capture. If possible, begins another capture, so that later calls
  /// are judged, too.
  void look(const std::string& what) {
    cudaStreamCaptureStatus status = cudaStreamCaptureStatusNone;
    const cudaError_t error = cudaStreamIsCapturing(stream_, &status);
    const bool goes_on = error == cudaSuccess && status == cudaStreamCaptureStatusActive;
    const bool of_this_thread = std::this_thread::get_id() == thread_;
    if (goes_on || (!spoilt_by_.empty() && !of_this_thread)) return;
    spoilt_by_ += what + " (status " + std::to_string(status) + ", " + cudaGetErrorName(error) + "); ";
    if (!of_this_thread) return;
    end();
    begin();
  }

  /// Returns the calls that invalidated the capture. If there are none, checks that the graph counts, and
  /// returns "".
  std::string outcome() {
    if (!spoilt_by_.empty()) return spoilt_by_;
    const cudaError_t launched = launch_count(counter_, 1, stream_);
    const cudaError_t ended = end();
    if (launched != cudaSuccess || ended != cudaSuccess || !graph_)
      return std::string("the last launch: ") + cudaGetErrorName(launched) +
             ", the end: " + cudaGetErrorName(ended);
    cudaGraphExec_t executable = nullptr;
    CUDA_OK(cudaGraphInstantiateWithFlags(&executable, graph_, 0));
    CUDA_OK(cudaGraphLaunch(executable, stream_));
    CUDA_OK(cudaStreamSynchronize(stream_));
    CUDA_OK(cudaGraphExecDestroy(executable));
    int counted = 0;
    CUDA_OK(cudaMemcpy(&counted, counter_, sizeof counted, cudaMemcpyDefault));
    return counted == 2 ? "" : "the graph counts to " + std::to_string(counted);
  }

 private:
  void begin() {
    CUDA_OK(cudaStreamBeginCapture(stream_, mode_));
    open_ = true;
    CUDA_OK(launch_count(counter_, 1, stream_));
  }

  cudaError_t end() {
    if (!open_) return cudaSuccess;
    open_ = false;
    const cudaError_t error = cudaStreamEndCapture(stream_, &graph_);
    cudaGetLastError();
    return error;
  }

  const cudaStreamCaptureMode mode_;
  const std::thread::id thread_;
  int* counter_ = nullptr;
  cudaStream_t stream_ = nullptr;
  cudaGraph_t graph_ = nullptr;
  bool open_ = false;
  std::string spoilt_by_;
};

/// Uses kith during a capture. Returns how many calls were refused.
int capture(const CaptureCase& what, const std::string& where) {
  // The device was opened before the capture, but has not loaded cuBLAS yet.
  const Index before(open_device(device_spec()), example().train, Metric::squared_l2);
  const SearchOptions gemm{.proposer = Proposer::gemm};
  int refused = 0;
  {
    const OnCard there(what.card);
    HostCapture capture(what);
    const auto kith = [&] {
      CAPTURE(where);  // each thread needs its own
      const cudaStreamCaptureMode own = capture_mode();
      const auto after = [&](const std::string& call) {
        CAPTURE(call);
        CHECK(capture_mode() == own);
        capture.look(call);
      };
      after("nothing yet");
      use(device_spec(), &refused, after);
      CHECK(outcome(before, {}, &refused) == "");
      after("a search of an index from before");
      outcome(before, gemm, &refused);
      after("a search by gemm of an index from before");
    };
    if (what.by_another_thread)
      on_a_thread([&] {
        // Else CUDA would create a context on another card during the capture.
        CUDA_OK(cudaSetDevice(what.card));
        kith();
      });
    else
      kith();
    CHECK(capture.outcome() == "");
  }
  use(device_spec(), nullptr, [](const std::string&) {});
  CHECK(outcome(before, {}, nullptr) == "");
  const std::string why = outcome(before, gemm, nullptr);  // "", or that cuBLAS is missing
  CHECK_MESSAGE((why == "" || why.find("cannot be opened (") != std::string::npos), why);
  return refused;
}

TEST_SUITE_BEGIN("device");

TEST_CASE("guest: kith works, or says what to do, while the host captures a graph, and works afterwards") {
  if (!has_card()) return;
  int cards = 0;
  CUDA_OK(cudaGetDeviceCount(&cards));
  std::vector<int> captured{card_of_kith()};
  if (cards > 1) captured.push_back(captured.front() == 0 ? 1 : 0);
  if (cards < 2) MESSAGE("skipped: one card only, so that no capture is on another than kith");
  for (const int card : captured)
    for (const cudaStreamCaptureMode mode :
         {cudaStreamCaptureModeGlobal, cudaStreamCaptureModeThreadLocal, cudaStreamCaptureModeRelaxed})
      for (const unsigned flags : {unsigned{cudaStreamNonBlocking}, unsigned{cudaStreamDefault}})
        for (const bool by_another_thread : {false, true}) {
          const CaptureCase what{card, mode, flags, by_another_thread};
          const std::string where = what.text();
          CAPTURE(where);
          const int refused = capture(what, where);
          if (refused > 0) MESSAGE(refused << " calls were refused by a sentence: " << where);
        }
}

TEST_SUITE_END();

}  // namespace
}  // namespace kith::tests
