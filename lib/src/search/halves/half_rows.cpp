#include "search/halves/half_rows.hpp"

#include <algorithm>
#include <mutex>
#include <utility>

#include "base/numbers.hpp"
#include "kith/error.hpp"
#include "rows/read_back.hpp"
#include "search/bytes/byte_windows.hpp"
#include "search/halves/half_windows.hpp"
#include "search/index_plan.hpp"
#include "search/streams/stream_sizes.hpp"

namespace kith {

HalfRows::HalfRows(const Index::State& of, std::shared_ptr<HalfStore> store, std::int64_t rows, float largest)
    : device_(of.device),
      metric_(of.metric),
      element_(of.element),
      columns_(of.columns),
      dims_(of.dims),
      features_(of.features),
      rows_(rows),
      largest_(largest),
      of_floats_(std::make_shared<MadeOfRows>(of.device.info())),
      mutex_(of.device.info()),
      form_{std::move(store), {}, nullptr} {}

std::shared_ptr<const HalfRows> HalfRows::made_of(const Index::State& of, const RowsForIndex& given,
                                                  std::int64_t room) {
  const std::int64_t count = given.rows.rows;
  auto store = std::make_shared<HalfStore>(of, std::max(room, count));
  store->claim(0, count);
  const float largest = put_in_halves(*store, of.device, 0, given.rows,
                                      {"index", given.what, of.metric, of.mask(), given.first_row});
  return std::make_shared<const HalfRows>(of, std::move(store), count, largest);
}

std::shared_ptr<const HalfRows> HalfRows::made_of(const Index::State& of, MatrixView<const float> rows,
                                                  std::uint32_t threads) {
  auto store = std::make_shared<HalfStore>(of, rows.rows());
  store->claim(0, rows.rows());
  put_in_halves(*store, of.element, 0, rows, threads);
  return std::make_shared<const HalfRows>(of, std::move(store), rows.rows(), largest_of_rows(rows));
}

HalfRows::Form HalfRows::form() const {
  const std::lock_guard lock(mutex_);
  return form_;
}

/// Floats where they are made or have room, as for Residence::automatic: half of the device, and so the
/// halves beside them three quarters. Else the halves. Locks the device.
HalfRows::Form HalfRows::form_for_search() const {
  const std::lock_guard lock(mutex_);
  take_sample();
  if (form_.floats.empty() && fits_device(device_.info(), rows_, dims_, 0)) try {
      make_floats();
    } catch (const Error& error) {
      if (error.code() != Errc::out_of_memory) throw;
    }
  return form_;
}

/// Under the lock.
void HalfRows::take_sample() const {
  if (form_.sample) return;
  const std::vector<float> some =
      sampled_rows([&](std::int64_t first, std::int64_t count,
                       float* to) { read_recovered(*form_.halves, device_, dims_, first, count, to, 1); },
                   rows_, dims_);
  const MatrixView<const float> rows(some.data(), static_cast<std::int64_t>(some.size()) / dims_, dims_);
  form_.sample = std::make_shared<const SampledValues>(sampled_values(rows, metric_, element_));
}

/// Under the lock, once there is a sample. The halves are let go then, unless with() can put rows behind
/// these: such a room was asked for, and is kept beside the floats, as that of bytes is.
void HalfRows::make_floats() const {
  form_.floats = recovered_chunks(*form_.halves, device_, rows_, dims_);
  if (form_.halves->has_room_behind(rows_)) return;
  {
    const DeviceSession session(*device_.state());
    session->finish();  // memory that is used again may be that of steps which are not done
  }
  form_.halves.reset();  // which locks the device
}

std::shared_ptr<const Index::State> HalfRows::as_floats(const Index::State& whole, const Form& of) const {
  if (of.floats.empty()) return nullptr;
  std::shared_ptr<Index::State> state = one_of_parts(whole, rows_, largest_, of_floats_);
  state->chunks = of.floats;
  of.sample->tell(*state);
  return state;
}

StreamedRows HalfRows::stream(const Index::State& whole, const Form& of) const {
  StreamedSet set = streamed_there(whole, rows_, largest_, of.halves);
  if (of.sample) set.values = *of.sample;
  return StreamedRows(std::move(set));
}

Index::State HalfRows::in_chunks(const Form& of) const {
  Index::State state(device_, metric_, columns_, features_, of_floats_);
  state.chunks = of.floats;
  return state;
}

std::optional<AsOne> HalfRows::as_one(const Index::State& whole, const AskedOfRows& asked) const {
  if (auto floats = as_floats(whole, form_for_search())) return AsOne{std::move(floats), asked.options};
  return std::nullopt;
}

Keys HalfRows::search_keys(const Index::State& whole, const CheckedQueries& queries, std::int64_t k,
                           const PlanOptions& options, Trace* trace) const {
  const Form now = form_for_search();
  if (const auto floats = as_floats(whole, now))
    return search_for_keys(*by_places(*floats), queries, k, options, trace);
  return stream(whole, now).search_keys(whole, queries, k, options, trace);
}

RadiusKeys HalfRows::within_keys(const Index::State& whole, const CheckedQueries& queries,
                                 std::span<const float> radii, const PlanOptions& options,
                                 Trace* trace) const {
  const Form now = form_for_search();
  if (const auto floats = as_floats(whole, now))
    return search_within_keys(*by_places(*floats), queries, radii, options, trace);
  return stream(whole, now).within_keys(whole, queries, radii, options, trace);
}

Plan HalfRows::plan(const Index::State& whole, std::int64_t m, std::int64_t k, const PlanOptions& options,
                    const Feedback& feedback) const {
  const Form now = form();
  if (now.floats.empty() && !fits_device(device_.info(), rows_, dims_, 0))
    return stream(whole, now).plan(whole, m, k, options, feedback);
  const std::shared_ptr<Index::State> floats = one_of_parts(whole, rows_, largest_, of_floats_);
  floats->chunks = unmade_chunks(device_.info(), rows_, dims_);  // a plan needs no values
  return plan_of(*floats, m, k, options, feedback);
}

void HalfRows::prepare(const Index::State& whole, std::int64_t m, std::int64_t k,
                       const PlanOptions& options) const {
  const Form now = form_for_search();
  if (const auto floats = as_floats(whole, now)) return prepare_for(*floats, m, k, options);
  stream(whole, now).prepare(whole, m, k, options);
}

std::size_t HalfRows::memory_bytes() const {
  const Form now = form();
  return (now.halves ? now.halves->bytes() : 0) + memory_of(in_chunks(now));
}

void HalfRows::read_rows(std::int64_t first, std::int64_t count, float* to, std::uint32_t threads) const {
  const Form now = form();
  if (now.floats.empty()) return read_recovered(*now.halves, device_, dims_, first, count, to, threads);
  read_places(in_chunks(now), first, count, to, threads);
}

/// The halves with claimed places for more of them: the store itself where these rows are its last and it has
/// room, else another that shares what it can with it. Null: they were let go, and more floats come behind.
std::shared_ptr<HalfStore> HalfRows::store_with_room(const Index::State& whole, std::int64_t more) const {
  std::shared_ptr<HalfStore> store = form().halves;
  if (!store || store->claim(rows_, more)) return store;
  auto another = std::make_shared<HalfStore>(whole, *store, rows_, more);
  another->claim(rows_, more);
  return another;
}

std::shared_ptr<const PartedRows> HalfRows::with_as_they_are(const Index::State& whole,
                                                             const RowsForIndex& more) const {
  const RowsView& rows = more.rows;
  if (rows.element != element_ || rows.where != Where::host || !more.order.empty()) return nullptr;
  std::shared_ptr<HalfStore> store = store_with_room(whole, rows.rows);
  if (!store) return nullptr;
  const float largest = put_in_halves(*store, device_, rows_, rows,
                                      {"index", more.what, metric_, whole.mask(), more.first_row});
  return std::make_shared<const HalfRows>(whole, std::move(store), rows_ + rows.rows,
                                          std::max(largest_, largest));
}

/// An Index of one element was given it alone, so that every value is one.
std::shared_ptr<const PartedRows> HalfRows::with(const Index::State& whole, MatrixView<const float> more,
                                                 std::uint32_t threads) const {
  if (whole.element != element_) return nullptr;
  std::shared_ptr<HalfStore> store = store_with_room(whole, more.rows());
  if (!store) return nullptr;
  put_in_halves(*store, element_, rows_, more, threads);
  return std::make_shared<const HalfRows>(whole, std::move(store), rows_ + more.rows(),
                                          std::max(largest_, largest_of_rows(more)));
}

/// These rows may be searched by them, too.
std::vector<Chunk> HalfRows::as_chunks(const Index::State&) const {
  const std::lock_guard lock(mutex_);
  take_sample();
  if (form_.floats.empty()) make_floats();
  return form_.floats;
}

std::shared_ptr<const PartedRows> HalfRows::of(const Index::State& whole,
                                               std::span<const std::int64_t> places) const {
  const auto count = static_cast<std::int64_t>(places.size());
  auto store = std::make_shared<HalfStore>(whole, count);
  store->claim(0, count);
  const float largest =
      copy_some(*this, dims_, places, [&](std::int64_t first, MatrixView<const float> rows) {
        put_in_halves(*store, element_, first, rows, 0);
      });
  return std::make_shared<const HalfRows>(whole, std::move(store), count, largest);
}

}  // namespace kith
