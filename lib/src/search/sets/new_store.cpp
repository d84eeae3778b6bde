#include "search/sets/new_store.hpp"

#include <utility>
#include <vector>

#include "device/device_set.hpp"
#include "search/packed/packed_store.hpp"
#include "search/sets/set_store.hpp"
#include "search/stores/resident_store.hpp"

namespace kith {

std::shared_ptr<const RowStore> new_store(const RowSchema& schema, const RowsForIndex& given,
                                          const IndexOptions& options) {
  const std::int64_t count = given.rows.rows;
  if (is_set(schema.device)) {
    const PreparedRows rows = prepared_rows(schema, given);
    SetLayout layout = set_layout(schema, options.placement, options.shares, count);
    layout.reserve = options.reserve;
    std::vector<SetPart> parts = make_parts(schema, layout, [&](const RowSchema& member, RowRange places) {
      return stored_on_device(member, rows.view.slice(places.first, places.count), rows.largest,
                              options.reserve, 0);
    });
    return std::make_shared<SetStore>(schema, std::move(layout), std::move(parts), count);
  }
  if (given.order.empty() && stays_packed(schema, count, given.rows.where, options.reserve))
    return PackedStore::made_of(schema, given, options.reserve);
  RowsOfIndex put = put_rows(schema, given);
  return std::make_shared<ResidentStore>(
      resident_of(schema, std::move(put.chunks), put.sample.view, put.largest));
}

}  // namespace kith
