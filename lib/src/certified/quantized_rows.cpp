#include "certified/quantized_rows.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <utility>

#include "base/float_guard.hpp"
#include "base/numbers.hpp"
#include "certified/byte_grid.hpp"
#include "certified/row_sample.hpp"
#include "device/timing.hpp"
#include "host/parallel.hpp"
#include "kith/error.hpp"
#include "plan/product_bounds.hpp"

namespace kith {
double clip_range_of(MatrixView<const float> rows, const std::vector<float>& centre, std::uint32_t threads) {
  const FloatGuard guard;
  if (rows.rows() == 0) return 0;
  constexpr std::int64_t rows_a_share = 64;
  const std::int64_t stride = sample_stride(rows.rows()), sampled = divide_up(rows.rows(), stride);
  std::vector<std::int32_t> most(size(divide_up(sampled, rows_a_share)));
  parallel_for(
      static_cast<std::int64_t>(most.size()), sampled * rows.cols(), threads, [&](std::int64_t share) {
        std::int32_t of_share = 0;
        for (std::int64_t i = share * rows_a_share; i < std::min((share + 1) * rows_a_share, sampled); ++i)
          of_share = std::max(of_share, range_bits(rows.row(i * stride), centre));
        most[size(share)] = of_share;
      });
  return static_cast<double>(std::bit_cast<float>(*std::max_element(most.begin(), most.end())));
}

ByteGrid grid_for(const ResidentRows& index, Proposer proposer) {
  if (proposer != Proposer::int8) return {};
  ByteGrid grid = index.grid;
  grid.exact = grid.exact && size(index.dims) <= spi::most_exact_dims;
  return grid;
}

namespace {

/// Says how exactly the queries are on the grid. Of those on the device the host reads a sample, unless it
/// must look at all.
spi::OnGrid place_on_grid(const ByteGrid& grid, const QueryRows& queries, std::uint32_t threads) {
  if (!grid.there()) return spi::OnGrid::no;
  std::optional<bool> on = queries.all_on(grid);
  if (!on) on = grid.exact && lie_on(grid, queries.on_host(), threads);
  if (*on) return spi::OnGrid::exactly;
  Floats values;
  const bool near = lie_near(grid, queries.sample(sample_stride(queries.rows()), values));
  return near ? spi::OnGrid::nearly : spi::OnGrid::no;
}

/// Returns clip_range_of() the queries. If these are on the device, the host reads a sample of them.
double clip_range_of_queries(const QueryRows& queries, const std::vector<float>& centre,
                             std::uint32_t threads) {
  const SentQueries* const sent = queries.sent();
  if (const auto range = sent ? sent->range_around(centre) : std::nullopt) return *range;
  Floats values;
  return clip_range_of(queries.sample(sample_stride(queries.rows()), values), centre, threads);
}

std::vector<float> centre_for(const ResidentRows& index, const ByteGrid& grid) {
  return grid.there() ? std::vector<float>(size(index.dims), grid.centre) : index.centre;
}

}  // namespace

QuantizedForm form_for(const ResidentRows& index, Proposer proposer) {
  if (const ByteGrid grid = grid_for(index, proposer); grid.there())
    return {centre_for(index, grid), grid.scale, grid.exact ? spi::OnGrid::exactly : spi::OnGrid::nearly};
  const double largest = proposer == Proposer::int8   ? index.clip_range
                         : proposer == Proposer::int4 ? index.half_bytes.range
                                                      : largest_centred(index.largest, index.centre);
  return {index.centre, scale_of(proposer, largest), spi::OnGrid::no};
}

QuantizedForm form_of_queries(const ResidentRows& index, Proposer proposer, const QueryRows& queries,
                              float largest, std::uint32_t threads) {
  const ByteGrid grid = grid_for(index, proposer);
  QuantizedForm form{centre_for(index, grid)};
  const FloatGuard guard;
  form.on_grid = place_on_grid(grid, queries, threads);
  if (form.on_grid != spi::OnGrid::no)
    form.scale = grid.scale;
  else
    form.scale =
        scale_of(spi::proposer_of_queries(proposer),
                 spi::multiplies_bytes(proposer) ? clip_range_of_queries(queries, form.centre, threads)
                                                 : largest_centred(largest, form.centre));
  return form;
}

QueryLook look_for(const ResidentRows& index, Proposer proposer, std::int64_t queries) {
  const ByteGrid grid = grid_for(index, proposer);
  const bool ranges = spi::multiplies_bytes(proposer) && !grid.there();
  return {grid, ranges ? index.centre : std::vector<float>(), sample_stride(queries)};
}

bool has_bound(const ResidentRows& index, Proposer proposer, float largest) {
  if (proposer == Proposer::none || index.rows_are_bytes) return true;  // products of bytes need no bound
  const FloatGuard guard;
  const std::vector<float> centre = centre_for(index, grid_for(index, proposer));
  return within_range(proposer, index.dims, largest_centred(largest, centre),
                      largest_centred(index.largest, centre));
}

namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();

/// Returns how far rows are from their bytes: an element has an error of up to half a step, and so a row of
/// the root of dims / 12 steps.
double off_by_bytes(const ResidentRows& index) {
  const double step = 1 / static_cast<double>(scale_of(Proposer::int8, index.clip_range));
  return step * std::sqrt(static_cast<double>(index.dims) / 12);
}

/// Half the squared distance of a pair has an error of what both rows are off times their norms. A lower and
/// an upper bound are twice as far apart, which is four times as far for squared distances.
///   off  of a query and of a row
double blur_of(const ResidentRows& index, double off) {
  return index.spread > 0 ? 4 * off / index.spread : infinity;
}

}  // namespace

