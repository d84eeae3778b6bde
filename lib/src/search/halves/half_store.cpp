#include "search/halves/half_store.hpp"

#include <algorithm>
#include <utility>

#include "base/numbers.hpp"
#include "check/landing_check.hpp"
#include "device/device_set.hpp"
#include "metric/chain.hpp"
#include "rows/rows.hpp"

namespace kith {
namespace {

constexpr std::int64_t half_block = spi::quantized_block_rows;

bool is_half(Element element) {
  return element == Element::f16 || element == Element::bf16;
}

/// Whether the device lands rows of the element, and was right in a test.
bool lands(const Device& device, Element element, std::int64_t dims) {
  const auto cols = static_cast<std::uint32_t>(dims);
  const auto stride = size(row_bytes(element, dims));
  const spi::Step step{spi::LandStep{
      {nullptr, element, 0, stride, 1, cols}, {}, {nullptr, 0, 1, cols, device.info().train_block}, {}, 0}};
  const DeviceSession session(*device.state());
  return session->check(step).refusal.empty() && landing_check(*session, element).empty();
}

}  // namespace

bool keeps_halves(const Index::State& index, std::int64_t reserve) {
  constexpr std::int64_t fewest_floats = std::int64_t{1} << 26;
  if (!is_half(index.element) || is_set(index.device) || prepare_of(index.metric) != Prepare::none)
    return false;
  if (reserve == 0 && index.rows < divide_up(fewest_floats, index.dims)) return false;
  const DeviceInfo& device = index.device.info();
  if (packed_bytes(half_block, index.dims, device.train_block) > device.largest_allocation)
    return false;  // floats are made of so many rows or more at a time
  return lands(index.device, index.element, index.dims);
}

HalfStore::HalfStore(const Index::State& like, std::int64_t room)
    : device_(like.device),
      element_(like.element),
      dims_(like.dims),
      row_bytes_(kith::row_bytes(like.element, like.dims)),
      landing_(device_.state(), "index", {}, dims_),
      room_(room) {
  add_parts(0, room);
}

HalfStore::HalfStore(const Index::State& like, const HalfStore& before, std::int64_t rows, std::int64_t more)
    : device_(like.device),
      element_(like.element),
      dims_(like.dims),
      row_bytes_(before.row_bytes_),
      landing_(device_.state(), "index", {}, dims_),
      room_(rows + more, rows) {
  const std::int64_t shared = rows / half_block * half_block;
  for (const Part& part : before.parts_)
    if (part.first < shared)
      parts_.push_back({part.memory, part.first, std::min(part.rows, shared - part.first)});
  add_parts(shared, rows + more);
  copy_behind(before, shared, rows - shared);
}

/// Memory for rows first ... end - 1, in parts of which the device has as few as it can.
void HalfStore::add_parts(std::int64_t first, std::int64_t end) {
  const std::size_t a_block = size(half_block) * size(row_bytes_);
  const auto blocks = std::max<std::size_t>(1, device_.info().largest_allocation / a_block);
  const auto most = static_cast<std::int64_t>(std::min<std::size_t>(
      blocks * size(half_block), size(most_rows) / size(half_block) * size(half_block)));
  for (; first < end; first += most) {
    const std::int64_t rows = std::min(most, end - first);
    const std::size_t bytes = size(rows) * size(row_bytes_);
    parts_.push_back({std::make_shared<DeviceMemory>(device_.state(), bytes), first, rows});
  }
}

/// Rows of another store into the same places here, by way of the host.
void HalfStore::copy_behind(const HalfStore& before, std::int64_t first, std::int64_t count) {
  std::vector<unsigned char> rows(size(count) * size(row_bytes_));
  before.for_each_part(
      first, count, [&](const Part& part, std::int64_t row, std::int64_t done, std::int64_t some) {
        const DeviceSession session(*device_.state());
        session->read(*part.memory->get(), size(row) * size(row_bytes_),
                      rows.data() + size(done) * size(row_bytes_), size(some) * size(row_bytes_));
      });
  write(first, count, rows.data());
}

template <class Act>
void HalfStore::for_each_part(std::int64_t first, std::int64_t count, const Act& act) const {
  for (const Part& part : parts_) {
    const std::int64_t begin = std::max(first, part.first),
                       end = std::min(first + count, part.first + part.rows);
    if (begin < end) act(part, begin - part.first, begin - first, end - begin);
  }
}

spi::RawRows HalfStore::raw(const Part& part, std::int64_t row, std::int64_t count) const {
  return {part.memory->get(),
          element_,
          size(row) * size(row_bytes_),
          size(row_bytes_),
          static_cast<std::uint32_t>(count),
          static_cast<std::uint32_t>(dims_)};
}

void HalfStore::write(std::int64_t first, std::int64_t count, const unsigned char* from) {
  for_each_part(first, count, [&](const Part& part, std::int64_t row, std::int64_t done, std::int64_t some) {
    const DeviceSession session(*device_.state());
    session->write(*part.memory->get(), size(row) * size(row_bytes_), from + done * row_bytes_,
                   size(some) * size(row_bytes_));
  });
}

void HalfStore::land(std::int64_t first, std::int64_t count, const spi::Allocation& to) const {
  const DeviceSession session(*device_.state());
  for_each_part(first, count, [&](const Part& part, std::int64_t row, std::int64_t done, std::int64_t some) {
    landing_.land(raw(part, row, some),
                  {&to, static_cast<std::uint32_t>(done), 0, static_cast<std::uint32_t>(dims_),
                   session->info.train_block},
                  0);
  });
}

void HalfStore::look_at(std::int64_t first, std::int64_t count, std::int64_t number,
                        const DeviceLanding& landing, const spi::Allocation& to) const {
  const DeviceSession session(*device_.state());
  // From the beginning of `to` each, since a part may begin within a block of the stretch.
  for_each_part(first, count, [&](const Part& part, std::int64_t row, std::int64_t done, std::int64_t some) {
    landing.land(raw(part, row, some),
                 {&to, 0, 0, static_cast<std::uint32_t>(dims_), session->info.train_block}, number + done);
  });
}

std::size_t HalfStore::bytes() const {
  std::size_t bytes = 0;
  for (const Part& part : parts_) bytes += part.memory->get()->bytes;
  return bytes;
}

}  // namespace kith
