// Implements keys of shards for C.
#include <algorithm>
#include <memory>
#include <string>
#include <vector>

#include "base/numbers.hpp"
#include "c_api/c_arguments.hpp"
#include "c_api/c_structs.hpp"
#include "kith/keys.hpp"
#include "rows/rows.hpp"
#include "search/lists/shard_lists.hpp"

using namespace kith;
using namespace kith::c_api;

namespace {

/// Views keys of the caller, [m, k]. Throws invalid_argument.
template <class Code>
ListsOf<Code> keys_of(const char* where, std::int64_t m, std::int64_t k, const Code* value,
                      const std::int64_t* row) {
  if (m < 0 || k < 1)
    refuse(where, "m = " + std::to_string(m) + ", k = " + std::to_string(k) +
                      "; give m of 0 or more and k of 1 or more");
  const auto cells = static_cast<std::int64_t>(cells_of(m, k));
  check_array(where, "value", value, cells);
  check_array(where, "row", row, cells);
  return {m, k, nullptr, value, row};
}

/// Copies the caller's lists of a radius search. Throws invalid_argument.
template <class Code>
RadiusKeys radius_keys_of(const char* where, std::int64_t m, const std::int64_t* first, const Code* value,
                          const std::int64_t* row) {
  if (m < 0) refuse(where, "m = " + std::to_string(m) + "; give 0 or more");
  RadiusKeys keys{m, copy_of(where, "first", first, m + 1), {}, {}, arithmetic_of_array<Code>};
  codes_of<Code>(keys) = copy_of(where, "value", value, keys.first.back());
  keys.row = copy_of(where, "row", row, keys.first.back());
  return keys;
}

/// Searches a shard whose arithmetic is that of `Code`.
///   instead  the function for the other arithmetic
template <class Code>
kith_status search_keys(const char* function, const char* instead, const kith_index* index,
                        const kith_rows* queries, std::int64_t k, const kith_search_options* options,
                        Code* value, std::int64_t* row) {
  return guarded(function, [&](const char* where) {
    const Index& in = given(where, "index", index).index;
    const RowsView asked = rows_of(where, "query", queries);
    if (asked.rows > 0) {
      check_given(where, "value", value);
      check_given(where, "row", row);
    }
    const Asked how(where, options, in.positions(), asked.rows);
    check_width(where, in.arithmetic(), arithmetic_of_array<Code>, instead);
    const Keys keys = in.search_keys(asked, k, how.options(), how.trace());
    give(value, codes_of<Code>(keys));
    give(row, keys.row);
    how.tell();
  });
}

template <class Code>
kith_status merge_lists(const char* function, std::int64_t m, std::int64_t k, std::int64_t lists,
                        const Code* const* value, const std::int64_t* const* row, Code* merged_value,
                        std::int64_t* merged_row) {
  return guarded(function, [&](const char* where) {
    check_array(where, "value", value, lists);
    check_array(where, "row", row, lists);
    std::vector<ListsOf<Code>> all;
    for (std::int64_t i = 0; i < lists; ++i) all.push_back(keys_of(where, m, k, value[i], row[i]));
    if (m > 0) {
      check_given(where, "merged_value", merged_value);
      check_given(where, "merged_row", merged_row);
    }
    merge_keys<Code>(all, merged_value, merged_row);
  });
}

template <class Code, class Distance>
kith_status finish_codes(const char* function, const char* metric, double parameter, std::int64_t count,
                         const Code* value, Distance* distance) {
  return guarded(function, [&](const char* where) {
    const ShownBy shown(choice_of(metric, default_metric), parameter);
    const std::span<const Code> values = array_of(where, "value", value, count);
    if (count > 0) check_given(where, "distance", distance);
    check_shown(where, shown, values);
    finish_values(shown, values, distance);
  });
}

template <class Code>
kith_status leave_rows_out(const char* function, std::int64_t m, std::int64_t k, const Code* value,
                           const std::int64_t* row, const std::int64_t* own, Code* kept_value,
                           std::int64_t* kept_row) {
  return guarded(function, [&](const char* where) {
    if (k < 1 || k == INT64_MAX)
      refuse(where, "k = " + std::to_string(k) + "; give 1 or more, and keys with one more");
    const ListsOf<Code> keys = keys_of(where, m, k + 1, value, row);
    const std::span<const std::int64_t> rows = array_of(where, "own", own, m);
    if (m > 0) {
      check_given(where, "kept_value", kept_value);
      check_given(where, "kept_row", kept_row);
    }
    leave_out_of(keys, rows, kept_value, kept_row);
  });
}

template <class Code>
kith_status digest_keys(const char* function, std::int64_t m, std::int64_t k, const Code* value,
                        const std::int64_t* row, std::uint64_t* digest) {
  return guarded(function, [&](const char* where) {
    check_given(where, "digest", digest);
    *digest = digest_of(keys_of(where, m, k, value, row));
  });
}

/// Searches within radii by a shard whose arithmetic is that of `Radius`.
template <class Radius>
kith_status within_keys(const char* function, const char* instead, const kith_index* index,
                        const kith_rows* queries, const Radius* radii, std::int64_t radius_count,
                        const kith_search_options* options, kith_radius_keys** out) {
  return make_handle(function, out, [&](const char* where) {
    const Index& in = given(where, "index", index).index;
    const RowsView asked = rows_of(where, "query", queries);
    const Asked how(where, options, in.positions(), asked.rows);
    const std::span<const Radius> most = array_of(where, "radii", radii, radius_count);
    check_width(where, in.arithmetic(), arithmetic_of_array<Radius>, instead);
    auto keys = std::make_unique<kith_radius_keys>();
    keys->keys = in.within_keys(asked, most, how.options(), how.trace());
    how.tell();
    return keys;
  });
}

template <class Code>
kith_status merge_radius_lists(const char* function, std::int64_t m, std::int64_t lists,
                               const std::int64_t* const* first, const Code* const* value,
                               const std::int64_t* const* row, kith_radius_keys** out) {
  return make_handle(function, out, [&](const char* where) {
    check_array(where, "first", first, lists);
    check_array(where, "value", value, lists);
    check_array(where, "row", row, lists);
    std::vector<RadiusKeys> all;
    for (std::int64_t i = 0; i < lists; ++i)
      all.push_back(radius_keys_of(where, m, first[i], value[i], row[i]));
    return std::make_unique<kith_radius_keys>(kith_radius_keys{merge(all)});
  });
}

}  // namespace

