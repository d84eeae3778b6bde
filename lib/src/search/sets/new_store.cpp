#include "search/sets/new_store.hpp"

#include <utility>
#include <vector>

#include "device/device_set.hpp"
#include "search/distinct/stored_once.hpp"
#include "search/packed/packed_store.hpp"
#include "search/sets/set_store.hpp"
#include "search/stores/resident_store.hpp"

namespace kith {

namespace {

/// Stores the rows on one device, each by itself.
std::shared_ptr<const RowStore> store_on_device(const RowSchema& schema, const RowsForIndex& given,
                                                const IndexOptions& options) {
  // Groups are searched together among floats.
  if (options.groups.empty() && given.order.empty() &&
      stays_packed(schema, given.rows.rows, given.rows.where, options.reserve))
    return PackedStore::made_of(schema, given, options.reserve);
  RowsOfIndex put = put_rows(schema, given);
  return std::make_shared<ResidentStore>(
      resident_of(schema, std::move(put.chunks), put.sample.view, put.largest));
}

}  // namespace

std::shared_ptr<const RowStore> new_store(const RowSchema& schema, const RowsForIndex& given,
                                          const IndexOptions& options) {
  if (!is_set(schema.device))
    return stored_once(schema, given, options,
                       [&](const RowsForIndex& rows) { return store_on_device(schema, rows, options); });
  const std::int64_t count = given.rows.rows;
  const PreparedRows rows = prepared_rows(schema, given);
  SetLayout layout = set_layout(schema, options.placement, options.shares, count);
  layout.reserve = options.reserve;
  layout.deduplicate = options.groups.empty() ? options.deduplicate : std::optional(false);
  std::vector<SetPart> parts = make_parts(schema, layout, [&](const RowSchema& member, RowRange places) {
    return stored_once(member, rows.view.slice(places.first, places.count), rows.largest, options.reserve,
                       layout.deduplicate);
  });
  return std::make_shared<SetStore>(schema, std::move(layout), std::move(parts), count);
}

}  // namespace kith