double byte_blur_of(const ResidentRows& index) {
  const FloatGuard guard;
  if (grid_for(index, Proposer::int8).exact) return 0;
  return blur_of(index, 2 * off_by_bytes(index));
}

/// Queries are bytes, the rows half bytes.
double half_byte_blur_of(const ResidentRows& index) {
  const FloatGuard guard;
  return blur_of(index, index.half_bytes.range > 0 ? off_by_bytes(index) + index.half_bytes.off : infinity);
}

IndexQuantizedRows::IndexQuantizedRows(const std::shared_ptr<Device::State>& state,
                                       std::span<const std::int64_t> counts, const QuantizedForm& form,
                                       Proposer proposer, std::shared_ptr<const RowsElsewhere> elsewhere)
    : proposer_(proposer),
      dims_(form.centre.size()),
      scale_(form.scale),
      on_grid_(form.on_grid),
      terms_a_row_(form.half_norms_only ? 1 : spi::terms_a_row),
      centre_(state, form.centre.size() * sizeof(float)),
      elsewhere_(std::move(elsewhere)) {
  for (const std::int64_t count : counts)
    parts_.push_back(
        {DeviceMemory(state, quantized_row_bytes(proposer, count, static_cast<std::int64_t>(dims_))),
         DeviceMemory(state, size(count) * terms_a_row_ * sizeof(float)), DeviceMemory(), count});
  const DeviceSession session(*state);
  session->write(*centre_.get(), 0, form.centre.data(), form.centre.size() * sizeof(float));
}

void IndexQuantizedRows::fill(Device::State& state, std::size_t chunk, std::int64_t first, std::int64_t count,
                              const spi::Allocation& rows, std::uint32_t threads, std::int64_t from) {
  const DeviceSession session(state);
  const spi::RowBlocks given{&rows, static_cast<std::uint32_t>(from), static_cast<std::uint32_t>(count),
                             static_cast<std::uint32_t>(dims_), session->info.train_block};
  const spi::Step step{spi::PrepareStep{proposer_, given, centre(), of(chunk, first, count), scale_},
                       threads};
  const spi::Support support = session->check(step);
  if (!support.refusal.empty())
    throw Error(Errc::unsupported, "index: " + session->info.spec + ": " + support.refusal);
  session->enqueue(step);
  session->finish();
}

void IndexQuantizedRows::settle(Device::State& state) {
  const DeviceSession session(state);
  if (on_grid_ == spi::OnGrid::exactly && terms_a_row_ > 1 && !all_on_grid(*session))
    on_grid_ = spi::OnGrid::nearly;
}

