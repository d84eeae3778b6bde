#include <string>

#include "c_api/c_arguments.hpp"
#include "c_api/c_structs.hpp"
#include "kith/error.hpp"

namespace kith::c_api {
namespace {

constexpr Element elements[] = {Element::f32, Element::f16,  Element::bf16, Element::u8,
                                Element::i8,  Element::bits, Element::f64,  Element::i32,
                                Element::u32, Element::i64};  // KITH_F32, ...
static_assert(KITH_F32 == 0 && KITH_F16 == 1 && KITH_BF16 == 2 && KITH_U8 == 3 && KITH_I8 == 4 &&
              KITH_BITS == 5 && KITH_F64 == 6 && KITH_I32 == 7 && KITH_U32 == 8 && KITH_I64 == 9);
constexpr Where places[] = {Where::host, Where::cuda, Where::opencl};  // KITH_HOST, ...
static_assert(KITH_HOST == 0 && KITH_CUDA == 1 && KITH_OPENCL == 2);

/// Returns the choice that a number of the interface means. Throws unsupported: the number is unknown,
/// perhaps of a later version.
template <class Choice, std::size_t count>
Choice chosen(const char* where, const std::string& what, const char* field, const Choice (&choices)[count],
              std::int32_t number) {
  if (number >= 0 && static_cast<std::size_t>(number) < count) return choices[number];
  throw Error(Errc::unsupported, std::string(where) + ": the " + what + " have " + field + " = " +
                                     std::to_string(number) + "; this kith knows 0 to " +
                                     std::to_string(count - 1));
}

}  // namespace

RowsView rows_of(const char* where, const char* what, const kith_rows* given_rows) {
  check_given(where, what, given_rows);
  const kith_rows rows = read_struct(where, given_rows);
  const std::string named = std::string(what) + " rows";
  const Element element = chosen(where, named, "element", elements, rows.element);
  RowsView view(rows.data, element, rows.rows, rows.cols);
  if (rows.stride_bytes != 0) view.stride_bytes = rows.stride_bytes;
  view.offset_bytes = rows.offset_bytes;
  view.where = chosen(where, named, "where", places, rows.where);
  view.stream_or_queue = rows.stream;
  return view;
}

DeviceNeighbors answers_of(const char* where, const kith_device_answers* given_answers) {
  check_given(where, "answers", given_answers);
  const kith_device_answers answers = read_struct(where, given_answers);
  return {answers.distance,
          answers.row,
          answers.distance_offset_bytes,
          answers.row_offset_bytes,
          chosen(where, "answers", "where", places, answers.where),
          answers.stream,
          chosen(where, "answers", "element", elements, answers.element)};
}

LandedRows numbers_of(const char* where, const char* what, const kith_rows* rows) {
  const RowsView view = rows_of(where, what, rows);
  if (view.element == Element::bits)
    refuse(where, std::string("the ") + what +
                      " rows are bits, which are neither prepared nor kept in a model; give numbers");
  return land(where, what, view, 0);
}

}  // namespace kith::c_api
