// A second stream of a device, for copies at the same time as the work of the first one.
#include "device.hpp"

namespace kith::cuda {
namespace {

/// Any thread may call this. Each call makes the context of the device current, and restores the former one.
class SecondStream final : public spi::CopyQueue {
 public:
  SecondStream(const std::string& device, CUcontext context) : guard_(device), context_(context) {
    const Visit visit(context_);
    guard_.check(visit.error(), "open", "cuCtxSetCurrent");
    guard_.check(cudaStreamCreateWithFlags(&stream_, cudaStreamNonBlocking), "open", "cudaStreamCreate");
  }
  ~SecondStream() override {
    const Visit visit(context_);
    if (visit.error() == cudaSuccess && stream_) cudaStreamDestroy(stream_);
    cudaGetLastError();
  }

  void write(spi::Allocation& to, std::size_t offset, const void* from, std::size_t bytes) override {
    if (bytes == 0) return;
    guard_.refuse_after_failure();
    const Visit visit(context_);
    guard_.check(visit.error(), "write", "cuCtxSetCurrent");
    unsigned char* const target = static_cast<unsigned char*>(static_cast<Memory&>(to).data) + offset;
    guard_.check(cudaMemcpyAsync(target, from, bytes, cudaMemcpyHostToDevice, stream_), "write",
                 "cudaMemcpyAsync");
    guard_.check(cudaStreamSynchronize(stream_), "write", "cudaStreamSynchronize");
  }

 private:
  Guard guard_;  // the device's own guard is used under its lock
  CUcontext context_;
  cudaStream_t stream_ = nullptr;
};

}  // namespace

std::unique_ptr<spi::CopyQueue> Device::copy_queue() {
  const Call call(*this, "open");
  return std::make_unique<SecondStream>(info.spec, context_);
}

}  // namespace kith::cuda
