// kith.h: a thread may end in a callback, as Python's threads do when the interpreter ends.
#include <pthread.h>

#include "c_api/c_support.hpp"
#include "common/folder.hpp"
#include "common/oracle.hpp"

namespace kith::tests {
namespace {

using namespace c;

constexpr std::int64_t nearest = 6;

int value_of_an_end = 0;  // a thread that ends in its callback leaves this address

std::int32_t end_thread(double, void*) {
  pthread_exit(&value_of_an_end);
}

/// Returns whether a thread that calls `call` ends in a callback, not after the call.
bool ends_its_thread(std::function<void()> call) {
  pthread_t thread{};
  const auto run = [](void* its) -> void* {
    (*static_cast<std::function<void()>*>(its))();
    return nullptr;
  };
  REQUIRE(pthread_create(&thread, nullptr, run, &call) == 0);
  void* left = nullptr;
  REQUIRE(pthread_join(thread, &left) == 0);
  return left == &value_of_an_end;
}

struct EndingThread {
  Matrix train = hard_rows(DataKind::integers, Set::train, 300, 5, Metric::l2),
         queries = hard_rows(DataKind::integers, Set::queries, 17, 5, Metric::l2);
  kith_rows rows = rows_of(train), asked = rows_of(queries);
  kith_search_options ending = KITH_INIT(kith_search_options);

  EndingThread() {
    ending.progress = end_thread;
    ending.query_tile = 4;
  }

  void check(const kith_index* in) const {
    CHECK(ends_its_thread([&] { search(in, &ending); }));
    CHECK(search(in, nullptr) ==
          neighbors(Metric::l2, queries, train, nearest));  // the ended thread holds no lock
  }

 private:
  Neighbors search(const kith_index* in, const kith_search_options* options) const {
    Neighbors found = neighbors(Metric::l2, queries, train, nearest);
    found.distance.assign(found.distance.size(), -1);
    found.row.assign(found.row.size(), -1);
    kith_index_search(in, &asked, nearest, options, found.distance.data(), found.row.data());
    return found;
  }
};

TEST_SUITE_BEGIN("device");

TEST_CASE("c callbacks: a thread ends in progress() of a search, of rows on the device and of a stream") {
  const EndingThread scene;
  const OpenDevice on = opened();
  scene.check(index_of(on.get(), scene.train, "l2").get());
  kith_index_options options = KITH_INIT(kith_index_options);
  options.residence = "stream";
  options.chunk_rows = 64;
  scene.check(made<Rows>([&](kith_index** out) {
                return kith_index_from_rows(on.get(), &scene.rows, &options, out);
              }).get());
}

TEST_CASE("c callbacks: a thread ends in progress() of a set, whose members stop") {
  const EndingThread scene;
  const bool alone = device().info().backend == "cpu" || device().info().backend == "set";
  const OpenDevice on = opened(alone ? device_spec() : "cpu+" + device_spec());
  for (const char* placement : {"split", "replicate"}) {
    kith_index_options how = KITH_INIT(kith_index_options);
    how.placement = alone ? nullptr : placement;
    for (int again = 0; again < 20; ++again)
      scene.check(made<Rows>([&](kith_index** out) {
                    return kith_index_new(on.get(), &scene.rows, &how, out);
                  }).get());
  }
}

TEST_CASE("c callbacks: a thread ends in progress() of a file that is written or read") {
  const EndingThread scene;
  const OpenDevice on = opened();
  const test_support::TemporaryFolder folder;
  const std::string path = folder / "rows.kidx";
  const Rows index = index_of(on.get(), scene.train, "l2");
  CHECK(ends_its_thread([&] { kith_index_save(index.get(), path.c_str(), nullptr, end_thread, nullptr); }));
  CHECK(folder.names().empty());
  REQUIRE(told(kith_index_save(index.get(), path.c_str(), nullptr, nullptr, nullptr)) == "ok");
  kith_open_options options = KITH_INIT(kith_open_options);
  options.progress = end_thread;
  kith_index* none = nullptr;
  CHECK(ends_its_thread([&] { kith_index_open(on.get(), path.c_str(), &options, &none); }));
  CHECK(none == nullptr);
  options.progress = nullptr;
  scene.check(made<Rows>([&](kith_index** out) {
                return kith_index_open(on.get(), path.c_str(), &options, out);
              }).get());
}

TEST_SUITE_END();

}  // namespace
}  // namespace kith::tests
