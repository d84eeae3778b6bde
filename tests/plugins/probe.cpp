// kith_probe [--only] [--reaper] [--remove FILE] [SPEC...] prints what kith sees in a fresh process, one
// fact per line.
//
//   --only         asks only for the devices SPEC
//   --reaper       makes this process the parent of orphans, like the first process of a container
//   --remove FILE  removes FILE first, after libkith.so was loaded
//
//   backend NAME: N devices         or: backend NAME: why there are none
//   failure: a message of load_failures()
//   SPEC: opened SPEC OF THE DEVICE or: SPEC: code: message
//   host: what the host program sees of child processes that are not its own
//   plug-in: a plug-in that is loaded at the end
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <fstream>
#include <set>
#include <string>

#include "kith/device.hpp"
#include "kith/error.hpp"

namespace {

volatile sig_atomic_t ended_children = 0;

void count_child(int) {
  ended_children = ended_children + 1;
}

void print_all() {
  for (const kith::BackendInfo& backend : kith::backends()) {
    const std::string devices = std::to_string(backend.devices.size()) + " devices";
    std::printf("backend %s: %s\n", backend.name.c_str(),
                backend.devices.empty() ? backend.reason.c_str() : devices.c_str());
  }
  for (const std::string& failure : kith::load_failures()) std::printf("failure: %s\n", failure.c_str());
}

void print_plugins_in_memory() {
  std::ifstream maps("/proc/self/maps");
  std::set<std::string> names;
  for (std::string line; std::getline(maps, line);)
    if (const std::size_t at = line.find("/libkith_"); at != std::string::npos)
      names.insert(line.substr(at + 1));
  for (const std::string& name : names) std::printf("plug-in: %s\n", name.c_str());
}

}  // namespace

int main(int argc, char** argv) {
  signal(SIGCHLD, count_child);
  bool only = false;
  for (; argc > 1 && std::string(argv[1]).starts_with("--"); --argc, ++argv) {
    const std::string option = argv[1];
    if (option == "--only") only = true;
    if (option == "--reaper") prctl(PR_SET_CHILD_SUBREAPER, 1);
    if (option == "--remove" && argc > 2) {
      unlink(argv[2]);
      --argc, ++argv;
    }
  }
  if (!only) print_all();
  for (int i = 1; i < argc; ++i) {
    try {
      const kith::Device device = kith::open_device(argv[i]);
      std::printf("%s: opened %s\n", argv[i], device.info().spec.c_str());
    } catch (const kith::Error& error) {
      std::printf("%s: %s: %s\n", argv[i], std::string(kith::name(error.code())).c_str(), error.what());
    }
  }
  const bool none = waitpid(-1, nullptr, 0) < 0 && errno == ECHILD;
  std::printf("host: %d children ended, wait() finds %s\n", static_cast<int>(ended_children),
              none ? "none" : "one");
  print_plugins_in_memory();
}
