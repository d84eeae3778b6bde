// The plug-ins that make one mistake each share this code. CMakeLists.txt names the mistakes, and choice.cpp
// tells which one a plug-in makes.
#include <signal.h>
#include <unistd.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <new>
#include <stdexcept>
#include <string_view>

#include "kith/spi.hpp"

extern const char bad_plugin_name[], bad_plugin_mistake[];  // of choice.cpp

namespace {

bool makes(std::string_view mistake) {
  return mistake == bad_plugin_mistake;
}

/// Appends the first letter of its name to the file KITH_PLANTED_DIARY, each time it is asked for devices.
void write_diary() {
  const char* const diary = std::getenv("KITH_PLANTED_DIARY");
  FILE* const file = diary ? std::fopen(diary, "a") : nullptr;
  if (!file) return;
  std::fputc(bad_plugin_name[0], file);
  std::fclose(file);
}

/// A driver that does not check malloc would do this.
void run_out() {
  static volatile std::size_t more_than_there_is = SIZE_MAX / 4;
  *static_cast<volatile char*>(std::malloc(more_than_there_is)) = 1;
}

class EmptyBackend : public kith::spi::Backend {
 public:
  kith::spi::Found find() override {
    write_diary();
    if (makes("find_throws")) throw std::runtime_error("the map is upside down");
    if (makes("find_throws_int")) throw 42;
    if (makes("find_throws_bad_alloc")) throw std::bad_alloc();
    if (makes("find_crashes")) raise(SIGSEGV);
    if (makes("find_aborts")) std::abort();
    if (makes("find_exits")) std::exit(3);
    if (makes("find_leaves")) std::exit(0);
    if (makes("find_runs_out")) run_out();
    if (makes("find_prints")) {
      std::puts("answered");  // kith's helper prints this, too
      std::fflush(stdout);
      raise(SIGSEGV);
    }
    while (makes("find_hangs")) pause();
    if (!makes("open")) return {};
    kith::DeviceInfo info;
    info.backend = bad_plugin_name;
    info.spec = info.backend + ":0";
    info.name = "a card";
    info.kind = kith::DeviceKind::gpu;
    return {{info, info, info}, {}, {}};
  }
  std::unique_ptr<kith::spi::Device> open(std::uint32_t ordinal) override {
    if (ordinal == 0) throw 42;
    if (ordinal == 1) throw std::runtime_error("the door is locked");
    return nullptr;
  }
};

std::unique_ptr<kith::spi::Backend> create() {
  if (makes("create_throws")) throw std::runtime_error("not today");
  if (makes("create_nothing")) return nullptr;
  return std::make_unique<EmptyBackend>();
}

[[gnu::constructor]] void crash_while_loading() {
  if (makes("loading_crashes")) raise(SIGSEGV);
}

}  // namespace

extern "C" KITH_API const kith::spi::Plugin* kith_plugin();
extern "C" KITH_API const kith::spi::Plugin* kith_plugin() {
  static const kith::spi::Plugin plugin{kith::spi::plugin_abi + (makes("other_abi") ? 1 : 0), bad_plugin_name,
                                        create};
  return makes("null") ? nullptr : &plugin;
}
