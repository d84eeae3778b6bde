#include "search/packed/packed_store.hpp"

#include <algorithm>
#include <mutex>
#include <utility>
#include <vector>

#include "base/numbers.hpp"
#include "certified/byte_grid.hpp"
#include "kith/error.hpp"
#include "plan/reasons.hpp"
#include "rows/read_back.hpp"
#include "search/packed/recovered_rows.hpp"
#include "search/resident/pipeline.hpp"
#include "search/stores/resident_store.hpp"
#include "search/streams/stream_sizes.hpp"

namespace kith {
namespace {

/// Returns whether the options leave a search by bytes possible: they ask for no other proposer, selector
/// or step.
bool is_free(const SearchOptions& options) {
  const bool proposer = options.proposer == Proposer::automatic || options.proposer == Proposer::int8;
  return proposer && options.selector == Selector::automatic && options.boxes != true && !options.fused &&
         options.lists == 0 && options.sample.empty();
}

/// Returns whether a search by floats, if these have room, is faster than by bytes: a GPU whose kernels for
/// bytes take few queries at a time reads all rows again for each few queries. An H100 by OpenCL takes as
/// long for 250 queries either way, and for 10,000 three times as long by bytes (10^6 rows of 128 columns).
bool floats_are_sooner(const DeviceInfo& device, std::int64_t m, const SearchOptions& options) {
  constexpr std::int64_t most_times = 4;
  return device.kind == DeviceKind::gpu && options.proposer == Proposer::automatic &&
         m / most_times > std::int64_t{device.profile.byte_queries};
}

/// Returns whether queries lie on the grid of the rows; queries of the rows' element always do. A device
/// compares those that it has while it checks them.
bool lies_on(const ByteGrid& grid, Element of_rows, const SearchRequest& request) {
  if (request.queries.element() == of_rows || request.m() == 0) return true;
  if (request.queries.is_on_device()) request.queries.prepare(request.options.threads, nullptr, grid);
  if (request.queries.is_prepared()) {
    const QueryRows& rows = request.queries.rows();
    if (const std::optional<bool> on = rows.all_on(grid)) return *on;
    return lie_on(grid, rows.on_host(), request.options.threads);
  }
  const RowsView& queries = request.queries.given();
  const bool floats = queries.element == Element::f32 && queries.where == Where::host && queries.data &&
                      queries.stride_bytes % static_cast<std::int64_t>(sizeof(float)) == 0 &&
                      reinterpret_cast<std::uintptr_t>(queries.row(0)) % alignof(float) == 0;
  if (!floats) return false;
  const MatrixView<const float> rows(static_cast<const float*>(static_cast<const void*>(queries.row(0))),
                                     queries.rows, queries.cols,
                                     queries.stride_bytes / static_cast<std::int64_t>(sizeof(float)));
  return lie_on(grid, rows, request.options.threads);
}

}  // namespace

PackedStore::PackedStore(const RowSchema& schema, std::shared_ptr<PackedMemory> packed, std::int64_t rows,
                         float largest)
    : RowStore(rows, largest),
      schema_(schema),
      of_floats_(std::make_shared<MadeOfRows>(schema.device.info())),
      exact_(packed->exact_rows(rows, largest)),
      mutex_(schema.device.info()),
      form_{std::move(packed), nullptr, nullptr} {}

std::shared_ptr<const PackedStore> PackedStore::made_of(const RowSchema& schema, const RowsForIndex& given,
                                                        std::int64_t room) {
  const std::int64_t count = given.rows.rows;
  std::shared_ptr<PackedMemory> packed = packed_memory(schema, std::max(room, count));
  packed->claim(0, count);
  const float largest =
      packed->put(0, given.rows, {"index", given.what, schema.metric, schema.mask(), given.first_row});
  return std::make_shared<const PackedStore>(schema, std::move(packed), count, largest);
}

std::shared_ptr<const PackedStore> PackedStore::made_of(const RowSchema& schema, MatrixView<const float> rows,
                                                        std::uint32_t threads) {
  std::shared_ptr<PackedMemory> packed = packed_memory(schema, rows.rows());
  packed->claim(0, rows.rows());
  packed->put(0, rows, threads);
  return std::make_shared<const PackedStore>(schema, std::move(packed), rows.rows(), largest_of_rows(rows));
}

PackedStore::Form PackedStore::form() const {
  const std::lock_guard lock(mutex_);
  return form_;
}

/// Returns whether floats take at most half of the device's memory, as for Residence::automatic; with the
/// halves beside them they take three quarters.
bool PackedStore::has_room_for_floats() const {
  return fits_device(schema_.device.info(), rows(), schema_.dims, 0);
}

/// Returns the form of the rows for a search, with floats if they exist or have room. Locks the device.
PackedStore::Form PackedStore::form_for_search() const {
  const std::lock_guard lock(mutex_);
  if (!exact_) take_sample();
  if (!form_.floats && has_room_for_floats()) try {
      make_floats();
    } catch (const Error& error) {
      if (error.code() != Errc::out_of_memory) throw;
    }
  return form_;
}

/// Takes a sample of the rows, under the lock. Rows of bytes need none, since their grid is known.
void PackedStore::take_sample() const {
  if (form_.sample) return;
  const std::vector<float> some = sampled_rows(reader(form_), rows(), schema_.dims);
  const MatrixView<const float> view(some.data(), static_cast<std::int64_t>(some.size()) / schema_.dims,
                                     schema_.dims);
  SampledValues values = sampled_values(view, schema_.metric, schema_.element);
  if (exact_) {
    values.grid = exact_->grid;
    values.spread = 0;
  }
  form_.sample = std::make_shared<const SampledValues>(std::move(values));
}

/// Makes floats of the rows, under the lock. Halves are then released, unless appended() can put rows behind
/// them; room that was asked for is kept beside the floats, as bytes are.
void PackedStore::make_floats() const {
  auto floats = std::make_shared<ResidentRows>(schema_, of_floats_);
  floats->rows = rows();
  floats->largest = largest();
  floats->chunks = recovered_chunks(*form_.packed, schema_, rows());
  take_sample();
  form_.sample->tell(*floats);
  form_.floats = std::move(floats);
  if (exact_ || form_.packed->has_room_behind(rows())) return;
  {
    const DeviceSession session(*schema_.device.state());
    session->finish();  // reused memory may belong to steps that still run
  }
  form_.packed.reset();  // this locks the device
}

StreamedStore PackedStore::stream(const Form& of) const {
  StreamedSet set = streamed_packed(schema_, rows(), largest(), of.packed);
  if (!exact_ && of.sample) set.values = *of.sample;
  return StreamedStore(std::move(set));
}

ReadRows PackedStore::reader(const Form& of) const {
  return [this, of](std::int64_t first, std::int64_t count, float* to) {
    if (of.packed) return read_recovered(*of.packed, schema_, first, count, to, 1);
    read_places(*of.floats, first, count, to, 1);
  };
}

/// Returns whether exact products can answer: all queries lie on the grid.
bool PackedStore::goes_by_bytes(const SearchRequest& request) const {
  if (!exact_ || request.radii || !is_free(request.options) || request.options.filter.rows() > 1)
    return false;
  return lies_on(exact_->grid, schema_.element, request);
}

/// Plans a search by exact products; nothing if no plan lets the proposer heed the filter.
std::optional<Plan> PackedStore::plan_by_bytes(std::int64_t m, std::int64_t k, const SearchOptions& options,
                                               const Feedback& feedback) const {
  try {
    Plan plan = plan_resident(*exact_, m, k, options, feedback);
    if (plan.filters == 0 || plan.masked) return plan;
  } catch (const Error& error) {
    if (error.code() != Errc::unsupported && error.code() != Errc::out_of_memory) throw;
  }
  return std::nullopt;
}

std::shared_ptr<const ResidentRows> PackedStore::resident(const SearchRequest& request) const {
  if (!exact_) return form_for_search().floats;
  if (floats_are_sooner(schema_.device.info(), request.m(), request.options))
    if (auto floats = form_for_search().floats) return floats;
  if (goes_by_bytes(request) && plan_by_bytes(request.m(), request.k, request.options, {})) return exact_;
  return form_for_search().floats;
}

void PackedStore::each_part(const SearchRequest& request, const VisitPart& visit, Trace* trace) const {
  const Form now = form_for_search();
  if (now.floats) return visit(ResidentStore(now.floats), request, trace);
  stream(now).each_part(request, visit, trace);
}

Plan PackedStore::plan(std::int64_t m, std::int64_t k, const SearchOptions& options,
                       const Feedback& feedback) const {
  QuerySet queries(schema_, m);
  const Form now = form();
  const bool fits = now.floats || has_room_for_floats();
  const bool sooner = fits && floats_are_sooner(schema_.device.info(), m, options);
  if (!sooner && goes_by_bytes({queries, options, k}))
    if (std::optional<Plan> plan = plan_by_bytes(m, k, options, feedback)) {
      plan->exact_products = true;
      plan->reason += reasons::exact_products();
      return *std::move(plan);
    }
  if (!fits) return stream(now).plan(m, k, options, feedback);
  ResidentRows floats(schema_, of_floats_);
  floats.rows = rows();
  floats.largest = largest();
  floats.chunks = unmade_chunks(schema_.device.info(), rows(), schema_.dims);  // planning needs no values
  return plan_resident(floats, m, k, options, feedback);
}

StoreInfo PackedStore::info() const {
  const Form now = form();
  StoreInfo info;
  if (now.packed) info.bytes += now.packed->bytes();
  if (now.floats) info.bytes += bytes_of(*now.floats);
  info.feedback = (exact_ ? *exact_->made : *of_floats_).lessons.feedback();
  return info;
}

void PackedStore::read(std::int64_t first, std::int64_t count, float* to, std::uint32_t threads) const {
  const Form now = form();
  if (now.packed) return read_recovered(*now.packed, schema_, first, count, to, threads);
  read_places(*now.floats, first, count, to, threads);
}

/// Returns packed memory with claimed places for more rows: the present one if these rows are its last and it
/// has room, else a copy. Null if the packed rows were released, so that floats are appended.
std::shared_ptr<PackedMemory> PackedStore::room_behind(const Form& of, std::int64_t more) const {
  if (!of.packed || of.packed->claim(rows(), more)) return of.packed;
  return of.packed->with_room(rows(), more);
}

/// Appends `count` rows by put(memory), which puts them behind these and returns their max |element|.
template <class Put>
std::shared_ptr<const RowStore> PackedStore::put_behind(const Form& of, const RowSchema& all,
                                                        std::int64_t count, const Put& put) const {
  const std::shared_ptr<PackedMemory> packed = room_behind(of, count);
  try {
    const float largest_of_more = put(*packed);
    return std::make_shared<const PackedStore>(all, packed, rows() + count,
                                               std::max(largest(), largest_of_more));
  } catch (...) {
    packed->give_back(rows(), count);
    throw;
  }
}

std::shared_ptr<const RowStore> PackedStore::appended(const RowSchema& all, const RowsForIndex& more) const {
  const Form now = form();
  const std::int64_t count = more.rows.rows;
  if (!now.packed || all.element != schema_.element) return appended_to_floats(all, more);
  if (more.order.empty() && now.packed->takes_from(more.rows.where))
    return put_behind(now, all, count, [&](PackedMemory& packed) {
      return packed.put(rows(), more.rows,
                        {"index", more.what, schema_.metric, schema_.mask(), more.first_row});
    });
  const PreparedRows prepared = prepared_rows(all, more);
  if (!now.packed->holds(prepared.view, 0)) return appended_to_floats(all, more);
  return put_behind(now, all, count, [&](PackedMemory& packed) {
    packed.put(rows(), prepared.view, 0);
    return largest_of_rows(prepared.view);
  });
}

/// Appends rows to the floats of these rows, which searches may use, too.
std::shared_ptr<const RowStore> PackedStore::appended_to_floats(const RowSchema& all,
                                                                const RowsForIndex& more) const {
  {
    const std::lock_guard lock(mutex_);
    if (!exact_) take_sample();
    if (!form_.floats) make_floats();
  }
  const Form now = form();
  ResidentRows before = *now.floats;
  const std::vector<float> some = sampled_rows(reader(now), rows(), schema_.dims);
  const MatrixView<const float> view(some.data(), static_cast<std::int64_t>(some.size()) / schema_.dims,
                                     schema_.dims);
  sampled_values(view, schema_.metric, Element::f32).tell(before);
  return appended_to(all, before, more);
}

std::shared_ptr<const RowStore> PackedStore::subset(const RowSchema& schema,
                                                    std::span<const std::int64_t> places) const {
  const auto count = static_cast<std::int64_t>(places.size());
  std::shared_ptr<PackedMemory> packed = packed_memory(schema, count);
  packed->claim(0, count);
  const auto put = [&](std::int64_t first, MatrixView<const float> some) { packed->put(first, some, 0); };
  const auto read_some = [&](std::int64_t first, std::int64_t some, float* to) { read(first, some, to, 0); };
  const float largest = copy_some(read_some, schema_.dims, places, put);
  return std::make_shared<const PackedStore>(schema, std::move(packed), count, largest);
}

}  // namespace kith
