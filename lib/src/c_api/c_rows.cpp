#include <limits>
#include <string>

#include "c_api/c_arguments.hpp"
#include "c_api/c_structs.hpp"
#include "kith/error.hpp"

namespace kith::c_api {
namespace {

constexpr std::int64_t bytes = sizeof(float);

/// Throws unsupported: what only other versions take.
void check_kind(const char* where, const char* what, const kith_rows& rows) {
  if (rows.element == KITH_F32 && rows.where == KITH_HOST && !rows.stream) return;
  const auto text = [](std::int64_t number) { return std::to_string(number); };
  std::string wrong = " have a stream";
  if (rows.where != KITH_HOST) wrong = " lie at place " + text(rows.where);
  if (rows.element != KITH_F32) wrong = " are of element " + text(rows.element);
  throw Error(Errc::unsupported, std::string(where) + ": the " + what + " rows" + wrong +
                                     ", and this kith takes rows of KITH_F32 (" + text(KITH_F32) +
                                     ") on KITH_HOST (" + text(KITH_HOST) +
                                     ") alone, without a stream; convert them, or copy them to the host");
}

/// Throws invalid_argument: a distance in bytes that is no whole number of elements.
void check_whole(const char* where, const char* what, const char* of, std::int64_t value) {
  if (value < 0 || value % bytes != 0)
    refuse(where, std::string("the ") + what + " rows have " + of + " = " + std::to_string(value) +
                      ", which is no multiple of an element's " + std::to_string(bytes) +
                      " bytes; give whole elements, 0 or more");
}

}  // namespace

MatrixView<const float> rows_of(const char* where, const char* what, const kith_rows* given_rows) {
  check_given(where, what, given_rows);
  const kith_rows rows = read_struct(where, given_rows);
  check_kind(where, what, rows);
  check_whole(where, what, "stride_bytes", rows.stride_bytes);
  check_whole(where, what, "offset_bytes", rows.offset_bytes);
  if (!rows.data && rows.offset_bytes > 0)
    refuse(where, std::string("the ") + what + " rows have an offset but no data; give both");
  const auto address = reinterpret_cast<std::uintptr_t>(rows.data);
  if (address % alignof(float) != 0)
    refuse(where, std::string("the ") + what + " rows begin at an address that is no multiple of " +
                      std::to_string(alignof(float)) + "; copy them to one that is");
  const auto* const first = static_cast<const float*>(rows.data);
  const std::int64_t stride = rows.stride_bytes == 0 ? rows.cols : rows.stride_bytes / bytes;
  return {first ? first + rows.offset_bytes / bytes : first, rows.rows, rows.cols, stride};
}

}  // namespace kith::c_api
