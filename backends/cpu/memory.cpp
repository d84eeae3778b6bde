#include "cpu/memory.hpp"

#include <sys/mman.h>

#include <cstdlib>
#include <string>

#include "kith/error.hpp"

namespace kith::cpu {
namespace {

constexpr std::size_t alignment = 256, huge_page = std::size_t{1} << 21;

std::byte* allocate(std::size_t size, std::size_t available) {
  const std::size_t unit = size >= 2 * huge_page ? huge_page : alignment;
  void* memory = nullptr;
  if (size <= available) memory = std::aligned_alloc(unit, (size + unit - 1) / unit * unit);
  if (!memory)
    throw Error(Errc::out_of_memory,
                "cpu: " + std::to_string(size) + " bytes were asked for at once, but of " +
                    std::to_string(available) + " bytes of memory not that much is free; ask for less");
  // Rows are read from end to end, so that large pages need fewer page walks. The system may ignore this.
  if (unit == huge_page) static_cast<void>(madvise(memory, size, MADV_HUGEPAGE));
  return static_cast<std::byte*>(memory);
}

}  // namespace

Memory::Memory(std::size_t size, std::size_t available)
    : spi::Allocation(size), data(allocate(size, available)), owned_(true) {}

Memory::~Memory() {
  if (owned_) std::free(data);
}

}  // namespace kith::cpu