IndexQuantizedRows::IndexQuantizedRows(const std::shared_ptr<Device::State>& state,
                                       const std::vector<Chunk>& chunks, const QuantizedForm& form,
                                       Proposer proposer, bool copy_rows, std::uint32_t threads, Trace* trace)
    : proposer_(proposer),
      dims_(form.centre.size()),
      scale_(form.scale),
      on_grid_(form.on_grid),
      terms_a_row_(spi::terms_a_row),
      centre_(state, form.centre.size() * sizeof(float)) {
  for (const Chunk& chunk : chunks)
    parts_.push_back(
        {DeviceMemory(state, quantized_row_bytes(proposer, chunk.rows, static_cast<std::int64_t>(dims_))),
         DeviceMemory(state, size(chunk.rows) * spi::terms_a_row * sizeof(float)),
         copy_rows ? DeviceMemory(state, size(chunk.rows) * dims_ * sizeof(float)) : DeviceMemory(),
         chunk.rows});
  const DeviceSession session(*state);
  spi::Device& device = *session;
  device.write(*centre_.get(), 0, form.centre.data(), form.centre.size() * sizeof(float));
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
  const std::uint64_t end = trace ? device.mark() : 0;
  hold.let_go();
  if (on_grid_ == spi::OnGrid::exactly && !all_on_grid(device)) on_grid_ = spi::OnGrid::nearly;
  if (!trace) return;
  device.finish();
  trace->quantized_seconds += device.elapsed(begin, end);
  trace->quantized_bytes = bytes();
}

/// Returns whether every residual is 0.
bool IndexQuantizedRows::all_on_grid(spi::Device& device) const {
  constexpr std::int64_t at_once = std::int64_t{1} << 20;
  std::vector<float> residuals;
  for (const Part& part : parts_)
    for (std::int64_t first = 0; first < part.count; first += at_once) {
      residuals.resize(size(std::min(at_once, part.count - first)));
      device.read(*part.row_terms.get(), (spi::residual * size(part.count) + size(first)) * sizeof(float),
                  residuals.data(), residuals.size() * sizeof(float));
      if (std::any_of(residuals.begin(), residuals.end(), [](float residual) { return residual != 0; }))
        return false;
    }
  return true;
}

spi::QuantizedRows IndexQuantizedRows::of(std::size_t chunk, std::int64_t first, std::int64_t rows) const {
  const Part& part = parts_[chunk];
  const std::size_t begin = has_own_order(proposer_) ? size(first) : size(first) * dims_;
  return {{part.rows.get(), begin, size(rows), dims_, dims_},
          {part.row_terms.get(), size(first), terms_a_row_, size(rows), size(part.count)},
          on_grid_};
}

spi::RowBlocks IndexQuantizedRows::rows(std::size_t chunk) const {
  const Part& part = parts_[chunk];
  const auto count = static_cast<std::uint32_t>(part.count), dims = static_cast<std::uint32_t>(dims_);
  if (!reached_) return {part.copy.get(), 0, count, dims, 1};
  std::int64_t before = 0;
  for (std::size_t i = 0; i < chunk; ++i) before += parts_[i].count;
  return {&reached_->get(), static_cast<std::uint32_t>(before), count, dims, 1};
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

std::shared_ptr<const IndexQuantizedRows> quantized_rows_for(const ResidentRows& index, const Plan& plan,
                                                             bool ranks, Trace* trace) {
  const std::lock_guard lock(index.made->quantized_mutex);
  std::shared_ptr<const IndexQuantizedRows>& quantized = index.made->quantized_rows[plan.proposer];
  const bool copies = ranks && plan.row_copy_bytes > 0;
  if (quantized && (!copies || quantized->has_rows(0) || index.made->row_copy_lacks_room)) return quantized;
  const bool bytes = plan.proposer == Proposer::int8;
  if (bytes && !quantized) index.made->lessons.tell_bytes_begun();
  try {
    quantized = std::make_shared<IndexQuantizedRows>(index.device.state(), index.chunks,
                                                     form_for(index, plan.proposer), plan.proposer, copies,
                                                     plan.threads, trace);
  } catch (const Error& error) {
    if (!quantized || error.code() != Errc::out_of_memory) throw;
    index.made->row_copy_lacks_room = true;  // those without a copy do as well
  }
  if (bytes) index.made->lessons.tell_bytes_made();
  return quantized;
}

}  // namespace kith
