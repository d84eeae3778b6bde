// Rows of f16 and bf16 that stay on the device as they are (IndexOptions::reserve asks for it at any size):
// the answers of the same rows as floats, whether float32 has room on the device or not.
// docs/architecture.md.
#include <doctest/doctest.h>

#include <algorithm>
#include <cstdint>
#include <numeric>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include "common/device.hpp"
#include "common/elements.hpp"
#include "common/folder.hpp"
#include "common/oracle.hpp"
#include "common/parted/sets.hpp"
#include "common/subsets.hpp"
#include "kith/classifier.hpp"
#include "kith/index.hpp"
#include "kith/index_file.hpp"
#include "kith/keys.hpp"

namespace kith::tests {
namespace {

constexpr Element halves[] = {Element::f16, Element::bf16};

float value_of(Element element, std::uint32_t pattern) {
  const auto half = static_cast<std::uint16_t>(pattern);
  return element == Element::f16 ? value_of_f16(half) : value_of_bf16(half);
}

/// Numbers of the element: every third row is of any, down to the smallest, others of a few, so that ties are
/// there.
Matrix numbers(std::int64_t rows, std::int64_t cols, Element element, std::uint64_t seed) {
  Matrix made{rows, cols, {}};
  std::uint64_t state = seed;
  for (std::int64_t i = 0; i < rows * cols; ++i) {
    state = state * 6364136223846793005u + 1442695040888963407u;
    const auto any = static_cast<std::uint32_t>(state >> 40);
    const std::uint32_t exponent = any >> 16 & 31;  // of bf16 0, or around that of 1
    const std::uint32_t pattern = element == Element::f16
                                      ? any & (any & 0x10000u ? 0x83FFu : 0xBBFFu)
                                      : (any & 0x807Fu) | (exponent ? 112 + exponent : 0) << 7;
    made.values.push_back(i / cols % 3 == 0 ? value_of(element, pattern)
                                            : static_cast<float>(any % 5) - 1.5f);
  }
  return made;
}

/// The same device with another description: float32 has room where the rows take at most half of `memory`.
Device device_of(std::size_t memory) {
  Device made = open_device(one_device().info().spec);
  made.state()->info.memory_bytes = memory;
  return made;
}

std::size_t bytes_of_floats(std::int64_t rows, std::int64_t cols) {
  return size(rows * cols) * sizeof(float);
}

/// The same rows as halves, where floats have room and where they have none, and as floats.
struct Ways {
  Index roomy, crowded, floats;

  Ways(const Matrix& rows, Element element, Metric metric, const IndexOptions& options = {})
      : roomy(one_device(), Stored(rows, element).view(), metric, kept(options)),
        crowded(device_of(crowd(rows)), Stored(rows, element).view(), metric, kept(options)),
        floats(one_device(), rows, metric, options) {}

  static IndexOptions kept(IndexOptions options) {
    options.reserve = 1;
    return options;
  }
  /// Too little for floats of such rows, and enough for some of them at a time.
  static std::size_t crowd(const Matrix& rows) {
    return 2 * bytes_of_floats(rows.rows, rows.cols) - 2 * sizeof(float);
  }

