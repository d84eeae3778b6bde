#include "c_api/c_structs.hpp"

#include <algorithm>
#include <string>

#include "kith/error.hpp"

namespace kith::c_api {
void check_struct(const char* where, const char* name, const void* given, std::uint64_t size,
                  std::uint64_t first_size, std::uint64_t own_size) {
  if (size < first_size || size > most_struct_bytes)
    refuse(where, std::string(name) + ".size is " + std::to_string(size) +
                      ", which it never was; set the struct up by " + name + "_init()");
  if (size <= own_size) return;
  const auto* const bytes = static_cast<const unsigned char*>(given);
  if (std::any_of(bytes + own_size, bytes + size, [](unsigned char byte) { return byte != 0; }))
    throw Error(Errc::unsupported,
                std::string(where) + ": " + name + " has " + std::to_string(size) +
                    " bytes, and this kith, " + kith_version() + ", knows only " + std::to_string(own_size) +
                    " of them, but the others are not 0; leave them so, or use a newer kith");
}

}  // namespace kith::c_api

#define KITH_C_INIT(type)                          \
  void type##_init(type* to, std::uint64_t size) { \
    kith::c_api::init_struct<type>(to, size);      \
  }
KITH_C_INIT(kith_rows)
KITH_C_INIT(kith_device_info)
KITH_C_INIT(kith_trace_info)
KITH_C_INIT(kith_index_options)
KITH_C_INIT(kith_search_options)
KITH_C_INIT(kith_index_info)
KITH_C_INIT(kith_within_info)
KITH_C_INIT(kith_vote_options)
KITH_C_INIT(kith_train_options)
KITH_C_INIT(kith_classifier_info)
KITH_C_INIT(kith_classification)
KITH_C_INIT(kith_regressor_info)
KITH_C_INIT(kith_evaluation_info)
KITH_C_INIT(kith_preparation_options)
KITH_C_INIT(kith_model_parts)
#undef KITH_C_INIT
