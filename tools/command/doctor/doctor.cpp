// kith doctor: says what is found, what is missing, and which package has it.
#include <dlfcn.h>
#include <stdlib.h>  // secure_getenv

#include <CLI/CLI.hpp>
#include <algorithm>
#include <array>
#include <filesystem>
#include <fstream>
#include <memory>
#include <optional>
#include <thread>

#include "command/shared/command.hpp"
#include "command/shared/device_report.hpp"
#include "command/shared/json.hpp"
#include "kith/device.hpp"
#include "kith/index.hpp"

namespace kith::command {
namespace {

namespace fs = std::filesystem;

constexpr const char* fashion_mnist_folder = "/usr/share/datasets/fashion-mnist";

using Json = nlohmann::ordered_json;

/// The document that --json prints at the end; null: lines are printed as things are found.
Json* document = nullptr;

void tell(const char* status, const std::string& text) {
  if (document) return (*document)["findings"].push_back({{"status", status}, {"text", text}});
  print("[" + std::string(status) + "]" + std::string(9 - std::string_view(status).size(), ' ') + text +
        "\n");
}
void found(const std::string& text) {
  tell("found", text);
}
void missing(const std::string& text) {
  tell("missing", text);
}
void broken(const std::string& text) {
  tell("broken", text);
}
void detail(const std::string& text) {
  if (!document) return print("           " + text + "\n");
  Json& findings = (*document)["findings"];
  findings.back()["details"].push_back(text);
}

/// Returns the file that the loader finds for `library`; nothing if there is none.
std::optional<std::string> find_library(const char* library, const char* symbol, std::string& why) {
  void* handle = dlopen(library, RTLD_LAZY | RTLD_LOCAL);
  if (!handle) {
    const char* reason = dlerror();
    why = reason ? reason : "no reason given";
    return std::nullopt;
  }
  Dl_info info{};
  void* address = dlsym(handle, symbol);
  if (address && dladdr(address, &info) != 0 && info.dli_fname) return info.dli_fname;
  return library;
}

void examine_cpu() {
  found("CPU: " + std::to_string(std::thread::hardware_concurrency()) + " threads");
}

void examine_environment() {
  for (const char* name :
       {"KITH_BACKEND_PATH", "KITH_CL_DIR", "KITH_CL_FAMILY", "KITH_CL_LOCAL_KIB", "KITH_CL_FP64",
        "KITH_CL_CACHE", "KITH_CPU_ISA", "KITH_TUNING", "KITH_THREADS", "OMP_NUM_THREADS", "OCL_ICD_VENDORS",
        "OPENCL_VENDOR_PATH", "POCL_DEVICES", "POCL_MEMORY_LIMIT", "CUDA_VISIBLE_DEVICES"})
    if (const char* value = secure_getenv(name)) detail(std::string(name) + "=" + value);
}

/// Prints the folder of libkith.so, and the plug-ins in the folders where it looks for them.
void examine_library() {
  Dl_info info{};
  std::error_code ignored;
  fs::path library = "libkith.so";
  if (dladdr(reinterpret_cast<const void*>(&kith::load_failures), &info) != 0 && info.dli_fname)
    library = fs::canonical(info.dli_fname, ignored);
  found("libkith: " + library.string());
  const char* path = secure_getenv("KITH_BACKEND_PATH");
  detail("plug-ins are looked for in " +
         (path ? std::string(path) + " (KITH_BACKEND_PATH)" : (library.parent_path() / "kith").string()));
  examine_environment();
}

void examine_opencl() {
  std::string why;
  if (const auto file = find_library("libOpenCL.so.1", "clGetPlatformIDs", why))
    found("OpenCL loader: " + *file);
  else
    missing("OpenCL loader: " + why + "; package ocl-icd-libopencl1");
  const char* vendors = secure_getenv("OCL_ICD_VENDORS");
  const fs::path folder = vendors ? vendors : "/etc/OpenCL/vendors";
  std::error_code error;
  std::vector<std::string> drivers;
  const std::vector<std::string> failures = load_failures();
  for (fs::directory_iterator it(folder, error), end; !error && it != end; it.increment(error)) {
    if (it->path().extension() != ".icd") continue;
    std::string library;
    std::getline(std::ifstream(it->path()) >> std::ws, library);
    const auto names_it = [&](const std::string& failure) {
      return failure.starts_with(it->path().string() + ":");
    };
    if (std::any_of(failures.begin(), failures.end(), names_it)) continue;  // listed with the devices
    drivers.push_back(it->path().filename().string() + " (" + library + ")");
  }
  std::sort(drivers.begin(), drivers.end());
  for (const std::string& driver : drivers) {
    found("OpenCL driver: " + driver);
    if (document) (*document)["drivers"].push_back("OpenCL: " + driver);
  }
  if (drivers.empty())
    missing("OpenCL driver: no .icd file in " + folder.string() +
            "; package pocl-opencl-icd runs OpenCL on the CPU, a GPU's comes with its driver");
}

void examine_cuda() {
  std::string why;
  const bool module = fs::exists("/proc/driver/nvidia/version");
  const auto file = find_library("libcuda.so.1", "cuDriverGetVersion", why);
  if (!file) {
    missing("CUDA driver: " + why + "; " +
            (module ? "the kernel has NVIDIA's module: package libcuda1 (Debian, non-free), or "
                      "libnvidia-compute-VERSION of the same version (Ubuntu)"
                    : "for an NVIDIA GPU: package nvidia-driver (Debian, non-free), or "
                      "`ubuntu-drivers install` (Ubuntu)"));
    return;
  }
  int version = 0;
  void* handle = dlopen("libcuda.so.1", RTLD_LAZY | RTLD_LOCAL);
  using GetVersion = int (*)(int*);
  if (const auto get = reinterpret_cast<GetVersion>(dlsym(handle, "cuDriverGetVersion"))) get(&version);
  const std::string text = "CUDA driver: " + *file + ", for CUDA " + std::to_string(version / 1000) + "." +
                           std::to_string(version % 1000 / 10);
  if (document) (*document)["drivers"].push_back(text);
  if (module)
    found(text);
  else
    broken(text + "; the kernel has no NVIDIA module (/proc/driver/nvidia is not there)");
}

void examine_data() {
  constexpr std::array files = {"train-images-idx3-ubyte.gz", "train-labels-idx1-ubyte.gz",
                                "t10k-images-idx3-ubyte.gz", "t10k-labels-idx1-ubyte.gz"};
  for (const char* file : files) {
    if (fs::exists(fs::path(fashion_mnist_folder) / file)) continue;
    return missing(std::string("Fashion-MNIST: there is no ") + fashion_mnist_folder + "/" + file +
                   "; package dataset-fashion-mnist");
  }
  found(std::string("Fashion-MNIST: ") + fashion_mnist_folder);
}

/// Returns why a proposer does not list candidates on the device of `index`; empty if it does. The first call
/// checks its bound.
std::string refusal_of(const Index& index, MatrixView<const float> query, Proposer proposer) {
  throw_if_interrupted("doctor");
  SearchOptions options{.proposer = proposer};
  Trace trace;
  try {
    index.search(query, 1, options, &trace);
    return trace.plan.proposer == proposer ? "" : trace.plan.reason;
  } catch (const Error& error) {
    if (error.code() == Errc::interrupted) throw;
    return error.what();
  }
}

/// Lists the proposers that work on a device, `dot, gemm`, and the reason of each other one on its own line.
std::string examine_proposers(const DeviceInfo& info, Json& device) {
  constexpr std::int64_t rows = 256, dims = 8;
  std::vector<float> values(rows * dims);
  for (std::size_t i = 0; i < values.size(); ++i) values[i] = static_cast<float>(i % 251);
  const Index index(open_device(info.spec), {values.data(), rows, dims});
  std::string working;
  for (const Proposer proposer : info.proposers) {
    const std::string refusal = refusal_of(index, {values.data(), 1, dims}, proposer);
    device["proposers"].push_back({{"name", name(proposer)}, {"refusal", refusal}});
    if (refusal.empty())
      working += (working.empty() ? "" : ", ") + std::string(name(proposer));
    else
      missing("--how proposer=" + std::string(name(proposer)) + " on " + info.spec + ": " + refusal);
  }
  return working.empty() ? "none" : working;
}

/// Tests a device, and returns whether it is exact.
bool examine_device(const DeviceInfo& info) {
  const std::string text =
      "device " + info.spec + ": " + info.name + " (" + info.platform + ", " + info.driver + ")";
  Json device = {{"spec", info.spec},         {"name", info.name}, {"platform", info.platform},
                 {"driver", info.driver},     {"exact", false},    {"refusal", nullptr},
                 {"proposers", Json::array()}};
  std::string refusal = test_device(info).refusal;
  try {
    if (refusal.empty()) found(text + ", exact; proposers: " + examine_proposers(info, device));
  } catch (const Error& error) {
    if (error.code() == Errc::interrupted) throw;
    refusal = error.what();
  }
  const bool exact = refusal.empty();
  if (!exact) broken(text + ": " + refusal);
  device["exact"] = exact;
  if (!exact) device["refusal"] = refusal;
  if (document) (*document)["devices"].push_back(std::move(device));
  return exact;
}

/// Tests the devices of every back end. Returns how many are exact.
int examine_devices() {
  int exact = 0;
  for (const BackendInfo& backend : backends()) {
    if (backend.devices.empty()) missing("back end " + backend_line(backend));
    for (const DeviceInfo& info : backend.devices) exact += examine_device(info);
  }
  for (const std::string& failure : other_load_failures()) broken(failure);
  return exact;
}

/// Returns how many devices are exact.
int examine_all() {
  examine_library();
  examine_cpu();
  examine_opencl();
  examine_cuda();
  const int exact = examine_devices();
  examine_data();
  return exact;
}

int run_doctor(bool as_json) {
  Json json = {
      {"findings", Json::array()}, {"drivers", Json::array()}, {"devices", Json::array()}, {"auto", nullptr}};
  if (as_json) document = &json;
  const int exact = examine_all();
  document = nullptr;
  const std::string best = exact > 0 ? open_device("auto").info().spec : "";
  if (exact > 0) json["auto"] = best;
  if (as_json) print(json_text(json));
  if (exact == 0)
    throw Error(Errc::unavailable,
                std::string("doctor: no device works; see ") +
                    (as_json ? "the findings that are broken" : "the lines marked [broken]") + " above");
  if (!as_json)
    print("\n" + std::to_string(exact) + (exact == 1 ? " device is" : " devices are") +
          " ready; --device auto is " + best + ".\n");
  return exit_ok;
}

}  // namespace

Subcommand add_doctor(CLI::App& parent) {
  auto as_json = std::make_shared<bool>(false);
  CLI::App* app =
      parent.add_subcommand("doctor", "Show what is found, what is missing, and which package has it");
  app->add_flag("--json", *as_json, "Print the same and more as JSON");
  add_examples(*app, {"kith doctor", "kith doctor --json"});
  return {app, [as_json] { return run_doctor(*as_json); }};
}

}  // namespace kith::command
