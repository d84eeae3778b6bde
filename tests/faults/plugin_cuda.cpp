// The CUDA back end linked once more with --wrap (CMakeLists.txt), so that its calls of CUDA's runtime
// come here first. kith_fault_tests decides which call fails, and with which error. Calls that release
// something never fail.
#include <cuda_runtime_api.h>

#include "hooks.hpp"

namespace {

using namespace kith::tests::faults;
constexpr int driver_call = static_cast<int>(Site::driver_call);
constexpr int device_blocks = static_cast<int>(Kept::device_blocks);
constexpr int driver_objects = static_cast<int>(Kept::driver_objects);
constexpr int time_stamps = static_cast<int>(Kept::time_stamps);

struct InDriver {
  InDriver() { kith_in_driver(1); }
  ~InDriver() { kith_in_driver(-1); }
  InDriver(const InDriver&) = delete;
  InDriver& operator=(const InDriver&) = delete;
};

}  // namespace

#define KITH_FAULTY(name, parameters, ...)                                                 \
  extern "C" cudaError_t __real_##name parameters;                                         \
  extern "C" cudaError_t __wrap_##name parameters;                                         \
  extern "C" cudaError_t __wrap_##name parameters {                                        \
    if (const int error = kith_fault(driver_call)) return static_cast<cudaError_t>(error); \
    const InDriver in_driver;                                                              \
    return __real_##name(__VA_ARGS__);                                                     \
  }

#define KITH_MAKES(what, name, parameters, ...)                                            \
  extern "C" cudaError_t __real_##name parameters;                                         \
  extern "C" cudaError_t __wrap_##name parameters;                                         \
  extern "C" cudaError_t __wrap_##name parameters {                                        \
    if (const int error = kith_fault(driver_call)) return static_cast<cudaError_t>(error); \
    const InDriver in_driver;                                                              \
    const cudaError_t error = __real_##name(__VA_ARGS__);                                  \
    if (error == cudaSuccess) kith_fault_keep(what, 1);                                    \
    return error;                                                                          \
  }

#define KITH_DROPS(what, name, parameters, argument)                 \
  extern "C" cudaError_t __real_##name parameters;                   \
  extern "C" cudaError_t __wrap_##name parameters;                   \
  extern "C" cudaError_t __wrap_##name parameters {                  \
    const InDriver in_driver;                                        \
    const cudaError_t error = __real_##name(argument);               \
    if (argument && error == cudaSuccess) kith_fault_keep(what, -1); \
    return error;                                                    \
  }

KITH_MAKES(device_blocks, cudaMalloc, (void** to, size_t bytes), to, bytes)
KITH_DROPS(device_blocks, cudaFree, (void* memory), memory)
KITH_MAKES(driver_objects, cudaMallocHost, (void** to, size_t bytes), to, bytes)
KITH_MAKES(driver_objects, cudaHostAlloc, (void** to, size_t bytes, unsigned flags), to, bytes, flags)
KITH_DROPS(driver_objects, cudaFreeHost, (void* memory), memory)
KITH_MAKES(driver_objects, cudaStreamCreateWithFlags, (cudaStream_t * to, unsigned flags), to, flags)
KITH_DROPS(driver_objects, cudaStreamDestroy, (cudaStream_t stream), stream)
KITH_MAKES(time_stamps, cudaEventCreate, (cudaEvent_t * to), to)
KITH_DROPS(time_stamps, cudaEventDestroy, (cudaEvent_t event), event)

KITH_FAULTY(cudaGetDeviceCount, (int* count), count)
KITH_FAULTY(cudaGetDeviceProperties, (cudaDeviceProp * to, int device), to, device)
KITH_FAULTY(cudaDeviceGetAttribute, (int* value, cudaDeviceAttr what, int device), value, what, device)
KITH_FAULTY(cudaMemGetInfo, (size_t * free, size_t* total), free, total)
KITH_FAULTY(cudaMemcpyAsync,
            (void* to, const void* from, size_t bytes, cudaMemcpyKind kind, cudaStream_t stream), to, from,
            bytes, kind, stream)
KITH_FAULTY(cudaMemsetAsync, (void* to, int value, size_t bytes, cudaStream_t stream), to, value, bytes,
            stream)
KITH_FAULTY(cudaStreamSynchronize, (cudaStream_t stream), stream)
KITH_FAULTY(cudaEventRecord, (cudaEvent_t event, cudaStream_t stream), event, stream)
KITH_FAULTY(cudaEventElapsedTime, (float* to, cudaEvent_t from, cudaEvent_t end), to, from, end)
KITH_FAULTY(cudaLaunchHostFunc, (cudaStream_t stream, cudaHostFn_t run, void* with), stream, run, with)
KITH_FAULTY(cudaLaunchKernelExC, (const cudaLaunchConfig_t* how, const void* kernel, void** arguments), how,
            kernel, arguments)
KITH_FAULTY(cudaPeekAtLastError, (), )
KITH_FAULTY(cudaFuncGetAttributes, (cudaFuncAttributes * to, const void* kernel), to, kernel)
KITH_FAULTY(cudaFuncSetAttribute, (const void* kernel, cudaFuncAttribute what, int value), kernel, what,
            value)
KITH_FAULTY(cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags,
            (int* blocks, const void* kernel, int block, size_t shared, unsigned flags), blocks, kernel,
            block, shared, flags)
