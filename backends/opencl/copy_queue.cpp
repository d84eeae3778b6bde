// A second queue of a device, for copies at the same time as the work of the first one.
#include "device.hpp"

namespace kith::opencl {
namespace {

class SecondQueue final : public spi::CopyQueue {
 public:
  SecondQueue(const cl::Context& context, const cl::Device& device) : queue_(context, device) {}

  void write(spi::Allocation& to, std::size_t offset, const void* from, std::size_t bytes) override {
    if (bytes == 0) return;
    guard_.run("write", [&] {
      queue_.enqueueWriteBuffer(buffer_of(&to), CL_TRUE, offset, bytes, from);
      // A blocking write only promises that `from` may change: Intel's driver copies up to 512 bytes later,
      // and the first queue would read memory that is not yet written.
      queue_.finish();
    });
  }

 private:
  bool answers() {
    try {
      queue_.enqueueMarkerWithWaitList();
      queue_.finish();
      return true;
    } catch (const cl::Error&) {
      return false;
    }
  }

  cl::CommandQueue queue_;
  Guard guard_{[this] { return answers(); }};  // the device's own guard is used under its lock
};

}  // namespace

std::unique_ptr<spi::CopyQueue> Device::copy_queue() {
  return guard_.run("open", [&]() -> std::unique_ptr<spi::CopyQueue> {
    return std::make_unique<SecondQueue>(context_, device_);
  });
}

}  // namespace kith::opencl
