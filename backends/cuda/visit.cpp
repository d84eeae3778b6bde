#include "visit.hpp"

#include <dlfcn.h>

namespace kith::cuda {
namespace {

constexpr CUresult missing = CUDA_ERROR_SHARED_OBJECT_SYMBOL_NOT_FOUND;

// These are functions of the driver's API. The runtime cannot restore "no current context" without making one
// on device 0, and it does not know contexts that a host program has made.
struct Driver {
  decltype(&cuDeviceGet) device = [](CUdevice*, int) { return missing; };
  decltype(&cuDevicePrimaryCtxRetain) retain = [](CUcontext*, CUdevice) { return missing; };
  decltype(&cuCtxGetCurrent) current = [](CUcontext*) { return missing; };
  decltype(&cuCtxSetCurrent) set_current = [](CUcontext) { return missing; };
  // For memory that CUDA does not know, cuPointerGetAttribute would report an error; this function does not.
  decltype(&cuPointerGetAttributes) attributes = [](unsigned, CUpointer_attribute*, void**, CUdeviceptr) {
    return missing;
  };
  decltype(&cuThreadExchangeStreamCaptureMode) exchange_mode = [](CUstreamCaptureMode*) { return missing; };
};

template <class Function>
void find(void* library, const char* name, Function& function) {
  if (void* const found = dlsym(library, name)) function = reinterpret_cast<Function>(found);
}

/// The library is never closed, because the runtime uses it until the process ends.
Driver open_driver() {
  Driver driver;
  void* const library = dlopen("libcuda.so.1", RTLD_NOW | RTLD_LOCAL);
  if (!library) return driver;
  find(library, "cuDeviceGet", driver.device);
  find(library, "cuDevicePrimaryCtxRetain", driver.retain);
  find(library, "cuCtxGetCurrent", driver.current);
  find(library, "cuCtxSetCurrent", driver.set_current);
  find(library, "cuPointerGetAttributes", driver.attributes);
  find(library, "cuThreadExchangeStreamCaptureMode", driver.exchange_mode);
  return driver;
}

const Driver& driver() {
  static const Driver opened = open_driver();
  return opened;
}

/// Converts an error of the driver to one of the runtime, which has the same numbers.
cudaError_t error_of(CUresult result) {
  return static_cast<cudaError_t>(result);
}

}  // namespace

cudaError_t primary_context(int ordinal, CUcontext& context) {
  CUdevice device = 0;
  const CUresult found = driver().device(&device, ordinal);
  if (found != CUDA_SUCCESS) return error_of(found);
  CUstreamCaptureMode mode = CU_STREAM_CAPTURE_MODE_RELAXED;  // a capture may forbid making a context
  const bool relaxed = driver().exchange_mode(&mode) == CUDA_SUCCESS;
  const CUresult retained = driver().retain(&context, device);
  if (relaxed) driver().exchange_mode(&mode);
  return error_of(retained);
}

CUcontext context_of(const void* memory) {
  CUcontext context = nullptr;
  CUpointer_attribute asked[] = {CU_POINTER_ATTRIBUTE_CONTEXT};
  void* answers[] = {&context};
  driver().attributes(1, asked, answers, reinterpret_cast<CUdeviceptr>(memory));
  return context;
}

bool are_locked_in_one(const void* begin, std::size_t bytes) {
  const auto first = reinterpret_cast<CUdeviceptr>(begin);
  CUmemorytype type{};
  CUdeviceptr start = 0;
  std::size_t size = 0;
  CUpointer_attribute asked[] = {CU_POINTER_ATTRIBUTE_MEMORY_TYPE, CU_POINTER_ATTRIBUTE_RANGE_START_ADDR,
                                 CU_POINTER_ATTRIBUTE_RANGE_SIZE};
  void* answers[] = {&type, &start, &size};
  return driver().attributes(3, asked, answers, first) == CUDA_SUCCESS && type == CU_MEMORYTYPE_HOST &&
         first + bytes <= start + size;
}

Visit::Visit(CUcontext context) noexcept : error_(error_of(driver().current(&before_))) {
  if (error_ == cudaSuccess && before_ != context) {
    error_ = error_of(driver().set_current(context));
    moved_ = error_ == cudaSuccess;
  }
  if (error_ != cudaSuccess) return;
  error_ = error_of(driver().exchange_mode(&mode_));
  relaxed_ = error_ == cudaSuccess;
}

Visit::~Visit() {
  if (relaxed_) driver().exchange_mode(&mode_);
  if (moved_) driver().set_current(before_);
}

}  // namespace kith::cuda
