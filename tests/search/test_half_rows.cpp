// Tests rows of f16 and bf16 that stay on the device as they are (IndexOptions::reserve asks for it at
// any size): they have the answers of the same rows as floats, whether float32 has room on the device or
// not. docs/howto/elements.md.
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

TEST_CASE("half rows: every f16 and bf16 that is a number, as floats and chunk by chunk") {
  for (const Element element : halves) {
    CAPTURE(std::string(name(element)));
    Matrix all{0, 1, {}};
    for (std::uint32_t p = 0; p < 0x10000u; ++p)
      if (std::isfinite(value_of_half(element, p))) all.values.push_back(value_of_half(element, p));
    all.rows = static_cast<std::int64_t>(all.values.size());
    Matrix queries{0, 1, {}};
    for (std::size_t i = 0; i < all.values.size(); i += 997) queries.values.push_back(all.values[i]);
    queries.rows = static_cast<std::int64_t>(queries.values.size());
    for (const Metric metric : {Metric::l1, Metric::squared_l2}) {
      const HalvesAndFloats ways(all, element, metric);
      for (const std::int64_t k : {1, 40})
        ways.check([&](const Index& index) { return index.search(queries, k); });
    }
    const HalvesAndFloats ways(all, element, Metric::l1);
    const test_support::TemporaryFolder folder;
    save(ways.floats, folder / "floats.kidx");
    for (const Index* const index : {&ways.roomy, &ways.crowded}) {
      save(*index, folder / "halves.kidx");  // compares every bit of every row
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
      const Matrix rows = rows_of_halves(300, 7, element, 5), queries = rows_of_halves(4, 7, element, 6);
      for (const bool some : {false, true}) {
        IndexOptions options;
        if (some) options.features = {1, 3, 6};
        Stored bad(rows, element, 3, 1);
        bad.put_pattern(299, 0, static_cast<std::uint16_t>(pattern));  // its column does not count
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
        const Matrix rows = rows_of_halves(n, dims, element, 15),
                     queries = rows_of_halves(6, dims, element, 16);
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
  const Matrix rows = rows_of_halves(n, dims, Element::f16, 25),
               queries = rows_of_halves(3, dims, Element::f16, 26);
  const Stored stored(rows, Element::f16);
  const auto fresh = [] { return open_device(one_device().info().spec); };  // no memory is used again
  const Index floats(fresh(), rows, Metric::l2);
  const std::size_t all = floats.memory_bytes();
  const Index index(fresh(), stored.view(), Metric::l2, {.reserve = n});
  CHECK(index.memory_bytes() == all / 2);
  static_cast<void>(index.plan(3, 5));
  CHECK(index.memory_bytes() == all / 2);
  const SearchOptions plain{.proposer = Proposer::none, .boxes = false};
  const Index rest = index.without(std::vector<std::int64_t>{7});
  CHECK(index.search(queries, 5, plain) == floats.search(queries, 5, plain));
  CHECK(index.memory_bytes() == all);
  CHECK(rest.memory_bytes() == all);  // shares its rows
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

  const Index crowded(device_of(HalvesAndFloats::crowd(rows)), stored.view(), Metric::l2, {.reserve = n});
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
      CAPTURE_ALL(name(element), name(metric));
      const std::int64_t n = 900, dims = 33, m = 21, k = 12;
      const Matrix rows = rows_of_halves(n, dims, element, 35),
                   queries = rows_of_halves(m, dims, element, 36);
      const HalvesAndFloats ways(rows, element, metric);
      ways.check([&](const Index& index) { return index.search(queries, k); });
      for (const Proposer proposer : {Proposer::none, Proposer::int8})
        if (metric != Metric::cosine && (proposer == Proposer::none || has_quantized_rows()))
          ways.check([&](const Index& index) {
            Neighbors found;
            // Each thread needs its own lists, and those of many threads would fill the crowded device.
            const std::string error =
                error_of([&] { found = index.search(queries, k, {.proposer = proposer, .threads = 2}); });
            return error.substr(0, error.find(':')) + " " + difference(found, ways.floats.search(queries, k));
          });
      for (const std::int64_t filters : {std::int64_t{1}, m})
        for (const std::uint32_t word : {0x55555555u, 0x00000010u}) {
          const std::vector<std::uint32_t> words(size(filters * ((n + 31) / 32)), word);
          const SearchOptions options{.filter = {words.data(), filters, (n + 31) / 32}};
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
    const Matrix rows = rows_of_halves(n, dims, element, 45), queries = rows_of_halves(9, dims, element, 46);
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
  const Matrix rows = rows_of_halves(n, dims, element, 55), queries = rows_of_halves(12, dims, element, 56);
  IndexOptions options;
  options.ids.resize(size(n));
  std::iota(options.ids.begin(), options.ids.end(), 1000);
  HalvesAndFloats(rows, element, Metric::l2, options).check([&](const Index& index) {
    return index.search(queries, k);
  });
  std::reverse(options.ids.begin(), options.ids.end());
  const HalvesAndFloats turned(rows, element, Metric::l2, options);
  turned.check([&](const Index& index) { return index.search(queries, k); });
  std::vector<std::int64_t> ids(size(n));
  std::iota(ids.rbegin(), ids.rend(), 5000);
  const HalvesAndFloats ways(rows, element, Metric::l2);
  ways.check(
      [&](const Index& index) { return index.with(Stored(rows, element).view(), ids).search(queries, k); });
  IndexOptions shard{.first_row = std::int64_t{1} << 33};
  const HalvesAndFloats parts(rows, element, Metric::l2, shard);
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
    const Matrix rows = rows_of_halves(n, dims, element, 65), queries = rows_of_halves(30, dims, element, 66);
    std::vector<std::int64_t> labels;
    for (std::int64_t r = 0; r < n; ++r) labels.push_back(r * 7 % 5);
    const HalvesAndFloats ways(rows, element, Metric::l2);
    ways.check([&](const Index& index) {
      const Classifier classifier(index, MatrixView<const std::int64_t>(labels.data(), n, 1));
      return classifier.predict(queries, 9);
    });
  }
}

TEST_SUITE_END();

}  // namespace
}  // namespace kith::tests
