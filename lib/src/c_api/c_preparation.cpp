// Implements preparations for C.
#include <memory>

#include "c_api/c_arguments.hpp"
#include "c_api/c_structs.hpp"

using namespace kith;
using namespace kith::c_api;

namespace {

/// Calls use(rows) with doubles if the rows are doubles, else with floats.
template <class Use>
auto with_numbers(const char* where, const char* what, const kith_rows* rows, const Use& use) {
  check_given(where, what, rows);
  const kith_rows asked = read_struct(where, rows);
  if (asked.element != KITH_F64) return use(numbers_of(where, what, rows).view);
  constexpr std::int64_t bytes = sizeof(double);
  const std::int64_t stride = asked.stride_bytes != 0 ? asked.stride_bytes : asked.cols * bytes;
  if (asked.where != KITH_HOST || stride % bytes != 0 || asked.offset_bytes % bytes != 0)
    refuse(where, std::string("the ") + what +
                      " rows of f64 do not lie on the host, or not at multiples of 8 bytes; copy them there");
  return use(MatrixView<const double>(static_cast<const double*>(asked.data) + asked.offset_bytes / bytes,
                                      asked.rows, asked.cols, stride / bytes));
}

}  // namespace

kith_status kith_preparation_new(const kith_rows* train, const kith_preparation_options* options,
                                 kith_preparation** out) {
  return make_handle(__func__, out, [&](const char* where) {
    return with_numbers(where, "training", train, [&](const auto& rows) {
      return std::make_unique<kith_preparation>(
          kith_preparation{Preparation(rows, preparation_options_of(where, options))});
    });
  });
}

void kith_preparation_free(kith_preparation* preparation) {
  delete preparation;
}

kith_status kith_preparation_shape(const kith_preparation* preparation, int64_t* dims, int64_t* width) {
  return guarded(__func__, [&](const char* where) {
    const Preparation& of = given(where, "preparation", preparation).preparation;
    if (dims) *dims = of.dims();
    if (width) *width = of.width();
  });
}

kith_status kith_preparation_sources(const kith_preparation* preparation, int64_t* source) {
  return guarded(__func__, [&](const char* where) {
    const Preparation& of = given(where, "preparation", preparation).preparation;
    check_array(where, "source", source, of.width());
    give(source, of.sources());
  });
}

kith_status kith_preparation_apply(const kith_preparation* preparation, const kith_rows* rows, float* to) {
  return guarded(__func__, [&](const char* where) {
    const Preparation& of = given(where, "preparation", preparation).preparation;
    with_numbers(where, "given", rows, [&](const auto& from) {
      check_array(where, "to", to, from.rows());
      give(to, of.apply(from));
    });
  });
}
