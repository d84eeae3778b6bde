#include "search/packed/half_memory.hpp"

#include <algorithm>
#include <optional>
#include <span>

#include "base/numbers.hpp"
#include "check/landing_check.hpp"
#include "device/device_set.hpp"
#include "device/host_buffer.hpp"
#include "host/parallel.hpp"
#include "metric/chain.hpp"
#include "rows/rows.hpp"

namespace kith {
namespace {

constexpr std::int64_t half_block = spi::quantized_block_rows;

bool is_half(Element element) {
  return element == Element::f16 || element == Element::bf16;
}

/// Returns whether the device lands rows of the element, and passed the test of this step.
bool lands(const Device& device, Element element, std::int64_t dims) {
  const auto cols = static_cast<std::uint32_t>(dims);
  const auto stride = size(row_bytes(element, dims));
  const spi::Step step{spi::LandStep{
      {nullptr, element, 0, stride, 1, cols}, {}, {nullptr, 0, 1, cols, device.info().train_block}, {}, 0}};
  const DeviceSession session(*device.state());
  return session->check(step).refusal.empty() && landing_check(*session, element).empty();
}

/// Returns the rows as memory that the device reads directly; null if the host must copy them.
std::unique_ptr<const ReachedMemory> held_as_it_is(const std::shared_ptr<Device::State>& state,
                                                   const RowsView& rows, const Landing& how,
                                                   std::int64_t row_bytes) {
  if (!how.features.empty() || (rows.rows > 1 && rows.stride_bytes != row_bytes)) return nullptr;
  return held_in_place(state, rows.row(0), size(rows.rows) * size(row_bytes));
}

}  // namespace

bool keeps_halves(const RowSchema& schema, std::int64_t rows, std::int64_t reserve) {
  constexpr std::int64_t fewest_floats = std::int64_t{1} << 26;
  if (!is_half(schema.element) || is_set(schema.device) || !lands_as_given(schema.metric)) return false;
  if (reserve == 0 && rows < divide_up(fewest_floats, schema.dims)) return false;
  const DeviceInfo& device = schema.device.info();
  if (packed_bytes(half_block, schema.dims, device.train_block) > device.largest_allocation)
    return false;  // so many rows must fit as floats at once
  return lands(schema.device, schema.element, schema.dims);
}

HalfMemory::HalfMemory(const RowSchema& schema, std::int64_t room)
    : PackedMemory(room, 0),
      schema_(schema),
      row_bytes_(row_bytes(schema.element, schema.dims)),
      landing_(schema.device.state(), "index", {}, schema.dims) {
  add_parts(0, room);
}

HalfMemory::HalfMemory(const HalfMemory& before, std::int64_t rows, std::int64_t more)
    : PackedMemory(rows + more, rows + more),
      schema_(before.schema_),
      row_bytes_(before.row_bytes_),
      landing_(schema_.device.state(), "index", {}, schema_.dims) {
  const std::int64_t shared = rows / half_block * half_block;
  for (const Part& part : before.parts_)
    if (part.first < shared)
      parts_.push_back({part.memory, part.first, std::min(part.rows, shared - part.first)});
  add_parts(shared, rows + more);
  copy_behind(before, shared, rows - shared);
}

std::shared_ptr<PackedMemory> HalfMemory::with_room(std::int64_t rows, std::int64_t more) const {
  return std::make_shared<HalfMemory>(*this, rows, more);
}

/// Allocates memory for rows first ... end - 1, in as few parts as the device allows.
void HalfMemory::add_parts(std::int64_t first, std::int64_t end) {
  const std::size_t a_block = size(half_block) * size(row_bytes_);
  const auto blocks = std::max<std::size_t>(1, schema_.device.info().largest_allocation / a_block);
  const auto most = static_cast<std::int64_t>(std::min<std::size_t>(
      blocks * size(half_block), size(most_rows) / size(half_block) * size(half_block)));
  for (; first < end; first += most) {
    const std::int64_t rows = std::min(most, end - first);
    const std::size_t bytes = size(rows) * size(row_bytes_);
    parts_.push_back({std::make_shared<DeviceMemory>(schema_.device.state(), bytes), first, rows});
  }
}

/// Copies rows of another store to the same places here, through the host.
void HalfMemory::copy_behind(const HalfMemory& before, std::int64_t first, std::int64_t count) {
  std::vector<unsigned char> rows(size(count) * size(row_bytes_));
  before.for_each_part(
      first, count, [&](const Part& part, std::int64_t row, std::int64_t done, std::int64_t some) {
        const DeviceSession session(*schema_.device.state());
        session->read(*part.memory->get(), size(row) * size(row_bytes_),
                      rows.data() + size(done) * size(row_bytes_), size(some) * size(row_bytes_));
      });
  write(first, count, rows.data());
}

template <class Act>
void HalfMemory::for_each_part(std::int64_t first, std::int64_t count, const Act& act) const {
  for (const Part& part : parts_) {
    const std::int64_t begin = std::max(first, part.first),
                       end = std::min(first + count, part.first + part.rows);
    if (begin < end) act(part, begin - part.first, begin - first, end - begin);
  }
}

spi::RawRows HalfMemory::raw(const Part& part, std::int64_t row, std::int64_t count) const {
  return {part.memory->get(),
          schema_.element,
          size(row) * size(row_bytes_),
          size(row_bytes_),
          static_cast<std::uint32_t>(count),
          static_cast<std::uint32_t>(schema_.dims)};
}

/// Writes rows to these places. Locks the device.
///   from  [count, dims]  rows of the element, without gaps
void HalfMemory::write(std::int64_t first, std::int64_t count, const unsigned char* from) {
  for_each_part(first, count, [&](const Part& part, std::int64_t row, std::int64_t done, std::int64_t some) {
    const DeviceSession session(*schema_.device.state());
    session->write(*part.memory->get(), size(row) * size(row_bytes_), from + done * row_bytes_,
                   size(some) * size(row_bytes_));
  });
}

void HalfMemory::land(std::int64_t first, std::int64_t count, const spi::Allocation& to) const {
  const DeviceSession session(*schema_.device.state());
  for_each_part(first, count, [&](const Part& part, std::int64_t row, std::int64_t done, std::int64_t some) {
    landing_.land(raw(part, row, some),
                  {&to, static_cast<std::uint32_t>(done), 0, static_cast<std::uint32_t>(schema_.dims),
                   session->info.train_block},
                  0);
  });
}

/// Lets the device check these rows and find their largest element, through `landing`. Locks the device.
///   number  the number that findings give the first row
///   to      room for the rows as RowBlocks, whose content is not used
void HalfMemory::look_at(std::int64_t first, std::int64_t count, std::int64_t number,
                         const DeviceLanding& landing, const spi::Allocation& to) const {
  const DeviceSession session(*schema_.device.state());
  // Each part is written to the beginning of `to`, since it may begin inside a block of the range.
  for_each_part(first, count, [&](const Part& part, std::int64_t row, std::int64_t done, std::int64_t some) {
    landing.land(raw(part, row, some),
                 {&to, 0, 0, static_cast<std::uint32_t>(schema_.dims), session->info.train_block},
                 number + done);
  });
}

std::size_t HalfMemory::bytes() const {
  std::size_t bytes = 0;
  for (const Part& part : parts_) bytes += part.memory->get()->bytes;
  return bytes;
}

/// Returns how many rows a piece has: as many as fit in the host memory that is locked at once (HostBuffer).
std::int64_t HalfMemory::rows_at_once(std::int64_t rows) const {
  constexpr std::int64_t piece_bytes = std::int64_t{1} << 25;
  return std::min(rows, std::max<std::int64_t>(1, piece_bytes / row_bytes_));
}

/// Writes the rows, and lets the device check what was written.
float HalfMemory::put(std::int64_t first, const RowsView& rows, const Landing& how) {
  check_element(how.where, how.what, rows, how.metric);
  check_rows(how.where, how.what, rows);
  const std::shared_ptr<Device::State>& state = schema_.device.state();
  const std::int64_t step = rows_at_once(rows.rows);
  const auto held = held_as_it_is(state, rows, how, row_bytes_);
  std::optional<HostBuffer> buffer;
  if (!held) buffer.emplace(*state, size(step * row_bytes_));
  const DeviceMemory packed(state, packed_bytes(step, schema_.dims, schema_.device.info().train_block));
  const DeviceLanding landing(state, how.where, {}, schema_.dims);
  for (std::int64_t r = 0; r < rows.rows; r += step) {
    const std::int64_t some = std::min(step, rows.rows - r);
    const RowsView part = rows.slice(r, some);
    const unsigned char* from = part.row(0);
    if (buffer) {
      const std::span<unsigned char> tight = buffer->as<unsigned char>(size(some * row_bytes_));
      copy_side_by_side(part, how.features, tight);
      from = tight.data();
    }
    write(first + r, some, from);
    look_at(first + r, some, r, landing, *packed.get());
  }
  DeviceLanding::Found found;
  {
    const DeviceSession session(*state);
    found = landing.found();
  }
  if (found.bad_row != no_row) refuse_landed_row(*state, rows.slice(found.bad_row, 1), found.bad_row, how);
  return found.largest;
}

void HalfMemory::put(std::int64_t first, MatrixView<const float> rows, std::uint32_t threads) {
  const std::int64_t step = rows_at_once(rows.rows());
  std::vector<unsigned char> stored(size(step * row_bytes_));
  for (std::int64_t begin = 0; begin < rows.rows(); begin += step) {
    const std::int64_t some = std::min(step, rows.rows() - begin);
    parallel_for(some, some * rows.cols(), threads, [&](std::int64_t r) {
      store_row(schema_.element, rows.row(begin + r), rows.cols(), stored.data() + r * row_bytes_);
    });
    write(first + begin, some, stored.data());
  }
}

}  // namespace kith
