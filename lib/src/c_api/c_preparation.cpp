// Preparations, for C.
#include <memory>

#include "c_api/c_arguments.hpp"
#include "c_api/c_structs.hpp"

using namespace kith;
using namespace kith::c_api;

kith_status kith_preparation_new(const kith_rows* train, const kith_preparation_options* options,
                                 kith_preparation** out) {
  return make_handle(__func__, out, [&](const char* where) {
    return std::make_unique<kith_preparation>(kith_preparation{
        Preparation(numbers_of(where, "training", train).view, preparation_options_of(where, options))});
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
    const LandedRows landed = numbers_of(where, "given", rows);
    const MatrixView<const float> from = landed.view;
    check_array(where, "to", to, from.rows());
    give(to, of.apply(from));
  });
}
