#include "search/halves/half_windows.hpp"

#include <algorithm>
#include <memory>
#include <optional>
#include <vector>

#include "base/numbers.hpp"
#include "device/host_buffer.hpp"
#include "host/parallel.hpp"
#include "rows/rows.hpp"

namespace kith {
namespace {

/// Rows of a piece: as many bytes as are locked at once (HostBuffer).
std::int64_t rows_at_once(const HalfStore& store, std::int64_t rows) {
  constexpr std::int64_t piece_bytes = std::int64_t{1} << 25;
  return std::min(rows, std::max<std::int64_t>(1, piece_bytes / store.row_bytes()));
}

/// Rows that need no copy on the host on their way.
std::unique_ptr<const ReachedMemory> held_as_it_is(const Device& device, const RowsView& rows,
                                                   const Landing& how, std::int64_t row_bytes) {
  if (!how.features.empty() || (rows.rows > 1 && rows.stride_bytes != row_bytes)) return nullptr;
  return held_in_place(device.state(), rows.row(0), size(rows.rows) * size(row_bytes));
}

/// Write rows, and have the device look at what was written. Returns max |element|.
float write_and_check(HalfStore& store, const Device& device, std::int64_t first, const RowsView& rows,
                      const Landing& how) {
  Device::State& state = *device.state();
  const std::int64_t step = rows_at_once(store, rows.rows), bytes = store.row_bytes();
  const std::int64_t dims = bytes / element_bytes(rows.element);
  const auto held = held_as_it_is(device, rows, how, bytes);
  const bool as_it_is = held != nullptr;
  std::optional<HostBuffer> buffer;
  if (!as_it_is) buffer.emplace(state, size(step * bytes));
  const DeviceMemory packed(device.state(), packed_bytes(step, dims, device.info().train_block));
  const DeviceLanding landing(device.state(), how.where, {}, dims);
  for (std::int64_t r = 0; r < rows.rows; r += step) {
    const std::int64_t some = std::min(step, rows.rows - r);
    const RowsView part = rows.slice(r, some);
    const unsigned char* from = part.row(0);
    if (!as_it_is) {
      const std::span<unsigned char> tight = buffer->as<unsigned char>(size(some * bytes));
      copy_side_by_side(part, how.features, tight);
      from = tight.data();
    }
    store.write(first + r, some, from);
    store.look_at(first + r, some, r, landing, *packed.get());
  }
  DeviceLanding::Found found;
  {
    const DeviceSession session(state);
    found = landing.found();
  }
  if (found.bad_row != no_row) refuse_landed_row(state, rows.slice(found.bad_row, 1), found.bad_row, how);
  return found.largest;
}

}  // namespace

float put_in_halves(HalfStore& store, const Device& device, std::int64_t first, const RowsView& rows,
                    const Landing& how) {
  try {
    check_element(how.where, how.what, rows, how.metric);
    check_rows(how.where, how.what, rows);
    return write_and_check(store, device, first, rows, how);
  } catch (...) {
    store.give_back(first, rows.rows);
    throw;
  }
}

void put_in_halves(HalfStore& store, Element element, std::int64_t first, MatrixView<const float> rows,
                   std::uint32_t threads) try {
  const std::int64_t step = rows_at_once(store, rows.rows()), bytes = store.row_bytes();
  std::vector<unsigned char> stored(size(step * bytes));
  for (std::int64_t begin = 0; begin < rows.rows(); begin += step) {
    const std::int64_t some = std::min(step, rows.rows() - begin);
    parallel_for(some, some * rows.cols(), threads, [&](std::int64_t r) {
      store_row(element, rows.row(begin + r), rows.cols(), stored.data() + r * bytes);
    });
    store.write(first + begin, some, stored.data());
  }
} catch (...) {
  store.give_back(first, rows.rows());
  throw;
}

}  // namespace kith
