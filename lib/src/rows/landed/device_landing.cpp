#include "rows/landed/device_landing.hpp"

#include <array>
#include <bit>
#include <string>
#include <utility>
#include <vector>

#include "base/numbers.hpp"
#include "kith/error.hpp"

namespace kith {

DeviceLanding::DeviceLanding(std::shared_ptr<Device::State> state, std::string_view where,
                             std::span<const std::int64_t> features, std::int64_t dims)
    : state_(std::move(state)),
      where_(where),
      dims_(size(dims)),
      found_(state_, spi::land_findings * sizeof(std::uint32_t)) {
  const std::vector<std::uint32_t> columns(features.begin(), features.end());
  if (!columns.empty()) columns_ = DeviceMemory(state_, columns.size() * sizeof(std::uint32_t));
  const DeviceSession session(*state_);
  forget();
  if (!columns.empty())
    session->write(*columns_.get(), 0, columns.data(), columns.size() * sizeof(std::uint32_t));
}

void DeviceLanding::forget() const {
  constexpr std::array<std::uint32_t, spi::land_findings> nothing = {0, no_row};
  state_->device->write(*found_.get(), 0, nothing.data(), sizeof nothing);
}

void DeviceLanding::land(const spi::RawRows& from, const spi::RowBlocks& to, std::int64_t first_row,
                         const spi::Grid<std::uint32_t>& chosen) const {
  spi::Device& device = *state_->device;
  spi::Grid<std::uint32_t> columns;
  if (columns_) columns = {columns_.get(), 0, 1, dims_, dims_};
  spi::RowBlocks out = to;
  out.rows = from.rows;
  const spi::Step step{spi::LandStep{from,
                                     columns,
                                     out,
                                     {found_.get(), 0, 1, spi::land_findings, spi::land_findings},
                                     static_cast<std::uint32_t>(first_row),
                                     chosen}};
  const spi::Support support = device.check(step);
  if (!support.refusal.empty())
    throw Error(Errc::unsupported, std::string(where_) + ": " + device.info.spec + ": " + support.refusal);
  device.enqueue(step);
}

DeviceLanding::Found DeviceLanding::found() const {
  std::array<std::uint32_t, spi::land_findings> found{};
  state_->device->read(*found_.get(), 0, found.data(), sizeof found);
  return {std::bit_cast<float>(found[spi::largest_bits]), found[spi::bad_row]};
}

}  // namespace kith
