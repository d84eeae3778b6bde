#include "cublas.hpp"

#include <dlfcn.h>

#include <algorithm>
#include <array>
#include <mutex>
#include <utility>
#include <vector>

#include "kith/error.hpp"

namespace kith::cuda {
namespace {

// These are the parts of cublas_api.h of CUDA 12 and 13 that are used; enumerators have the values of
// its ABI.
using Handle = void*;
constexpr int success = 0, allocation_failed = 3;
constexpr int no_transpose = 0, transpose = 1;
constexpr int pedantic_math = 2;
constexpr int real_32f = 0, compute_32f_pedantic = 69, default_algorithm = -1;

struct Functions {
  int (*create)(Handle*);
  int (*set_stream)(Handle, cudaStream_t);
  int (*set_workspace)(Handle, void*, std::size_t);
  int (*set_math_mode)(Handle, int);
  int (*gemm)(Handle, int op_a, int op_b, std::int64_t m, std::int64_t n, std::int64_t k, const void* alpha,
              const void* a, int type_a, std::int64_t lda, const void* b, int type_b, std::int64_t ldb,
              const void* beta, void* c, int type_c, std::int64_t ldc, int compute, int algorithm);
  const char* (*status_name)(int);
};

struct Library {
  Functions functions{};
  std::string refusal;
};

/// Returns the last message of the dynamic linker.
std::string linker_words() {
  const char* words = dlerror();
  return words ? words : "no reason given";
}

template <class Function>
bool find_function(void* library, const char* name, Function& function) {
  function = reinterpret_cast<Function>(dlsym(library, name));
  return function != nullptr;
}

/// Returns the name of a function that is missing; empty if all were found.
std::string missing_of(void* library, Functions& functions) {
  if (!find_function(library, "cublasCreate_v2", functions.create)) return "cublasCreate_v2";
  if (!find_function(library, "cublasSetStream_v2", functions.set_stream)) return "cublasSetStream_v2";
  if (!find_function(library, "cublasSetWorkspace_v2", functions.set_workspace))
    return "cublasSetWorkspace_v2";
  if (!find_function(library, "cublasSetMathMode", functions.set_math_mode)) return "cublasSetMathMode";
  if (!find_function(library, "cublasGemmEx_64", functions.gemm)) return "cublasGemmEx_64";
  if (!find_function(library, "cublasGetStatusName", functions.status_name)) return "cublasGetStatusName";
  return "";
}

Library open_library() {
  constexpr std::array names = {"libcublas.so.13", "/usr/local/cuda/lib64/libcublas.so.13",
                                "libcublas.so.12", "/usr/local/cuda/lib64/libcublas.so.12",
                                "libcublas.so",    "/usr/local/cuda/lib64/libcublas.so"};
  const std::string advice =
      "install it (package libcublas-13-0, or nvidia-cublas by pip) or choose proposer none";
  Library library;
  std::string words, incomplete;
  for (const char* name : names) {
    void* const opened = dlopen(name, RTLD_NOW | RTLD_LOCAL);
    if (!opened) {
      const std::string why = linker_words();
      if (words.empty()) words = why;
      continue;
    }
    const std::string missing = missing_of(opened, library.functions);
    if (missing.empty()) return library;  // it stays open, because drivers run its code at exit
    incomplete = std::string(name) + " has no " + missing + ", which came with CUDA 12";
    dlclose(opened);
  }
  library.refusal = "proposer gemm needs cuBLAS, and " +
                    (incomplete.empty() ? "libcublas.so.13 cannot be opened (" + words + ")" : incomplete) +
                    "; " + advice;
  return library;
}

const Library& library() {
  static const Library opened = open_library();
  return opened;
}

/// The unused handles of each context. They are never destroyed: cublasDestroy waits for the whole device,
/// which breaks every capture of a graph there, in whatever mode, and CUDA does not tell whether the host
/// program captures one on a stream of its own. They are kept until the process ends, as contexts are.
class IdleHandles {
 public:
  /// Returns a handle; null if there is none.
  Handle take(CUcontext context) {
    const std::lock_guard lock(mutex_);
    const auto found = std::find_if(handles_.begin(), handles_.end(),
                                    [&](const auto& handle) { return handle.first == context; });
    if (found == handles_.end()) return nullptr;
    const Handle handle = found->second;
    handles_.erase(found);
    return handle;
  }

