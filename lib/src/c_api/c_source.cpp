// Rows that stay where they are, for C.
#include <memory>
#include <string>
#include <utility>

#include "c_api/c_arguments.hpp"
#include "c_api/c_structs.hpp"
#include "kith/error.hpp"
#include "kith/source.hpp"

using namespace kith;
using namespace kith::c_api;

namespace {

class ReadByCaller final : public Source {
 public:
  ReadByCaller(const RowsInfo& info, kith_read_rows read, void* user)
      : info_(info), read_(read), user_(user) {}

  RowsInfo info() const override { return info_; }
  void read(std::int64_t first, std::int64_t count, void* to) const override {
    const std::int32_t code = read_(first, count, to, user_);
    if (code != 0)
      throw Error(Errc::bad_file, "source: rows " + std::to_string(first) + " to " +
                                      std::to_string(first + count - 1) + ": read() returned " +
                                      std::to_string(code) + "; it returns 0 once the rows are there");
  }

 private:
  const RowsInfo info_;
  const kith_read_rows read_;
  void* const user_;
};

/// An Index of what make(options) gives.
template <class Make>
kith_status new_index(const char* function, const kith_device* device, const kith_source_options* options,
                      kith_index** out, const Make& make) {
  return make_handle(function, out, [&](const char* where) {
    const Device& on = given(where, "device", device).device;
    const kith_source_options asked = read_struct(where, options);
    const kith_index_options of_index = read_struct(where, asked.index);
    IndexOptions how = index_options_of(where, of_index);
    how.residence = choice_of(asked.residence, how.residence, parse_residence);
    how.memory_limit = asked.memory_limit;
    how.chunk_rows = asked.chunk_rows;
    return std::make_unique<kith_index>(kith_index{
        Index(on, make(where, asked), choice_of(of_index.metric, default_metric, parse_metric), how)});
  });
}

}  // namespace

kith_status kith_index_from_file(const kith_device* device, const char* path,
                                 const kith_source_options* options, kith_index** out) {
  return new_index(__func__, device, options, out, [&](const char* where, const kith_source_options& asked) {
    check_given(where, "path", path);
    return file_source(path, asked.element ? std::optional(parse_element(asked.element)) : std::nullopt);
  });
}

kith_status kith_index_from_rows(const kith_device* device, const kith_rows* rows,
                                 const kith_source_options* options, kith_index** out) {
  return new_index(__func__, device, options, out, [&](const char* where, const kith_source_options&) {
    return memory_source(rows_of(where, "training", rows));
  });
}

kith_status kith_index_from_reader(const kith_device* device, std::int64_t rows, std::int64_t cols,
                                   const char* element, kith_read_rows read, void* user,
                                   const kith_source_options* options, kith_index** out) {
  return new_index(__func__, device, options, out,
                   [&](const char* where, const kith_source_options&) -> std::shared_ptr<const Source> {
                     if (!read) refuse(where, "read is NULL; give the function that reads rows");
                     const RowsInfo info{rows, cols, choice_of(element, Element::f32, parse_element)};
                     return std::make_shared<ReadByCaller>(info, read, user);
                   });
}

kith_status kith_index_residence(const kith_index* index, const char** out) {
  return guarded(__func__, [&](const char* where) {
    const Index& of = given(where, "index", index).index;
    check_given(where, "out", out);
    *out = name(of.residence()).data();
  });
}

kith_status kith_index_search_kept(const kith_index* index, const kith_rows* queries, std::int64_t k,
                                   const kith_search_options* options, const char* path, float* distance,
                                   std::int64_t* row) {
  return guarded(__func__, [&](const char* where) {
    const Index& in = given(where, "index", index).index;
    const RowsView asked = rows_of(where, "query", queries);
    check_given(where, "path", path);
    const Asked how(where, options, in.positions(), asked.rows);
    PlanOptions way = how.options();
    way.checkpoint = path;
    search_to_arrays(in, asked, k, way, how.trace(), distance, row);
    how.tell();
  });
}
