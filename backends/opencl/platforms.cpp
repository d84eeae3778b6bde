#include "platforms.hpp"

#include <stdlib.h>  // secure_getenv

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <sstream>

namespace kith::opencl {
namespace {

namespace fs = std::filesystem;

constexpr int no_platform = -1001;  // CL_PLATFORM_NOT_FOUND_KHR: no driver, which is no error

std::string name_of(const cl::Platform& platform, std::size_t number) {
  try {
    return platform.getInfo<CL_PLATFORM_NAME>();
  } catch (const cl::Error&) {
    return "number " + std::to_string(number);
  }
}

/// The library that an .icd file names: its first word.
std::string library_of(const fs::path& icd) {
  std::string library;
  std::getline(std::ifstream(icd) >> std::ws, library);
  while (!library.empty() && (library.back() == ' ' || library.back() == '\r')) library.pop_back();
  return library;
}

/// Whether the dynamic linker would find it: as a path, in LD_LIBRARY_PATH, by its cache, or where it looks
/// last.
bool is_there(const std::string& library) {
  std::error_code ignored;
  if (library.find('/') != std::string::npos) return fs::exists(library, ignored);
  std::istringstream folders(
      std::string(secure_getenv("LD_LIBRARY_PATH") ? secure_getenv("LD_LIBRARY_PATH") : "") +
      ":/lib:/usr/lib:/lib64:/usr/lib64");
  for (std::string folder; std::getline(folders, folder, ':');)
    if (!folder.empty() && fs::exists(fs::path(folder) / library, ignored)) return true;
  std::ifstream file("/etc/ld.so.cache", std::ios::binary);
  const std::string cache{std::istreambuf_iterator<char>(file), {}};
  return cache.empty() || cache.find('\0' + library + '\0') != std::string::npos;
}

}  // namespace

Platforms all_platforms() {
  Platforms found;
  std::vector<cl::Platform> platforms;
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

std::vector<std::string> missing_drivers() {
  const char* const vendors = secure_getenv("OCL_ICD_VENDORS");
  std::vector<std::string> sentences;
  std::error_code error;
  for (fs::directory_iterator it(vendors ? vendors : "/etc/OpenCL/vendors", error), end; !error && it != end;
       it.increment(error)) {
    if (it->path().extension() != ".icd") continue;
    if (const std::string library = library_of(it->path()); !library.empty() && !is_there(library))
      sentences.push_back(it->path().string() + ": names " + library +
                          ", which is not on this machine; install that OpenCL driver, or remove the file");
  }
  std::sort(sentences.begin(), sentences.end());
  return sentences;
}

}  // namespace kith::opencl
