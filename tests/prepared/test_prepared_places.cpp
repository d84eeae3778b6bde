// Tests places of a sphere, by haversine: docs/contract.md, section 1.
#include <algorithm>

#include "common/asked.hpp"
#include "common/data_files.hpp"
#include "common/parted/sets.hpp"
#include "kith/index_file.hpp"
#include "prepared/prepared_oracle.hpp"

namespace kith::tests {
namespace {

using data_files::Folder;

/// Returns places on the Earth, in radians, with poles, antipodes and equal ones.
DoubleMatrix some_places(std::int64_t rows, std::mt19937& random) {
  constexpr double quarter = 0x1.921fb54442d18p0;
  std::uniform_real_distribution<double> latitude(-quarter, quarter), longitude(-2 * quarter, 2 * quarter);
  DoubleMatrix places{rows, 2, {}};
  for (std::int64_t r = 0; r < rows; ++r) switch (random() % 6) {
      case 0:
        places.values.insert(places.values.end(),
                             {random() % 2 == 0 ? quarter : -quarter, longitude(random)});
        break;
      case 1:
        places.values.insert(places.values.end(), {0.25, 0.5});
        break;
      case 2:
        places.values.insert(places.values.end(), {-0.25, 0.5 - 2 * quarter});
        break;
      default:
        places.values.insert(places.values.end(), {latitude(random), longitude(random)});
    }
  return places;
}

/// Checks that degrees become radians by one multiplication, in files, too.
void check_degrees(DoubleMatrix train, DoubleMatrix queries) {
  for (DoubleMatrix* const places : {&train, &queries})
    for (double& value : places->values) value = std::clamp(value * 57.25, -90.0, 90.0);
  const auto in_radians = [](DoubleMatrix places) {
    for (double& value : places.values) value = value * 0x1.1df46a2529d39p-6;
    return places;
  };
  const Index index(device(), train, Metric::haversine, {.degrees = true});
  const Neighbors right =
      Index(device(), in_radians(train), Metric::haversine).search(in_radians(queries), 9);
  CHECK(index.search(queries, 9) == right);
  const Folder folder;
  save(index, folder / "a.kidx");
  const Index opened = open_index(folder / "a.kidx", device());
  CHECK(opened.search(queries, 9) == right);
  save(opened, folder / "again.kidx");
  CHECK(folder.read("again.kidx") == folder.read("a.kidx"));
}

TEST_SUITE_BEGIN("device");

TEST_CASE("prepared metrics: haversine, whole and in parts, by radius, from a file and on a set") {
  std::mt19937 random(12);
  const MetricAsked asked{Metric::haversine};
  for (int turn = 0; turn < 5; ++turn) {
    const DoubleMatrix train = some_places(180, random), queries = some_places(15, random);
    const Index index(device(), train, Metric::haversine);
    CHECK(index.arithmetic() == Arithmetic::f64);
    CHECK(index.dims() == 2);
    CHECK(index.features() == std::vector<std::int64_t>{0, 1});
    const Neighbors right = nearest_by_contract(asked, Arithmetic::f64, train, queries, 9);
    CHECK(index.search(queries, 9) == right);
    CHECK(index.search(queries, 9, {.proposer = Proposer::none}) == right);
    const DoubleMatrix first{80, 2, {train.values.begin(), train.values.begin() + 160}},
        rest{100, 2, {train.values.begin() + 160, train.values.end()}};
    CHECK(Index(device(), first, Metric::haversine).with(rest).search(queries, 9) == right);
    CHECK(Index(set_of(2), train, Metric::haversine).search(queries, 9) == right);
    const double radius = right.distance64[4];
    const RadiusNeighbors found = index.within(queries, std::vector<double>{radius});
    for (std::size_t i = 0; i < found.row.size(); ++i) CHECK(found.distance64[i] <= radius);
    CHECK(found.first[1] >= 5);
    const Folder folder;
    save(index, folder / "a.kidx");
    CHECK(index_file_info(folder / "a.kidx").dims == 2);
    CHECK(open_index(folder / "a.kidx", device()).search(queries, 9) == right);
    check_degrees(train, queries);
    const std::vector<float> floats{0.5F, 1, -0.5F, 2};
    const DoubleMatrix wide{2, 2, {0.5, 1, -0.5, 2}};
    CHECK(index.search(RowsView(floats.data(), 2, 2), 3) == index.search(wide, 3));
  }
}

TEST_CASE("prepared metrics: random cases of haversine") {
  const bool wanted = is_asked("KITH_PREPARED_METRIC", name(Metric::haversine));
  const std::int64_t turns = wanted ? asked_number("KITH_PREPARED_CASES", 12) : 0;
  std::mt19937 random(asked_seed("KITH_PREPARED_SEED", 44));
  for (std::int64_t turn = 0; turn < turns; ++turn) {
    CAPTURE(turn);
    const auto some = [&random](unsigned most) { return 1 + static_cast<std::int64_t>(random() % most); };
    const std::int64_t n = some(200), m = some(12), k = some(static_cast<unsigned>(n));
    const DoubleMatrix train = some_places(n, random), queries = some_places(m, random);
    SearchOptions options;
    if (random() % 2 == 0) options.train_tile = some(static_cast<unsigned>(n));
    CHECK(Index(device(), train, Metric::haversine).search(queries, k, options) ==
          nearest_by_contract({Metric::haversine}, Arithmetic::f64, train, queries, k));
  }
}

TEST_SUITE_END();

}  // namespace
}  // namespace kith::tests
