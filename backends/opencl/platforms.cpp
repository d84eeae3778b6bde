#include "platforms.hpp"

#include <dlfcn.h>
#include <stdlib.h>  // secure_getenv

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <memory>
#include <new>

namespace kith::opencl {
namespace {

namespace fs = std::filesystem;

constexpr int no_platform = -1001;  // CL_PLATFORM_NOT_FOUND_KHR: there is no driver, which is not an error

std::string name_of(const cl::Platform& platform, std::size_t number) {
  try {
    return platform.getInfo<CL_PLATFORM_NAME>();
  } catch (const cl::Error&) {
    return "number " + std::to_string(number);
  }
}

/// Returns the library that an .icd file names, which is its first word.
std::string library_of(const fs::path& icd) {
  std::string library;
  std::getline(std::ifstream(icd) >> std::ws, library);
  while (!library.empty() && (library.back() == ' ' || library.back() == '\r')) library.pop_back();
  return library;
}

/// Returns the folders where the dynamic linker looks for libraries: LD_LIBRARY_PATH, and those of the
/// system, such as /usr/lib/x86_64-linux-gnu. The linker's cache lists their files only by soname.
std::vector<fs::path> linker_folders() {
  const std::unique_ptr<void, int (*)(void*)> program(dlopen(nullptr, RTLD_LAZY), dlclose);
  Dl_serinfo size{};
  if (!program || dlinfo(program.get(), RTLD_DI_SERINFOSIZE, &size) != 0) return {};
  // The data of dlinfo end with paths; operator new aligns them.
  const std::unique_ptr<void, void (*)(void*)> memory(::operator new(size.dls_size),
                                                      [](void* p) { ::operator delete(p); });
  auto* const list = static_cast<Dl_serinfo*>(memory.get());
  *list = size;
  if (dlinfo(program.get(), RTLD_DI_SERINFO, list) != 0) return {};
  std::vector<fs::path> folders;
  for (unsigned i = 0; i < list->dls_cnt; ++i) folders.emplace_back(list->dls_serpath[i].dls_name);
  return folders;
}

/// Returns whether the dynamic linker would find the library: by its path, in one of its folders, or by
/// its cache.
bool is_there(const std::string& library) {
  std::error_code ignored;
  if (library.find('/') != std::string::npos) return fs::exists(library, ignored);
  for (const fs::path& folder : linker_folders())
    if (fs::exists(folder / library, ignored)) return true;
  std::ifstream file("/etc/ld.so.cache", std::ios::binary);
  const std::string cache{std::istreambuf_iterator<char>(file), {}};
  return cache.empty() || cache.find('\0' + library + '\0') != std::string::npos;
}

/// Restores an environment variable. Khronos' loader cuts OCL_ICD_FILENAMES after its first name, in place,
/// so that children of this process would find only that driver.
class KeptVariable {
 public:
  explicit KeptVariable(const char* name) : place_(std::getenv(name)), text_(place_ ? place_ : "") {}
  KeptVariable(const KeptVariable&) = delete;
  KeptVariable& operator=(const KeptVariable&) = delete;
  ~KeptVariable() {
    if (place_) std::copy(text_.begin(), text_.end(), place_);
  }

 private:
  char* const place_;
  const std::string text_;
};

}  // namespace

Platforms all_platforms() {
  Platforms found;
  std::vector<cl::Platform> platforms;
  const KeptVariable kept("OCL_ICD_FILENAMES");
  try {
    cl::Platform::get(&platforms);
  } catch (const cl::Error& error) {
    if (error.err() != no_platform) throw;
  }
  for (const cl::Platform& platform : platforms) {
    const std::size_t number = found.count++;
    try {
      std::vector<cl::Device> devices;
      platform.getDevices(CL_DEVICE_TYPE_ALL, &devices);
      found.devices.insert(found.devices.end(), devices.begin(), devices.end());
    } catch (const cl::Error& error) {
      if (error.err() != CL_DEVICE_NOT_FOUND)
        found.failures.push_back("OpenCL platform " + name_of(platform, number) + ": " + error.what() +
                                 " returned " + error_name(error.err()) +
                                 ", so its devices are unknown; install its driver again, or remove it");
    }
  }
  return found;
}

std::vector<std::string> useless_drivers(bool any_platform) {
  const char* const vendors = secure_getenv("OCL_ICD_VENDORS");
  std::vector<std::string> sentences;
  std::error_code error;
  for (fs::directory_iterator it(vendors ? vendors : "/etc/OpenCL/vendors", error), end; !error && it != end;
       it.increment(error)) {
    if (it->path().extension() != ".icd") continue;
    const std::string library = library_of(it->path());
    if (library.empty()) continue;
    if (!is_there(library)) {
      sentences.push_back(it->path().string() + ": names " + library +
                          ", which is not on this machine; install that OpenCL driver, or remove the file");
    } else if (!any_platform) {
      sentences.push_back(it->path().string() + ": names " + library +
                          ", which gave the OpenCL loader no platform; install that OpenCL driver again, or "
                          "remove the file");
    }
  }
  std::sort(sentences.begin(), sentences.end());
  return sentences;
}

}  // namespace kith::opencl
