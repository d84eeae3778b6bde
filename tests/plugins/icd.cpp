// This OpenCL driver has one platform. The build chooses how it fails when it is asked for devices.
#include <signal.h>
#include <unistd.h>

#include <cstdlib>
#include <cstring>

#define CL_TARGET_OPENCL_VERSION 120
#include <CL/cl_icd.h>

namespace {

cl_int CL_API_CALL get_device_ids(cl_platform_id, cl_device_type, cl_uint, cl_device_id*, cl_uint*) {
#if defined(KITH_ICD_CRASHES)
  raise(SIGSEGV);
#elif defined(KITH_ICD_ABORTS)
  std::abort();
#elif defined(KITH_ICD_HANGS)
  for (;;) pause();
#endif
  return CL_OUT_OF_HOST_MEMORY;
}

cl_int CL_API_CALL get_platform_info(cl_platform_id, cl_platform_info what, size_t room, void* to,
                                     size_t* size) {
  const char* text = "";
  if (what == CL_PLATFORM_EXTENSIONS) text = "cl_khr_icd";
  if (what == CL_PLATFORM_ICD_SUFFIX_KHR) text = "PLANTED";
  if (what == CL_PLATFORM_NAME) text = "Planted";
  if (what == CL_PLATFORM_VERSION) text = "OpenCL 1.2 planted";
  const size_t bytes = std::strlen(text) + 1;
  if (to && room >= bytes) std::memcpy(to, text, bytes);
  if (size) *size = bytes;
  return CL_SUCCESS;
}

struct Platform {
  cl_icd_dispatch* dispatch;
};

cl_int CL_API_CALL platform_ids(cl_uint room, cl_platform_id* to, cl_uint* count) {
  static cl_icd_dispatch dispatch;
  dispatch.clGetPlatformInfo = get_platform_info;
  dispatch.clGetDeviceIDs = get_device_ids;
  static Platform platform{&dispatch};
  if (to && room > 0) *to = reinterpret_cast<cl_platform_id>(&platform);
  if (count) *count = 1;
  return CL_SUCCESS;
}

}  // namespace

extern "C" {

[[gnu::visibility("default")]] cl_int CL_API_CALL clIcdGetPlatformIDsKHR(cl_uint room, cl_platform_id* to,
                                                                         cl_uint* count) {
  return platform_ids(room, to, count);
}

[[gnu::visibility("default")]] cl_int CL_API_CALL clGetPlatformInfo(cl_platform_id id, cl_platform_info what,
                                                                    size_t room, void* to, size_t* size) {
  return get_platform_info(id, what, room, to, size);
}

[[gnu::visibility("default")]] void* CL_API_CALL clGetExtensionFunctionAddress(const char* name) {
  if (std::strcmp(name, "clIcdGetPlatformIDsKHR") == 0)
    return reinterpret_cast<void*>(static_cast<cl_int (*)(cl_uint, cl_platform_id*, cl_uint*)>(platform_ids));
  if (std::strcmp(name, "clGetPlatformInfo") == 0) return reinterpret_cast<void*>(&get_platform_info);
  return nullptr;
}
}
