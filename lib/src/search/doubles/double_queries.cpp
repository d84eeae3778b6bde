#include "search/doubles/double_queries.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include "base/float_guard.hpp"
#include "base/refuse.hpp"
#include "rows/landed/borrowed.hpp"

namespace kith {

DoubleQueries::Checked DoubleQueries::checked(std::string_view where, const Index::State& index,
                                              const RowsView& given, const SearchOptions& options) {
  const std::uint32_t threads = options.threads;
  Checked checked;
  checked.moved = std::make_unique<const MovedRows>(where, "query", index, given, options);
  if (checked.moved->view().cols != index.columns)
    refuse(where, "the query rows have " + std::to_string(given.cols) + " columns but the index has " +
                      std::to_string(index.columns) + "; give as many");
  const RowsView rows =
      rows_on_host(where, "query", index.device.state(), checked.moved->view(), checked.copy);
  if (!index.box) {
    checked.rows = prepare_or_leave(where, "query", rows, index.metric, index.mask(), threads);
    return checked;
  }
  checked.rows = prepare_doubles(where, "query", rows, index.metric, index.mask(), {}, threads);
  const FloatGuard guard;
  index.box->move(checked.rows.values, threads);
  return checked;
}

DoubleQueries::DoubleQueries(std::string_view where, const Index::State& index, const RowsView& given,
                             const SearchOptions& options)
    : DoubleQueries(where, index, checked(where, index, given, options), options.threads) {}

DoubleQueries::DoubleQueries(std::string_view where, const Index::State& index, Checked checked,
                             std::uint32_t threads)
    : moved_(std::move(checked.moved)),
      copy_(std::move(checked.copy)),
      doubles_(std::move(checked.rows)),
      how_(rounding_of_queries(index.metric, doubles_, index.doubles->rounding)),
      floats_(round_rows(index.metric, doubles_, how_, threads)),
      bounds_(index.metric, doubles_.dims, index.doubles->rounding, how_, index.doubles->errors) {
  check_range(where, index.metric, doubles_,
              std::max(index.doubles->largest, static_cast<double>(index.largest_of_shards)));
}

float DoubleQueries::bound(std::int64_t q, double value) const {
  const RowErrors& errors = floats_.errors[size(q)];
  if (!std::isfinite(errors.residual)) return std::numeric_limits<float>::infinity();
  return bounds_.above(value, errors);
}

}  // namespace kith
