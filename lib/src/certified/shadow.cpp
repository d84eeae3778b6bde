#include "certified/shadow.hpp"

#include <algorithm>
#include <cmath>

#include "base/float_guard.hpp"
#include "kith/error.hpp"
#include "device/timing.hpp"

namespace kith {
namespace {

std::size_t size(std::int64_t value) {
  return static_cast<std::size_t>(value);
}

/// About 4096 rows of all are a sample: every so many.
std::int64_t sample_stride(std::int64_t rows) {
  constexpr std::int64_t most_samples = 4096;
  return (rows + most_samples - 1) / most_samples;
}

}  // namespace

bool follows_from_products(Metric metric) {
  switch (metric) {
    case Metric::squared_l2:
    case Metric::l2:
    case Metric::negative_dot:
    case Metric::cosine:
      return true;
    default:
      return false;
  }
}

std::vector<float> centre_of(MatrixView<const float> train, Metric metric) {
  const std::int64_t dims = train.cols();
  std::vector<float> centre(size(dims));
  if (metric == Metric::negative_dot || metric == Metric::cosine || !follows_from_products(metric))
    return centre;
  const FloatGuard guard;
  const std::int64_t stride = sample_stride(train.rows());
  std::vector<double> sum(size(dims));
  std::int64_t samples = 0;
  bool whole = true;
  for (std::int64_t r = 0; r < train.rows(); r += stride, ++samples)
    for (std::int64_t d = 0; d < dims; ++d) {
      const float value = train(r, d);
      sum[size(d)] += static_cast<double>(value);
      whole = whole && value == std::trunc(value);
    }
  for (std::size_t d = 0; d < sum.size(); ++d) {
    const double mean = sum[d] / static_cast<double>(samples);
    centre[d] = static_cast<float>(whole ? std::round(mean) : mean);
  }
  return centre;
}

double reach_of(MatrixView<const float> rows, const std::vector<float>& centre) {
  const FloatGuard guard;
  const std::int64_t stride = sample_stride(rows.rows());
  double most = 0;
  for (std::int64_t r = 0; r < rows.rows(); r += stride)
    for (std::size_t d = 0; d < centre.size(); ++d)
      most = std::max(most, std::fabs(static_cast<double>(rows.row(r)[d]) - static_cast<double>(centre[d])));
  return most;
}

bool has_own_order(Proposer proposer) {
  switch (proposer) {
    case Proposer::dot:
    case Proposer::bf16:
    case Proposer::fp16:
    case Proposer::int8:
      return true;
    default:
      return false;
  }
}

std::size_t shadow_row_bytes(Proposer proposer, std::int64_t rows, std::int64_t dims) {
  if (!has_own_order(proposer)) return size(rows) * size(dims) * sizeof(float);
  const std::size_t element = proposer == Proposer::dot    ? sizeof(float)
                              : proposer == Proposer::int8 ? sizeof(std::int8_t)
                                                           : sizeof(std::uint16_t);
  return size(whole_shadow_rows(rows)) * spi::shadow_columns(proposer, size(dims)) * element;
}

std::int64_t whole_shadow_rows(std::int64_t rows) {
  return (rows + spi::shadow_rows - 1) / spi::shadow_rows * spi::shadow_rows;
}

double largest_centred(float largest, const std::vector<float>& centre) {
  double shift = 0;
  for (const float c : centre) shift = std::max(shift, std::fabs(static_cast<double>(c)));
  return static_cast<double>(largest) + shift;
}

bool within_range(Proposer proposer, std::int64_t dims, double largest_query, double largest_train) {
  const double most = std::max(largest_query, largest_train);
  const bool finite = 4 * static_cast<double>(dims) * most * most <= 0x1p100;
  if (proposer != Proposer::fp16 && proposer != Proposer::int8) return finite;
  // So that the scales, and one over their product, are ordinary floats.
  return finite && std::min(largest_query, largest_train) >= 0x1p-40;
}

double product_bound(Proposer proposer, std::int64_t dims) {
  constexpr double u = 0x1p-24;
  if (proposer == Proposer::fp16) {
    const double eights = std::ceil(static_cast<double>(spi::half_terms(size(dims))) / 8);
    return 12 * eights * u * (dims <= spi::most_split_dims ? 1 + 0x1p-8 : 1 + 0x1p-10);
  }
  if (proposer == Proposer::int8) return 4 * u;
  const double steps = static_cast<double>(dims + 2) * u;
  return steps / (1 - steps);
}

double largest_product_bound(Proposer proposer, std::int64_t dims) {
  const double many = product_bound(proposer, dims);
  if (proposer != Proposer::fp16) return many;
  constexpr double u = 0x1p-24, least_excess = 1 + 0x1p-10, excess = 1 + 0x1p-8;
  constexpr std::int64_t most_folded_dims = 24, folded_columns = 4;
  const bool split = dims <= spi::most_split_dims;
  const auto terms = static_cast<double>(spi::half_terms(size(dims)));
  // A step of 16 columns adds eights; pieces of the rows of few queries lie across such steps.
  const double eights = dims <= 16 ? 2 : 4 * std::ceil(static_cast<double>(dims) / 32);
  const double few = (terms + 3 * eights) * u * (split ? excess : least_excess);
  const double folded =
      dims <= most_folded_dims ? 24 * std::ceil((terms + folded_columns) / 16) * u * excess : 0;
  return std::max({many, few, folded});
}

float scale_of(Proposer proposer, double largest) {
  if (proposer == Proposer::int8) {
    constexpr double most = 127, least_reach = 0x1p-50;
    return static_cast<float>(most / std::max(largest, least_reach));
  }
  if (proposer != Proposer::fp16) return 1;
  int exponent = 0;
  std::frexp(largest, &exponent);  // largest < 2^exponent
  return std::ldexp(1.0f, 13 - exponent);
}

IndexShadow::IndexShadow(const std::shared_ptr<Device::State>& state, const std::vector<Chunk>& chunks,
                         const std::vector<float>& centre, double largest, Proposer proposer, bool copy_rows,
                         std::uint32_t threads, Trace* trace)
    : proposer_(proposer),
      dims_(centre.size()),
      scale_(scale_of(proposer, largest)),
      centre_(state, centre.size() * sizeof(float)) {
  for (const Chunk& chunk : chunks)
    parts_.push_back(
        {DeviceMemory(state, shadow_row_bytes(proposer, chunk.rows, static_cast<std::int64_t>(dims_))),
         DeviceMemory(state, size(chunk.rows) * spi::facts_a_row * sizeof(float)),
         copy_rows ? DeviceMemory(state, size(chunk.rows) * dims_ * sizeof(float)) : DeviceMemory(),
         chunk.rows});
  const std::lock_guard lock(state->mutex);
  const FloatGuard guard;
  spi::Device& device = *state->device;
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
  trace->shadow_seconds = device.elapsed(begin, end);
  trace->shadow_bytes = bytes();
}

spi::Shadow IndexShadow::of(std::size_t chunk, std::int64_t first, std::int64_t rows) const {
  const Part& part = parts_[chunk];
  const std::size_t begin = has_own_order(proposer_) ? size(first) : size(first) * dims_;
  return {{part.rows.get(), begin, size(rows), dims_, dims_},
          {part.facts.get(), size(first), spi::facts_a_row, size(rows), size(part.count)}};
}

spi::RowBlocks IndexShadow::rows(std::size_t chunk) const {
  const Part& part = parts_[chunk];
  return {part.copy.get(), 0, static_cast<std::uint32_t>(part.count), static_cast<std::uint32_t>(dims_), 1};
}

spi::Grid<float> IndexShadow::centre() const {
  return {centre_.get(), 0, 1, dims_, dims_};
}

std::size_t IndexShadow::bytes() const {
  std::size_t total = centre_.get()->bytes;
  for (const Part& part : parts_)
    total +=
        part.rows.get()->bytes + part.facts.get()->bytes + (part.copy.get() ? part.copy.get()->bytes : 0);
  return total;
}

std::size_t shadow_bytes(Proposer proposer, std::int64_t rows, std::int64_t dims) {
  return shadow_row_bytes(proposer, rows, dims) + size(rows) * spi::facts_a_row * sizeof(float);
}

std::size_t row_copy_bytes(const DeviceInfo& device, Proposer proposer, std::int64_t rows,
                           std::int64_t dims) {
  // A GPU reads 32 bytes for each 4 of a row in blocks of 32, a CPU 64 in blocks of 16, where bounds of bytes
  // let many rows be ranked. Left out where it would take much of the memory.
  constexpr std::size_t share = 8;
  const bool reads_single_rows = proposer == Proposer::fp16 || proposer == Proposer::int8;
  const std::size_t bytes = size(rows) * size(dims) * sizeof(float);
  return reads_single_rows && bytes <= device.memory_bytes / share ? bytes : 0;
}

}  // namespace kith
