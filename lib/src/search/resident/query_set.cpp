#include "search/resident/query_set.hpp"

#include <algorithm>

#include "base/float_guard.hpp"
#include "device/device_set.hpp"
#include "kith/error.hpp"
#include "metric/chain.hpp"
#include "rows/landed/borrowed.hpp"

namespace kith {

QuerySet::QuerySet(std::string_view where, const RowSchema& schema, float largest, const RowsView& given)
    : where_(where), schema_(&schema), largest_of_rows_(largest), given_(given) {
  const bool takes = where == "search" && !is_set(schema.device);  // others take queries of the host alone
  if (given.where != Where::host && takes) {
    if (prepare_of(schema.metric) == Prepare::none) {
      on_device_.emplace(schema.device.state(), given, Landing{where, "query", schema.metric, schema.mask()});
      given_ = on_device_->on_host(copy_);
    } else {
      given_ = rows_on_host(where, "query", schema.device.state(), given, copy_);
    }
  }
  if (given_.cols != schema.columns)
    throw Error(Errc::invalid_argument, std::string(where) + ": queries have " + std::to_string(given_.cols) +
                                            " columns but the index has " + std::to_string(schema.columns) +
                                            "; give as many");
  check_rows(where, "query", given_);
}

void QuerySet::prepare(std::uint32_t threads) {
  if (prepared_) return;
  own_ = prepare_rows(where_, "query", given_, schema_->metric, threads, schema_->mask());
  const FloatGuard guard;
  check_range(where_, schema_->metric, own_.view, std::max(largest_of_rows_, schema_->largest_of_shards));
  rows_ = own_.view;
  largest_ = own_.largest;
  prepared_ = true;
}

QuerySet QuerySet::slice(std::int64_t first, std::int64_t count) const {
  const RowsView some = given_.slice(first, count);
  return prepared_ ? QuerySet(some, rows_.slice(first, count), largest_) : QuerySet(some);
}

}  // namespace kith
