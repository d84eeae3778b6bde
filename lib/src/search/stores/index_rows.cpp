#include "search/stores/index_rows.hpp"

#include <optional>
#include <utility>

#include "base/numbers.hpp"
#include "certified/row_sample.hpp"
#include "check/unit_check.hpp"
#include "host/host_thread.hpp"
#include "metric/chain.hpp"
#include "rows/landed/borrowed.hpp"
#include "rows/landed/landed_rows.hpp"

namespace kith {
namespace {

/// Puts rows into this order; an empty one changes nothing.
void put_in_order(const std::vector<std::int64_t>& order, PreparedRows& rows) {
  if (order.empty()) return;
  Floats ordered;
  ordered.reserve(order.size() * static_cast<std::size_t>(rows.view.cols()));
  for (const std::int64_t row : order)
    ordered.insert(ordered.end(), rows.view.row(row), rows.view.row(row) + rows.view.cols());
  rows.own = std::move(ordered);
  rows.view = {rows.own.data(), rows.view.rows(), rows.view.cols()};
}

/// Returns whether the device lands the rows. Rows on the host that need another order are sorted
/// there instead.
bool are_landed(const RowSchema& schema, const RowsForIndex& given) {
  const KernelProfile& profile = schema.device.info().profile;
  const bool of_host = given.order.empty() && (profile.lands_rows || profile.host_threads);
  return (given.rows.where != Where::host || of_host) &&
         prepares_on_device(*schema.device.state(), schema.metric);
}

/// From this many bytes on, another thread samples rows on the host while they go to the device.
constexpr std::int64_t worth_a_thread = std::int64_t{1} << 22;  // bytes

/// Lands the rows as chunks. Returns every `step`-th row.
Floats land_and_sample(const RowSchema& schema, RowsToLand& rows, const RowsForIndex& given,
                       std::int64_t step, std::vector<Chunk>& chunks) {
  std::optional<Floats> sample;
  {
    HostThread thread;  // ends with this block
    const bool pays = given.rows.where == Where::host && schema.device.info().profile.lands_rows &&
                      clamped_product(given.rows.stride_bytes, given.rows.rows) >= worth_a_thread;
    if (pays)
      thread.start([&] {
        try {
          sample = rows.sample(step);
        } catch (...) {  // it fails again below, unless landing all rows fails first
        }
      });
    chunks = rows.chunks(given.first);
  }
  return sample ? std::move(*sample) : rows.sample(step);
}

RowsOfIndex landed(const RowSchema& schema, const RowsForIndex& given) {
  RowsToLand rows(schema.device.state(), given.rows,
                  {"index", given.what, schema.metric, schema.mask(), given.first_row}, given.order);
  RowsOfIndex put;
  put.sample.view = {nullptr, 0, rows.dims()};
  if (compares_bits(schema.metric)) {  // no sample of bits is needed
    put.chunks = rows.chunks(given.first);
  } else {
    const std::int64_t step = sample_stride(given.rows.rows), count = divide_up(given.rows.rows, step);
    const bool is_host = schema.device.info().profile.host_threads;  // else another thread copies meanwhile
    if (const auto there = is_host ? rows.sample_in_place(step) : std::nullopt) {
      put.chunks = rows.chunks(given.first);
      put.sample.view = *there;
    } else {
      put.sample.own = land_and_sample(schema, rows, given, step, put.chunks);
      put.sample.view = {put.sample.own.data(), count, rows.dims()};
    }
  }
  put.largest = rows.largest();
  return put;
}

}  // namespace

PreparedRows prepared_rows(const RowSchema& schema, const RowsForIndex& given) {
  std::vector<unsigned char> copy;
  const RowsView rows = rows_on_host("index", given.what, schema.device.state(), given.rows, copy);
  PreparedRows prepared =
      prepare_rows("index", given.what, rows, schema.metric, 0, schema.mask(), given.first_row);
  put_in_order(given.order, prepared);
  if (!copy.empty() && prepared.own.empty()) {  // the view must not refer to the copy, which is destroyed
    const float* const first = prepared.view.data();
    prepared.own.assign(first, first + prepared.view.rows() * prepared.view.cols());
    prepared.view = {prepared.own.data(), prepared.view.rows(), prepared.view.cols()};
  }
  return prepared;
}

RowsOfIndex put_rows(const RowSchema& schema, const RowsForIndex& given) {
  if (are_landed(schema, given)) return landed(schema, given);
  RowsOfIndex put{{}, 0, prepared_rows(schema, given)};
  put.largest = put.sample.largest;
  put.chunks = upload_chunks(schema.device.state(), put.sample.view, given.first, 0);
  return put;
}

}  // namespace kith
