// What tests of kith.h in double precision share.
#pragma once

#include "c_api/c_support.hpp"
#include "doubles/doubles_oracle.hpp"

namespace kith::tests::c {

inline kith_rows rows_of(const DoubleMatrix& matrix) {
  kith_rows rows = KITH_INIT(kith_rows);
  rows.data = matrix.values.data();
  rows.rows = matrix.rows;
  rows.cols = matrix.cols;
  rows.element = KITH_F64;
  return rows;
}

/// Returns `count` of the rows, from row `first` on.
inline kith_rows part_of(const DoubleMatrix& matrix, std::int64_t first, std::int64_t count) {
  kith_rows rows = rows_of(matrix);
  rows.rows = count;
  rows.offset_bytes = first * matrix.cols * 8;
  return rows;
}

inline kith_index_options by(const char* metric, const char* arithmetic = nullptr) {
  kith_index_options options = KITH_INIT(kith_index_options);
  options.metric = metric;
  options.arithmetic = arithmetic;
  return options;
}

inline Rows index_of(const kith_device* on, const kith_rows& rows, const kith_index_options& options) {
  return made<Rows>([&](kith_index** out) { return kith_index_new(on, &rows, &options, out); });
}

inline bool every(std::int64_t, std::int64_t) {
  return true;
}

inline bool no_other(std::int64_t query, std::int64_t row) {
  return query != row;
}

/// Returns lists in double precision, and checks that there are none in single precision.
inline RadiusNeighbors doubles_of(const kith_within* within) {
  kith_within_info info = KITH_INIT(kith_within_info);
  REQUIRE(told(kith_within_describe(within, &info)) == "ok");
  CHECK(info.distance == nullptr);
  const std::int64_t cells = info.first[info.queries];
  RadiusNeighbors found{info.queries, {info.first, info.first + info.queries + 1}, {}, {}};
  found.row.assign(info.row, info.row + cells);
  found.arithmetic = Arithmetic::f64;
  found.distance64.assign(info.distance64, info.distance64 + cells);
  return found;
}

}  // namespace kith::tests::c
