#include "boxes/index_boxes.hpp"

#include <algorithm>
#include <bit>
#include <utility>

#include "base/numbers.hpp"
#include "boxes/curve.hpp"
#include "boxes/cuts.hpp"
#include "boxes/packed_boxes.hpp"
#include "boxes/packed_rows.hpp"
#include "device/timing.hpp"
#include "device/watcher.hpp"
#include "rows/read_back.hpp"

namespace kith {
namespace {

/// Returns the rows of an Index, row-major, as they are on the device.
std::vector<float> rows_of(const ResidentRows& index, std::uint32_t threads) {
  std::vector<float> rows(size(index.rows) * size(index.dims)), packed;
  for (const Chunk& chunk : index.chunks)
    read_rows(index, chunk, 0, chunk.rows, rows.data() + size(chunk.first) * size(index.dims), packed,
              threads);
  return rows;
}

std::size_t frame_length(std::uint32_t dims) {
  return spi::curve_columns(dims) + 1;
}

constexpr std::uint32_t all_bits = 64;

/// Returns enough bits to distinguish as many places as there are queries; more bits would save no reads
/// of leaves.
std::uint32_t bits_for(std::uint32_t queries) {
  return (static_cast<std::uint32_t>(std::bit_width(queries)) + 7) / 8 * 8;
}

/// Returns the rows of a sample, row-major, which the device gathers.
std::vector<float> sample_of(const ResidentRows& index, const std::vector<spi::RowBlocks>& parts,
                             std::uint32_t threads) {
  const std::shared_ptr<Device::State>& state = index.device.state();
  const std::vector<std::uint32_t> numbers = rows_for_frame(static_cast<std::uint32_t>(index.rows));
  const std::size_t dims = size(index.dims), leaf = spi::box_rows;
  std::vector<float> packed((numbers.size() + leaf - 1) / leaf * leaf * dims), sample(numbers.size() * dims);
  const DeviceMemory places = uploaded(state, numbers), memory(state, packed.size() * sizeof(float));
  {
    const DeviceSession session(*state);
    session->enqueue(
        {pack_step(parts, places.get(), static_cast<std::uint32_t>(numbers.size()), memory.get(), nullptr),
         threads});
    session->read(*memory.get(), 0, packed.data(), packed.size() * sizeof(float));
  }
  for (std::size_t i = 0; i < numbers.size(); ++i)
    for (std::size_t d = 0; d < dims; ++d)
      sample[i * dims + d] = packed[(i / leaf * dims + d) * leaf + i % leaf];
  return sample;
}

}  // namespace

spi::Step order_step(const spi::RowBlocks& queries, spi::Allocation* frame, spi::Allocation* out,
                     const spi::Scratch& scratch, std::uint32_t threads) {
  return {spi::OrderStep{{queries},
                         line_of<float>(frame, frame_length(queries.dims)),
                         bits_for(queries.rows),
                         {},
                         line_of<std::uint32_t>(out, queries.rows),
                         scratch},
          threads};
}

bool makes_boxes(const Device::State& device, std::int64_t dims) {
  const spi::RowBlocks one{nullptr, 0, 1, static_cast<std::uint32_t>(dims), device.info.train_block};
  return device.check(order_step(one, nullptr, nullptr, {}, 1)).refusal.empty() &&
         device.check({pack_step({one}, nullptr, 1, nullptr, nullptr), 1}).refusal.empty();
}

IndexBoxes::IndexBoxes(const ResidentRows& index, const SearchOptions& options)
    : rows_(static_cast<std::uint32_t>(index.rows)),
      dims_(static_cast<std::uint32_t>(index.dims)),
      terms_(index.terms) {
  if (makes_boxes(*index.device.state(), index.dims))
    make_on_device(index, options);
  else
    make_on_host(index, options);
}

void IndexBoxes::make_on_device(const ResidentRows& index, const SearchOptions& options) {
  const Watcher watcher(options, 1);
  const std::shared_ptr<Device::State>& state = index.device.state();
  const std::vector<spi::RowBlocks> parts = parts_of(index);
  watcher.check_stop();
  const std::vector<float> values = sample_of(index, parts, options.threads);
  const MatrixView<const float> sample(values.data(), static_cast<std::int64_t>(values.size()) / index.dims,
                                       index.dims);
  frame_ = uploaded(state, curve_frame(sample));
  numbers_ = DeviceMemory(state, rows_ * sizeof(std::uint32_t));
  spi::OrderStep order{parts,
                       line_of<float>(frame_.get(), frame_length(dims_)),
                       all_bits,
                       cuts_for(sample, rows_),
                       line_of<std::uint32_t>(numbers_.get(), rows_),
                       {}};
  {
    const std::size_t bytes = state->check({order, options.threads}).scratch_bytes;
    const DeviceMemory scratch(state, bytes);
    order.scratch = {scratch.get(), bytes};
    watcher.check_stop();
    const DeviceSession session(*state);
    session->enqueue({order, options.threads});
    session->finish();
  }
  watcher.check_stop();
  const std::size_t line = std::size_t{dims_} * spi::box_rows * sizeof(float);
  ordered_ = DeviceMemory(state, spi::boxes_of_level(rows_, 0) * line);
  bounds_ = DeviceMemory(state, spi::box_blocks(rows_) * 2 * line);
  const DeviceSession session(*state);
  // A search also computes gaps to the unused boxes at the end of a level, and ignores them. They are set to
  // zero, so that memory checkers see no uninitialised reads.
  const std::vector<float> zeros(2 * line / sizeof(float));
  for (std::uint32_t level = 1; level <= spi::box_levels(rows_); ++level)
    session->write(*bounds_.get(), (spi::blocks_before_level(rows_, level) - 1) * 2 * line, zeros.data(),
                   2 * line);
  session->enqueue({pack_step(parts, numbers_.get(), rows_, ordered_.get(), bounds_.get()), options.threads});
  session->finish();
}

void IndexBoxes::make_on_host(const ResidentRows& index, const SearchOptions& options) {
  const std::vector<float> values = rows_of(index, options.threads);
  const MatrixView<const float> rows(values.data(), index.rows, index.dims);
  order_.emplace(rows, options.threads, [&] { Watcher(options, 1).check_stop(); });
  const PackedBoxes packed = packed_boxes(rows, order_->numbers(), options.threads);
  const std::shared_ptr<Device::State>& state = index.device.state();
  bounds_ = uploaded(state, packed.bounds);
  numbers_ = uploaded(state, order_->numbers());
  ordered_ = uploaded(state, packed.rows);
}

spi::Boxes IndexBoxes::boxes() const {
  const std::size_t block = std::size_t{2} * dims_ * spi::box_rows;
  return {{ordered_.get(), 0, rows_, dims_, spi::box_rows, terms_ ? terms_->there() : nullptr,
           terms_ && terms_->is_mixed()},
          {numbers_.get(), 0, 1, rows_, rows_},
          {bounds_.get(), 0, spi::box_blocks(rows_), block, block}};
}

std::size_t IndexBoxes::bytes() const {
  return ordered_.get()->bytes + numbers_.get()->bytes + bounds_.get()->bytes +
         (frame_ ? frame_.get()->bytes : 0);
}

std::shared_ptr<const IndexBoxes> boxes_for(const ResidentRows& index, const SearchOptions& options,
                                            Trace* trace) {
  const std::lock_guard lock(index.made->quantized_mutex);
  if (index.made->boxes) return index.made->boxes;
  const Stopwatch making;
  index.made->boxes = std::make_shared<IndexBoxes>(index, options);
  index.made->lessons.tell_boxes_made();
  if (trace) {
    trace->boxes_seconds = making.seconds();
    trace->boxes_bytes = index.made->boxes->bytes();
  }
  return index.made->boxes;
}

}  // namespace kith
