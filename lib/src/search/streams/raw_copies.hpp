// Rows of a Source on their way to memory of a device, as they are: by several threads, and without a detour
// where they lie in memory that is locked.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <vector>

#include "device/device_state.hpp"
#include "device/host_buffer.hpp"
#include "kith/source.hpp"
#include "kith/spi.hpp"
#include "rows/landed/borrowed.hpp"

namespace kith {

class RawCopies {
 public:
  /// `source` lives longer.
  ///   most_rows  of a copy()
  ///   threads    of the host; 0: as many as there are cores
  /// Throws out_of_memory.
  RawCopies(std::shared_ptr<Device::State> state, const Source& source, std::int64_t most_rows,
            std::uint32_t threads);

  /// Rows first ... first + count - 1, one behind the other, to the beginning of `to`, which no step that is
  /// not done uses. They are there when it returns.
  ///   stopped  asked between pieces: whether to give up
  ///   step     every so many rows, from the first on, are kept for sample()
  /// Throws what Source::read() throws; interrupted: `stopped` said so.
  void copy(std::int64_t first, std::int64_t count, spi::Allocation& to, std::int64_t step,
            std::vector<unsigned char>& sample, const std::function<bool()>& stopped);

 private:
  struct Queue {
    std::unique_ptr<spi::CopyQueue> queue;  ///< null: the device has none
    std::mutex mutex;
  };

  std::unique_ptr<const ReachedMemory> held() const;
  void read(std::int64_t first, std::int64_t count, unsigned char* to) const;
  void write(std::size_t thread, spi::Allocation& to, std::size_t offset, const void* from,
             std::size_t bytes);

  const std::shared_ptr<Device::State> state_;
  const Source& source_;
  const RowsInfo info_;
  const std::size_t row_bytes_;
  const std::optional<RowsView> there_;              ///< in memory of the host
  const std::unique_ptr<const ReachedMemory> held_;  ///< null: rows do not go as they are
  std::int64_t piece_rows_ = 0;
  std::uint32_t team_ = 1;
  std::optional<HostBuffer> staging_;  ///< a piece for each thread; none where rows go as they are
  std::vector<Queue> queues_;
};

}  // namespace kith
