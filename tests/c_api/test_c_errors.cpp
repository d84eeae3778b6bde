// kith.h: an error is a status and a sentence, which only the thread that called can read.
#include <thread>
#include <type_traits>

#include "c_api/c_support.hpp"
#include "kith/index.hpp"

namespace kith::tests {
namespace {

using namespace c;

TEST_CASE("c: statuses are the exit codes of the contract, and have the names of C++") {
  CHECK(std::string(kith_status_name(KITH_OK)) == "ok");
  const std::vector<std::pair<Errc, kith_status>> all = {
      {Errc::invalid_argument, 2}, {Errc::bad_file, 3},    {Errc::unavailable, 4},
      {Errc::out_of_memory, 5},    {Errc::unsupported, 6}, {Errc::device_failure, 7},
      {Errc::interrupted, 130}};
  for (const auto& [code, status] : all) CHECK(kith_status_name(status) == name(code));
  CHECK(std::string(kith_status_name(1)) == "unknown");
  CHECK(std::string(kith_version()) == "0.1.0");
  CHECK(kith_abi_version() == KITH_ABI_MAJOR * 65536 + KITH_ABI_MINOR);
}

TEST_CASE("c: where no handle can be made the caller has NULL, and not the one before") {
  const Scene scene;
  const auto stale = [](auto** out) {
    *out = reinterpret_cast<std::remove_reference_t<decltype(*out)>>(out);
  };
  kith_device* device = nullptr;
  stale(&device);
  CHECK(kith_device_open("quantum", &device) == KITH_INVALID_ARGUMENT);
  CHECK(device == nullptr);
  kith_index* index = nullptr;
  stale(&index);
  const std::int64_t none[] = {7};
  CHECK(kith_index_without(scene.index.get(), none, 1, &index) == KITH_INVALID_ARGUMENT);
  CHECK(index == nullptr);
  stale(&index);
  CHECK(kith_index_open(scene.on.get(), "/none.kidx", nullptr, &index) == KITH_BAD_FILE);
  CHECK(index == nullptr);
  kith_model* model = nullptr;
  stale(&model);
  CHECK(kith_model_load("/none.kith", &model) == KITH_BAD_FILE);
  CHECK(model == nullptr);
  kith_within* within = nullptr;
  stale(&within);
  const float radius = std::numeric_limits<float>::quiet_NaN();
  CHECK(kith_index_within(scene.index.get(), &scene.rows, &radius, 1, nullptr, &within) ==
        KITH_INVALID_ARGUMENT);
  CHECK(within == nullptr);
}

TEST_CASE("c: rows that this library does not take") {
  const Scene scene;
  kith_rows rows = scene.rows;
  rows.element = KITH_F64;
  CHECK(
      told(scene.search(rows)) ==
      "6: search: the query rows are f64, which a preparation, an index with a centre and an index in double "
      "precision take; give one of these, or round the rows to f32");
  rows.element = KITH_U32;
  CHECK(told(scene.search(rows)) ==
        "6: search: the query rows are u32, which an index in double precision takes; choose arithmetic f64, "
        "or convert them to f32");
  rows.element = KITH_I64 + 1;
  CHECK(told(scene.search(rows)) ==
        "6: kith_index_search: the query rows have element = 10; this kith knows 0 to 9");
  rows.element = KITH_BITS;
  CHECK(told(scene.search(rows)) ==
        "2: search: the query rows are bits, but l2 measures numbers; choose hamming, or give numbers");
  rows = scene.rows;
  rows.where = 3;
  CHECK(told(scene.search(rows)) ==
        "6: kith_index_search: the query rows have where = 3; this kith knows 0 to 2");
  rows.where = KITH_CUDA;
  CHECK(told(scene.search(rows)) ==
        "6: search: the query rows lie on a CUDA device, and cpu takes memory of the host alone; copy them "
        "to the host");
  rows = scene.rows;
  rows.stream = &rows;
  CHECK(scene.search(rows) == KITH_UNSUPPORTED);
  rows = scene.rows;
  rows.stride_bytes = 10;
  rows.rows = 3;
  CHECK(told(scene.search(rows)) == "ok");
  rows.rows = 4;
  rows.stride_bytes = 7;
  CHECK(told(scene.search(rows)) ==
        "2: search: the query rows are [4, 2] of f32 with a stride of 7 bytes, so that they overlap; give at "
        "least 8");
  rows.stride_bytes = 4;
  CHECK(std::string(told(scene.search(rows))).find("with a stride of 1, so that they overlap") !=
        std::string::npos);
  rows = scene.rows;
  rows.offset_bytes = -4;
  CHECK(scene.search(rows) == KITH_INVALID_ARGUMENT);
  rows = scene.rows;
  rows.data = nullptr;
  CHECK(std::string(told(scene.search(rows))).find("have no address") != std::string::npos);
  rows = scene.rows;
  rows.rows = -1;
  CHECK(scene.search(rows) == KITH_INVALID_ARGUMENT);
  rows = scene.rows;
  rows.element = KITH_BITS;
  kith_preparation* preparation = nullptr;
  CHECK(told(kith_preparation_new(&rows, nullptr, &preparation)) ==
        "2: kith_preparation_new: the training rows are bits, which are neither prepared nor kept in a "
        "model; give numbers");
}

TEST_CASE("c: arguments out of their range") {
  const Scene scene;
  CHECK(told(scene.search(scene.rows, nullptr, 5)) ==
        "2: search: k = 5 is out of range for an index of 4 rows; choose k from 1 to 4");
  kith_search_options options = KITH_INIT(kith_search_options);
  options.selector = "treshold";
  CHECK(told(scene.search(scene.rows, &options)) ==
        "2: selector: there is none called \"treshold\"; did you mean threshold?");
  options = KITH_INIT(kith_search_options);
  options.fused = 2;
  CHECK(told(scene.search(scene.rows, &options)) ==
        "2: kith_index_search: fused = 2; choose 0 (kith decides), 1 (yes) or -1 (never)");
  options = KITH_INIT(kith_search_options);
  const std::uint32_t words[4] = {};
  options.filter = words;
  CHECK(told(scene.search(scene.rows, &options)) ==
        "2: kith_index_search: there is a filter, but filter_rows is 0; give 1 for all queries, or 4, or set "
        "filter to NULL");
  options.filter_rows = 3;
  CHECK(scene.search(scene.rows, &options) == KITH_INVALID_ARGUMENT);
  options.filter = nullptr;
  CHECK(scene.search(scene.rows, &options) == KITH_INVALID_ARGUMENT);
  options = KITH_INIT(kith_search_options);
  options.has_self = 1;
  options.self = -2;
  CHECK(scene.search(scene.rows, &options) == KITH_INVALID_ARGUMENT);
  options = KITH_INIT(kith_search_options);
  const char* const sample[] = {"radix", nullptr};
  options.sample = sample;
  options.sample_count = 2;
  CHECK(told(scene.search(scene.rows, &options)) == "2: kith_index_search: sample 1 is NULL; give a text");
  kith_device* device = nullptr;
  CHECK(kith_device_open("quantum", &device) == KITH_INVALID_ARGUMENT);
  CHECK(kith_device_open("cpu:7", &device) != KITH_OK);
  CHECK(device == nullptr);
  const char* metric = nullptr;
  CHECK(told(kith_metric_find("Inner-Product", &metric)) == "ok");
  CHECK(std::string(metric) == "negative_dot");
  CHECK(kith_metric_find("hamming?", &metric) == KITH_INVALID_ARGUMENT);
  CHECK(metric == nullptr);
  CHECK(kith_metric_name(-1) == nullptr);
  CHECK(kith_metric_name(kith_metric_count()) == nullptr);
  const std::int64_t rows[] = {4};
  std::uint32_t word = 0;
  CHECK(kith_filter_of(4, rows, 1, &word) == KITH_INVALID_ARGUMENT);
  CHECK(kith_filter_of(4, rows, -1, &word) == KITH_INVALID_ARGUMENT);
  CHECK(kith_filter_of(0, rows, 0, &word) == KITH_INVALID_ARGUMENT);
}

TEST_CASE("c: an exception that a callback throws all the same does not leave the function") {
  const Scene scene;
  kith_search_options options = KITH_INIT(kith_search_options);
  options.progress = [](double, void*) -> std::int32_t { throw 7; };
  CHECK(scene.search(scene.rows, &options) == KITH_DEVICE_FAILURE);
  CHECK(std::string(kith_last_error()).find("let callbacks return instead") != std::string::npos);
  CHECK(told(scene.search(scene.rows)) == "ok");
}

TEST_CASE("c: a long sentence is cut between characters") {
  std::set<std::string> ends;
  for (std::size_t more = 0; more < 4; ++more) {
    std::string path = "/" + std::string(more, 'y');
    while (path.size() < 2200) path += "\xE2\x82\xAC";  // three bytes each
    kith_model* model = nullptr;
    CHECK(kith_model_load(path.c_str(), &model) == KITH_BAD_FILE);
    const std::string said = kith_last_error();
    CHECK(said.size() <= 2047);
    CHECK(said.size() > 2040);
    ends.insert(said.substr(said.size() - 3));
  }
  CHECK(ends == std::set<std::string>{"\xE2\x82\xAC"});
}

TEST_CASE("c: what there is here") {
  const Inventory inventory = made<Inventory>(kith_inventory_new);
  std::int64_t devices = 0, backends = 0, warnings = -1;
  CHECK(told(kith_inventory_device_count(inventory.get(), &devices)) == "ok");
  CHECK(told(kith_inventory_backend_count(inventory.get(), &backends)) == "ok");
  CHECK(told(kith_inventory_warning_count(inventory.get(), &warnings)) == "ok");
  const std::vector<DeviceInfo> expected = kith::devices();
  REQUIRE(devices == static_cast<std::int64_t>(expected.size()));
  for (std::int64_t number = 0; number < devices; ++number) {
    kith_device_info info = KITH_INIT(kith_device_info);
    CHECK(told(kith_inventory_device(inventory.get(), number, &info)) == "ok");
    CHECK(info.spec == expected[size(number)].spec);
    CHECK(info.name == expected[size(number)].name);
  }
  const std::vector<BackendInfo> all = kith::backends();
  REQUIRE(backends == static_cast<std::int64_t>(all.size()));
  for (std::int64_t number = 0; number < backends; ++number) {
    const char *backend = nullptr, *reason = nullptr;
    CHECK(told(kith_inventory_backend(inventory.get(), number, &backend, &reason)) == "ok");
    CHECK(backend == all[size(number)].name);
    CHECK(reason == all[size(number)].reason);
  }
  CHECK(warnings >= static_cast<std::int64_t>(kith::load_failures().size()));
  for (std::int64_t number = 0; number < warnings; ++number) {
    const char* sentence = nullptr;
    CHECK(told(kith_inventory_warning(inventory.get(), number, &sentence)) == "ok");
    CHECK(std::strlen(sentence) > 0);
  }
  const char* sentence = nullptr;
  CHECK(kith_inventory_warning(inventory.get(), warnings, &sentence) == KITH_INVALID_ARGUMENT);
}

TEST_CASE("c: threads share handles, and each has its own last error") {
  const Matrix train = hard_rows(DataKind::clusters, Set::train, 500, 6, Metric::l2);
  const OpenDevice on = opened("cpu");
  const Rows index = index_of(on.get(), train, "l2");
  const Neighbors expected = Index(open_device("cpu"), train).search(train, 5);
  std::vector<std::string> wrong(8);
  std::vector<std::thread> threads;
  for (std::size_t t = 0; t < wrong.size(); ++t)
    threads.emplace_back([&, t] {
      const kith_rows rows = rows_of(train);
      std::vector<float> distance(expected.distance.size());
      std::vector<std::int64_t> row(expected.row.size());
      if (*kith_last_error() != '\0') wrong[t] = "an error before the first";
      for (int round = 0; round < 5; ++round) {
        const std::int64_t too_many = 501 + static_cast<std::int64_t>(t);
        if (kith_index_search(index.get(), &rows, too_many, nullptr, nullptr, nullptr) !=
            KITH_INVALID_ARGUMENT)
          wrong[t] = "k was not refused";
        if (kith_index_search(index.get(), &rows, 5, nullptr, distance.data(), row.data()) != KITH_OK ||
            distance != expected.distance || row != expected.row)
          wrong[t] = "other neighbours";
        const std::string said = "search: k = " + std::to_string(too_many) + " is out of range";
        if (std::string(kith_last_error()).rfind(said, 0) != 0) wrong[t] = kith_last_error();
      }
    });
  for (std::thread& thread : threads) thread.join();
  for (const std::string& sentence : wrong) CHECK(sentence == "");
}

}  // namespace
}  // namespace kith::tests
