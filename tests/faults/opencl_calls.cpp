// Every OpenCL object begins with a pointer to its driver's table of functions, through which the loader
// calls it. This file replaces each entry that kith or CLBlast uses by a hook, which fails on demand and
// counts objects.
#include "opencl_calls.hpp"

#include <dlfcn.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cstdint>
#include <string>
#include <type_traits>
#include <vector>

#define CL_TARGET_OPENCL_VERSION 120
#include <CL/cl_icd.h>

#include "faults.hpp"

namespace kith::tests::faults {
namespace {

/// Says how a call changes the number of objects.
enum class Effect { none, makes_object, makes_block, drops_object, drops_block };

template <class T>
void tell(T, int) {}
inline void tell(cl_int* error, int code) {
  if (error) *error = code;
}

template <class T>
long events_in(T) {
  return 0;
}
inline long events_in(cl_event* made) {
  return made ? 1 : 0;
}

template <auto Member, Effect effect>
struct Hook;

template <class Result, class... Arguments, Result (CL_API_CALL* cl_icd_dispatch::*Member)(Arguments...),
          Effect effect>
struct Hook<Member, effect> {
  static inline Result(CL_API_CALL* real)(Arguments...) = nullptr;

  static Result CL_API_CALL call(Arguments... arguments) {
    constexpr bool drops = effect == Effect::drops_object || effect == Effect::drops_block;
    if (!drops && is_due(Site::driver_call)) return failed(arguments...);
    const Result result = of_driver(arguments...);
    if (succeeded(result)) count(arguments...);
    return result;
  }

