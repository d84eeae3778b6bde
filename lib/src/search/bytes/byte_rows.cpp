#include "search/bytes/byte_rows.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <mutex>
#include <string>
#include <utility>

#include "base/float_guard.hpp"
#include "base/numbers.hpp"
#include "boxes/index_boxes.hpp"
#include "certified/byte_grid.hpp"
#include "certified/row_sample.hpp"
#include "kith/error.hpp"
#include "plan/reasons.hpp"
#include "rows/row_filter.hpp"
#include "rows/rows.hpp"
#include "search/bytes/byte_windows.hpp"
#include "search/index_plan.hpp"
#include "search/streams/stream_sizes.hpp"

namespace kith {

struct ByteRows::Made {
  explicit Made(const DeviceInfo& info)
      : of_bytes(std::make_shared<MadeOfRows>(info)),
        of_floats(std::make_shared<MadeOfRows>(info)),
        mutex(info) {}

  const std::shared_ptr<MadeOfRows> of_bytes, of_floats;
  DeviceMutex mutex;          // around all below
  std::vector<Chunk> floats;  ///< made by the first search that wants them
  std::vector<float> centre;  ///< likewise
  double clip_range = 0;      ///< likewise
};

namespace {

/// A search by bytes insists on nothing that other searches do.
bool is_free(const PlanOptions& options) {
  const bool proposer = options.proposer == Proposer::automatic || options.proposer == Proposer::int8;
  return proposer && options.selector == Selector::automatic && options.boxes != true && !options.fused &&
         options.groups == 0 && options.sample.empty();
}

/// Such a search, which may take half of what the rows leave of the device where the caller sets no limit.
///   bytes  of the rows
PlanOptions by_int8(const PlanOptions& options, const DeviceInfo& device, std::size_t bytes) {
  PlanOptions way = options;
  way.proposer = Proposer::int8;
  way.boxes = false;
  if (!way.memory_limit && device.memory_bytes > bytes) way.memory_limit = (device.memory_bytes - bytes) / 2;
  return way;
}

/// Whether floats, where they have room, answer sooner than bytes: a GPU that takes few queries at a time by
/// bytes goes over all rows for each few of them. An H100 by OpenCL takes as long for 250 queries either way,
/// and for 10,000 three times as long by bytes (10^6 rows of 128 columns).
bool floats_are_sooner(const DeviceInfo& device, std::int64_t m, const PlanOptions& options) {
  constexpr std::int64_t most_times = 4;
  return device.kind == DeviceKind::gpu && options.proposer == Proposer::automatic &&
         m / most_times > std::int64_t{device.profile.byte_queries};
}

/// Whether rows of the caller lie on the grid, without a look at elements that always do.
bool lies_on(const ByteGrid& grid, Element of_rows, const AskedOfRows& asked) {
  const RowsView& queries = asked.queries;
  if (queries.element == of_rows || queries.rows == 0) return true;
  if (asked.prepared)
    return place_on_grid(grid, *asked.prepared, asked.options.threads) == spi::OnGrid::exactly;
  const bool floats = queries.element == Element::f32 && queries.where == Where::host && queries.data &&
                      queries.stride_bytes % static_cast<std::int64_t>(sizeof(float)) == 0 &&
                      reinterpret_cast<std::uintptr_t>(queries.row(0)) % alignof(float) == 0;
  if (!floats) return false;
  const MatrixView<const float> rows(static_cast<const float*>(static_cast<const void*>(queries.row(0))),
                                     queries.rows, queries.cols,
                                     queries.stride_bytes / static_cast<std::int64_t>(sizeof(float)));
  return place_on_grid(grid, rows, asked.options.threads) == spi::OnGrid::exactly;
}

}  // namespace

ByteRows::ByteRows(const Index::State& of, std::shared_ptr<ByteStore> store, std::int64_t rows, float largest)
    : device_(of.device),
      metric_(of.metric),
      element_(of.element),
      columns_(of.columns),
      dims_(of.dims),
      store_(std::move(store)),
      rows_(rows),
      largest_(largest),
      made_(std::make_shared<Made>(of.device.info())) {
  made_->of_bytes->quantized_rows[Proposer::int8] = store_->quantized();
}

std::shared_ptr<const ByteRows> ByteRows::made_of(const Index::State& of, const RowsForIndex& given,
                                                  std::int64_t room) {
  const std::int64_t count = given.rows.rows;
  auto store = std::make_shared<ByteStore>(of, std::max(room, count));
  store->claim(0, count);
  const float largest = put_in_bytes(*store, of, 0, given);
  return std::make_shared<const ByteRows>(of, std::move(store), count, largest);
}

std::shared_ptr<const ByteRows> ByteRows::made_of(const Index::State& of, MatrixView<const float> rows,
                                                  std::uint32_t threads) {
  auto store = std::make_shared<ByteStore>(of, rows.rows());
  store->claim(0, rows.rows());
  put_in_bytes(*store, of.device, 0, rows, threads);
  return std::make_shared<const ByteRows>(of, std::move(store), rows.rows(), largest_of_rows(rows));
}

std::shared_ptr<Index::State> ByteRows::in_bytes(const Index::State& whole) const {
  std::shared_ptr<Index::State> state = one_of_parts(whole, rows_, largest_, made_->of_bytes);
  state->chunks = store_->chunks(rows_);
  state->parted = whole.parted;
  state->rows_are_bytes = true;
  state->grid = grid_of_values({}, metric_, element_);
  state->centre.assign(size(dims_), state->grid.centre);
  state->clip_range = spi::most_on_grid;
  return state;
}

/// Null where they have no room, as for Residence::automatic. Locks the device.
std::shared_ptr<const Index::State> ByteRows::as_floats(const Index::State& whole) const {
  if (!fits_device(device_.info(), rows_, dims_, 0)) return nullptr;
  std::shared_ptr<Index::State> state = one_of_parts(whole, rows_, largest_, made_->of_floats);
  const std::lock_guard lock(made_->mutex);
  if (made_->floats.empty()) try {
      std::vector<Chunk> chunks = recovered_chunks(*store_, device_, rows_, dims_);
      const std::vector<float> sample = sampled_rows(*this, rows_, dims_);
      const MatrixView<const float> some(sample.data(), static_cast<std::int64_t>(sample.size()) / dims_,
                                         dims_);
      const SampledValues values = sampled_values(some, metric_, element_);
      made_->centre = values.centre;
      made_->clip_range = values.clip_range;
      made_->floats = std::move(chunks);
    } catch (const Error& error) {
      if (error.code() != Errc::out_of_memory) throw;
      return nullptr;
    }
  state->chunks = made_->floats;
  state->centre = made_->centre;
  state->clip_range = made_->clip_range;
  state->grid = grid_of_values({}, metric_, element_);
  return state;
}

StreamedRows ByteRows::stream(const Index::State& whole) const {
  return StreamedRows(streamed_there(whole, rows_, largest_, store_));
}

/// Whether exact products answer: all rows that are asked for lie on the grid, and there is a plan.
bool ByteRows::goes_by_bytes(const AskedOfRows& asked) const {
  if (!asked.k || !is_free(asked.options) || asked.options.filter.rows() > 1) return false;
  return lies_on(grid_of_values({}, metric_, element_), element_, asked);
}

std::optional<AsOne> ByteRows::as_one(const Index::State& whole, const AskedOfRows& asked) const {
  if (floats_are_sooner(device_.info(), asked.queries.rows, asked.options))
    if (auto floats = as_floats(whole)) return AsOne{std::move(floats), asked.options};
  if (goes_by_bytes(asked)) {
    AsOne bytes{in_bytes(whole), by_int8(asked.options, device_.info(), store_->bytes())};
    try {
      const Plan plan = plan_search(*bytes.index, asked.queries.rows, *asked.k, bytes.options, {});
      if (plan.filters == 0 || plan.masked) return bytes;
    } catch (const Error& error) {
      if (error.code() != Errc::unsupported && error.code() != Errc::out_of_memory) throw;
    }
  }
  if (auto floats = as_floats(whole)) return AsOne{std::move(floats), asked.options};
  return std::nullopt;
}

Keys ByteRows::search_keys(const Index::State& whole, const CheckedQueries& queries, std::int64_t k,
                           const PlanOptions& options, Trace* trace) const {
  if (const auto floats = as_floats(whole))
    return search_for_keys(*by_places(*floats), queries, k, options, trace);
  return stream(whole).search_keys(whole, queries, k, options, trace);
}

RadiusKeys ByteRows::within_keys(const Index::State& whole, const CheckedQueries& queries,
                                 std::span<const float> radii, const PlanOptions& options,
                                 Trace* trace) const {
  return stream(whole).within_keys(whole, queries, radii, options, trace);
}

Plan ByteRows::plan(const Index::State& whole, std::int64_t m, std::int64_t k, const PlanOptions& options,
                    const Feedback& feedback) const {
  const RowsView queries(nullptr, element_, m, columns_);
  const AskedOfRows asked{queries, nullptr, k, options};
  const bool fits = fits_device(device_.info(), rows_, dims_, 0);
  const bool sooner = fits && floats_are_sooner(device_.info(), m, options);
  if (!sooner && goes_by_bytes(asked)) try {
      const PlanOptions way = by_int8(options, device_.info(), store_->bytes());
      Plan plan = plan_search(*in_bytes(whole), m, k, way, feedback);
      if (plan.filters == 0 || plan.masked) {
        plan.exact_products = true;
        plan.reason += reasons::exact_products();
        return plan;
      }
    } catch (const Error& error) {
      if (error.code() != Errc::unsupported && error.code() != Errc::out_of_memory) throw;
    }
  if (!fits) return stream(whole).plan(whole, m, k, options, feedback);
  const std::shared_ptr<Index::State> floats = one_of_parts(whole, rows_, largest_, made_->of_floats);
  floats->chunks = unmade_chunks(device_.info(), rows_, dims_);  // a plan needs no values
  return plan_of(*floats, m, k, options, feedback);
}

void ByteRows::prepare(const Index::State& whole, std::int64_t m, std::int64_t k,
                       const PlanOptions& options) const {
  const RowsView queries(nullptr, element_, m, columns_);
  if (const auto one = as_one(whole, {queries, nullptr, k, options})) {
    if (!one->index->rows_are_bytes) prepare_for(*one->index, m, k, one->options);
    return;
  }
  stream(whole).prepare(whole, m, k, options);
}

Feedback ByteRows::feedback() const {
  return made_->of_bytes->lessons.feedback();
}

std::size_t ByteRows::memory_bytes() const {
  std::size_t bytes = store_->bytes();
  const std::lock_guard lock(made_->mutex);
  for (const Chunk& chunk : made_->floats) bytes += chunk.memory->bytes;
  const std::lock_guard of_floats(made_->of_floats->quantized_mutex);
  for (const auto& [proposer, quantized] : made_->of_floats->quantized_rows)
    if (quantized) bytes += quantized->bytes();
  if (made_->of_floats->boxes) bytes += made_->of_floats->boxes->bytes();
  return bytes;
}

void ByteRows::read_rows(std::int64_t first, std::int64_t count, float* to, std::uint32_t threads) const {
  read_recovered(*store_, device_, dims_, first, count, to, threads);
}

/// The store itself where these rows are its last and it has room; else another with these rows in it.
std::shared_ptr<ByteStore> ByteRows::store_with_room(const Index::State& whole, std::int64_t more) const {
  if (store_->claim(rows_, more)) return store_;
  constexpr std::int64_t share = 8;  // so that rows which come one by one are not copied each time
  auto store = std::make_shared<ByteStore>(whole, rows_ + std::max(more, rows_ / share));
  store->claim(0, rows_ + more);
  copy_rows(*store_, device_, dims_, rows_, *store);
  return store;
}

std::shared_ptr<const PartedRows> ByteRows::with_as_they_are(const Index::State& whole,
                                                             const RowsForIndex& more) const {
  if (more.rows.element != element_ || !more.order.empty()) return nullptr;
  std::shared_ptr<ByteStore> store = store_with_room(whole, more.rows.rows);
  const float largest = put_in_bytes(*store, whole, rows_, more);
  return std::make_shared<const ByteRows>(whole, std::move(store), rows_ + more.rows.rows,
                                          std::max(largest_, largest));
}

std::shared_ptr<const PartedRows> ByteRows::with(const Index::State& whole, MatrixView<const float> more,
                                                 std::uint32_t threads) const {
  if (whole.element != element_ ||
      place_on_grid(grid_of_values({}, metric_, element_), more, threads) != spi::OnGrid::exactly)
    return nullptr;
  std::shared_ptr<ByteStore> store = store_with_room(whole, more.rows());
  put_in_bytes(*store, device_, rows_, more, threads);
  return std::make_shared<const ByteRows>(whole, std::move(store), rows_ + more.rows(),
                                          std::max(largest_, largest_of_rows(more)));
}

std::vector<Chunk> ByteRows::as_chunks(const Index::State&) const {
  return recovered_chunks(*store_, device_, rows_, dims_);
}

std::shared_ptr<const PartedRows> ByteRows::of(const Index::State& whole,
                                               std::span<const std::int64_t> places) const {
  const auto count = static_cast<std::int64_t>(places.size());
  auto store = std::make_shared<ByteStore>(whole, count);
  store->claim(0, count);
  const float largest =
      copy_some(*this, dims_, places, [&](std::int64_t first, MatrixView<const float> rows) {
        put_in_bytes(*store, device_, first, rows, 0);
      });
  return std::make_shared<const ByteRows>(whole, std::move(store), count, largest);
}

}  // namespace kith