  void keep(CUcontext context, Handle handle) noexcept try {
    const std::lock_guard lock(mutex_);
    handles_.emplace_back(context, handle);
  } catch (...) {  // there is no room for the pointer, so the handle is not used again
  }

 private:
  std::mutex mutex_;
  std::vector<std::pair<CUcontext, Handle>> handles_;
};

// It is never destroyed: a host program may keep a device in a static variable.
IdleHandles& idle_handles() {
  static IdleHandles& all = *new IdleHandles;
  return all;
}

// This is what NVIDIA recommends for its largest devices. It is set once, so that cuBLAS allocates nothing in
// a search.
constexpr std::size_t workspace_bytes = std::size_t{32} << 20;

}  // namespace

const std::string& Cublas::refusal() {
  return library().refusal;
}

Cublas::Cublas(std::string device, CUcontext context, cudaStream_t stream)
    : device_(std::move(device)), context_(context), handle_(idle_handles().take(context)) {
  const Functions& cublas = library().functions;
  const auto start = [&](int status, const char* call) {
    if (status == success) return;
    close();
    const std::string message = std::string("proposer gemm needs cuBLAS, and ") + call + " returned " +
                                cublas.status_name(status) + "; choose proposer none";
    if (status == allocation_failed) throw Error(Errc::out_of_memory, device_ + ": " + message);
    throw Error(Errc::unsupported, message);
  };
  if (!handle_) start(cublas.create(&handle_), "cublasCreate");
  if (cudaMalloc(&workspace_, workspace_bytes) != cudaSuccess) {
    cudaGetLastError();
    workspace_ = nullptr;
    start(allocation_failed, "cudaMalloc for its workspace");
  }
  start(cublas.set_stream(handle_, stream), "cublasSetStream");
  start(cublas.set_workspace(handle_, workspace_, workspace_bytes), "cublasSetWorkspace");
  start(cublas.set_math_mode(handle_, pedantic_math), "cublasSetMathMode");
}

Cublas::~Cublas() {
  close();
}

void Cublas::close() noexcept {
  if (handle_) idle_handles().keep(context_, handle_);
  if (workspace_) cudaFree(workspace_);
}

void Cublas::multiply(const ProductOperand& a, const ProductOperand& b, std::size_t dims, float* out,
                      std::size_t stride) {
  // cuBLAS is column-major: a matrix [rows, dims] is [dims, rows] for it. Its product of b transposed and a
  // is [b.rows, a.rows], which is [a.rows, b.rows] here.
  const float one = 1, zero = 0;
  const auto size = [](std::size_t value) { return static_cast<std::int64_t>(value); };
  // The stride of a single row may have any value, but cuBLAS requires at least `columns`.
  const auto pitch = [&](std::size_t given, std::size_t columns) { return size(std::max(given, columns)); };
  const int status = library().functions.gemm(handle_, transpose, no_transpose, size(b.rows), size(a.rows),
                                              size(dims), &one, b.data, real_32f, pitch(b.stride, dims),
                                              a.data, real_32f, pitch(a.stride, dims), &zero, out, real_32f,
                                              pitch(stride, b.rows), compute_32f_pedantic, default_algorithm);
  if (status == success) return;
  const std::string message =
      device_ + " collect: cublasGemmEx returned " + library().functions.status_name(status);
  if (status == allocation_failed)
    throw Error(Errc::out_of_memory, message + "; free memory of the device, or choose proposer none");
  throw Error(Errc::device_failure,
              message + "; report it with the sizes that led to it, or choose proposer none");
}

}  // namespace kith::cuda
