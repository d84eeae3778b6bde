#include "search/doubles/doubles_on_device.hpp"

#include <algorithm>
#include <mutex>
#include <utility>

#include "rows/rows.hpp"

namespace kith {

const std::vector<DoublesOnDevice::Part>& DoublesOnDevice::of(const std::shared_ptr<Device::State>& state,
                                                              const PreparedDoubles& rows) {
  const std::lock_guard lock(mutex_);
  if (!parts_.empty()) return parts_;
  const std::size_t row_bytes = size(rows.dims) * sizeof(double);
  const auto most =
      static_cast<std::int64_t>(std::max<std::size_t>(1, state->info.largest_allocation / row_bytes));
  std::vector<Part> parts;
  for (std::int64_t first = 0; first < rows.rows; first += most) {
    const std::int64_t count = std::min(most, rows.rows - first);
    DeviceMemory memory(state, size(count) * row_bytes);
    const DeviceSession session(*state);
    session->write(*memory.get(), 0, rows.row(first).data(), size(count) * row_bytes);
    parts.push_back({first, count, std::move(memory)});
  }
  parts_ = std::move(parts);
  return parts_;
}

std::size_t DoublesOnDevice::bytes() {
  const std::lock_guard lock(mutex_);
  std::size_t all = 0;
  for (const Part& part : parts_) all += part.memory.get()->bytes;
  return all;
}

}  // namespace kith
