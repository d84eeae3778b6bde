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

void check_reserved(const char* where, const char* name, std::int64_t reserved) {
  if (reserved == 0) return;
  throw Error(Errc::unsupported, std::string(where) + ": " + name + ".reserved is " +
                                     std::to_string(reserved) + ", which means nothing to this kith, " +
                                     kith_version() + "; leave it 0, or use a newer kith");
}

}  // namespace kith::c_api

using kith::c_api::init_struct;

void kith_rows_init(kith_rows* to, std::uint64_t size) {
  init_struct(to, size);
}
void kith_device_info_init(kith_device_info* to, std::uint64_t size) {
  init_struct(to, size);
}
void kith_trace_info_init(kith_trace_info* to, std::uint64_t size) {
  init_struct(to, size);
}
void kith_member_info_init(kith_member_info* to, std::uint64_t size) {
  init_struct(to, size);
}
void kith_index_options_init(kith_index_options* to, std::uint64_t size) {
  init_struct(to, size);
}
void kith_search_options_init(kith_search_options* to, std::uint64_t size) {
  init_struct(to, size);
}
void kith_source_options_init(kith_source_options* to, std::uint64_t size) {
  init_struct(to, size);
}
void kith_index_info_init(kith_index_info* to, std::uint64_t size) {
  init_struct(to, size);
}
void kith_device_answers_init(kith_device_answers* to, std::uint64_t size) {
  init_struct(to, size);
}
void kith_index_file_info_init(kith_index_file_info* to, std::uint64_t size) {
  init_struct(to, size);
}
void kith_open_options_init(kith_open_options* to, std::uint64_t size) {
  init_struct(to, size);
}
void kith_within_info_init(kith_within_info* to, std::uint64_t size) {
  init_struct(to, size);
}
void kith_radius_keys_info_init(kith_radius_keys_info* to, std::uint64_t size) {
  init_struct(to, size);
}
void kith_vote_options_init(kith_vote_options* to, std::uint64_t size) {
  init_struct(to, size);
}
void kith_train_options_init(kith_train_options* to, std::uint64_t size) {
  init_struct(to, size);
}
void kith_classifier_info_init(kith_classifier_info* to, std::uint64_t size) {
  init_struct(to, size);
}
void kith_classification_init(kith_classification* to, std::uint64_t size) {
  init_struct(to, size);
}
void kith_regressor_info_init(kith_regressor_info* to, std::uint64_t size) {
  init_struct(to, size);
}
void kith_evaluation_info_init(kith_evaluation_info* to, std::uint64_t size) {
  init_struct(to, size);
}
void kith_preparation_options_init(kith_preparation_options* to, std::uint64_t size) {
  init_struct(to, size);
}
void kith_model_parts_init(kith_model_parts* to, std::uint64_t size) {
  init_struct(to, size);
}
