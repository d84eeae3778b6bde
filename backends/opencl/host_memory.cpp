#include "device.hpp"

namespace kith::opencl {
namespace {

/// A buffer in host memory, which is mapped during its lifetime. Drivers lock such memory, and copy to and
/// from it without staging.
class Pinned : public spi::HostMemory {
 public:
  Pinned(cl::CommandQueue queue, cl::Buffer buffer, void* mapped, std::size_t size)
      : HostMemory(mapped, size), queue_(std::move(queue)), buffer_(std::move(buffer)) {}
  ~Pinned() override {
    try {
      queue_.enqueueUnmapMemObject(buffer_, data);
      queue_.finish();
    } catch (const cl::Error&) {
      // The device is lost, and so is this memory.
    }
  }

 private:
  cl::CommandQueue queue_;
  cl::Buffer buffer_;
};

}  // namespace

std::unique_ptr<spi::HostMemory> Device::allocate_host(std::size_t bytes) {
  // A CPU reads any memory in place, unless it stands for a GPU.
  if (info.kind == DeviceKind::cpu && family_ == Family::lanes) return nullptr;
  return guard_.run("allocate", [&]() -> std::unique_ptr<spi::HostMemory> {
    const std::size_t size = std::max<std::size_t>(bytes, 4);
    try {
      cl::Buffer buffer(context_, CL_MEM_READ_WRITE | CL_MEM_ALLOC_HOST_PTR, size);
      void* mapped = queue_.enqueueMapBuffer(buffer, CL_TRUE, CL_MAP_READ | CL_MAP_WRITE, 0, size);
      return std::make_unique<Pinned>(queue_, std::move(buffer), mapped, bytes);
    } catch (const cl::Error& error) {
      if (error.err() != CL_MEM_OBJECT_ALLOCATION_FAILURE && error.err() != CL_OUT_OF_HOST_MEMORY &&
          error.err() != CL_MAP_FAILURE && error.err() != CL_INVALID_BUFFER_SIZE)
        throw;
      throw Error(Errc::out_of_memory, "opencl: " + std::to_string(bytes) +
                                           " bytes of locked host memory were asked for, but " + info.name +
                                           " has no more; use smaller tiles or ordinary memory");
    }
  });
}

}  // namespace kith::opencl
