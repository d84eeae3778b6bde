#include "search/device_memory/index_rows.hpp"

#include <utility>

#include "base/numbers.hpp"
#include "certified/row_sample.hpp"
#include "device/device_set.hpp"
#include "metric/chain.hpp"
#include "rows/landed/landed_rows.hpp"

namespace kith {
namespace {

/// Rows in this order; as they are where it is empty.
void put_in_order(const std::vector<std::int64_t>& order, PreparedRows& rows) {
  if (order.empty()) return;
  Floats ordered;
  ordered.reserve(order.size() * static_cast<std::size_t>(rows.view.cols()));
  for (const std::int64_t row : order)
    ordered.insert(ordered.end(), rows.view.row(row), rows.view.row(row) + rows.view.cols());
  rows.own = std::move(ordered);
  rows.view = {rows.own.data(), rows.view.rows(), rows.view.cols()};
}

/// Unit rows are made by the host, in double precision, and so is another order.
bool are_landed(const Index::State& index, const RowsForIndex& given) {
  return prepare_of(index.metric) == Prepare::none && given.order.empty() &&
         (given.rows.where != Where::host || index.device.info().profile.lands_rows);
}

RowsOfIndex landed(const Index::State& index, const RowsForIndex& given) {
  RowsToLand rows(index.device.state(), given.rows,
                  {"index", given.what, index.metric, index.mask(), given.first_row});
  RowsOfIndex put{rows.chunks(given.first), rows.largest(), {}};
  put.sample.view = {nullptr, 0, rows.dims()};
  if (compares_bits(index.metric)) return put;  // of which nobody asks for a sample
  const std::int64_t step = sample_stride(given.rows.rows), count = divide_up(given.rows.rows, step);
  const std::vector<float> sample = rows.sample(step);
  put.sample.own.assign(sample.begin(), sample.end());
  put.sample.view = {put.sample.own.data(), count, rows.dims()};
  return put;
}

}  // namespace

RowsOfIndex put_rows(const Index::State& index, const RowsForIndex& given) {
  const bool in_parts = index.parted || is_set(index.device);
  if (!in_parts && are_landed(index, given)) return landed(index, given);
  const std::shared_ptr<Device::State>& state = index.device.state();
  std::vector<unsigned char> copy;
  const RowsView rows = rows_on_host("index", given.what, state, given.rows, copy);
  PreparedRows prepared =
      prepare_rows("index", given.what, rows, index.metric, 0, index.mask(), given.first_row);
  put_in_order(given.order, prepared);
  RowsOfIndex put{{}, prepared.largest, {}};
  if (!in_parts) put.chunks = upload_chunks(state, prepared.view, given.first, 0);
  put.sample = std::move(prepared);
  return put;
}

}  // namespace kith
