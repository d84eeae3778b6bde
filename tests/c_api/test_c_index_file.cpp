// kith.h: index files are what kith.hpp writes and reads.
#include "c_api/c_support.hpp"
#include "common/data_files.hpp"
#include "common/oracle.hpp"
#include "kith/index_file.hpp"

namespace kith::tests {
namespace {

using namespace c;
using data_files::Folder;

TEST_SUITE_BEGIN("device");

TEST_CASE("kith.h: an index is saved and opened, with the bits and the bytes of C++") {
  const Folder folder;
  const Matrix train = hard_rows(DataKind::integers, Set::train, 90, 4, Metric::l2);
  const Matrix queries = hard_rows(DataKind::integers, Set::queries, 7, 4, Metric::l2);
  const Index same(device(), train, Metric::l2, {{3, 0}, 12, 0});
  save(same, folder / "cpp.kidx");
  const auto on =
      made<OpenDevice>([](kith_device** out) { return kith_device_open(device_spec().c_str(), out); });
  const auto open = [&](const std::string& path) {
    return made<Rows>(
        [&](kith_index** out) { return kith_index_open(on.get(), path.c_str(), nullptr, out); });
  };
  const Rows opened = open(folder / "cpp.kidx");
  CHECK(told(kith_index_save(opened.get(), (folder / "c.kidx").c_str(), nullptr, nullptr, nullptr)) == "ok");
  CHECK((folder.read("c.kidx") == folder.read("cpp.kidx")));
  const Rows again = open(folder / "c.kidx");
  const kith_rows asked = rows_of(queries.view());
  Neighbors found{7, 5, std::vector<float>(35), std::vector<std::int64_t>(35)};
  CHECK(told(kith_index_search(again.get(), &asked, 5, nullptr, found.distance.data(), found.row.data())) ==
        "ok");
  CHECK(difference(found, same.search(queries, 5)) == "");

  kith_index_file_info info = KITH_INIT(kith_index_file_info);
  REQUIRE(told(kith_index_file_describe((folder / "c.kidx").c_str(), &info)) == "ok");
  CHECK(info.version == 1);
  CHECK(info.bytes == folder.read("c.kidx").size());
  CHECK(std::string(info.metric) == "l2");
  CHECK(std::string(info.element) == "f32");
  CHECK(info.rows == 90);
  CHECK(info.dims == 4);
  CHECK(info.features == 2);
  CHECK(info.first_row == 12);
  CHECK(info.rows_offset == 8192);
  CHECK(info.largest == 0);
}

TEST_CASE("kith.h: parts of an index file") {
  const Folder folder;
  const Matrix train = hard_rows(DataKind::integers, Set::train, 90, 4, Metric::negative_dot);
  const Matrix queries = hard_rows(DataKind::integers, Set::queries, 7, 4, Metric::negative_dot);
  const Index same(device(), train, Metric::negative_dot);
  const std::string path = folder / "a.kidx";
  save(same, path);
  const auto on =
      made<OpenDevice>([](kith_device** out) { return kith_device_open(device_spec().c_str(), out); });
  kith_open_options options = KITH_INIT(kith_open_options);
  CHECK(options.first == 0);
  CHECK(options.rows == 0);
  options.largest = 1e6f;
  std::vector<Keys> found;
  const kith_rows asked = rows_of(queries.view());
  for (const std::int64_t first : {0, 41}) {
    options.first = first;
    options.rows = first == 0 ? 41 : -1;
    const Rows part =
        made<Rows>([&](kith_index** out) { return kith_index_open(on.get(), path.c_str(), &options, out); });
    Keys keys{7, 5, std::vector<std::uint32_t>(35), std::vector<std::int64_t>(35)};
    CHECK(told(kith_index_search_keys(part.get(), &asked, 5, nullptr, keys.value.data(), keys.row.data())) ==
          "ok");
    found.push_back(keys);
  }
  CHECK(merge(found) == same.search_keys(queries, 5));
  // Products by the largest elements of all parts, as they are told, could overflow, so the part refuses
  // the query.
  options.first = 0;
  options.rows = 41;
  const Matrix far = {1, 4, {1e20f, 0, 0, 0}};
  const kith_rows one = rows_of(far.view());
  std::uint32_t value[1];
  std::int64_t row[1];
  for (const bool told_all : {false, true}) {
    options.largest = told_all ? 1e30f : 0;
    const Rows part = made<Rows>(
        [&](kith_index** made_one) { return kith_index_open(on.get(), path.c_str(), &options, made_one); });
    CHECK(kith_index_search_keys(part.get(), &one, 1, nullptr, value, row) ==
          (told_all ? KITH_INVALID_ARGUMENT : KITH_OK));
  }
  options.first = 90;
  options.rows = -1;
  kith_index* out = nullptr;
  CHECK(told(kith_index_open(on.get(), path.c_str(), &options, &out)) ==
        "2: index file: first = 90, rows = -1, but the file holds 90 rows; choose a part of them with at "
        "least one");
}

TEST_CASE("kith.h: index files that are none, a stop, and progress") {
  const Folder folder;
  const auto on = made<OpenDevice>([](kith_device** out) { return kith_device_open("cpu", out); });
  kith_index* out = nullptr;
  const std::string path = folder.write("a.kidx", "no index");
  CHECK(kith_index_open(on.get(), path.c_str(), nullptr, &out) == KITH_BAD_FILE);
  CHECK(out == nullptr);
  CHECK(std::string(kith_last_error()) ==
        "index file: " + path + ": byte 0: this is no index of kith; name a file that kith wrote as .kidx");
  kith_index_file_info info = KITH_INIT(kith_index_file_info);
  CHECK(kith_index_file_describe(path.c_str(), &info) == KITH_BAD_FILE);
  const Matrix train = matrix(1, {1, 2, 3});
  const kith_rows rows = rows_of(train.view());
  const Rows index =
      made<Rows>([&](kith_index** made_one) { return kith_index_new(on.get(), &rows, nullptr, made_one); });
  const auto refuse = [](double, void* calls) -> std::int32_t { return ++*static_cast<int*>(calls); };
  int calls = 0;
  kith_open_options watched = KITH_INIT(kith_open_options);
  watched.progress = refuse;
  watched.user = &calls;
  CHECK(kith_index_save(index.get(), path.c_str(), nullptr, refuse, &calls) == KITH_INTERRUPTED);
  CHECK(folder.read("a.kidx") == "no index");
  CHECK(told(kith_index_save(index.get(), path.c_str(), nullptr, nullptr, nullptr)) == "ok");
  CHECK(kith_index_open(on.get(), path.c_str(), &watched, &out) == KITH_INTERRUPTED);
  CHECK(calls == 2);
  const Stop stop = made<Stop>(kith_stop_new);
  REQUIRE(kith_stop_request(stop.get()) == KITH_OK);
  kith_open_options options = KITH_INIT(kith_open_options);
  options.stop = stop.get();
  CHECK(kith_index_open(on.get(), path.c_str(), &options, &out) == KITH_INTERRUPTED);
  CHECK(kith_index_save(index.get(), path.c_str(), stop.get(), nullptr, nullptr) == KITH_INTERRUPTED);
  CHECK(out == nullptr);
}

TEST_SUITE_END();

}  // namespace
}  // namespace kith::tests
