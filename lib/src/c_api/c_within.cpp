// Implements searches within radii for C.
#include <memory>

#include "c_api/c_arguments.hpp"
#include "c_api/c_structs.hpp"

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
