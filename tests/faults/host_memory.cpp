// Lets host memory run out: one allocation fails, by operator new or by the CPU back end for blocks of
// its device.
#include <dlfcn.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <new>

#include "faults.hpp"

namespace {

using namespace kith::tests::faults;

/// A hash table of the blocks of the CPU's device, so that they are recognised when freed. There are few
/// at a time.
constexpr std::size_t alignment = 256, most_blocks = std::size_t{1} << 14;
std::array<std::atomic<void*>, most_blocks> blocks;

std::atomic<void*>& place_of(const void* block, void* holds) {
  for (std::size_t i = reinterpret_cast<std::uintptr_t>(block) / alignment;; ++i)
    if (std::atomic<void*>& place = blocks[i % most_blocks]; place == holds) return place;
}

bool is_block(const void* memory) {
  if (!memory || reinterpret_cast<std::uintptr_t>(memory) % alignment != 0) return false;
  const std::size_t first = reinterpret_cast<std::uintptr_t>(memory) / alignment;
  // Blocks with the same hash follow one another, and some may have been removed, so search a little further.
  for (std::size_t i = first; i < first + 64; ++i)
    if (blocks[i % most_blocks] == memory) return true;
  return false;
}

/// Precedes each block of operator new.
struct alignas(__STDCPP_DEFAULT_NEW_ALIGNMENT__) Label {
  bool counted;
};

Label* label_of(void* memory) {
  return static_cast<Label*>(memory) - 1;
}

/// Returns how many bytes lie before a block: its label, and padding that keeps the block aligned.
std::size_t room_before(std::size_t aligned) {
  return std::max(aligned, sizeof(Label));
}

void* allocate(std::size_t bytes, std::size_t aligned) {
  if (is_due(Site::allocation)) throw std::bad_alloc();
  const std::size_t before = room_before(aligned);
  void* whole = nullptr;
  if (::posix_memalign(&whole, before, before + bytes) != 0) throw std::bad_alloc();
  void* const memory = static_cast<std::byte*>(whole) + before;
  label_of(memory)->counted = is_watched();
  if (is_watched()) keep(Kept::host_blocks, 1);
  return memory;
}

void release(void* memory, std::size_t aligned) {
  if (!memory) return;
  if (label_of(memory)->counted) keep(Kept::host_blocks, -1);
  std::free(static_cast<std::byte*>(memory) - room_before(aligned));
}

}  // namespace

extern "C" void* __libc_memalign(std::size_t alignment, std::size_t bytes);
extern "C" void __libc_free(void* memory);

extern "C" [[gnu::visibility("default")]] void* aligned_alloc(std::size_t alignment_wanted,
                                                              std::size_t bytes) {
  if (is_due(Site::allocation)) return nullptr;
  void* const memory = __libc_memalign(alignment_wanted, bytes);
  if (!memory || alignment_wanted < alignment || !is_watched()) return memory;
  place_of(memory, nullptr) = memory;
  keep(Kept::device_blocks, 1);
  return memory;
}

extern "C" [[gnu::visibility("default")]] void free(void* memory) {
  if (is_block(memory)) {
    place_of(memory, memory) = nullptr;
    keep(Kept::device_blocks, -1);
  }
  __libc_free(memory);
}

void* operator new(std::size_t bytes) {
  return allocate(bytes, 0);
}
void* operator new(std::size_t bytes, std::align_val_t aligned) {
  return allocate(bytes, static_cast<std::size_t>(aligned));
}
void operator delete(void* memory) noexcept {
  release(memory, 0);
}
void operator delete(void* memory, std::size_t) noexcept {
  release(memory, 0);
}
void operator delete(void* memory, std::align_val_t aligned) noexcept {
  release(memory, static_cast<std::size_t>(aligned));
}
void operator delete(void* memory, std::size_t, std::align_val_t aligned) noexcept {
  release(memory, static_cast<std::size_t>(aligned));
}

namespace kith::tests::faults {

void fail_allocations(const Asked& asked, Scene& scene) {
  const std::vector<Kind> kinds = {{1, false, "std::bad_alloc", {Errc::out_of_memory}},
                                   {1, true, "std::bad_alloc", {Errc::out_of_memory}}};
  fail_each(asked, Site::allocation, scene.operations(asked.sample == 0), kinds, [] {});
}

}  // namespace kith::tests::faults
