// Reads and writes structs of callers that were compiled with another version of kith.h: see
// kith.h, "Structs".
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstring>

#include "c_api/c_border.hpp"

namespace kith::c_api {

/// A larger size belongs to no struct, but to memory that was never set up.
inline constexpr std::uint64_t most_struct_bytes = 4096;

/// Holds the name of a struct, and its bytes in the first interface that had it.
template <class Struct>
struct Known;

#define KITH_C_STRUCT(type, bytes)                     \
  template <>                                          \
  struct Known<type> {                                 \
    static constexpr const char* name = #type;         \
    static constexpr std::uint64_t first_size = bytes; \
  };                                                   \
  static_assert(sizeof(type) >= bytes);

KITH_C_STRUCT(kith_rows, 64)
KITH_C_STRUCT(kith_device_info, 104)
KITH_C_STRUCT(kith_trace_info, 96)
KITH_C_STRUCT(kith_member_info, 64)
KITH_C_STRUCT(kith_index_options, 152)
KITH_C_STRUCT(kith_search_options, 160)
KITH_C_STRUCT(kith_index_info, 96)
KITH_C_STRUCT(kith_device_answers, 56)
KITH_C_STRUCT(kith_index_file_info, 104)
KITH_C_STRUCT(kith_open_options, 80)
KITH_C_STRUCT(kith_within_info, 40)
KITH_C_STRUCT(kith_pairs_info, 48)
KITH_C_STRUCT(kith_vote_options, 88)
KITH_C_STRUCT(kith_classifier_info, 24)
KITH_C_STRUCT(kith_classification, 56)
KITH_C_STRUCT(kith_regressor_info, 32)
KITH_C_STRUCT(kith_evaluation_info, 64)
KITH_C_STRUCT(kith_preparation_options, 56)
KITH_C_STRUCT(kith_radius_keys_info, 40)
KITH_C_STRUCT(kith_model_parts, 200)

#undef KITH_C_STRUCT

/// Throws invalid_argument: the struct `name` never had this `size`. Throws unsupported: bytes that this
///                          library does not know are not 0.
void check_struct(const char* where, const char* name, const void* given, std::uint64_t size,
                  std::uint64_t first_size, std::uint64_t own_size);

template <class Struct>
void check_struct(const char* where, const Struct& given) {
  check_struct(where, Known<Struct>::name, &given, given.size, Known<Struct>::first_size, sizeof(Struct));
}

/// Returns the caller's struct as this library knows it, with 0 for fields that it lacks. For NULL all fields
/// are 0, which are the defaults.
template <class Struct>
Struct read_struct(const char* where, const Struct* given) {
  Struct value = kith_sized<Struct>();
  if (!given) return value;
  check_struct(where, *given);
  std::memcpy(&value, given, std::min<std::uint64_t>(given->size, sizeof(Struct)));
  value.size = sizeof(Struct);
  return value;
}

/// Fills the caller's struct up to its size.
template <class Struct>
void write_struct(const char* where, Struct* to, Struct value) {
  check_struct(where, given(where, Known<Struct>::name, to));
  value.size = to->size;
  std::memcpy(to, &value, std::min<std::uint64_t>(to->size, sizeof(Struct)));
}

}  // namespace kith::c_api
