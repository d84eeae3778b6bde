// Tests rows of f16 and bf16 that stay on the device as they are while rows are added and removed,
// by several threads, in files and on sets of devices: they have the answers of the same rows as
// floats. docs/howto/elements.md.
#include <random>
#include <thread>

#include "common/folder.hpp"
#include "common/parted/half_rows.hpp"
#include "common/subsets.hpp"
#include "kith/classifier.hpp"
#include "kith/index.hpp"
#include "kith/index_file.hpp"
#include "kith/keys.hpp"

namespace kith::tests {
namespace {

TEST_SUITE_BEGIN("device");

TEST_CASE("half rows: room for more, whatever the counts of rows that come, and without room") {
  if (!lands_halves()) return;
  for (const Element element : halves)
    for (const std::vector<std::int64_t>& parts :
         {std::vector<std::int64_t>{128, 128, 144}, {1, 1, 126, 1, 271}, {200, 3, 197}})
      for (const std::int64_t room : {400, 1, 150}) {
        CAPTURE_ALL(name(element), parts[0], room);
        const std::int64_t n = 400, dims = 17;
        const Matrix all = rows_of_halves(n, dims, element, 75),
                     queries = rows_of_halves(8, dims, element, 76);
        const Stored stored(all, element);
        Index index(device(), stored.view().slice(0, parts[0]), Metric::l2, {.reserve = room});
        const std::size_t before = index.memory_bytes();
        std::vector<Index> snapshots = {index};
        for (std::size_t i = 1; i < parts.size(); ++i) {
          index = index.with(stored.view().slice(index.rows(), parts[i]));
          snapshots.push_back(index);
        }
        if (room == n && device().state()->members.empty()) CHECK(index.memory_bytes() == before);
        const Matrix more = rows_of_halves(150, dims, element, 77);
        Matrix odd = more;
        odd.values[5] = 0.1f;
        const Index right(device(), all, Metric::l2), grown = index.with(Stored(more, element).view());
        const Index first(device(), all.view().slice(0, parts[0]), Metric::l2);
        // Adds rows to a snapshot that is not the last, rows of other elements, before a search and after it.
        for (const bool searched : {false, true}) {
          CAPTURE(searched);
          CHECK(snapshots[0].with(Stored(more, element).view()).search(queries, 50) ==
                first.with(more).search(queries, 50));
          CHECK(index.with(odd).search(queries, 50) == right.with(odd).search(queries, 50));
          CHECK(index.with(more).search(queries, 50) == right.with(more).search(queries, 50));
          CHECK(grown.with(odd).search(queries, 50) == right.with(more).with(odd).search(queries, 50));
          CHECK(grown.search(queries, 50) == right.with(more).search(queries, 50));
          for (const Index& snapshot : snapshots) {
            const std::int64_t k = std::min<std::int64_t>(30, snapshot.rows());
            CHECK(snapshot.search(queries, k) ==
                  Index(device(), all.view().slice(0, snapshot.rows()), Metric::l2).search(queries, k));
          }
        }
      }
}

TEST_CASE("half rows: any order of what may be done with them") {
  const Device crowded = device_of(0);       // its memory is set anew in each round
  const SearchOptions two = {.threads = 2};  // lists of more threads would fill it
  std::mt19937 random(4711);
  const auto below = [&](std::int64_t end) { return static_cast<std::int64_t>(random() % size(end)); };
  for (int round = 0; round < 12; ++round) {
    const Element element = halves[below(2)];
    const std::int64_t dims = below(2) == 1 ? 30 : 47;
    const Metric metric = below(2) == 1 ? Metric::l2 : Metric::negative_dot;
    const auto some = [&](std::int64_t most) {
      return rows_of_halves(1 + below(most), dims, element, random());
    };
    const Matrix rows = rows_of_halves(600 + below(600), dims, element, random()), queries = some(9);
    crowded.state()->info.memory_bytes = HalvesAndFloats::crowd(rows);
    const Device on = below(2) == 1 ? one_device() : crowded;
    Index index(on, Stored(rows, element).view(), metric, {.reserve = 1 + below(900)}),
        right(one_device(), rows, metric);
    for (int step = 0; step < 6; ++step) {
      const std::int64_t what = below(6);
      CAPTURE_ALL(round, step, what);
      if (what < 2) {
        const Matrix more = some(60);
        index = what == 0 ? index.with(Stored(more, element).view()) : index.with(more);
        right = right.with(more);
      } else if (what == 2 && right.rows() > 3) {
        const std::vector<std::int64_t> left = right.numbers();
        const std::vector<std::int64_t> gone = {left[size(below(right.rows()))]};
        index = index.without(gone);
        right = right.without(gone);
      } else if (what == 3) {
        index = index.compact();
        right = right.compact();
      } else {
        const std::int64_t k = 1 + below(std::min<std::int64_t>(40, right.rows()));
        CHECK(index.search(queries, k, two) == right.search(queries, k));
      }
      CHECK(index.numbers() == right.numbers());
    }
    CHECK(index.search(queries, 1, two) == right.search(queries, 1));
  }
}

TEST_CASE("half rows: several threads search while floats are made of them") {
  const std::int64_t n = 3000, dims = 24, k = 7;
  const Matrix rows = rows_of_halves(n, dims, Element::f16, 85),
               queries = rows_of_halves(5, dims, Element::f16, 86);
  const Stored stored(rows, Element::f16);
  const Index right(one_device(), rows, Metric::l2);
  const Neighbors expected = right.search(queries, k), more = right.with(rows).search(queries, k);
  const std::vector<float> radius = {20.0f};
  const RadiusNeighbors within = right.within(queries, radius);
  const std::vector<std::int64_t> gone = {1, 2, 3};
  const Neighbors rest = right.without(gone).search(queries, k);
  for (int round = 0; round < 6; ++round) {
    const Index index(one_device(), stored.view(), Metric::l2, {.reserve = round % 2 ? n : 2 * n});
    std::vector<int> wrong(8);
    std::vector<std::thread> threads;
    for (std::size_t i = 0; i < wrong.size(); ++i)
      threads.emplace_back([&, i] {
        for (int again = 0; again < 3; ++again) switch (i % 4) {
            case 0:
              wrong[i] += !(index.search(queries, k) == expected);
              break;
            case 1:
              wrong[i] += !(index.within(queries, radius) == within) || index.memory_bytes() == 0;
              break;
            case 2:
              wrong[i] += !(index.with(stored.view()).search(queries, k) == more);
              break;
            default:
              wrong[i] += !(index.without(gone).compact().search(queries, k) == rest);
          }
      });
    for (std::thread& thread : threads) thread.join();
    CHECK(wrong == std::vector<int>(wrong.size()));
  }
}

TEST_CASE("half rows: large rows stay so without being asked, and as a file") {
  const DeviceInfo& info = device().info();
  if (info.backend != "cpu" && info.kind != DeviceKind::gpu) return;  // takes too long there
  const std::int64_t n = std::int64_t{1} << 20, dims = 64;
  std::vector<std::uint16_t> rows;
  rows.reserve(size(n * dims));
  std::uint64_t state = 1;
  for (std::int64_t i = 0; i < n * dims; ++i) {
    state = state * 6364136223846793005u + 1442695040888963407u;
    rows.push_back(static_cast<std::uint16_t>(state >> 48 & 0xBBFFu));
  }
  const RowsView view(rows.data(), Element::f16, n, dims);
  const Matrix queries = rows_of_halves(2, dims, Element::f16, 96);
  const Index index(device(), view, Metric::l2);
  CHECK(index.memory_bytes() <= size(n * dims) * 3);
  const test_support::TemporaryFolder folder;
  save(index, folder / "rows.kidx");
  const Index read = open_index(folder / "rows.kidx", device());
  CHECK(read.memory_bytes() <= size(n * dims) * 3);
  const SearchOptions plain{.proposer = Proposer::none, .boxes = false};
  const Neighbors expected =
      Index(device(), view.slice(0, n - 1), Metric::l2).with(view.slice(n - 1, 1)).search(queries, 5, plain);
  CHECK(index.search(queries, 5, plain) == expected);
  CHECK(read.search(queries, 5, plain) == expected);
  CHECK(read.memory_bytes() >= size(n * dims) * 4);
}

TEST_CASE("half rows: on the members of a set, which rows come to, go from and are compacted") {
  const Device set = set_of(3);
  for (const Element element : halves)
    for (const Placement placement : {Placement::split, Placement::replicate}) {
      CAPTURE_ALL(name(element), placement == Placement::split);
      const std::int64_t n = 700, dims = 20, k = 30;
      const Matrix all = rows_of_halves(n, dims, element, 41),
                   queries = rows_of_halves(20, dims, element, 42),
                   more = rows_of_halves(150, dims, element, 43);
      Matrix odd = more;
      odd.values[5] = 0.1f;
      IndexOptions options{.placement = placement, .shares = {1, 3, 2}};
      const Index floats(set, all, Metric::l2, options);
      options.reserve = 1;
      const Stored stored(all, element), stored_more(more, element);
      const Index index(set, stored.view(), Metric::l2, options), whole(one_device(), all, Metric::l2);
      CHECK(index.memory_bytes() < floats.memory_bytes());
      const auto check = [&](const Index& parted, const Index& right) {
        Trace trace;
        CHECK(parted.search(queries, k, {}, &trace) == right.search(queries, k));
        CHECK(parted.search_keys(queries, k) == right.search_keys(queries, k));
        CHECK(parted.within(queries, std::vector<float>{30.0f}) ==
              right.within(queries, std::vector<float>{30.0f}));
        CHECK(trace.members.size() == 3);
        CHECK(parted.residence() == Residence::resident);
      };
      const std::vector<std::int64_t> gone = {0, 31, 32, 127, 300, 699};
      const test_support::TemporaryFolder folder;
      check(index.without(gone).compact(), whole.without(gone));
      check(index.with(stored_more.view()), whole.with(more));
      save(index, folder / "rows.kidx");
      check(index, whole);
      OpenOptions open{.placement = placement, .shares = {2, 1, 1}};
      check(open_index(folder / "rows.kidx", set, open), whole);
      check(index.with(stored_more.view()).compact(), whole.with(more));
      check(index.with(odd).without(gone).compact(), whole.with(odd).without(gone));
      check(index.without(gone), whole.without(gone));
      check(index.with(odd).with(stored_more.view()), whole.with(odd).with(more));
    }
}

TEST_SUITE_END();

}  // namespace
}  // namespace kith::tests
