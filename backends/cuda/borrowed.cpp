// Memory of callers: device pointers, and the streams whose work writes them.
#include <optional>

#include "device.hpp"
#include "locked_in_place.hpp"

namespace kith::cuda {
namespace {

/// Memory of a caller, which a call uses; the caller frees it.
class Borrowed : public Block {
 public:
  Borrowed(void* callers, std::size_t size) : Block(callers, size) {}
};

/// Memory of the host, which is locked so that kernels can read it over the bus.
class BorrowedOfHost : public Block {
 public:
  BorrowedOfHost(const spi::CallersMemory& of, CUcontext context)
      : Block(of.memory, of.bytes, true), context_(context), locked_(std::in_place, of.memory, of.bytes) {}
  ~BorrowedOfHost() override {
    const Visit visit(context_);
    locked_.reset();
  }

 private:
  const CUcontext context_;
  std::optional<LockedInPlace> locked_;
};

/// Throws unsupported. `why` follows the name of the device in the message.
[[noreturn]] void refuse(const std::string& spec, const std::string& why) {
  throw Error(Errc::unsupported, spec + " " + why);
}

}  // namespace

bool Device::is_locked(const void* begin, std::size_t bytes) const {
  if (bytes == 0 || locked_->holds(begin, bytes)) return bytes > 0;
  const Call call(*this, "is_locked");
  return are_locked_in_one(begin, bytes);
}

std::unique_ptr<spi::Allocation> Device::borrow(const spi::CallersMemory& of) {
  if (of.where == Where::opencl)
    refuse(info.spec,
           "takes memory of CUDA alone; give a device pointer, or open the device by its other name");
  const Call call(*this, "borrow");
  if (of.where == Where::host) return borrow_of_host(of);
  check_callers_memory(of.memory);
  wait_for(static_cast<cudaStream_t>(of.stream_or_queue));
  return std::make_unique<Borrowed>(of.memory, of.bytes);
}

std::unique_ptr<spi::Allocation> Device::borrow_of_host(const spi::CallersMemory& of) {
  int same = 0;  // whether devices use the host's addresses for locked memory
  guard_.check(cudaDeviceGetAttribute(&same, cudaDevAttrCanUseHostPointerForRegisteredMem, ordinal_),
               "borrow", "cudaDeviceGetAttribute");
  if (!same || of.is_written) refuse(info.spec, "does not read memory of the host in place; copy the rows");
  try {
    return std::make_unique<BorrowedOfHost>(of, context_);
  } catch (const Error& error) {
    refuse(info.spec, error.what());
  }
}

void Device::check_callers_memory(const void* memory) {
  if (!memory) return;  // there are no bytes; other null pointers were refused before
  cudaPointerAttributes known{};
  const cudaError_t error = cudaPointerGetAttributes(&known, memory);
  if (error == cudaErrorInvalidValue) {
    cudaGetLastError();
    refuse(info.spec, "does not know their address; give one of its memory");
  }
  guard_.check(error, "borrow", "cudaPointerGetAttributes");
  if (known.type == cudaMemoryTypeManaged) return;  // every device reads and writes managed memory
  if (known.type != cudaMemoryTypeDevice)
    refuse(info.spec,
           "finds their address in memory of the host; give a device pointer, or rows of the host");
  if (known.device != ordinal_)
    refuse(info.spec, "is CUDA device " + std::to_string(ordinal_) + ", but their memory is of device " +
                          std::to_string(known.device) + "; copy them, or make the index on that device");
  const CUcontext context = context_of(memory);
  if (context && context != context_)
    refuse(
        info.spec,
        "works in the primary context of the device, but their memory is of another one; allocate it by the "
        "runtime, cudaMalloc(), or in the primary context");
}

/// Makes all later work wait for the work that is in the stream now.
void Device::wait_for(cudaStream_t stream) {
  cudaStreamCaptureStatus status = cudaStreamCaptureStatusNone;
  const cudaError_t asked = cudaStreamIsCapturing(stream, &status);
  cudaGetLastError();
  if (asked == cudaErrorStreamCaptureImplicit || status != cudaStreamCaptureStatusNone)
    refuse(info.spec,
           "cannot wait for their stream, since the host program captures a CUDA graph from it; "
           "search when the capture has ended");
  guard_.check(asked, "borrow", "cudaStreamIsCapturing");
  cudaEvent_t before = nullptr;
  ask("borrow", "cudaEventCreate", [&] { return cudaEventCreateWithFlags(&before, cudaEventDisableTiming); });
  cudaError_t error = cudaEventRecord(before, stream);
  if (error == cudaSuccess) error = cudaStreamWaitEvent(queue_.stream, before, 0);
  cudaEventDestroy(before);  // CUDA keeps the event until it has occurred
  guard_.check(error, "borrow", "cudaEventRecord or cudaStreamWaitEvent");
}

}  // namespace kith::cuda