kith_status kith_largest_element(const kith_rows* rows, const int64_t* features, int64_t features_count,
                                 float* largest) {
  return guarded(__func__, [&](const char* where) {
    check_given(where, "largest", largest);
    *largest = largest_element(rows_of(where, "training", rows),
                               copy_of(where, "features", features, features_count));
  });
}

kith_status kith_index_search_keys(const kith_index* index, const kith_rows* queries, int64_t k,
                                   const kith_search_options* options, uint32_t* value, int64_t* row) {
  return search_keys(__func__, "kith_index_search_keys_f64", index, queries, k, options, value, row);
}

kith_status kith_index_search_keys_f64(const kith_index* index, const kith_rows* queries, int64_t k,
                                       const kith_search_options* options, uint64_t* value, int64_t* row) {
  return search_keys(__func__, "kith_index_search_keys", index, queries, k, options, value, row);
}

kith_status kith_merge(int64_t m, int64_t k, int64_t lists, const uint32_t* const* value,
                       const int64_t* const* row, uint32_t* merged_value, int64_t* merged_row) {
  return merge_lists(__func__, m, k, lists, value, row, merged_value, merged_row);
}

kith_status kith_merge_f64(int64_t m, int64_t k, int64_t lists, const uint64_t* const* value,
                           const int64_t* const* row, uint64_t* merged_value, int64_t* merged_row) {
  return merge_lists(__func__, m, k, lists, value, row, merged_value, merged_row);
}

kith_status kith_finish(const char* metric, double parameter, int64_t count, const uint32_t* value,
                        float* distance) {
  return finish_codes(__func__, metric, parameter, count, value, distance);
}

kith_status kith_finish_f64(const char* metric, double parameter, int64_t count, const uint64_t* value,
                            double* distance) {
  return finish_codes(__func__, metric, parameter, count, value, distance);
}

kith_status kith_leave_out(int64_t m, int64_t k, const uint32_t* value, const int64_t* row,
                           const int64_t* own, uint32_t* kept_value, int64_t* kept_row) {
  return leave_rows_out(__func__, m, k, value, row, own, kept_value, kept_row);
}

kith_status kith_leave_out_f64(int64_t m, int64_t k, const uint64_t* value, const int64_t* row,
                               const int64_t* own, uint64_t* kept_value, int64_t* kept_row) {
  return leave_rows_out(__func__, m, k, value, row, own, kept_value, kept_row);
}

kith_status kith_digest(int64_t m, int64_t k, const uint32_t* value, const int64_t* row, uint64_t* digest) {
  return digest_keys(__func__, m, k, value, row, digest);
}

kith_status kith_digest_f64(int64_t m, int64_t k, const uint64_t* value, const int64_t* row,
                            uint64_t* digest) {
  return digest_keys(__func__, m, k, value, row, digest);
}

kith_status kith_index_within_keys(const kith_index* index, const kith_rows* queries, const float* radii,
                                   int64_t radius_count, const kith_search_options* options,
                                   kith_radius_keys** out) {
  return within_keys(__func__, "kith_index_within_keys_f64", index, queries, radii, radius_count, options,
                     out);
}

kith_status kith_index_within_keys_f64(const kith_index* index, const kith_rows* queries, const double* radii,
                                       int64_t radius_count, const kith_search_options* options,
                                       kith_radius_keys** out) {
  return within_keys(__func__, "kith_index_within_keys", index, queries, radii, radius_count, options, out);
}

kith_status kith_merge_radius(int64_t m, int64_t lists, const int64_t* const* first,
                              const uint32_t* const* value, const int64_t* const* row,
                              kith_radius_keys** out) {
  return merge_radius_lists(__func__, m, lists, first, value, row, out);
}

kith_status kith_merge_radius_f64(int64_t m, int64_t lists, const int64_t* const* first,
                                  const uint64_t* const* value, const int64_t* const* row,
                                  kith_radius_keys** out) {
  return merge_radius_lists(__func__, m, lists, first, value, row, out);
}

void kith_radius_keys_free(kith_radius_keys* keys) {
  delete keys;
}

kith_status kith_radius_keys_describe(const kith_radius_keys* keys, kith_radius_keys_info* info) {
  return guarded(__func__, [&](const char* where) {
    const RadiusKeys& from = given(where, "keys", keys).keys;
    auto to = KITH_INIT(kith_radius_keys_info);
    to.queries = from.queries;
    to.first = from.first.data();
    if (from.arithmetic == Arithmetic::f64)
      to.value64 = from.value64.data();
    else
      to.value = from.value.data();
    to.row = from.row.data();
    write_struct(where, info, to);
  });
}
