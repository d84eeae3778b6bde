// This plug-in has one mistake, which the build chooses: see CMakeLists.txt.
#include <signal.h>
#include <unistd.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <new>
#include <stdexcept>

#include "kith/spi.hpp"

#ifndef KITH_BAD_NAME
#define KITH_BAD_NAME "future"
#endif

#ifndef KITH_BAD_NO_SYMBOL
namespace {

/// Appends the first letter of its name to the file KITH_PLANTED_DIARY, each time it is asked for devices.
void write_diary() {
  const char* const diary = std::getenv("KITH_PLANTED_DIARY");
  FILE* const file = diary ? std::fopen(diary, "a") : nullptr;
  if (!file) return;
  std::fputc(KITH_BAD_NAME[0], file);
  std::fclose(file);
}

class EmptyBackend : public kith::spi::Backend {
 public:
  kith::spi::Found find() override {
    write_diary();
#if defined(KITH_BAD_FIND_THROWS)
    throw std::runtime_error("the map is upside down");
#elif defined(KITH_BAD_FIND_THROWS_INT)
    throw 42;
#elif defined(KITH_BAD_FIND_CRASHES)
    raise(SIGSEGV);
    return {};
#elif defined(KITH_BAD_FIND_ABORTS)
    std::abort();
#elif defined(KITH_BAD_FIND_EXITS)
    std::exit(KITH_BAD_FIND_EXITS);
#elif defined(KITH_BAD_FIND_PRINTS)
    std::puts("answered");  // kith's helper prints this, too
    std::fflush(stdout);
    raise(SIGSEGV);
    return {};
#elif defined(KITH_BAD_FIND_RUNS_OUT)
    static volatile std::size_t more_than_there_is = SIZE_MAX / 4;
    // A driver that does not check malloc would do this.
    *static_cast<volatile char*>(std::malloc(more_than_there_is)) = 1;
    return {};
#elif defined(KITH_BAD_FIND_THROWS_BAD_ALLOC)
    throw std::bad_alloc();
#elif defined(KITH_BAD_FIND_HANGS)
    for (;;) pause();
#elif defined(KITH_BAD_OPEN)
    kith::DeviceInfo info;
    info.backend = KITH_BAD_NAME;
    info.spec = info.backend + ":0";
    info.name = "a card";
    info.kind = kith::DeviceKind::gpu;
    return {{info, info, info}, {}, {}};
#else
    return {};
#endif
  }
  std::unique_ptr<kith::spi::Device> open(std::uint32_t ordinal) override {
    if (ordinal == 0) throw 42;
    if (ordinal == 1) throw std::runtime_error("the door is locked");
    return nullptr;
  }
};

std::unique_ptr<kith::spi::Backend> create() {
#if defined(KITH_BAD_CREATE_THROWS)
  throw std::runtime_error("not today");
#elif defined(KITH_BAD_CREATE_NOTHING)
  return nullptr;
#else
  return std::make_unique<EmptyBackend>();
#endif
}

#ifdef KITH_BAD_ABI
constexpr std::uint32_t abi = kith::spi::plugin_abi + 1;
#else
constexpr std::uint32_t abi = kith::spi::plugin_abi;
#endif

}  // namespace

#ifdef KITH_BAD_LOADING_CRASHES
[[gnu::constructor]] static void crash() {
  raise(SIGSEGV);
}
#endif

extern "C" KITH_API const kith::spi::Plugin* kith_plugin();
extern "C" KITH_API const kith::spi::Plugin* kith_plugin() {
  [[maybe_unused]] static const kith::spi::Plugin plugin{abi, KITH_BAD_NAME, create};
#ifdef KITH_BAD_NULL
  return nullptr;
#else
  return &plugin;
#endif
}
#endif
