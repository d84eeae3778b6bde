// Tests counts, pairs and SearchOptions::radius from C, beside the calls of C++.
#include "c_api/c_support.hpp"
#include "common/device.hpp"
#include "search/radius/counted.hpp"

namespace kith::tests::c {
namespace {

using PairsRoom = std::unique_ptr<kith_pairs, Freed<kith_pairs_free>>;

/// An index of grid rows in C, and the same in C++.
struct CountScene {
  Matrix train = hard_rows(DataKind::grid, Set::train, 120, 3, Metric::l2),
         queries = hard_rows(DataKind::grid, Set::queries, 7, 3, Metric::l2);
  Index beside{device(), train};
  OpenDevice on =
      made<OpenDevice>([](kith_device** out) { return kith_device_open(device().info().spec.c_str(), out); });
  kith_rows rows = rows_of(train), asked = rows_of(queries);
  Rows index = made<Rows>([this](kith_index** out) { return kith_index_new(on.get(), &rows, nullptr, out); });
};

TEST_SUITE_BEGIN("device");

TEST_CASE("c: counts, their sums, and what is refused") {
  const CountScene scene;
  const std::vector<double> radii{1, 2, 3};
  const std::int64_t m = scene.queries.rows;
  for (const bool strict : {false, true}) {
    std::vector<std::int64_t> counts(size(m) * 3), sums(3);
    CHECK(told(kith_index_count(scene.index.get(), &scene.asked, radii.data(), 1, 3, strict, nullptr,
                                counts.data())) == "ok");
    CHECK(counts == scene.beside.count(scene.queries, {{radii.data(), 1, 3}, strict}));
    CHECK(told(kith_index_two_point(scene.index.get(), &scene.asked, radii.data(), 1, 3, strict, nullptr,
                                    sums.data())) == "ok");
    CHECK(sums == summed(counts, 3));
  }
  std::vector<std::int64_t> room(size(m));
  const auto refused = [&](std::int64_t rows, std::int64_t count, std::int32_t strict) {
    return told(kith_index_count(scene.index.get(), &scene.asked, radii.data(), rows, count, strict, nullptr,
                                 room.data()));
  };
  CHECK(refused(0, 1, 0) == "2: kith_index_count: the radii are [0, 1]; give at least one");
  CHECK(refused(1, 1, 2) == "2: kith_index_count: strict = 2; choose 0 or 1");
  CHECK(refused(2, 1, 0) ==
        "2: count: the radii are [2, 1] for 7 queries; give [1, r] for all or [m, r], r at least 1");
}

TEST_CASE("c: pairs, block by block") {
  const CountScene scene;
  const PairsRoom pairs =
      made<PairsRoom>([&](kith_pairs** out) { return kith_pairs_new(scene.index.get(), 1.5, nullptr, out); });
  Pairs found;
  for (auto info = KITH_INIT(kith_pairs_info);;) {
    REQUIRE(told(kith_pairs_next(pairs.get(), &info)) == "ok");
    if (info.count == 0) break;
    CHECK(info.distance64 == nullptr);
    found.first.insert(found.first.end(), info.first, info.first + info.count);
    found.second.insert(found.second.end(), info.second, info.second + info.count);
    found.distance.insert(found.distance.end(), info.distance, info.distance + info.count);
  }
  CHECK(!found.first.empty());
  CHECK(found == all_pairs(scene.beside.pairs(1.5)));
}

TEST_CASE("c: the k nearest within a radius") {
  const CountScene scene;
  auto options = KITH_INIT(kith_search_options);
  options.has_radius = 1;
  options.radius = 1.5;
  Neighbors found{7, 9, std::vector<float>(63), std::vector<std::int64_t>(63)};
  CHECK(told(kith_index_search(scene.index.get(), &scene.asked, 9, &options, found.distance.data(),
                               found.row.data())) == "ok");
  CHECK(found == scene.beside.search(scene.queries, 9, {.radius = 1.5}));
}

TEST_SUITE_END();

}  // namespace
}  // namespace kith::tests::c
