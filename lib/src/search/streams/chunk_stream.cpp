#include "search/streams/chunk_stream.hpp"

#include <algorithm>
#include <chrono>
#include <string>
#include <utility>

#include "base/float_guard.hpp"
#include "base/numbers.hpp"
#include "base/text.hpp"
#include "certified/byte_grid.hpp"
#include "device/timing.hpp"
#include "host/pieces.hpp"
#include "kith/error.hpp"

namespace kith {
namespace {

constexpr std::int64_t piece_bytes = std::int64_t{8} << 20;  ///< one thread reads so much at a time
constexpr std::uint32_t most_readers =
    4;  ///< one reads about as fast as memory is copied, but disks are faster with several
/// Limits the sample of a chunk's rows that proposers need, so that taking it is faster than copying
/// the chunk.
constexpr std::int64_t most_samples = 1024, most_sampled = std::int64_t{1} << 17;
constexpr auto between_looks = std::chrono::milliseconds(50);  ///< a waiting thread looks so often whether it
                                                               ///< should stop

/// Returns the distance of sampled rows among `count` rows.
std::int64_t step_of_sample(std::int64_t count, std::int64_t cols) {
  return divide_up(count, std::clamp<std::int64_t>(most_sampled / cols, 1, most_samples));
}

[[noreturn]] void refuse_stopped() {
  throw Error(Errc::interrupted,
              "search: stopped while training rows were read, as was asked; nothing is "
              "returned");
}

/// Reads in pieces, several at a time. Throws the error of the first piece that fails.
void read_pieces(const Source& source, std::int64_t first, std::int64_t count, std::int64_t row_bytes,
                 unsigned char* to, std::uint32_t threads, const std::function<bool()>& stopped) {
  const std::int64_t step = std::max<std::int64_t>(1, piece_bytes / row_bytes);
  const std::uint32_t team = std::min(team_size(threads), most_readers);
  run_pieces(size(divide_up(count, step)), size(count) * size(row_bytes), team,
             [&](std::size_t piece, std::size_t) {
               const std::int64_t begin = static_cast<std::int64_t>(piece) * step;
               if (stopped && stopped()) refuse_stopped();
               source.read(first + begin, std::min(step, count - begin), to + size(begin) * size(row_bytes));
             });
}

void check_largest(const StreamedSet& set, float largest, std::int64_t first) {
  if (set.metric != Metric::negative_dot || largest <= set.largest) return;
  throw Error(Errc::invalid_argument,
              "index: largest = " + text_of(set.largest) + ", but training rows from " +
                  std::to_string(set.first_row + first) + " on reach " + text_of(largest) +
                  "; give the largest |element| of the rows of all shards");
}

}  // namespace

std::span<const std::int64_t> mask_of(const StreamedSet& set) {
  const bool all =
      compares_bits(set.metric) || static_cast<std::int64_t>(set.features.size()) == set.rows.cols;
  return all ? std::span<const std::int64_t>() : std::span(set.features);
}

RowSchema schema_of(const StreamedSet& set) {
  RowSchema schema(set.device, set.metric, set.rows.cols, set.features);
  schema.element = set.rows.element;
  schema.largest_of_shards = set.largest;
  if (set.compared) schema.compare_as(*set.compared);
  return schema;
}

StreamedSet streamed_packed(const RowSchema& schema, std::int64_t rows, float largest,
                            std::shared_ptr<const RowsOnDevice> packed) {
  constexpr std::int64_t block = spi::quantized_block_rows;
  const DeviceInfo& device = schema.device.info();
  const RowsInfo info{rows, schema.columns, schema.element};
  StreamedSet set{schema.device,
                  nullptr,
                  schema.metric,
                  info,
                  schema.features,
                  schema.dims,
                  0,
                  largest,
                  stream_sizes(device, info, schema.metric, schema.dims, {})};
  set.sizes.chunk_rows = std::max(block, set.sizes.chunk_rows / block * block);
  set.sizes.chunk_bytes = packed_bytes(set.sizes.chunk_rows, schema.dims, device.train_block);
  set.packed = std::move(packed);
  return set;
}

PreparedRows read_source(const StreamedSet& set, std::int64_t first, std::int64_t count,
                         std::vector<unsigned char>& raw, std::uint32_t threads,
                         const std::function<bool()>& stopped) {
  RowsView given;
  if (const std::optional<RowsView> there = set.source->in_memory()) {
    given = there->slice(first, count);
  } else {
    const std::int64_t bytes = row_bytes(set.rows.element, set.rows.cols);
    raw.resize(size(count) * size(bytes));
    read_pieces(*set.source, first, count, bytes, raw.data(), threads, stopped);
    given = RowsView(raw.data(), set.rows.element, count, set.rows.cols);
  }
  return prepare_rows("index", "training", given, set.metric, threads, mask_of(set), set.first_row + first);
}

ChunkStream::ChunkStream(const StreamedSet& set, RowRange rows, std::uint32_t threads, std::stop_token stop)
    : set_(set),
      threads_(threads),
      stop_(std::move(stop)),
      to_read_(rows.first),
      to_search_(rows.first),
      end_(rows.first + rows.count) {
  if (set_.packed) {
    packed_ = std::make_shared<DeviceMemory>(set_.device.state(), set_.sizes.chunk_bytes);
    return;
  }
  if (set_.source->info() != set_.rows)
    throw Error(Errc::bad_file, "index: " + escaped(set_.source->name()) +
                                    " has other rows or columns than when the index was made; make it anew");
  make_memory(rows.count);
  if (slots_.size() > 1) reads_ahead_ = thread_.start([this] { fill_all(); });
}

void ChunkStream::make_memory(std::int64_t rows) {
  const std::shared_ptr<Device::State>& state = set_.device.state();
  const StreamSizes& sizes = set_.sizes;
  const std::int64_t longest = std::clamp<std::int64_t>(rows, 1, sizes.chunk_rows);
  slots_.resize(rows > sizes.chunk_rows ? most_slots : 1);
  for (Slot& slot : slots_)
    slot.memory =
        std::make_shared<DeviceMemory>(state, sizes.raw_bytes > 0 ? sizes.raw_bytes : sizes.chunk_bytes);
  if (sizes.raw_bytes > 0) {
    packed_ = std::make_shared<DeviceMemory>(state, sizes.chunk_bytes);
    landing_.emplace(state, "search", mask_of(set_), set_.dims);
    copies_.emplace(state, *set_.source, longest, threads_);
  } else {
    staging_.emplace(*state,
                     staging_floats(longest, set_.dims, set_.device.info().train_block) * sizeof(float));
  }
  const DeviceSession session(*state);
  if (!copies_) queue_ = session->copy_queue();
  session->finish();  // reused memory may belong to steps that still run
}

ChunkStream::~ChunkStream() {
  {
    const std::lock_guard lock(mutex_);
    closing_ = true;
  }
  changed_.notify_all();
}

bool ChunkStream::gives_up() const {
  if (stop_.stop_requested()) return true;
  const std::lock_guard lock(mutex_);
  return closing_;
}

ChunkStream::Work ChunkStream::work() const {
  const std::lock_guard lock(mutex_);
  return work_;
}

/// Fills all slots, on the thread that reads ahead.
void ChunkStream::fill_all() {
  try {
    for (std::size_t chunk = 0; to_read_ < end_; ++chunk) {
      Slot& slot = slots_[chunk % slots_.size()];
      {
        std::unique_lock lock(mutex_);
        changed_.wait(lock, [&] { return closing_ || !slot.filled; });
        if (closing_) return;
      }
      const std::int64_t count = std::min(set_.sizes.chunk_rows, end_ - to_read_);
      fill(slot, to_read_, count);
      to_read_ += count;
      changed_.notify_all();
    }
  } catch (...) {
    const std::lock_guard lock(mutex_);
    failure_ = std::current_exception();
  }
  changed_.notify_all();
}

void ChunkStream::fill(Slot& slot, std::int64_t first, std::int64_t count) {
  slot.first = first;
  slot.count = count;
  if (copies_) {
    const Stopwatch reading;
    copies_->copy(first, count, *slot.memory->get(), step_of_sample(count, set_.rows.cols), slot.sample,
                  [this] { return gives_up(); });
    slot.values = values_of(slot);
    const std::lock_guard lock(mutex_);
    work_.read += reading.seconds();
  } else {
    fill_packed(slot);
  }
  const std::lock_guard lock(mutex_);
  slot.filled = true;
  work_.bytes += static_cast<std::uint64_t>(count) *
                 static_cast<std::uint64_t>(row_bytes(set_.rows.element, set_.rows.cols));
}

/// Fills a slot with rows that the host packs.
void ChunkStream::fill_packed(Slot& slot) {
  const Stopwatch reading;
  const PreparedRows rows =
      read_source(set_, slot.first, slot.count, raw_, threads_, [this] { return gives_up(); });
  check_largest(set_, rows.largest, slot.first);
  const double read = reading.seconds();
  const Stopwatch landing;
  upload(rows.view, *slot.memory);
  const std::shared_ptr<ResidentRows> chunk = new_chunk(slot.count);
  chunk->largest = rows.largest;
  chunk->chunks.push_back({{slot.memory, slot.memory->get()}, 0, slot.count});
  sampled_values(rows.view, set_.metric, chunk->element, threads_).tell(*chunk);
  slot.rows = chunk;
  const std::lock_guard lock(mutex_);
  work_.read += read;
  work_.land += landing.seconds();
}

/// Makes a chunk that has no rows yet.
std::shared_ptr<ResidentRows> ChunkStream::new_chunk(std::int64_t rows) const {
  auto chunk = std::make_shared<ResidentRows>(schema_of(set_));
  chunk->rows = rows;
  return chunk;
}

void ChunkStream::upload(MatrixView<const float> rows, const DeviceMemory& to) {
  const std::uint32_t block = set_.device.info().train_block;
  const std::span<float> staging = staging_->as<float>(staging_floats(rows.rows(), rows.cols(), block));
  const auto write = [&](std::size_t offset, const void* from, std::size_t bytes) {
    if (gives_up()) refuse_stopped();
    if (queue_) return queue_->write(*to.get(), offset, from, bytes);
    const DeviceSession session(*set_.device.state());
    session->write(*to.get(), offset, from, bytes);
  };
  write_packed(rows, block, threads_, staging, staging_->reader(), write);
}

/// Waits until the slot is filled, or no slot will be filled any more.
void ChunkStream::wait_for(const Slot& slot) {
  const Stopwatch waiting;
  std::unique_lock lock(mutex_);
  while (!slot.filled && !failure_) {
    changed_.wait_for(lock, between_looks);
    if (stop_.stop_requested()) refuse_stopped();
  }
  work_.wait += waiting.seconds();
  if (!slot.filled) std::rethrow_exception(failure_);
}

/// Lets the device land the chunk of a slot. Earlier steps that use the previous packed rows run first.
std::shared_ptr<ResidentRows> ChunkStream::landed(const Slot& slot) {
  const Stopwatch landing;
  std::shared_ptr<ResidentRows> chunk = new_chunk(slot.count);
  DeviceLanding::Found found;
  {
    const DeviceSession session(*set_.device.state());
    landing_->forget();
    landing_->land(
        {slot.memory->get(), set_.rows.element, 0, size(row_bytes(set_.rows.element, set_.rows.cols)),
         static_cast<std::uint32_t>(slot.count), static_cast<std::uint32_t>(set_.rows.cols)},
        {packed_->get(), 0, 0, static_cast<std::uint32_t>(set_.dims), session->info.train_block}, 0);
    found = landing_->found();
  }
  if (found.bad_row != no_row) refuse_row(slot.first + found.bad_row);
  check_largest(set_, found.largest, slot.first);
  chunk->largest = found.largest;
  chunk->chunks.push_back({{packed_, packed_->get()}, 0, slot.count});
  (slot.values ? *slot.values : sampled(slot)).tell(*chunk);
  const std::lock_guard lock(mutex_);
  work_.land += landing.seconds();
  return chunk;
}

/// Returns what proposers need to know, from the slot's sample.
SampledValues ChunkStream::sampled(const Slot& slot) const {
  const std::int64_t count = divide_up(slot.count, step_of_sample(slot.count, set_.rows.cols));
  const RowsView given(slot.sample.data(), set_.rows.element, count, set_.rows.cols);
  const PreparedRows sample = prepare_rows("index", "training", given, set_.metric, 1, mask_of(set_));
  return sampled_values(sample.view, set_.metric, set_.rows.element, threads_);
}

/// Does the same while the previous chunk is searched. Returns nothing if a value is not finite: the device
/// finds that in all rows, with the number of the first.
std::optional<SampledValues> ChunkStream::values_of(const Slot& slot) const {
  try {
    return sampled(slot);
  } catch (const Error& error) {
    if (error.code() != Errc::invalid_argument) throw;
    return std::nullopt;
  }
}

/// Refuses a row. The host checks it again, to write the message.
void ChunkStream::refuse_row(std::int64_t row) const {
  std::vector<unsigned char> raw;
  read_source(set_, row, 1, raw, 1, nullptr);
  throw Error(Errc::device_failure,
              "search: " + set_.device.info().spec + " found no finite values in training row " +
                  std::to_string(set_.first_row + row) +
                  ", and the host finds nothing else; report it, or use another device");
}

void ChunkStream::free(Slot& slot) {
  slot.rows.reset();  // without the lock, since it releases device memory
  {
    const std::lock_guard lock(mutex_);
    slot.filled = false;
  }
  changed_.notify_all();
}

/// Returns a chunk of rows that are already on the device, packed.
StreamedChunk ChunkStream::unpacked(std::int64_t first, std::int64_t count) {
  if (stop_.stop_requested()) refuse_stopped();
  std::shared_ptr<ResidentRows> chunk = new_chunk(count);
  set_.packed->land(first, count, *packed_->get());
  chunk->largest = set_.largest;
  chunk->chunks.push_back({{packed_, packed_->get()}, 0, count});
  if (set_.values) {
    set_.values->tell(*chunk);
    return {first, std::move(chunk)};
  }
  chunk->grid = grid_of_values({}, set_.metric, set_.rows.element);
  chunk->centre.assign(size(set_.dims), chunk->grid.centre);
  chunk->clip_range = spi::most_on_grid;
  return {first, std::move(chunk)};
}

std::optional<StreamedChunk> ChunkStream::next() {
  const FloatGuard guard;  // seconds are rounded
  if (searched_ > 0 && !copies_ && !set_.packed) free(slots_[(searched_ - 1) % slots_.size()]);
  if (to_search_ >= end_) return std::nullopt;
  const std::int64_t first = to_search_, count = std::min(set_.sizes.chunk_rows, end_ - first);
  if (set_.packed) {
    to_search_ += count;
    return unpacked(first, count);
  }
  Slot& slot = slots_[searched_ % slots_.size()];
  if (reads_ahead_)
    wait_for(slot);
  else
    fill(slot, first, count);
  to_search_ += count;
  ++searched_;
  if (!copies_) return StreamedChunk{first, slot.rows};
  StreamedChunk chunk{first, landed(slot)};
  free(slot);  // the packed rows are in other memory
  return chunk;
}

}  // namespace kith
