#include "device/host_buffer.hpp"

#include <algorithm>
#include <new>
#include <numeric>

#include "kith/error.hpp"

namespace kith {
namespace {

// Devices copy smaller blocks themselves, without a wait, and the allocator reuses their pages; it gives back
// the pages of larger blocks, and to touch new ones takes longer than the copy. Blocks above most_locked are
// scarce in the system, and slow to lock. Neither are kept.
constexpr std::size_t least_locked = std::size_t{1} << 16, most_locked = std::size_t{1} << 25;
constexpr std::size_t most_kept = std::size_t{1} << 26;
constexpr std::size_t most_blocks = 8;

bool is_kept(std::size_t bytes) {
  return bytes >= least_locked && bytes <= most_locked;
}

class PlainMemory : public spi::HostMemory {
 public:
  explicit PlainMemory(std::size_t size) : HostMemory(::operator new(size), size) {}
  ~PlainMemory() override { ::operator delete(data); }
};

/// Allocates locked memory; null if the device has none. `ran_out` says whether memory ran out.
std::unique_ptr<spi::HostMemory> try_to_lock(spi::Device& device, std::size_t bytes, bool& ran_out) {
  try {
    ran_out = false;
    return device.allocate_host(bytes);
  } catch (const Error& error) {
    if (error.code() != Errc::out_of_memory) throw;
    ran_out = true;
    return nullptr;
  }
}

std::unique_ptr<spi::HostMemory> allocate_locked(spi::Device& device, std::size_t bytes) {
  bool ran_out = false;
  std::unique_ptr<spi::HostMemory> memory = try_to_lock(device, bytes, ran_out);
  return ran_out && give_back_locked() ? try_to_lock(device, bytes, ran_out) : std::move(memory);
}

/// Returns a spare block if there are too many, else null. The smallest one goes first, because it is the
/// quickest to make again.
std::unique_ptr<spi::HostMemory> take_surplus_pages(Device::State& state) {
  const std::lock_guard lock(state.spares_mutex);
  auto& spare = state.spare_host;
  const std::size_t all =
      std::accumulate(spare.begin(), spare.end(), std::size_t{0},
                      [](std::size_t sum, const auto& block) { return sum + block->bytes; });
  if (spare.size() <= most_blocks && all <= most_kept) return nullptr;
  const auto smallest = std::min_element(spare.begin(), spare.end(),
                                         [](const auto& a, const auto& b) { return a->bytes < b->bytes; });
  std::unique_ptr<spi::HostMemory> found = std::move(*smallest);
  spare.erase(smallest);
  return found;
}

std::unique_ptr<spi::HostMemory> allocate_plain(std::size_t bytes) {
  try {
    return std::make_unique<PlainMemory>(bytes);
  } catch (const std::bad_alloc&) {
    if (!give_back_locked()) throw;
  }
  return std::make_unique<PlainMemory>(bytes);
}

}  // namespace

HostBuffer::HostBuffer(Device::State& state, std::size_t bytes) : state_(state) {
  if (is_kept(bytes)) {
    const DeviceSession session(state_);
    memory_ = take_spare(state_, state_.spare_host, bytes, most_locked);
    if (!memory_) memory_ = allocate_locked(*session, bytes);
    locked_ = memory_ && !dynamic_cast<const PlainMemory*>(memory_.get());
  }
  if (!memory_) memory_ = allocate_plain(bytes);
}

HostBuffer::~HostBuffer() {
  if (!is_kept(memory_->bytes)) return;
  if (state_.mutex.is_lost()) {
    static_cast<void>(memory_.release());
    return;
  }
  const DeviceSession session(state_);
  try {
    const std::lock_guard spares(state_.spares_mutex);
    state_.spare_host.push_back(std::move(memory_));
  } catch (...) {  // if there is no memory for the pointer, the block itself is freed
    memory_.reset();
    return;
  }
  while (take_surplus_pages(state_)) {
  }
}

void PendingUpload::settle() noexcept {
  if (!buffer_) return;
  try {
    const DeviceSession session(*state_);
    session->finish();
  } catch (...) {  // a device that fails copies no more, and the search has told why
  }
  buffer_ = nullptr;
}

}  // namespace kith
