// kith_tests [--device=SPEC] [--hostile-start] [doctest's own options]
//
// --hostile-start opens the device and its drivers while subnormals are flushed.
// If the device is missing, the program exits with 77, which ctest shows as Skipped; KITH_REQUIRE_DEVICE=1
// makes that a failure. A device that fails its self-test is always a failure.
#define DOCTEST_CONFIG_IMPLEMENT
#include <doctest/doctest.h>

#include <cstdio>
#include <cstdlib>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "common/device.hpp"
#include "common/environment.hpp"
#include "kith/error.hpp"

namespace kith::tests {
namespace {

// Both point into main()'s frame, because a Device in a static variable would outlive its driver.
const Device* device_under_test = nullptr;
std::string spec_asked_for = "cpu";

int without_device(const Error& error) {
  const bool inexact = std::string_view(error.what()).find(" is not exact: ") != std::string_view::npos;
  const char* required = std::getenv("KITH_REQUIRE_DEVICE");
  const bool skip =
      error.code() == Errc::unavailable && !inexact && !(required && required == std::string("1"));
  std::fprintf(stderr, "kith_tests: %s: %s\n", skip ? "skipped" : "failed", error.what());
  return skip ? 77 : 1;
}

}  // namespace

const Device& device() {
  return *device_under_test;
}

const std::string& device_spec() {
  return spec_asked_for;
}

}  // namespace kith::tests

int main(int argc, char** argv) {
  using namespace kith::tests;
  setenv("KITH_TUNING", "off", 1);    // a user's measurements must not change a test
  setenv("KITH_CL_CACHE", "off", 1);  // every process compiles what it tests
  constexpr std::string_view option = "--device=";
  std::optional<HostileSetting> setting;
  std::vector<char*> rest;
  for (int i = 0; i < argc; ++i) {
    if (std::string_view(argv[i]).starts_with(option)) {
      spec_asked_for = argv[i] + option.size();
    } else if (argv[i] == std::string_view("--hostile-start")) {
      setting = HostileSetting::flush;
    } else {
      rest.push_back(argv[i]);
    }
  }
  std::unique_ptr<const kith::Device> device;
  try {
    std::optional<HostileEnvironment> hostile;
    if (setting) hostile.emplace(*setting);
    device = std::make_unique<kith::Device>(kith::open_device(spec_asked_for));
  } catch (const kith::Error& error) {
    return without_device(error);
  }
  device_under_test = device.get();
  std::printf("device %s: %s (%s)\n", device->info().spec.c_str(), device->info().name.c_str(),
              device->info().driver.c_str());
  std::fflush(stdout);
  return doctest::Context(static_cast<int>(rest.size()), rest.data()).run();
}
