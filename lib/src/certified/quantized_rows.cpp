#include "certified/quantized_rows.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "base/float_guard.hpp"
#include "base/numbers.hpp"
#include "certified/row_sample.hpp"
#include "device/timing.hpp"
#include "kith/error.hpp"

namespace kith {
std::vector<float> centre_of(MatrixView<const float> train, Metric metric) {
  RowSample sample(train.cols());
  if (has_centre(metric)) sample.add(train, 0, sample_stride(train.rows()));
  return sample.centre(metric);
}

double clip_range_of(MatrixView<const float> rows, const std::vector<float>& centre) {
  const FloatGuard guard;
  const std::int64_t stride = sample_stride(rows.rows());
  double most = 0;
  for (std::int64_t r = 0; r < rows.rows(); r += stride)
    for (std::size_t d = 0; d < centre.size(); ++d)
      most = std::max(most, std::fabs(static_cast<double>(rows.row(r)[d]) - static_cast<double>(centre[d])));
  return most;
}

IndexQuantizedRows::IndexQuantizedRows(const std::shared_ptr<Device::State>& state,
                                       std::span<const std::int64_t> counts, const std::vector<float>& centre,
                                       double largest, Proposer proposer,
                                       std::shared_ptr<const RowsElsewhere> elsewhere)
    : proposer_(proposer),
      dims_(centre.size()),
      scale_(scale_of(proposer, largest)),
      centre_(state, centre.size() * sizeof(float)),
      elsewhere_(std::move(elsewhere)) {
  for (const std::int64_t count : counts)
    parts_.push_back(
        {DeviceMemory(state, quantized_row_bytes(proposer, count, static_cast<std::int64_t>(dims_))),
         DeviceMemory(state, size(count) * spi::terms_a_row * sizeof(float)), DeviceMemory(), count});
  const DeviceSession session(*state);
  session->write(*centre_.get(), 0, centre.data(), centre.size() * sizeof(float));
}

void IndexQuantizedRows::fill(Device::State& state, std::size_t chunk, const spi::Allocation& rows,
                              std::uint32_t threads) {
  const std::int64_t count = parts_[chunk].count;
  const DeviceSession session(state);
  const spi::RowBlocks from{&rows, 0, static_cast<std::uint32_t>(count), static_cast<std::uint32_t>(dims_),
                            session->info.train_block};
  const spi::Step step{spi::PrepareStep{proposer_, from, centre(), of(chunk, 0, count), scale_}, threads};
  const spi::Support support = session->check(step);
  if (!support.refusal.empty())
    throw Error(Errc::unsupported, "index: " + session->info.spec + ": " + support.refusal);
  session->enqueue(step);
  session->finish();
}

IndexQuantizedRows::IndexQuantizedRows(const std::shared_ptr<Device::State>& state,
                                       const std::vector<Chunk>& chunks, const std::vector<float>& centre,
                                       double largest, Proposer proposer, bool copy_rows,
                                       std::uint32_t threads, Trace* trace)
    : proposer_(proposer),
      dims_(centre.size()),
      scale_(scale_of(proposer, largest)),
      centre_(state, centre.size() * sizeof(float)) {
  for (const Chunk& chunk : chunks)
    parts_.push_back(
        {DeviceMemory(state, quantized_row_bytes(proposer, chunk.rows, static_cast<std::int64_t>(dims_))),
         DeviceMemory(state, size(chunk.rows) * spi::terms_a_row * sizeof(float)),
         copy_rows ? DeviceMemory(state, size(chunk.rows) * dims_ * sizeof(float)) : DeviceMemory(),
         chunk.rows});
  const DeviceSession session(*state);
  spi::Device& device = *session;
  device.write(*centre_.get(), 0, centre.data(), centre.size() * sizeof(float));
  Hold hold(device, trace && trace->hold_queue);
  const std::uint64_t begin = trace ? device.mark() : 0;
  for (std::size_t i = 0; i < chunks.size(); ++i) {
    const spi::RowBlocks rows{chunks[i].memory.get(), 0, static_cast<std::uint32_t>(chunks[i].rows),
                              static_cast<std::uint32_t>(dims_), device.info.train_block};
    const auto prepare = [&](const spi::PrepareStep& work) {
      const spi::Support support = device.check({work, threads});
      if (!support.refusal.empty())
        throw Error(Errc::unsupported, "search: " + device.info.spec + ": " + support.refusal);
      device.enqueue({work, threads});
    };
    spi::Grid<float> copy;
    if (copy_rows) copy = {parts_[i].copy.get(), 0, size(chunks[i].rows), dims_, dims_};
    prepare({proposer, rows, this->centre(), of(i, 0, chunks[i].rows), scale_, false, copy});
  }
  if (!trace) return;
  const std::uint64_t end = device.mark();
  hold.let_go();
  device.finish();
  trace->quantized_seconds = device.elapsed(begin, end);
  trace->quantized_bytes = bytes();
}

spi::QuantizedRows IndexQuantizedRows::of(std::size_t chunk, std::int64_t first, std::int64_t rows) const {
  const Part& part = parts_[chunk];
  const std::size_t begin = has_own_order(proposer_) ? size(first) : size(first) * dims_;
  return {{part.rows.get(), begin, size(rows), dims_, dims_},
          {part.row_terms.get(), size(first), spi::terms_a_row, size(rows), size(part.count)}};
}

spi::RowBlocks IndexQuantizedRows::rows(std::size_t chunk) const {
  const Part& part = parts_[chunk];
  return {part.copy.get(), 0, static_cast<std::uint32_t>(part.count), static_cast<std::uint32_t>(dims_), 1};
}

spi::Grid<float> IndexQuantizedRows::centre() const {
  return {centre_.get(), 0, 1, dims_, dims_};
}

std::size_t IndexQuantizedRows::bytes() const {
  std::size_t total = centre_.get()->bytes;
  for (const Part& part : parts_)
    total +=
        part.rows.get()->bytes + part.row_terms.get()->bytes + (part.copy.get() ? part.copy.get()->bytes : 0);
  return total;
}

std::shared_ptr<const IndexQuantizedRows> quantized_rows_for(const Index::State& index, const Plan& plan,
                                                             Trace* trace) {
  const std::lock_guard lock(index.quantized_mutex);
  std::shared_ptr<const IndexQuantizedRows>& quantized = index.quantized_rows[plan.proposer];
  if (!quantized)
    quantized = std::make_shared<IndexQuantizedRows>(
        index.device.state(), index.chunks, index.centre,
        plan.proposer == Proposer::int8 ? index.clip_range : largest_centred(index.largest, index.centre),
        plan.proposer, plan.row_copy_bytes > 0, plan.threads, trace);
  return quantized;
}

}  // namespace kith
