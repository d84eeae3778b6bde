#include "kith/unfinished.hpp"

#include <unistd.h>

#include <array>
#include <atomic>
#include <cstddef>

namespace kith {
namespace {

// An Unfinished owns a slot from setting `used` to clearing it. `name` is null while there is no file to
// remove. `owner` is the process: a forked child must not remove files of its parent.
struct Slot {
  std::atomic<bool> used{false};
  std::atomic<const char*> name{nullptr};
  std::atomic<pid_t> owner{0};
};
std::array<Slot, 16> slots;
static_assert(std::atomic<const char*>::is_always_lock_free);

}  // namespace

void Unfinished::remember(const char* name) noexcept {
  forget();
  for (std::size_t i = 0; i < slots.size(); ++i) {
    if (slots[i].used.exchange(true)) continue;
    slots[i].owner = ::getpid();
    slots[i].name = name;
    slot_ = static_cast<int>(i);
    return;
  }
}

void Unfinished::forget() noexcept {
  if (slot_ < 0) return;
  Slot& slot = slots[static_cast<std::size_t>(slot_)];
  slot.name = nullptr;
  slot.used = false;
  slot_ = -1;
}

void remove_unfinished() noexcept {
  for (Slot& slot : slots)
    if (const char* name = slot.name.exchange(nullptr); name && slot.owner == ::getpid()) ::unlink(name);
}

}  // namespace kith
