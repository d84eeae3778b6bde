// Implements index files for C.
#include <memory>

#include "c_api/c_arguments.hpp"
#include "c_api/c_structs.hpp"
#include "kith/index_file.hpp"

using namespace kith;
using namespace kith::c_api;

kith_status kith_index_save(const kith_index* index, const char* path, const kith_stop* stop,
                            kith_progress progress, void* user) {
  return guarded(__func__, [&](const char* where) {
    const Index& from = given(where, "index", index).index;
    check_given(where, "path", path);
    SaveOptions options;
    if (stop) options.stop = stop->source.get_token();
    options.progress = progress_of(progress, user);
    save(from, path, options);
  });
}

kith_status kith_index_open(const kith_device* device, const char* path, const kith_open_options* options,
                            kith_index** out) {
  return make_handle(__func__, out, [&](const char* where) {
    const Device& on = given(where, "device", device).device;
    check_given(where, "path", path);
    return std::make_unique<kith_index>(kith_index{open_index(path, on, open_options_of(where, options))});
  });
}

kith_status kith_index_file_describe(const char* path, kith_index_file_info* info) {
  return guarded(__func__, [&](const char* where) {
    check_given(where, "path", path);
    const IndexFileInfo from = index_file_info(path);
    auto to = KITH_INIT(kith_index_file_info);
    to.version = from.version;
    to.bytes = from.bytes;
    to.metric = name(from.metric).data();
    to.element = name(from.element).data();
    to.rows = from.rows;
    to.removed = from.removed;
    to.dims = from.dims;
    to.features = from.features;
    to.first_row = from.first_row;
    to.rows_offset = from.rows_offset;
    to.largest = from.largest;
    to.centred = from.centred ? 1 : 0;
    to.periodic = from.periodic ? 1 : 0;
    to.prepared = from.prepared ? 1 : 0;
    to.groups = from.groups;
    write_struct(where, info, to);
  });
}
