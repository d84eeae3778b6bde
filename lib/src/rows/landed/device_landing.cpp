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
                             std::span<const std::int64_t> features, std::int64_t dims, bool unit)
    : state_(std::move(state)),
      where_(where),
      dims_(size(dims)),
      found_(state_, spi::land_findings * sizeof(std::uint32_t)) {
  const std::vector<std::uint32_t> columns(features.begin(), features.end());
  if (unit) units_ = DeviceMemory(state_, spi::unit_findings * sizeof(std::uint32_t));
  if (!columns.empty()) columns_ = DeviceMemory(state_, columns.size() * sizeof(std::uint32_t));
  const DeviceSession session(*state_);
  forget();
  if (!columns.empty())
    session->write(*columns_.get(), 0, columns.data(), columns.size() * sizeof(std::uint32_t));
}

void DeviceLanding::forget() const {
  constexpr std::array<std::uint32_t, spi::land_findings> nothing = {0, no_row, 0};
  constexpr std::array<std::uint32_t, spi::unit_findings> no_units = {0, no_row};
  state_->device->write(*found_.get(), 0, nothing.data(), sizeof nothing);
  if (units_) state_->device->write(*units_.get(), 0, no_units.data(), sizeof no_units);
}

void DeviceLanding::land(const spi::RawRows& from, const spi::RowBlocks& to, std::int64_t first_row,
                         const spi::Grid<std::uint32_t>& chosen, const spi::FloatGrid& grid) const {
  spi::Grid<std::uint32_t> columns;
  if (columns_) columns = {columns_.get(), 0, 1, dims_, dims_};
  spi::RowBlocks out = to;
  out.rows = from.rows;
  const spi::Step step{spi::LandStep{from,
                                     columns,
                                     out,
                                     {found_.get(), 0, 1, spi::land_findings, spi::land_findings},
                                     chosen.cols > 0 ? 0 : static_cast<std::uint32_t>(first_row),
                                     chosen,
                                     grid}};
  enqueue(step);
  if (units_)
    enqueue({spi::UnitStep{out,
                           {units_.get(), 0, 1, spi::unit_findings, spi::unit_findings},
                           static_cast<std::uint32_t>(first_row)}});
}

void DeviceLanding::enqueue(const spi::Step& step) const {
  spi::Device& device = *state_->device;
  const spi::Support support = device.check(step);
  if (!support.refusal.empty())
    throw Error(Errc::unsupported, std::string(where_) + ": " + device.info.spec + ": " + support.refusal);
  device.enqueue(step);
}

DeviceLanding::Found DeviceLanding::found() const {
  std::array<std::uint32_t, spi::land_findings> found{};
  state_->device->read(*found_.get(), 0, found.data(), sizeof found);
  Found all{std::bit_cast<float>(found[spi::largest_bits]), found[spi::bad_row], no_row,
            found[spi::off_grid] != 0};
  if (!units_) return all;
  std::array<std::uint32_t, spi::unit_findings> units{};
  state_->device->read(*units_.get(), 0, units.data(), sizeof units);
  all.largest = std::bit_cast<float>(units[spi::largest_unit_bits]);
  all.zero_row = units[spi::zero_row];
  return all;
}

}  // namespace kith