 private:
  static Result of_driver(Arguments... arguments) {
    const InDriver in_driver;
    return real(arguments...);
  }
  static Result failed(Arguments... arguments) {
    if constexpr (std::is_pointer_v<Result>) {
      (tell(arguments, fault.kind), ...);
      return nullptr;
    } else {
      return fault.kind;
    }
  }
  static bool succeeded(Result result) {
    if constexpr (std::is_pointer_v<Result>)
      return result != nullptr;
    else
      return result == CL_SUCCESS;
  }
  static void count(Arguments... arguments) {
    if constexpr (effect == Effect::makes_object) keep(Kept::driver_objects, 1);
    if constexpr (effect == Effect::makes_block) keep(Kept::device_blocks, 1);
    if constexpr (effect == Effect::drops_object) keep(Kept::driver_objects, -1);
    if constexpr (effect == Effect::drops_block) keep(Kept::device_blocks, -1);
    if (const long events = (0 + ... + events_in(arguments)); events > 0) keep(Kept::driver_objects, events);
  }
};

template <auto Member, Effect effect = Effect::none>
void hook(cl_icd_dispatch& table) {
  using Of = Hook<Member, effect>;
  if (!(table.*Member) || table.*Member == Of::call) return;
  Of::real = table.*Member;
  table.*Member = Of::call;
}

void hook_questions(cl_icd_dispatch& table) {
  hook<&cl_icd_dispatch::clGetPlatformInfo>(table);
  hook<&cl_icd_dispatch::clGetDeviceIDs>(table);
  hook<&cl_icd_dispatch::clGetDeviceInfo>(table);
  hook<&cl_icd_dispatch::clGetContextInfo>(table);
  hook<&cl_icd_dispatch::clGetCommandQueueInfo>(table);
  hook<&cl_icd_dispatch::clGetMemObjectInfo>(table);
  hook<&cl_icd_dispatch::clGetProgramInfo>(table);
  hook<&cl_icd_dispatch::clGetProgramBuildInfo>(table);
  hook<&cl_icd_dispatch::clGetKernelInfo>(table);
  hook<&cl_icd_dispatch::clGetKernelWorkGroupInfo>(table);
  hook<&cl_icd_dispatch::clGetEventInfo>(table);
  hook<&cl_icd_dispatch::clGetEventProfilingInfo>(table);
}

void hook_objects(cl_icd_dispatch& table) {
  constexpr Effect object = Effect::makes_object, block = Effect::makes_block, drops = Effect::drops_object;
  hook<&cl_icd_dispatch::clCreateContext, object>(table);
  hook<&cl_icd_dispatch::clCreateCommandQueue, object>(table);
  hook<&cl_icd_dispatch::clCreateBuffer, block>(table);
  hook<&cl_icd_dispatch::clCreateSubBuffer, block>(table);
  hook<&cl_icd_dispatch::clCreateProgramWithSource, object>(table);
  hook<&cl_icd_dispatch::clCreateProgramWithBinary, object>(table);
  hook<&cl_icd_dispatch::clCreateKernel, object>(table);
  hook<&cl_icd_dispatch::clRetainContext, object>(table);
  hook<&cl_icd_dispatch::clRetainCommandQueue, object>(table);
  hook<&cl_icd_dispatch::clRetainMemObject, block>(table);
  hook<&cl_icd_dispatch::clRetainProgram, object>(table);
  hook<&cl_icd_dispatch::clRetainKernel, object>(table);
  hook<&cl_icd_dispatch::clRetainEvent, object>(table);
  hook<&cl_icd_dispatch::clReleaseContext, drops>(table);
  hook<&cl_icd_dispatch::clReleaseCommandQueue, drops>(table);
  hook<&cl_icd_dispatch::clReleaseMemObject, Effect::drops_block>(table);
  hook<&cl_icd_dispatch::clReleaseProgram, drops>(table);
  hook<&cl_icd_dispatch::clReleaseKernel, drops>(table);
  hook<&cl_icd_dispatch::clReleaseEvent, drops>(table);
}

void hook_work(cl_icd_dispatch& table) {
  hook<&cl_icd_dispatch::clBuildProgram>(table);
  hook<&cl_icd_dispatch::clSetKernelArg>(table);
  hook<&cl_icd_dispatch::clEnqueueReadBuffer>(table);
  hook<&cl_icd_dispatch::clEnqueueWriteBuffer>(table);
  hook<&cl_icd_dispatch::clEnqueueCopyBuffer>(table);
  hook<&cl_icd_dispatch::clEnqueueFillBuffer>(table);
  hook<&cl_icd_dispatch::clEnqueueMapBuffer>(table);
  hook<&cl_icd_dispatch::clEnqueueUnmapMemObject>(table);
  hook<&cl_icd_dispatch::clEnqueueMigrateMemObjects>(table);
  hook<&cl_icd_dispatch::clEnqueueNDRangeKernel>(table);
  hook<&cl_icd_dispatch::clEnqueueMarkerWithWaitList>(table);
  hook<&cl_icd_dispatch::clWaitForEvents>(table);
  hook<&cl_icd_dispatch::clFlush>(table);
  hook<&cl_icd_dispatch::clFinish>(table);
}

bool make_writable(cl_icd_dispatch* table) {
  const auto page = static_cast<std::uintptr_t>(::sysconf(_SC_PAGESIZE));
  const auto first = reinterpret_cast<std::uintptr_t>(table) / page * page;
  const std::size_t bytes = reinterpret_cast<std::uintptr_t>(table + 1) - first;
  return ::mprotect(reinterpret_cast<void*>(first), bytes, PROT_READ | PROT_WRITE) == 0;
}

std::string name_of(const cl_icd_dispatch& table, cl_platform_id id) {
  std::string name(500, '\0');
  if (table.clGetPlatformInfo(id, CL_PLATFORM_NAME, name.size(), name.data(), nullptr) != CL_SUCCESS)
    return "";
  return name.c_str();
}

}  // namespace

/// Only one table can be hooked, since a hook knows one function behind it.
bool hook_opencl(const std::string& platform) {
  void* const loader = ::dlopen("libOpenCL.so.1", RTLD_NOW | RTLD_LOCAL);
  using Ask = cl_int CL_API_CALL(cl_uint, cl_platform_id*, cl_uint*);
  auto* const ask = loader ? reinterpret_cast<Ask*>(::dlsym(loader, "clGetPlatformIDs")) : nullptr;
  cl_uint count = 0;
  if (!ask || ask(0, nullptr, &count) != CL_SUCCESS || count == 0) return false;
  std::vector<cl_platform_id> platforms(count);
  if (ask(count, platforms.data(), nullptr) != CL_SUCCESS) return false;
  for (const cl_platform_id id : platforms) {
    cl_icd_dispatch* const table = *reinterpret_cast<cl_icd_dispatch**>(id);
    if (name_of(*table, id) != platform) continue;
    if (!make_writable(table)) return false;
    hook_questions(*table);
    hook_objects(*table);
    hook_work(*table);
    return true;
  }
  return false;
}

}  // namespace kith::tests::faults
