// Implements sources for C.
#include <memory>
#include <string>
#include <utility>

#include "c_api/c_arguments.hpp"
#include "c_api/c_structs.hpp"
#include "kith/error.hpp"
#include "kith/parse.hpp"
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

/// Makes an Index of the source that make(where, options) returns.
template <class Make>
kith_status new_index(const char* function, const kith_device* device, const kith_index_options* options,
                      kith_index** out, const Make& make) {
  return make_handle(function, out, [&](const char* where) {
    const Device& on = given(where, "device", device).device;
    const kith_index_options asked = read_struct(where, options);
    const Metric metric = choice_of(asked.metric, default_metric);
    const IndexOptions how = index_options_of(where, asked);
    return std::make_unique<kith_index>(kith_index{Index(on, make(where, asked), metric, how)});
  });
}

}  // namespace

kith_status kith_index_from_file(const kith_device* device, const char* path,
                                 const kith_index_options* options, kith_index** out) {
  return new_index(__func__, device, options, out, [&](const char* where, const kith_index_options& asked) {
    check_given(where, "path", path);
    return file_source(path, asked.element ? std::optional(parse<Element>(asked.element)) : std::nullopt);
  });
}

kith_status kith_index_from_rows(const kith_device* device, const kith_rows* rows,
                                 const kith_index_options* options, kith_index** out) {
  return new_index(__func__, device, options, out, [&](const char* where, const kith_index_options&) {
    return memory_source(rows_of(where, "training", rows));
  });
}

kith_status kith_index_from_reader(const kith_device* device, std::int64_t rows, std::int64_t cols,
                                   const char* element, kith_read_rows read, void* user,
                                   const kith_index_options* options, kith_index** out) {
  return new_index(__func__, device, options, out,
                   [&](const char* where, const kith_index_options&) -> std::shared_ptr<const Source> {
                     if (!read) refuse(where, "read is NULL; give the function that reads rows");
                     const RowsInfo info{rows, cols, choice_of(element, Element::f32)};
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
