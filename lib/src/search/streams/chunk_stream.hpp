// Streams training rows from a Source through a device. While one chunk is searched, the next is read,
// checked, packed and copied, or copied as it is if the device checks and packs.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <exception>
#include <memory>
#include <mutex>
#include <optional>
#include <stop_token>
#include <vector>

#include "certified/row_sample.hpp"
#include "device/host_buffer.hpp"
#include "host/host_thread.hpp"
#include "kith/source.hpp"
#include "rows/landed/device_landing.hpp"
#include "rows/resident_rows.hpp"
#include "rows/rows.hpp"
#include "rows/rows_on_device.hpp"
#include "search/lists/asked_part.hpp"
#include "search/streams/raw_copies.hpp"
#include "search/streams/stream_sizes.hpp"

namespace kith {

/// Describes the rows that are streamed, and how they are compared.
struct StreamedSet {
  Device device;
  std::shared_ptr<const Source> source;
  Metric metric;
  RowsInfo rows;
  std::vector<std::int64_t> features;  ///< the columns that count, ascending
  std::int64_t dims = 0;               ///< columns of the rows on the device
  std::int64_t first_row = 0;          ///< the number that messages give row 0
  float largest = 0;                   ///< max |element|, which the range check of negative_dot uses
  StreamSizes sizes;
  std::shared_ptr<const RowsOnDevice> packed = nullptr;  ///< has the rows instead of the Source
  std::shared_ptr<const RowSchema> compared =
      nullptr;                               ///< has terms, a box and what shows; null: `metric` alone
  std::optional<SampledValues> values = {};  ///< known about packed rows; none for bytes, whose grid is known
};

/// Describes rows that a device has packed, to be converted chunk by chunk.
StreamedSet streamed_packed(const RowSchema& schema, std::int64_t rows, float largest,
                            std::shared_ptr<const RowsOnDevice> packed);

RowSchema schema_of(const StreamedSet& set);

/// Holds a chunk, and the place of its first row among all rows.
struct StreamedChunk {
  std::int64_t first = 0;
  std::shared_ptr<const ResidentRows> rows;
};

/// Returns the columns that count, as prepare_rows() takes them; empty if all count.
std::span<const std::int64_t> mask_of(const StreamedSet& set);

/// Reads rows first ... first + count - 1 of a Source, checks and prepares them.
///   raw      memory for what is read, kept from call to call
///   threads  threads of the host; 0: as many as there are cores
///   stopped  returns whether to give up; it is called between pieces
/// Throws what Source::read() and prepare_rows() throw; interrupted: `stopped` returned true.
PreparedRows read_source(const StreamedSet& set, std::int64_t first, std::int64_t count,
                         std::vector<unsigned char>& raw, std::uint32_t threads,
                         const std::function<bool()>& stopped);

class ChunkStream {
 public:
  /// Begins to read. `set` must outlive this.
  ///   rows  number of rows to stream
  /// Throws out_of_memory.
  ChunkStream(const StreamedSet& set, RowRange rows, std::uint32_t threads, std::stop_token stop);
  ~ChunkStream();
  ChunkStream(const ChunkStream&) = delete;
  ChunkStream& operator=(const ChunkStream&) = delete;

  /// Returns the next chunk; nothing behind the last. The caller must no longer hold the chunk of the
  /// previous call. Throws what read_source() throws; out_of_memory; interrupted: it was asked to stop.
  std::optional<StreamedChunk> next();

  /// Holds the work so far, for a Trace: seconds by the host's clock, and bytes.
  struct Work {
    double read = 0, land = 0, wait = 0;
    std::uint64_t bytes = 0;
  };
  Work work() const;

 private:
  static constexpr std::size_t most_slots = 2;
  struct Slot {
    std::shared_ptr<DeviceMemory> memory;
    std::int64_t first = 0, count = 0;
    std::shared_ptr<ResidentRows> rows;   ///< packed rows; null if the device packs them
    std::vector<unsigned char> sample;    ///< some of the rows as they are, if the device packs them
    std::optional<SampledValues> values;  ///< known from the sample
    bool filled = false;                  ///< else it is free
  };

  void make_memory(std::int64_t rows);
  void fill_all();
  void fill(Slot& slot, std::int64_t first, std::int64_t count);
  void fill_packed(Slot& slot);
  std::shared_ptr<ResidentRows> new_chunk(std::int64_t rows) const;
  void upload(MatrixView<const float> rows, const DeviceMemory& to);
  std::shared_ptr<ResidentRows> landed(const Slot& slot);
  StreamedChunk unpacked(std::int64_t first, std::int64_t count);
  SampledValues sampled(const Slot& slot) const;
  std::optional<SampledValues> values_of(const Slot& slot) const;
  [[noreturn]] void refuse_row(std::int64_t row) const;
  void free(Slot& slot);
  bool gives_up() const;
  void wait_for(const Slot& slot);

  const StreamedSet& set_;
  const std::uint32_t threads_;
  const std::stop_token stop_;
  std::vector<Slot> slots_;
  std::vector<unsigned char> raw_;
  std::optional<HostBuffer> staging_;
  std::unique_ptr<spi::CopyQueue> queue_;  ///< null: the device has none
  // Used if the device packs the rows: copies of rows as they are, and memory for packed rows.
  std::optional<RawCopies> copies_;
  std::optional<DeviceLanding> landing_;
  std::shared_ptr<DeviceMemory> packed_;
  std::int64_t to_read_, to_search_;  ///< first row of the next chunk to fill, and to search
  const std::int64_t end_;            ///< behind the last row that passes
  std::size_t searched_ = 0;          ///< chunks that next() has returned

  mutable std::mutex mutex_;  // guards all members below, and Slot::filled
  std::condition_variable changed_;
  bool closing_ = false;
  std::exception_ptr failure_;
  Work work_;

  bool reads_ahead_ = false;
  HostThread thread_;  // last, so that it ends before the members that it uses
};

}  // namespace kith
