// kith_probe [SPEC...]: what kith sees in a fresh process, one fact a line.
//
//   backend NAME: N devices         or: backend NAME: why there are none
//   failure: a sentence of load_failures()
//   SPEC: opened SPEC OF THE DEVICE or: SPEC: code: message
#include <cstdio>
#include <string>

#include "kith/device.hpp"
#include "kith/error.hpp"

int main(int argc, char** argv) {
  for (const kith::BackendInfo& backend : kith::backends()) {
    const std::string devices = std::to_string(backend.devices.size()) + " devices";
    std::printf("backend %s: %s\n", backend.name.c_str(),
                backend.devices.empty() ? backend.reason.c_str() : devices.c_str());
  }
  for (const std::string& failure : kith::load_failures()) std::printf("failure: %s\n", failure.c_str());
  for (int i = 1; i < argc; ++i) {
    try {
      const kith::Device device = kith::open_device(argv[i]);
      std::printf("%s: opened %s\n", argv[i], device.info().spec.c_str());
    } catch (const kith::Error& error) {
      std::printf("%s: %s: %s\n", argv[i], std::string(kith::name(error.code())).c_str(), error.what());
    }
  }
}
