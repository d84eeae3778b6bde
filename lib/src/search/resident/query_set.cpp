#include "search/resident/query_set.hpp"

#include <algorithm>
#include <cfloat>
#include <utility>

#include "base/float_guard.hpp"
#include "check/unit_check.hpp"
#include "device/device_set.hpp"
#include "device/timing.hpp"
#include "kith/error.hpp"
#include "metric/chain.hpp"
#include "rows/landed/borrowed.hpp"

namespace kith {

QuerySet::QuerySet(std::string_view where, const RowSchema& schema, float largest, const RowsView& given)
    : where_(where), schema_(&schema), largest_of_rows_(largest), given_(given) {
  const bool takes = where == "search" && !is_set(schema.device);  // others only take queries on the host
  if (given.where != Where::host && takes) {
    passes_host_ = !prepares_on_device(*schema.device.state(), schema.metric);
    if (!passes_host_) {
      on_device_.emplace(schema.device.state(), given, Landing{where, "query", schema.metric, schema.mask()});
    } else {
      given_ = rows_on_host(where, "query", schema.device.state(), given, copy_);
    }
  }
  if (given_.cols != schema.columns)
    throw Error(Errc::invalid_argument, std::string(where) + ": queries have " + std::to_string(given_.cols) +
                                            " columns but the index has " + std::to_string(schema.columns) +
                                            "; give as many");
  if (!on_device_) check_rows(where, "query", given_);
}

/// Returns whether products stay finite for all queries, by their largest element.
bool QuerySet::is_in_range(float largest_of_rows) const {
  return schema_->metric != Metric::negative_dot ||
         static_cast<double>(schema_->dims) * largest_ * largest_of_rows < static_cast<double>(FLT_MAX);
}

bool QuerySet::can_be_sent() const {
  return !prepared_ && !on_device_ && prepare_of(schema_->metric) == Prepare::none &&
         !compares_bits(schema_->metric);
}

void QuerySet::forget_sent() {
  if (rows_.sent()) rows_ = own_.view;
}

void QuerySet::prepare(std::uint32_t threads, std::shared_ptr<SentQueries> sent, const ByteGrid& grid) {
  if (prepared_) return;
  const FloatGuard guard;
  const float largest_of_rows = std::max(largest_of_rows_, schema_->largest_of_shards);
  if (on_device_) {
    on_device_->look(grid);
    largest_ = on_device_->largest();
    rows_ = QueryRows(*on_device_);
    if (!is_in_range(largest_of_rows))  // the host finds and names the query that is to blame
      check_range(where_, schema_->metric, rows_.on_host(), largest_of_rows);
    prepared_ = true;
    return;
  }
  const Stopwatch sending;
  own_ = prepare_rows(where_, "query", given_, schema_->metric, threads, schema_->mask(), 0, sent.get());
  check_range(where_, schema_->metric, own_.view, largest_of_rows);
  if (sent && !sent->land()) sent = nullptr;
  if (sent) sent->seconds = sending.seconds();
  rows_ = QueryRows(own_.view, std::move(sent));
  largest_ = own_.largest;
  prepared_ = true;
}

QuerySet QuerySet::slice(std::int64_t first, std::int64_t count) const {
  const RowsView some = given().slice(first, count);
  return prepared_ ? QuerySet(some, rows_.on_host().slice(first, count), largest_) : QuerySet(some);
}

}  // namespace kith
