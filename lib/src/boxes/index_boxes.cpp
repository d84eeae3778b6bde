#include "boxes/index_boxes.hpp"

#include <algorithm>

#include "base/numbers.hpp"
#include "boxes/packed_boxes.hpp"
#include "device/timing.hpp"
#include "device/watcher.hpp"
#include "rows/read_back.hpp"

namespace kith {
namespace {

/// The rows of an Index, row-major, as they lie on the device.
std::vector<float> rows_of(const Index::State& index, std::uint32_t threads) {
  std::vector<float> rows(size(index.rows) * size(index.dims)), packed;
  for (const Chunk& chunk : index.chunks)
    read_rows(index, chunk, 0, chunk.rows, rows.data() + size(chunk.first) * size(index.dims), packed,
              threads);
  return rows;
}

template <class T>
DeviceMemory uploaded(const std::shared_ptr<Device::State>& state, const std::vector<T>& values) {
  DeviceMemory memory(state, values.size() * sizeof(T));
  const DeviceSession session(*state);
  session->write(*memory.get(), 0, values.data(), values.size() * sizeof(T));
  return memory;
}

}  // namespace

IndexBoxes::IndexBoxes(const Index::State& index, const PlanOptions& options)
    : IndexBoxes(index, rows_of(index, options.threads), options) {}

IndexBoxes::IndexBoxes(const Index::State& index, const std::vector<float>& rows, const PlanOptions& options)
    : rows_(static_cast<std::uint32_t>(index.rows)),
      dims_(static_cast<std::uint32_t>(index.dims)),
      order_(MatrixView<const float>(rows.data(), index.rows, index.dims), options.threads,
             [&] { Watcher(options, 1).check_stop(); }) {
  const PackedBoxes packed =
      packed_boxes({rows.data(), index.rows, index.dims}, order_.numbers(), options.threads);
  const std::shared_ptr<Device::State>& state = index.device.state();
  bounds_ = uploaded(state, packed.bounds);
  numbers_ = uploaded(state, order_.numbers());
  ordered_ = uploaded(state, packed.rows);
}

spi::Boxes IndexBoxes::boxes() const {
  const std::size_t block = std::size_t{2} * dims_ * spi::box_rows;
  return {{ordered_.get(), 0, rows_, dims_, spi::box_rows},
          {numbers_.get(), 0, 1, rows_, rows_},
          {bounds_.get(), 0, spi::box_blocks(rows_), block, block}};
}

std::size_t IndexBoxes::bytes() const {
  return ordered_.get()->bytes + numbers_.get()->bytes + bounds_.get()->bytes;
}

std::shared_ptr<const IndexBoxes> boxes_for(const Index::State& index, const PlanOptions& options,
                                            Trace* trace) {
  const std::lock_guard lock(index.quantized_mutex);
  if (index.boxes) return index.boxes;
  const Stopwatch making;
  index.boxes = std::make_shared<IndexBoxes>(index, options);
  index.lessons.tell_boxes_made();
  if (trace) {
    trace->boxes_seconds = making.seconds();
    trace->boxes_bytes = index.boxes->bytes();
  }
  return index.boxes;
}

}  // namespace kith
