// Implements searches within radii for C.
#include <memory>
#include <string>
#include <vector>

#include "base/refuse.hpp"
#include "c_api/c_arguments.hpp"
#include "c_api/c_structs.hpp"
#include "rows/rows.hpp"
#include "search/nearest.hpp"
#include "search/stores/counts.hpp"

using namespace kith;
using namespace kith::c_api;

namespace {

/// Finds rows within radii by an index whose arithmetic is that of `Radius`.
template <class Radius>
std::unique_ptr<kith_within> within_radii(const char* where, const char* instead, const kith_index* index,
                                          const kith_rows* queries, const Radius* radii,
                                          std::int64_t radius_count, const kith_search_options* options) {
  const Index& in = given(where, "index", index).index;
  const RowsView asked = rows_of(where, "query", queries);
  const Asked how(where, options, in.positions(), asked.rows);
  const std::span<const Radius> most = array_of(where, "radii", radii, radius_count);
  check_width(where, in.arithmetic(), arithmetic_of_array<Radius>, instead);
  auto within = std::make_unique<kith_within>();
  within->found = in.within(asked, most, how.options(), how.trace());
  how.tell();
  return within;
}

/// Counts rows.
///   totals  of all queries together
void count_rows(const char* where, const kith_index* index, const kith_rows* queries, CountRadii radii,
                std::int32_t strict, const kith_search_options* options, bool totals, std::int64_t* counts) {
  const Index& in = given(where, "index", index).index;
  const RowsView asked = rows_of(where, "query", queries);
  const Asked how(where, options, in.positions(), asked.rows);
  const std::int64_t rows = radii.radius.rows(), cols = radii.radius.cols();
  if (rows < 1 || cols < 1)
    refuse(where,
           "the radii are [" + std::to_string(rows) + ", " + std::to_string(cols) + "]; give at least one");
  check_array(where, "radii", radii.radius.data(), rows);
  check_array(where, "counts", counts, totals ? cols : asked.rows);
  radii.strict = is_set(where, "strict", strict);
  check_radii_of_counts(totals ? "two_point" : "count", radii, asked.rows);
  count_into(in.state(), asked, radii, how.options(), totals,
             {counts, cells_of(totals ? 1 : asked.rows, cols)}, how.trace());
  how.tell();
}

}  // namespace

kith_status kith_index_within(const kith_index* index, const kith_rows* queries, const float* radii,
                              int64_t radius_count, const kith_search_options* options, kith_within** out) {
  return make_handle(__func__, out, [&](const char* where) {
    return within_radii(where, "kith_index_within_f64", index, queries, radii, radius_count, options);
  });
}

kith_status kith_index_within_f64(const kith_index* index, const kith_rows* queries, const double* radii,
                                  int64_t radius_count, const kith_search_options* options,
                                  kith_within** out) {
  return make_handle(__func__, out, [&](const char* where) {
    return within_radii(where, "kith_index_within", index, queries, radii, radius_count, options);
  });
}

kith_status kith_index_count(const kith_index* index, const kith_rows* queries, const double* radii,
                             int64_t radius_rows, int64_t radius_count, int32_t strict,
                             const kith_search_options* options, int64_t* counts) {
  return guarded(__func__, [&](const char* where) {
    count_rows(where, index, queries, {{radii, radius_rows, radius_count}}, strict, options, false, counts);
  });
}

kith_status kith_index_two_point(const kith_index* index, const kith_rows* queries, const double* radii,
                                 int64_t radius_rows, int64_t radius_count, int32_t strict,
                                 const kith_search_options* options, int64_t* counts) {
  return guarded(__func__, [&](const char* where) {
    count_rows(where, index, queries, {{radii, radius_rows, radius_count}}, strict, options, true, counts);
  });
}

kith_status kith_pairs_new(const kith_index* index, double radius, const kith_search_options* options,
                           kith_pairs** out) {
  return make_handle(__func__, out, [&](const char* where) {
    const Index& in = given(where, "index", index).index;
    const Asked how(where, options, in.positions(), 1);
    return std::make_unique<kith_pairs>(kith_pairs{in.pairs(radius, how.options()), {}});
  });
}

void kith_pairs_free(kith_pairs* pairs) {
  delete pairs;
}

kith_status kith_pairs_next(kith_pairs* pairs, kith_pairs_info* info) {
  return guarded(__func__, [&](const char* where) {
    kith_pairs& from = given(where, "pairs", pairs);
    from.search.next(from.found);
    auto to = KITH_INIT(kith_pairs_info);
    to.count = static_cast<std::int64_t>(from.found.first.size());
    to.first = from.found.first.data();
    to.second = from.found.second.data();
    if (from.found.arithmetic == Arithmetic::f64)
      to.distance64 = from.found.distance64.data();
    else
      to.distance = from.found.distance.data();
    write_struct(where, info, to);
  });
}

void kith_within_free(kith_within* within) {
  delete within;
}

kith_status kith_within_describe(const kith_within* within, kith_within_info* info) {
  return guarded(__func__, [&](const char* where) {
    const RadiusNeighbors& from = given(where, "within", within).found;
    auto to = KITH_INIT(kith_within_info);
    to.queries = from.queries;
    to.first = from.first.data();
    if (from.arithmetic == Arithmetic::f64)
      to.distance64 = from.distance64.data();
    else
      to.distance = from.distance.data();
    to.row = from.row.data();
    write_struct(where, info, to);
  });
}
