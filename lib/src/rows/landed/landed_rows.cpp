#include "rows/landed/landed_rows.hpp"

#include <algorithm>
#include <cstring>

#include "base/numbers.hpp"
#include "device/host_buffer.hpp"
#include "host/parallel.hpp"
#include "kith/error.hpp"
#include "metric/chain.hpp"
#include "rows/read_back.hpp"
#include "rows/rows.hpp"

namespace kith {
namespace {

constexpr std::size_t piece_bytes = std::size_t{1} << 25;  // bytes per write: as much as is locked at once

std::uint32_t count_of(std::int64_t value) {
  return static_cast<std::uint32_t>(value);
}

/// Returns whether the device reads memory of the host, so that rows there land without a copy on the way.
bool reads_host(const Device::State& state) {
  return state.info.profile.host_threads;
}

/// Locks memory of rows so that they can be copied in place, together with the gaps between them; null if the
/// gaps are large or the memory cannot be locked.
std::unique_ptr<const ReachedMemory> held_as_it_is(const std::shared_ptr<Device::State>& state,
                                                   const RowsView& rows, std::size_t bytes) {
  if (rows.stride_bytes > 2 * row_bytes(rows.element, rows.cols)) return nullptr;
  return held_in_place(state, rows.row(0), bytes);
}

/// Copies the columns that count.
void copy_columns(const unsigned char* from, std::span<const std::int64_t> features, std::size_t bytes,
                  unsigned char* to) {
  for (std::size_t i = 0; i < features.size(); ++i)
    std::memcpy(to + i * bytes, from + size(features[i]) * bytes, bytes);
}

}  // namespace

void copy_side_by_side(const RowsView& rows, std::span<const std::int64_t> features,
                       std::span<unsigned char> to) {
  const auto element = size(element_bytes(rows.element));
  const std::size_t bytes =
      features.empty() ? size(row_bytes(rows.element, rows.cols)) : features.size() * element;
  const bool in_one = features.empty() && rows.stride_bytes == static_cast<std::int64_t>(bytes);
  constexpr std::int64_t share_bytes = 1 << 16;
  const std::int64_t a_share = std::max<std::int64_t>(1, share_bytes / static_cast<std::int64_t>(bytes));
  parallel_for(divide_up(rows.rows, a_share), static_cast<std::int64_t>(to.size() / sizeof(float)), 0,
               [&](std::int64_t share) {
                 const std::int64_t begin = share * a_share, end = std::min(begin + a_share, rows.rows);
                 if (in_one) {
                   std::memcpy(to.data() + size(begin) * bytes, rows.row(begin), size(end - begin) * bytes);
                   return;
                 }
                 for (std::int64_t r = begin; r < end; ++r)
                   if (features.empty())
                     std::memcpy(to.data() + size(r) * bytes, rows.row(r), bytes);
                   else
                     copy_columns(rows.row(r), features, element, to.data() + size(r) * bytes);
               });
}

void refuse_landed_row(const Device::State& state, const RowsView& one, std::int64_t row,
                       const Landing& how) {
  prepare_rows(how.where, how.what, one, how.metric, 1, how.features, how.first_row + row);
  throw Error(Errc::device_failure,
              std::string(how.where) + ": " + state.info.spec +
                  " found a NaN, an infinity or nothing but zeros in " + std::string(how.what) + " row " +
                  std::to_string(how.first_row + row) +
                  ", and the host finds nothing else; report it, or use another device");
}

RowsToLand::RowsToLand(std::shared_ptr<Device::State> state, const RowsView& rows, const Landing& how,
                       std::span<const std::int64_t> order)
    : state_(std::move(state)),
      rows_(rows),
      how_(how),
      order_(order),
      dims_(how.features.empty() ? landed_cols(rows.element, rows.cols)
                                 : static_cast<std::int64_t>(how.features.size())) {
  check_element(how.where, how.what, rows, how.metric);
  if (rows.where == Where::host) check_rows(how.where, how.what, rows);
  if (rows.where != Where::host || reads_host(*state_)) borrowed_.emplace(how.where, how.what, state_, rows);
  landing_.emplace(state_, how.where, how.features, dims_, prepare_of(how.metric) == Prepare::unit_rows);
}

/// Returns row blocks in memory from row `first` on; their number is set later.
spi::RowBlocks RowsToLand::blocks_at(const spi::Allocation& memory, std::int64_t first,
                                     std::uint32_t block) const {
  return {&memory, count_of(first), 0, count_of(dims_), block};
}

void RowsToLand::land_part(std::int64_t first, std::int64_t count, spi::Allocation& to, std::uint32_t block,
                           std::int64_t step) const {
  const DeviceSession session(*state_);
  landing_->land(borrowed_->raw(first, count, step), blocks_at(to, 0, block), first);
}

void RowsToLand::land_chosen(const std::vector<std::uint32_t>& numbers, spi::Allocation& to,
                             std::uint32_t block) const {
  land_in_order(numbers, 0, to, block);
}

/// Lands the rows with these numbers, in this order.
///   first  the place of the first one
void RowsToLand::land_in_order(const std::vector<std::uint32_t>& numbers, std::int64_t first,
                               spi::Allocation& to, std::uint32_t block) const {
  const DeviceMemory chosen = uploaded(state_, numbers);
  const DeviceSession session(*state_);
  landing_->land(borrowed_->raw(0, static_cast<std::int64_t>(numbers.size())), blocks_at(to, 0, block), first,
                 {chosen.get(), 0, 1, numbers.size(), numbers.size()});
  session->finish();
}

/// Returns rows, which `land` lands as RowBlocks, on the host.
template <class Land>
Floats RowsToLand::read_blocks(std::int64_t count, const Land& land) const {
  const std::uint32_t block = state_->device->info.train_block;
  const std::size_t bytes = packed_bytes(count, dims_, block);
  const DeviceMemory memory(state_, bytes);
  const HostBuffer buffer(*state_, bytes);
  const std::span<float> packed = buffer.as<float>(bytes / sizeof(float));
  land(*memory.get(), block);
  {
    const DeviceSession session(*state_);
    session->read(*memory.get(), 0, packed.data(), packed.size_bytes());
  }
  Floats rows(size(count) * size(dims_));
  unpack_rows(packed, block, count, size(dims_), rows.data(), 0);
  return rows;
}

Floats RowsToLand::read_landed(std::int64_t first, std::int64_t count, std::int64_t step) const {
  return read_blocks(
      count, [&](spi::Allocation& to, std::uint32_t block) { land_part(first, count, to, block, step); });
}

void RowsToLand::look(const ByteGrid& grid) {
  const spi::FloatGrid floats = float_grid(grid);
  const std::uint32_t block = state_->device->info.train_block;
  const auto fitting = static_cast<std::int64_t>(piece_bytes / packed_bytes(1, dims_, block));
  const std::int64_t at_once = std::min(rows_.rows, std::max<std::int64_t>(1, fitting) * block);
  if (at_once > 0) {
    const DeviceMemory memory(state_, packed_bytes(at_once, dims_, block));
    for (std::int64_t first = 0; first < rows_.rows; first += at_once) {
      const std::int64_t some = std::min(at_once, rows_.rows - first);
      const DeviceSession session(*state_);
      landing_->land(borrowed_->raw(first, some), blocks_at(*memory.get(), 0, block), first, {}, floats);
    }
    check();
  }
  if (floats.step != 0) asked_ = grid;
}

std::optional<bool> RowsToLand::all_on(const ByteGrid& grid) const {
  if (grid.there() && grid == asked_) return !off_grid_;
  return element_of(grid) == rows_.element ? std::optional(true) : std::nullopt;
}

const RowsView& RowsToLand::given() const {
  if (!given_) given_ = rows_.where == Where::host ? rows_ : borrowed_->read(0, rows_.rows, copy_);
  return *given_;
}

MatrixView<const float> RowsToLand::values() const {
  if (!values_) values_ = prepare_rows(how_.where, how_.what, given(), how_.metric, 0, how_.features);
  return values_->view;
}

/// Lands rows first, first + 1, ..., piece by piece, in memory for `count` rows.
void RowsToLand::land_from_host(const DeviceMemory& to, std::int64_t first, std::int64_t count) const {
  const std::size_t tight = size(row_bytes(rows_.element, rows_.cols));
  const std::uint32_t block = state_->device->info.train_block;
  const std::int64_t blocks =
      std::max<std::int64_t>(1, static_cast<std::int64_t>(piece_bytes / (block * tight)));
  const std::int64_t step = std::min(blocks * block, count);
  const RowsView all = rows_.slice(first, count);
  const std::size_t gapped = size(step - 1) * size(rows_.stride_bytes) + tight;
  const auto held = held_as_it_is(state_, all, size(count - 1) * size(rows_.stride_bytes) + tight);
  const bool as_it_is = held != nullptr;
  const std::size_t stride = as_it_is && count > 1 ? size(rows_.stride_bytes) : tight;
  const DeviceMemory raw(state_, as_it_is ? gapped : size(step) * tight);
  std::optional<HostBuffer> buffer;
  if (!as_it_is) buffer.emplace(*state_, size(step) * tight);
  for (std::int64_t r = 0; r < count; r += step) {
    const std::int64_t some = std::min(step, count - r);
    const RowsView part = all.slice(r, some);
    const std::size_t bytes = size(some - 1) * stride + tight;
    const void* from = part.row(0);
    if (!as_it_is) {
      copy_side_by_side(part, {}, buffer->as<unsigned char>(bytes));
      from = buffer->as<unsigned char>(bytes).data();
    }
    const DeviceSession session(*state_);
    session->write(*raw.get(), 0, from, bytes);
    landing_->land({raw.get(), rows_.element, 0, stride, count_of(some), count_of(rows_.cols)},
                   blocks_at(*to.get(), r, block), first + r);
  }
}

std::vector<Chunk> RowsToLand::chunks(std::int64_t first) {
  const DeviceInfo& info = state_->device->info;
  const std::int64_t most = rows_a_chunk(info, dims_);
  std::vector<Chunk> chunks;
  for (std::int64_t begin = 0; begin < rows_.rows; begin += most) {
    const std::int64_t count = std::min(most, rows_.rows - begin);
    const auto memory = std::make_shared<DeviceMemory>(state_, packed_bytes(count, dims_, info.train_block));
    land_some(begin, count, *memory);
    chunks.push_back({{memory, memory->get()}, first + begin, count});
  }
  check();
  return chunks;
}

void RowsToLand::land_some(std::int64_t first, std::int64_t count, const DeviceMemory& to) const {
  if (!borrowed_) return land_from_host(to, first, count);
  if (!order_.empty()) {
    const auto some = order_.subspan(size(first), size(count));
    return land_in_order({some.begin(), some.end()}, first, *to.get(), state_->info.train_block);
  }
  // Rows on the host have landed when enqueue() returns. In pieces, so that others get the device in between.
  const std::uint32_t block = state_->device->info.train_block;
  const std::int64_t piece = static_cast<std::int64_t>(piece_bytes / packed_bytes(1, dims_, block)) + 1;
  const std::int64_t step = reads_host(*state_) ? piece * block : count;
  for (std::int64_t r = 0; r < count; r += step) {
    const DeviceSession session(*state_);
    landing_->land(borrowed_->raw(first + r, std::min(step, count - r)), blocks_at(*to.get(), r, block),
                   first + r);
  }
}

void RowsToLand::check() {
  DeviceLanding::Found found;
  {
    const DeviceSession session(*state_);
    found = landing_->found();
  }
  if (found.bad_row != no_row) refuse_row(found.bad_row);
  if (found.zero_row != no_row) refuse_row(order_.empty() ? found.zero_row : order_[found.zero_row]);
  largest_ = found.largest;
  off_grid_ = found.off_grid;
}

void RowsToLand::refuse_row(std::int64_t row) const {
  std::vector<unsigned char> bytes;
  refuse_landed_row(*state_, borrowed_ ? borrowed_->read(row, 1, bytes) : rows_.slice(row, 1), row, how_);
}

std::optional<MatrixView<const float>> RowsToLand::sample_in_place(std::int64_t step) const {
  constexpr std::int64_t bytes = sizeof(float);
  const bool changes = rows_.element != Element::f32 || !how_.features.empty() || !order_.empty() ||
                       prepare_of(how_.metric) != Prepare::none;
  if (rows_.where != Where::host || changes || rows_.rows == 0) return std::nullopt;
  const unsigned char* const first = rows_.row(0);
  if (reinterpret_cast<std::uintptr_t>(first) % alignof(float) != 0 || rows_.stride_bytes % bytes != 0)
    return std::nullopt;
  return MatrixView<const float>(reinterpret_cast<const float*>(first), divide_up(rows_.rows, step),
                                 rows_.cols, clamped_product(rows_.stride_bytes, step) / bytes);
}

Floats RowsToLand::sample(std::int64_t step) const {
  const std::int64_t count = divide_up(rows_.rows, step);
  const bool on_device = rows_.where != Where::host;
  if (on_device && order_.empty()) return read_landed(0, count, step);
  if (on_device) {
    std::vector<std::uint32_t> numbers;
    for (std::int64_t r = 0; r < rows_.rows; r += step)
      numbers.push_back(static_cast<std::uint32_t>(order_[size(r)]));
    return read_blocks(count,
                       [&](spi::Allocation& to, std::uint32_t block) { land_chosen(numbers, to, block); });
  }
  Floats sample(size(count) * size(dims_));
  RowsView part = rows_;
  part.rows = count;
  part.stride_bytes = clamped_product(rows_.stride_bytes, step);
  const PreparedRows rows = prepare_rows(how_.where, how_.what, part, how_.metric, 1, how_.features);
  for (std::int64_t r = 0; r < count; ++r)
    std::copy_n(rows.view.row(r), dims_, sample.data() + size(r) * size(dims_));
  return sample;
}

}  // namespace kith
