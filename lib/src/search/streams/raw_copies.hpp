// Copies rows of a Source as they are to memory of a device, by several threads, and directly if they are in
// locked memory.
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
  /// `source` must outlive this.
  ///   most_rows  in one copy()
  ///   threads    threads of the host; 0: as many as there are cores
  /// Throws out_of_memory.
  RawCopies(std::shared_ptr<Device::State> state, const Source& source, std::int64_t most_rows,
            std::uint32_t threads);

  /// Copies rows first ... first + count - 1 without gaps to the beginning of `to`, which no running step may
  /// use. They are there when it returns.
  ///   stopped  asked between pieces whether to give up
  ///   step     every step-th row, from the first on, goes to `sample`
  /// Throws what Source::read() throws; interrupted: `stopped` returned true.
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
  const std::optional<RowsView> there_;              ///< rows in memory of the host
  const std::unique_ptr<const ReachedMemory> held_;  ///< null: rows are not in locked memory
  std::int64_t piece_rows_ = 0;
  std::uint32_t team_ = 1;
  std::optional<HostBuffer> staging_;  ///< a piece for each thread; none if rows are in locked memory
  std::vector<Queue> queues_;
};

}  // namespace kith
