#include "search/distinct/stored_once.hpp"

#include <numeric>
#include <utility>
#include <vector>

#include "base/numbers.hpp"
#include "kith/error.hpp"
#include "rows/copies/find_copies.hpp"
#include "rows/landed/borrowed.hpp"
#include "rows/landing.hpp"
#include "search/packed/stored_on_device.hpp"

namespace kith {

std::shared_ptr<const RowStore> stored_once(const RowSchema& schema, const RowsForIndex& given,
                                            const IndexOptions& options, const MakeStore& make) {
  const bool there = given.rows.where != Where::host;
  const bool never =
      options.deduplicate == false || !options.groups.empty();  // groups are ranges of all rows
  if (never || (there && !options.deduplicate)) return make(given);
  check_layout("index", given.what, given.rows);
  std::vector<unsigned char> copy;
  const RowsForIndex here{given.what,
                          rows_on_host("index", given.what, schema.device.state(), given.rows, copy),
                          given.order, given.first, given.first_row};
  const auto copies = copies_to_merge({here.rows, here.order}, options.deduplicate);
  if (!copies) return make(given);
  return std::make_shared<DistinctStore>(schema, DistinctStore::stored(here, *copies, given.first, make),
                                         *copies, options.reserve);
}

std::shared_ptr<const RowStore> stored_once(const RowSchema& schema, MatrixView<const float> rows,
                                            float largest, std::int64_t reserve,
                                            std::optional<bool> deduplicate) {
  const RowsView all = rows;
  const RowsInOrder in_order{all, {}};
  auto copies = copies_to_merge(in_order, deduplicate);
  if (!copies) return stored_on_device(schema, rows, largest, reserve, 0);
  const std::vector<unsigned char> bytes = distinct_rows(in_order, *copies);
  const MatrixView<const float> distinct(static_cast<const float*>(static_cast<const void*>(bytes.data())),
                                         copies->distinct(), rows.cols());
  return std::make_shared<DistinctStore>(schema, stored_on_device(schema, distinct, largest, reserve, 0),
                                         *std::move(copies), reserve);
}

RowCopies DistinctStore::copies_among(const RowsForIndex& given) {
  if (given.rows.where == Where::host) {
    check_layout("index", given.what, given.rows);
    return find_copies({given.rows, given.order});
  }
  std::vector<std::uint32_t> distinct_of(size(given.rows.rows));
  std::iota(distinct_of.begin(), distinct_of.end(), std::uint32_t{0});
  return RowCopies(std::move(distinct_of));
}

std::shared_ptr<const RowStore> DistinctStore::stored(const RowsForIndex& given, const RowCopies& copies,
                                                      std::int64_t first, const MakeStore& make) {
  static const std::vector<std::int64_t> as_given;
  const RowsForIndex all{given.what, given.rows, given.order, first, given.first_row};
  if (copies.distinct() == copies.rows()) return make(all);
  const std::vector<unsigned char> bytes = distinct_rows({given.rows, given.order}, copies);
  const RowsView rows(bytes.data(), given.rows.element, copies.distinct(), given.rows.cols);
  try {
    return make({given.what, rows, as_given, first, given.first_row});
  } catch (const Error& error) {
    if (error.code() == Errc::invalid_argument) static_cast<void>(make(all));
    throw;
  }
}

}  // namespace kith
