#include "structure/structure_batch.hpp"

#include <algorithm>
#include <limits>
#include <string>

#include "base/numbers.hpp"
#include "device/timing.hpp"
#include "kith/error.hpp"
#include "rows/rows.hpp"

namespace kith {
SumsBatch::SumsBatch(const SumsTask& task, std::span<const SumsInput> inputs, const SumsTiles& tiles,
                     const SearchOptions& options, const DeviceMemory& labels)
    : task_(task),
      inputs_(inputs),
      tiles_(tiles),
      options_(options),
      labels_(labels),
      distances_(task.state, distances_bytes(tiles)) {
  const spi::Step whole{accumulate_step({0, 0, tiles.queries, {}, 0}, 0, tiles.rows), options.threads};
  const spi::Support support = task.state->check(whole);
  if (!support.refusal.empty())
    throw Error(Errc::unsupported, "structure: " + task.state->info.spec + ": " + support.refusal);
  if (support.scratch_bytes) scratch_ = DeviceMemory(task.state, support.scratch_bytes);
  scratch_bytes_ = support.scratch_bytes;
}

std::size_t SumsBatch::bytes_of(std::int64_t count) const {
  return numbers_a_sum * size(count) * size(task_.classes) * sizeof(float);
}

void SumsBatch::add(std::size_t input, std::int64_t first, std::int64_t count, Trace* trace) {
  const SampleRows& from = inputs_[input].from;
  const std::uint32_t block = task_.state->info.query_block;
  DeviceMemory queries(task_.state, packed_bytes(count, from.dims(), block));
  const std::vector<float> rows = from.rows(first, count);
  const Stopwatch upload;
  upload_rows(*task_.state, *queries.get(), {rows.data(), count, from.dims()}, block, options_.threads);
  if (trace) trace->seconds["upload"] += upload.seconds();
  parts_.push_back({input, first, count, std::move(queries), floats_});
  floats_ += bytes_of(count) / sizeof(float);
}

void SumsBatch::run(Watcher& watcher, Trace* trace, const TakeSums& take) {
  prepare_sums();
  for (const Part& part : parts_)
    for (const Chunk& chunk : inputs_[part.input].chunks)
      for (std::int64_t begin = 0; begin < chunk.rows; begin += tiles_.rows)
        run_tile(part, chunk, begin, std::min(tiles_.rows, chunk.rows - begin), watcher, trace);
  read_sums(trace);
  for (const Part& part : parts_) {
    const float* const smallest = values_.data() + part.sums;
    const std::size_t cells = size(part.count) * size(task_.classes);
    take({part.input, part.first, part.count, smallest, smallest + cells, smallest + 2 * cells});
  }
  parts_.clear();
  floats_ = 0;
}

/// Sets the smallest to +infinity, and the sums to 0.
void SumsBatch::prepare_sums() {
  values_.assign(floats_, 0.0f);
  for (const Part& part : parts_) {
    const auto from = values_.begin() + static_cast<std::ptrdiff_t>(part.sums);
    std::fill(from, from + part.count * task_.classes, std::numeric_limits<float>::infinity());
  }
  sums_ = DeviceMemory();  // frees it first, so that it can be reused
  sums_ = DeviceMemory(task_.state, bytes());
  const DeviceSession session(*task_.state);
  session->write(*sums_.get(), 0, values_.data(), bytes());
}

void SumsBatch::read_sums(Trace* trace) {
  const Stopwatch download;
  {
    const DeviceSession session(*task_.state);
    session->read(*sums_.get(), 0, values_.data(), bytes());
  }
  if (trace) trace->seconds["download"] += download.seconds();
}

/// Adds rows begin ... begin + rows - 1 of a chunk to the sums of a part.
void SumsBatch::run_tile(const Part& part, const Chunk& chunk, std::int64_t begin, std::int64_t rows,
                         Watcher& watcher, Trace* trace) {
  {
    const DeviceSession session(*task_.state);
    spi::Device& device = *session;
    StepTimer timer(device, trace);
    const spi::AccumulateStep sums = accumulate_step(part, chunk.first + begin, rows);
    device.enqueue({distance_step(part, chunk, begin, rows, sums.distances), options_.threads});
    timer.after(spi::DistanceStep::name);
    device.enqueue({sums, options_.threads});
    timer.after(spi::AccumulateStep::name);
    timer.collect();
    if (watcher.watches()) device.finish();
  }
  watcher.step_done();
}

spi::DistanceStep SumsBatch::distance_step(const Part& part, const Chunk& chunk, std::int64_t begin,
                                           std::int64_t rows, const spi::Grid<float>& out) const {
  const DeviceInfo& info = task_.state->info;
  const auto dims = static_cast<std::uint32_t>(inputs_[part.input].from.dims());
  const auto count = static_cast<std::uint32_t>(part.count);
  return {task_.metric,
          {part.queries.get(), 0, count, dims, info.query_block},
          rows_of_step(chunk, begin, rows, dims, info.train_block, task_.terms.get()),
          out};
}

spi::AccumulateStep SumsBatch::accumulate_step(const Part& part, std::int64_t first,
                                               std::int64_t rows) const {
  const std::size_t q = size(part.count), t = size(rows), c = size(task_.classes);
  const auto sums = [&](std::size_t number) {
    return spi::Grid<float>{sums_.get(), part.sums + number * q * c, q, c, c};
  };
  return {{distances_.get(), 0, q, t, t},
          {labels_.get(), size(first), 1, t, t},
          static_cast<std::uint32_t>(c),
          sums(0),
          sums(1),
          sums(2),
          {scratch_.get(), scratch_bytes_}};
}

}  // namespace kith
