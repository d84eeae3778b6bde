// Copies between the host and the device. Small ones go through locked memory of the host.
#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstring>
#include <span>
#include <vector>

#if defined(__SSE2__)
#include <immintrin.h>
#endif

#include "device.hpp"
#include "transfer/transfer.hpp"

namespace kith::cuda {
namespace {

constexpr std::size_t staging_bytes = std::size_t{1} << 20;
constexpr std::size_t small_bytes = staging_bytes / 4;
constexpr std::size_t most_put = std::size_t{1}
                                 << 16;  // a kernel copies so many bytes in about a microsecond

/// The host looks at the ticket of a fetch for so long before it waits for the stream, which takes longer to
/// tell that it is done but may let the thread sleep.
constexpr std::chrono::microseconds longest_look{200};

void relax() {
#if defined(__SSE2__)
  _mm_pause();
#else
  std::atomic_signal_fence(std::memory_order_seq_cst);
#endif
}

/// Returns whether `ticket` became `number` within a while.
bool becomes(std::uint32_t& ticket, std::uint32_t number) {
  using Clock = std::chrono::steady_clock;
  constexpr int looks = 64;
  for (const auto end = Clock::now() + longest_look; Clock::now() < end;)
    for (int i = 0; i < looks; ++i) {
      if (std::atomic_ref(ticket).load(std::memory_order_acquire) == number) return true;
      relax();
    }
  return false;
}

unsigned char* target_of(const spi::Allocation& to, std::size_t offset) {
  return static_cast<unsigned char*>(static_cast<const Block&>(to).data) + offset;
}

const unsigned char* source_of(const spi::Piece& piece) {
  return static_cast<const unsigned char*>(static_cast<const Block*>(piece.from)->data) + piece.offset;
}

}  // namespace

/// Allocates the staging memory, with the ticket behind it.
void Device::open_staging() {
  void* locked = nullptr;
  guard_.check(cudaMallocHost(&locked, staging_bytes + sizeof(std::uint32_t)), "open", "cudaMallocHost");
  staging_ = static_cast<unsigned char*>(locked);
  ticket_ = new (staging_ + staging_bytes) std::uint32_t(0);
}

void Device::write(spi::Allocation& to, std::size_t offset, const void* from, std::size_t bytes) {
  const Call call(*this, "write");
  if (bytes == 0) return;
  unsigned char* const target = target_of(to, offset);
  if (bytes > small_bytes || locked_->holds(from, bytes)) {
    copy(target, from, bytes);
    wait("write");
    return;
  }
  if (staged_ + bytes > staging_bytes) wait("write");
  unsigned char* const staged = staging_ + staged_;
  std::memcpy(staged, from, bytes);
  if (bytes <= most_put)
    guard_.check(put(queue_, target, staged, bytes), "write", "the launch of a kernel");
  else
    copy(target, staged, bytes);
  staged_ += rounded(bytes);
}

void Device::write_later(spi::Allocation& to, std::size_t offset, const void* from, std::size_t bytes) {
  if (!locked_->holds(from, bytes)) return write(to, offset, from, bytes);
  const Call call(*this, "write");
  if (bytes > 0) copy(target_of(to, offset), from, bytes);
}

void Device::copy(unsigned char* target, const void* from, std::size_t bytes) {
  ask("write", "cudaMemcpyAsync",
      [&] { return cudaMemcpyAsync(target, from, bytes, cudaMemcpyHostToDevice, queue_.stream); });
}

void Device::read(const spi::Allocation& from, std::size_t offset, void* to, std::size_t bytes) {
  const spi::Piece all{&from, offset, to, bytes};
  read_pieces({&all, 1});
}

/// Pieces that are not in locked memory take places in the staging memory, one behind the other, while it has
/// room. The stream executes in order, so that earlier data have left the staging memory by then.
void Device::read_pieces(std::span<const spi::Piece> pieces) {
  const Call call(*this, "read");
  std::vector<unsigned char*> staged;  // null: the copy engine writes where the piece goes
  std::size_t used = 0;
  bool few = pieces.size() <= most_pieces;
  for (const spi::Piece& piece : pieces) {
    const bool direct = piece.bytes > small_bytes || used + piece.bytes > staging_bytes ||
                        (piece.bytes > 0 && locked_->holds(piece.to, piece.bytes));
    staged.push_back(direct ? nullptr : staging_ + used);
    if (direct) few = false;
    if (!direct) used += rounded(piece.bytes);
  }
  // Until the data are known to have arrived, this part of the staging memory is not reused.
  staged_ = std::max(staged_, used);
  if (few && used <= most_fetched)
    fetch_pieces(pieces, staged);
  else
    copy_pieces(pieces, staged);
  for (std::size_t i = 0; i < pieces.size(); ++i)
    if (staged[i] && pieces[i].bytes > 0) std::memcpy(pieces[i].to, staged[i], pieces[i].bytes);
}

void Device::copy_pieces(std::span<const spi::Piece> pieces, std::span<unsigned char* const> staged) {
  for (std::size_t i = 0; i < pieces.size(); ++i)
    if (pieces[i].bytes > 0)
      ask("read", "cudaMemcpyAsync", [&] {
        return cudaMemcpyAsync(staged[i] ? staged[i] : pieces[i].to, source_of(pieces[i]), pieces[i].bytes,
                               cudaMemcpyDeviceToHost, queue_.stream);
      });
  wait("read");
}

/// Lets a kernel copy to the staging memory, and waits until the data are there.
void Device::fetch_pieces(std::span<const spi::Piece> pieces, std::span<unsigned char* const> staged) {
  Fetch wanted{ticket_, ++fetched_, {}};
  for (std::size_t i = 0; i < pieces.size(); ++i)
    wanted.pieces[i] = {staged[i], source_of(pieces[i]), pieces[i].bytes};
  guard_.check(fetch(queue_, wanted), "read", "the launch of a kernel");
  gate_.open();
  if (becomes(*ticket_, wanted.number))
    staged_ = 0;
  else
    wait("read");
}

}  // namespace kith::cuda