  template <class Ask>
  void check(const Ask& ask) const {
    const auto expected = ask(floats);
    for (const Index* const index : {&roomy, &crowded}) {
      CAPTURE(index == &crowded);
      CHECK(ask(*index) == expected);
    }
  }
};

/// The back end `planted` of these tests has no step that does: there rows are floats from the beginning.
bool lands_halves() {
  return device().info().backend != "planted";
}

TEST_SUITE_BEGIN("device");

TEST_CASE("half rows: every f16 and bf16 that is a number, as floats and chunk by chunk") {
  for (const Element element : halves) {
    CAPTURE(std::string(name(element)));
    Matrix all{0, 1, {}};
    for (std::uint32_t p = 0; p < 0x10000u; ++p)
      if (std::isfinite(value_of(element, p))) all.values.push_back(value_of(element, p));
    all.rows = static_cast<std::int64_t>(all.values.size());
    Matrix queries{0, 1, {}};
    for (std::size_t i = 0; i < all.values.size(); i += 997) queries.values.push_back(all.values[i]);
    queries.rows = static_cast<std::int64_t>(queries.values.size());
    for (const Metric metric : {Metric::l1, Metric::squared_l2}) {
      const Ways ways(all, element, metric);
      for (const std::int64_t k : {1, 40})
        ways.check([&](const Index& index) { return index.search(queries, k); });
    }
    const Ways ways(all, element, Metric::l1);
    const test_support::TemporaryFolder folder;
    save(ways.floats, folder / "floats.kidx");
    for (const Index* const index : {&ways.roomy, &ways.crowded}) {
      save(*index, folder / "halves.kidx");  // and so every bit of every row
      const Index read = open_index(folder / "halves.kidx", one_device());
      CHECK(read.search(queries, 3) == ways.floats.search(queries, 3));
      const IndexFileInfo info = index_file_info(folder / "halves.kidx");
      CHECK(info.element == element);
    }
  }
}

TEST_CASE("half rows: values that are not finite are named by row and column, and take no room") {
  if (!lands_halves()) return;
  for (const Element element : halves)
    for (const std::uint32_t pattern : element == Element::f16
                                           ? std::vector<std::uint32_t>{0x7E00, 0x7C00, 0xFC00, 0x7C01}
                                           : std::vector<std::uint32_t>{0x7FC0, 0x7F80, 0xFF80, 0x7F81}) {
      const Matrix rows = numbers(300, 7, element, 5), queries = numbers(4, 7, element, 6);
      for (const bool some : {false, true}) {
        IndexOptions options;
        if (some) options.features = {1, 3, 6};
        Stored bad(rows, element, 3, 1);
        bad.put_pattern(299, 0, static_cast<std::uint16_t>(pattern));  // one of no column that counts
        bad.put_pattern(257, 6, static_cast<std::uint16_t>(pattern));
        bad.put_pattern(257, 3, static_cast<std::uint16_t>(pattern));
        bad.put_pattern(280, 1, static_cast<std::uint16_t>(pattern));
        const std::string expected = error_of([&] { Index(one_device(), bad.view(), Metric::l2, options); });
        CHECK(expected.find("training row 257, column 3 holds") != std::string::npos);
        IndexOptions reserve = options;
        reserve.reserve = 900;
        CHECK(error_of([&] { Index(one_device(), bad.view(), Metric::l2, reserve); }) == expected);
        const Index plain(one_device(), rows, Metric::l2, options),
            index(one_device(), Stored(rows, element).view(), Metric::l2, reserve);
        CHECK(error_of([&] { static_cast<void>(index.with(bad.view())); }) ==
              error_of([&] { static_cast<void>(plain.with(bad.view())); }));
        const std::size_t before = index.memory_bytes();
        const Index grown = index.with(Stored(rows, element).view());
        CHECK(grown.memory_bytes() == before);
        CHECK(grown.search(queries, 30) == plain.with(rows).search(queries, 30));
      }
    }
}

TEST_CASE("half rows: at any address, any number of bytes apart, of some columns or all") {
  for (const Element element : halves)
    for (const std::int64_t gap : {0, 1, 2, 5})
      for (const std::int64_t offset : {0, 1, 2}) {
        const std::int64_t n = 270, dims = 9;
        const Matrix rows = numbers(n, dims, element, 15), queries = numbers(6, dims, element, 16);
        IndexOptions options;
        if (gap == 5 || offset == 1) options.features = {0, 2, 3, 8};
        IndexOptions reserve = options;
        reserve.reserve = n;
        const Index index(device(), Stored(rows, element, gap, offset).view(), Metric::l2, reserve);
        const Index right(device(), rows, Metric::l2, options);
        CHECK(index.search(queries, n) == right.search(queries, n));
        CHECK(index.search(Stored(queries, element, gap, offset).view(), 3) == right.search(queries, 3));
      }
}

TEST_CASE("half rows: half of the memory until a search wants floats, then that of floats") {
  if (!lands_halves()) return;
  const std::int64_t n = 12800, dims = 64;
  const Matrix rows = numbers(n, dims, Element::f16, 25), queries = numbers(3, dims, Element::f16, 26);
  const Stored stored(rows, Element::f16);
  const auto fresh = [] { return open_device(one_device().info().spec); };  // no memory is used again
  const Index floats(fresh(), rows, Metric::l2);
  const std::size_t all = floats.memory_bytes();
  const Index index(fresh(), stored.view(), Metric::l2, {.reserve = n});
  CHECK(index.memory_bytes() == all / 2);
  static_cast<void>(index.plan(3, 5));
  CHECK(index.memory_bytes() == all / 2);
  const PlanOptions plain{.proposer = Proposer::none, .boxes = false};
  const Index rest = index.without(std::vector<std::int64_t>{7});
  CHECK(index.search(queries, 5, plain) == floats.search(queries, 5, plain));
  CHECK(index.memory_bytes() == all);
  CHECK(rest.memory_bytes() == all);  // which shares them
  CHECK(index.residence() == Residence::resident);

  const Index prepared(fresh(), stored.view(), Metric::l2, {.reserve = n});
  prepared.prepare(3, 5, plain);
  CHECK(prepared.memory_bytes() == all);

  const Index room(fresh(), stored.view(), Metric::l2, {.reserve = 2 * n});
  const std::size_t with_room = room.memory_bytes();
  CHECK(with_room >= all);
  CHECK(with_room < 2 * all);
  CHECK(room.search(queries, 5, plain) == floats.search(queries, 5, plain));
  CHECK(room.memory_bytes() > with_room);  // where with() still puts rows
  const Index grown = room.with(stored.view());
  CHECK(grown.memory_bytes() == with_room);
  CHECK(grown.search(queries, 5, plain) == floats.with(rows).search(queries, 5, plain));
  CHECK(grown.memory_bytes() < with_room + 2 * all);

  const Index crowded(device_of(Ways::crowd(rows)), stored.view(), Metric::l2, {.reserve = n});
  const std::size_t before = crowded.memory_bytes();
  Trace trace;
  crowded.search(queries, 5, {}, &trace);
  CHECK(trace.chunks > 1);
  CHECK(trace.plan.residence == Residence::stream);
  CHECK(crowded.plan(3, 5).residence == Residence::stream);
  CHECK(crowded.memory_bytes() == before);
}

TEST_CASE("half rows: filters, own rows, radii, removed rows, ids, shards and keys, both ways") {
  for (const Element element : halves)
    for (const Metric metric :
         {Metric::squared_l2, Metric::l2, Metric::l1, Metric::linf, Metric::negative_dot, Metric::cosine}) {
      CAPTURE(std::string(name(element)));
      CAPTURE(std::string(name(metric)));
      const std::int64_t n = 900, dims = 33, m = 21, k = 12;
      const Matrix rows = numbers(n, dims, element, 35), queries = numbers(m, dims, element, 36);
      const Ways ways(rows, element, metric);
      ways.check([&](const Index& index) { return index.search(queries, k); });
      for (const Proposer proposer : {Proposer::none, Proposer::int8})
        if (metric != Metric::cosine && (proposer == Proposer::none || has_quantized_rows()))
          ways.check([&](const Index& index) {
            Neighbors found;
            const std::string error =
                error_of([&] { found = index.search(queries, k, {.proposer = proposer}); });
            return error.substr(0, error.find(':')) + " " + difference(found, ways.floats.search(queries, k));
          });
      for (const std::int64_t filters : {std::int64_t{1}, m})
        for (const std::uint32_t word : {0x55555555u, 0x00000010u}) {
          const std::vector<std::uint32_t> words(size(filters * ((n + 31) / 32)), word);
          const PlanOptions options{.filter = {words.data(), filters, (n + 31) / 32}};
          ways.check([&](const Index& index) { return index.search(queries, k, options); });
        }
      ways.check([&](const Index& index) { return index.search(rows.view().slice(0, 30), k, {.self = 0}); });
      const std::vector<float> radius = {metric == Metric::negative_dot ? -100.0f : 60.0f};
      ways.check([&](const Index& index) { return index.within(queries, radius); });
      ways.check([&](const Index& index) { return index.search_keys(queries, k); });
      const std::vector<std::int64_t> gone = {0, 5, 127, 128, 500, 899};
      ways.check([&](const Index& index) { return index.without(gone).search(queries, k); });
      ways.check([&](const Index& index) { return index.without(gone).search_keys(queries, k); });
      ways.check([&](const Index& index) { return index.without(gone).compact().search(queries, k); });
      ways.check([&](const Index& index) { return index.without(gone).compact().within(queries, radius); });
      ways.check([&](const Index& index) { return index.without(gone).within(queries, radius); });
    }
}

TEST_CASE("half rows: compacted, and removed from, before a search makes floats of them") {
  for (const Element element : halves) {
    const std::int64_t n = 700, dims = 12;
    const Matrix rows = numbers(n, dims, element, 45), queries = numbers(9, dims, element, 46);
    const Index index(device(), Stored(rows, element).view(), Metric::l2, {.reserve = 1});
    const Index right(device(), rows, Metric::l2);
    std::vector<std::int64_t> gone;
    for (std::int64_t r = 3; r < n; r += 5) gone.push_back(r);
    const Index rest = index.without(gone).compact();
    CHECK(rest.rows() == n - static_cast<std::int64_t>(gone.size()));
    CHECK(rest.search(queries, 40) == right.without(gone).search(queries, 40));
    CHECK(rest.with(Stored(rows, element).view()).search(queries, 40) ==
          right.without(gone).with(rows).search(queries, 40));
    CHECK(index.compact().search(queries, 40) == right.search(queries, 40));
  }
}

TEST_CASE("half rows: ids that ascend, ids that do not, and a shard") {
  if (!lands_halves()) return;
  const std::int64_t n = 500, dims = 20, k = 9;
  const Element element = Element::bf16;
  const Matrix rows = numbers(n, dims, element, 55), queries = numbers(12, dims, element, 56);
  IndexOptions options;
  options.ids.resize(size(n));
  std::iota(options.ids.begin(), options.ids.end(), 1000);
  Ways(rows, element, Metric::l2, options).check([&](const Index& index) {
    return index.search(queries, k);
  });
  std::reverse(options.ids.begin(), options.ids.end());
  const Ways turned(rows, element, Metric::l2, options);
  turned.check([&](const Index& index) { return index.search(queries, k); });
  std::vector<std::int64_t> ids(size(n));
  std::iota(ids.rbegin(), ids.rend(), 5000);
  const Ways ways(rows, element, Metric::l2);
  ways.check(
      [&](const Index& index) { return index.with(Stored(rows, element).view(), ids).search(queries, k); });
  IndexOptions shard;
  shard.first_row = std::int64_t{1} << 33;
  const Ways parts(rows, element, Metric::l2, shard);
  parts.check([&](const Index& index) { return index.search_keys(queries, k); });
  parts.check([&](const Index& index) { return index.within_keys(queries, std::vector<float>{30.0f}); });
  const Keys some =
      Index(device(), Stored(rows, element).view(), Metric::l2, {.reserve = 1}).search_keys(queries, k);
  const std::vector<Keys> lists = {some, parts.crowded.search_keys(queries, k)};
  const std::vector<Keys> right = {Index(device(), rows, Metric::l2).search_keys(queries, k),
                                   parts.floats.search_keys(queries, k)};
  CHECK(merge(lists) == merge(right));
}

TEST_CASE("half rows: votes are those of floats") {
  const std::int64_t n = 600, dims = 10;
  for (const Element element : halves) {
    const Matrix rows = numbers(n, dims, element, 65), queries = numbers(30, dims, element, 66);
    std::vector<std::int64_t> labels;
    for (std::int64_t r = 0; r < n; ++r) labels.push_back(r * 7 % 5);
    const Ways ways(rows, element, Metric::l2);
    ways.check([&](const Index& index) {
      const Classifier classifier(index, MatrixView<const std::int64_t>(labels.data(), n, 1));
      return classifier.predict(queries, 9);
    });
  }
}

TEST_CASE("half rows: room for more, whatever the counts of rows that come, and without room") {
  if (!lands_halves()) return;
  for (const Element element : halves)
    for (const std::vector<std::int64_t>& parts :
         {std::vector<std::int64_t>{128, 128, 144}, {1, 1, 126, 1, 271}, {200, 3, 197}})
      for (const std::int64_t room : {400, 1, 150}) {
        CAPTURE(std::string(name(element)));
        CAPTURE(parts[0]);
        CAPTURE(room);
        const std::int64_t n = 400, dims = 17;
        const Matrix all = numbers(n, dims, element, 75), queries = numbers(8, dims, element, 76);
        const Stored stored(all, element);
        Index index(device(), stored.view().slice(0, parts[0]), Metric::l2, {.reserve = room});
        const std::size_t before = index.memory_bytes();
        std::vector<Index> snapshots = {index};
        for (std::size_t i = 1; i < parts.size(); ++i) {
          index = index.with(stored.view().slice(index.rows(), parts[i]));
          snapshots.push_back(index);
        }
        if (room == n && device().state()->members.empty()) CHECK(index.memory_bytes() == before);
        const Matrix more = numbers(150, dims, element, 77);
        Matrix odd = more;
        odd.values[5] = 0.1f;
        const Index right(device(), all, Metric::l2), grown = index.with(Stored(more, element).view());
        const Index first(device(), all.view().slice(0, parts[0]), Metric::l2);
        // From a snapshot that is not the last; of other elements; before a search and after it.
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
  const Device crowded = device_of(0);  // which is told by how much each time
  std::mt19937 random(4711);
  const auto below = [&](std::int64_t end) { return static_cast<std::int64_t>(random() % size(end)); };
  for (int round = 0; round < 12; ++round) {
    const Element element = halves[below(2)];
    const std::int64_t dims = below(2) == 1 ? 30 : 47;
    const Metric metric = below(2) == 1 ? Metric::l2 : Metric::negative_dot;
    const auto some = [&](std::int64_t most) { return numbers(1 + below(most), dims, element, random()); };
    const Matrix rows = numbers(600 + below(600), dims, element, random()), queries = some(9);
    crowded.state()->info.memory_bytes = Ways::crowd(rows);
    const Device on = below(2) == 1 ? one_device() : crowded;
    Index index(on, Stored(rows, element).view(), metric, {.reserve = 1 + below(900)}),
        right(one_device(), rows, metric);
    for (int step = 0; step < 6; ++step) {
      const std::int64_t what = below(6);
      CAPTURE(round);
      CAPTURE(step);
      CAPTURE(what);
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
        CHECK(index.search(queries, k) == right.search(queries, k));
      }
      CHECK(index.numbers() == right.numbers());
    }
    CHECK(index.search(queries, 1) == right.search(queries, 1));
  }
}

TEST_CASE("half rows: several threads search while floats are made of them") {
  const std::int64_t n = 3000, dims = 24, k = 7;
  const Matrix rows = numbers(n, dims, Element::f16, 85), queries = numbers(5, dims, Element::f16, 86);
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
  if (info.backend != "cpu" && info.kind != DeviceKind::gpu) return;  // which takes too long
  const std::int64_t n = std::int64_t{1} << 20, dims = 64;
  std::vector<std::uint16_t> rows;
  rows.reserve(size(n * dims));
  std::uint64_t state = 1;
  for (std::int64_t i = 0; i < n * dims; ++i) {
    state = state * 6364136223846793005u + 1442695040888963407u;
    rows.push_back(static_cast<std::uint16_t>(state >> 48 & 0xBBFFu));
  }
  const RowsView view(rows.data(), Element::f16, n, dims);
  const Matrix queries = numbers(2, dims, Element::f16, 96);
  const Index index(device(), view, Metric::l2);
  CHECK(index.memory_bytes() <= size(n * dims) * 3);
  const test_support::TemporaryFolder folder;
  save(index, folder / "rows.kidx");
  const Index read = open_index(folder / "rows.kidx", device());
  CHECK(read.memory_bytes() <= size(n * dims) * 3);
  const PlanOptions plain{.proposer = Proposer::none, .boxes = false};
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
      CAPTURE(std::string(name(element)));
      CAPTURE(placement == Placement::split);
      const std::int64_t n = 700, dims = 20, k = 30;
      const Matrix all = numbers(n, dims, element, 41), queries = numbers(20, dims, element, 42),
                   more = numbers(150, dims, element, 43);
      Matrix odd = more;
      odd.values[5] = 0.1f;
      IndexOptions options;
      options.placement = placement;
      options.shares = {1, 3, 2};
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
      OpenOptions open;
      open.placement = placement;
      open.shares = {2, 1, 1};
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
