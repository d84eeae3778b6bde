#include "shared_context.hpp"

namespace kith::opencl {

std::shared_ptr<SharedContext> context_of(const cl::Device& device) {
  if (!(device.getInfo<CL_DEVICE_TYPE>() & CL_DEVICE_TYPE_CPU))
    return std::make_shared<SharedContext>(cl::Context(device));
  static std::mutex mutex;
  static std::map<cl_device_id, std::weak_ptr<SharedContext>> open;
  const std::lock_guard lock(mutex);
  std::weak_ptr<SharedContext>& known = open[device()];
  std::shared_ptr<SharedContext> found = known.lock();
  if (!found) known = found = std::make_shared<SharedContext>(cl::Context(device));
  return found;
}

}  // namespace kith::opencl
