#include "search/streams/raw_copies.hpp"

#include <algorithm>
#include <cstring>
#include <utility>

#include "base/numbers.hpp"
#include "host/pieces.hpp"
#include "kith/error.hpp"

namespace kith {
namespace {

/// A thread copies memory at a fifth of the rate that a card can take, or less, and reads a cached file at an
/// eighth of it.
constexpr std::uint32_t most_threads = 8;
/// All threads together copy as much as is locked at once (HostBuffer).
constexpr std::size_t copied_at_once = (std::size_t{1} << 25) / most_threads;
/// Rows in locked memory are copied in such pieces, so that a stop is noticed now and then.
constexpr std::size_t whole_bytes = std::size_t{1} << 25;
/// Each queue waits for its copy; the bus serves one while another begins.
constexpr std::size_t most_queues = 2;

}  // namespace

RawCopies::RawCopies(std::shared_ptr<Device::State> state, const Source& source, std::int64_t most_rows,
                     std::uint32_t threads)
    : state_(std::move(state)),
      source_(source),
      info_(source.info()),
      row_bytes_(size(row_bytes(info_.element, info_.cols))),
      there_(source.in_memory()),
      held_(held()),
      queues_(held_ ? 1 : most_queues) {
  const std::size_t at_once = held_ ? whole_bytes : copied_at_once;
  piece_rows_ = std::clamp<std::int64_t>(static_cast<std::int64_t>(at_once / row_bytes_), 1, most_rows);
  if (!held_) {
    const std::int64_t pieces = divide_up(most_rows, piece_rows_);
    team_ =
        std::min<std::uint32_t>({team_size(threads), most_threads,
                                 static_cast<std::uint32_t>(std::min<std::int64_t>(pieces, most_threads))});
    staging_.emplace(*state_, team_ * size(piece_rows_) * row_bytes_);
  }
  const DeviceSession session(*state_);
  for (Queue& queue : queues_) queue.queue = session->copy_queue();
}

/// Returns rows without gaps in memory that the device reads directly; null if there are none.
std::unique_ptr<const ReachedMemory> RawCopies::held() const {
  if (!there_ || there_->rows == 0 || there_->stride_bytes != static_cast<std::int64_t>(row_bytes_))
    return nullptr;
  return held_in_place(state_, there_->row(0), size(there_->rows) * row_bytes_);
}

void RawCopies::copy(std::int64_t first, std::int64_t count, spi::Allocation& to, std::int64_t step,
                     std::vector<unsigned char>& sample, const std::function<bool()>& stopped) {
  sample.resize(size(divide_up(count, step)) * row_bytes_);
  const std::size_t pieces = size(divide_up(count, piece_rows_));
  run_pieces(pieces, size(count) * row_bytes_, team_, [&](std::size_t piece, std::size_t thread) {
    if (stopped())
      throw Error(Errc::interrupted,
                  "search: stopped while training rows were read, as was asked; nothing is returned");
    const std::int64_t begin = static_cast<std::int64_t>(piece) * piece_rows_;
    const std::int64_t some = std::min(piece_rows_, count - begin);
    const unsigned char* from = nullptr;
    if (held_) {
      from = there_->row(first + begin);
    } else {
      const std::size_t room = size(piece_rows_) * row_bytes_;
      unsigned char* const own = staging_->as<unsigned char>(team_ * room).data() + thread * room;
      read(first + begin, some, own);
      from = own;
    }
    for (std::int64_t row = divide_up(begin, step) * step; row < begin + some; row += step)
      std::memcpy(sample.data() + size(row / step) * row_bytes_, from + size(row - begin) * row_bytes_,
                  row_bytes_);
    write(thread, to, size(begin) * row_bytes_, from, size(some) * row_bytes_);
  });
}

void RawCopies::read(std::int64_t first, std::int64_t count, unsigned char* to) const {
  if (!there_) return source_.read(first, count, to);
  if (there_->stride_bytes == static_cast<std::int64_t>(row_bytes_)) {
    std::memcpy(to, there_->row(first), size(count) * row_bytes_);
    return;
  }
  for (std::int64_t r = 0; r < count; ++r)
    std::memcpy(to + size(r) * row_bytes_, there_->row(first + r), row_bytes_);
}

void RawCopies::write(std::size_t thread, spi::Allocation& to, std::size_t offset, const void* from,
                      std::size_t bytes) {
  Queue& own = queues_[thread % queues_.size()];
  if (own.queue) {
    const std::lock_guard lock(own.mutex);
    return own.queue->write(to, offset, from, bytes);
  }
  const DeviceSession session(*state_);
  session->write(to, offset, from, bytes);
}

}  // namespace kith
