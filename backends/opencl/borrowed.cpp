// Memory of callers, which are buffers in the context of the device.
#include "device.hpp"

namespace kith::opencl {
namespace {

/// A buffer of a caller, which a call uses; the caller releases it.
class Borrowed : public Buffer {
 public:
  Borrowed(const cl::Buffer& callers, std::size_t size) : Buffer(callers, size) {}
};

/// Throws an error. `why` follows the name of the device in the message.
[[noreturn]] void refuse(const std::string& spec, Errc code, const std::string& why) {
  throw Error(code, spec + " " + why);
}

}  // namespace

std::unique_ptr<spi::Allocation> Device::borrow(const spi::CallersMemory& of) {
  if (of.where != Where::opencl)
    refuse(info.spec, Errc::unsupported,
           "takes memory of OpenCL alone; give a cl_mem, or open the device by its other name");
  return guard_.run("borrow", [&]() -> std::unique_ptr<spi::Allocation> {
    constexpr bool retain = true;  // the caller's reference count does not change
    const cl::Buffer buffer(static_cast<cl_mem>(of.memory), retain);
    if (buffer.getInfo<CL_MEM_CONTEXT>()() != context_())
      refuse(info.spec, Errc::unsupported,
             "has another OpenCL context than their memory; open it with that one, by open_device() of "
             "kith/opencl.hpp");
    const std::size_t bytes = buffer.getInfo<CL_MEM_SIZE>();
    if (of.bytes > bytes)
      refuse(info.spec, Errc::invalid_argument,
             "finds " + std::to_string(bytes) + " bytes in their buffer, but " + std::to_string(of.bytes) +
                 " are used; give a larger one");
    if (of.is_written && (buffer.getInfo<CL_MEM_FLAGS>() & CL_MEM_READ_ONLY) != 0)
      refuse(info.spec, Errc::unsupported,
             "may not write to their buffer, which is CL_MEM_READ_ONLY; give one that kernels may write");
    wait_for(of.stream_or_queue ? cl::CommandQueue(static_cast<cl_command_queue>(of.stream_or_queue), retain)
                                : callers_queue_);
    return std::make_unique<Borrowed>(buffer, of.bytes);
  });
}

void Device::wait_for(const cl::CommandQueue& callers) {
  if (!callers()) return;
  if (callers.getInfo<CL_QUEUE_CONTEXT>()() != context_())
    refuse(info.spec, Errc::unsupported,
           "has another OpenCL context than their queue; give a queue of the context of the memory");
  // The host waits, instead of a barrier in queue_: NVIDIA's driver (580.159) ends the process if a command
  // of one queue waits for another queue that waits for an event of the program.
  cl::Event event;
  callers.enqueueMarkerWithWaitList(nullptr, &event);
  event.wait();
}

}  // namespace kith::opencl
