// Tests rows of bytes that stay on the device as bytes (IndexOptions::reserve asks for it at any size): every
// question has the answer of the same rows as floats. docs/howto/elements.md.
#include "common/elements.hpp"
#include "common/folder.hpp"
#include "common/parted/sets.hpp"
#include "common/subsets.hpp"
#include "kith/index.hpp"
#include "kith/index_file.hpp"
#include "kith/keys.hpp"

namespace kith::tests {
namespace {

/// Returns bytes, most of few values, so that distances tie, and some of any value.
Matrix bytes(std::int64_t rows, std::int64_t cols, Element element, std::uint64_t seed, int few = 7) {
  Matrix made{rows, cols, {}};
  std::uint64_t state = seed;
  const int least = element == Element::i8 ? -128 : 0;
  for (std::int64_t i = 0; i < rows * cols; ++i) {
    state = state * 6364136223846793005u + 1442695040888963407u;
    const auto any = static_cast<int>(state >> 56), some = static_cast<int>(state >> 40 & 0xFFFFu) % few;
    made.values.push_back(static_cast<float>((i / cols % 3 == 0 ? any : some * 40 % 256) + least));
  }
  return made;
}

/// Holds the same rows as bytes with room for more, and as floats.
struct Both {
  Index in_bytes, floats;

  Both(const Matrix& rows, Element element, Metric metric, const IndexOptions& options = {},
       std::int64_t room = 1)
      : in_bytes(device(), Stored(rows, element).view(), metric, with_room(options, room)),
        floats(device(), rows, metric, options) {}

  static IndexOptions with_room(IndexOptions options, std::int64_t room) {
    options.reserve = room;
    return options;
  }
};

struct Kind {
  Element element;
  Metric metric;
};
constexpr Kind kinds[] = {{Element::u8, Metric::squared_l2},
                          {Element::u8, Metric::l2},
                          {Element::i8, Metric::l2},
                          {Element::i8, Metric::negative_dot}};

bool has_bytes() {
  const auto& has = device().info().proposers;
  return std::find(has.begin(), has.end(), Proposer::int8) != has.end();
}

/// Returns the most memory that byte rows may take: 1 byte per element, 8 per row, and twice that, because a
/// block that is used again may be too long.
std::size_t most_bytes(std::int64_t rows, std::int64_t dims) {
  return size(rows * (dims + 8)) * 2;
}

TEST_SUITE_BEGIN("device");

TEST_CASE("byte rows: the answers of floats, for queries of every element, on the grid and off it") {
  for (const Kind& kind : kinds)
    for (const std::int64_t dims : {1, 7, 33, 100, 130, 258, 259}) {
      const Element element = kind.element;
      const Metric metric = kind.metric;
      const std::int64_t n = dims == 33 ? 1000 : 261, m = dims == 33 ? 90 : 9;
      CAPTURE_ALL(name(element), name(metric), dims);
      const Both both(bytes(n, dims, element, 3), element, metric);
      Matrix queries = bytes(m, dims, element, 5);
      const Stored as_bytes(queries, element);
      for (const std::int64_t k : {std::int64_t{1}, std::int64_t{10}, n}) {
        CAPTURE(k);
        const Neighbors expected = both.floats.search(queries, k, {.proposer = Proposer::none});
        Trace trace;
        CHECK(both.in_bytes.search(as_bytes.view(), k, {}, &trace) == expected);
        CHECK(both.in_bytes.search(queries, k) == expected);
        CHECK(both.in_bytes.search(queries, k, {.proposer = Proposer::none}) == expected);
        const bool exact = has_bytes() && dims <= (metric == Metric::negative_dot ? 1024 : 258);
        if (exact) CHECK(trace.plan.exact_products);
        if (exact) CHECK(both.in_bytes.plan(m, k).exact_products);
      }
      queries.values[0] += 0.25f;
      CHECK(both.in_bytes.search(queries, 10) == both.floats.search(queries, 10));
    }
}

TEST_CASE("byte rows: a quarter of the memory until a search wants floats") {
  if (!has_bytes()) return;
  const std::int64_t n = 12800, dims = 128;
  const Both both(bytes(n, dims, Element::u8, 3), Element::u8, Metric::l2);
  const Matrix queries = bytes(5, dims, Element::u8, 4);
  CHECK(both.in_bytes.memory_bytes() <= most_bytes(n, dims));
  Trace trace;
  both.in_bytes.search(Stored(queries, Element::u8).view(), 3, {}, &trace);
  CHECK(both.in_bytes.memory_bytes() <= most_bytes(n, dims));
  CHECK(trace.plan.rows_are_bytes);
  CHECK(both.in_bytes.plan(5, 3).rows_are_bytes);
  CHECK(explain(trace.plan).find(std::to_string(n * (dims + 4)) + " bytes, as they are\n") !=
        std::string::npos);
  const std::size_t floats = size(n * dims) * sizeof(float);
  both.in_bytes.search(queries, 3, {.proposer = Proposer::none});
  CHECK(both.in_bytes.memory_bytes() >= size(n * dims) + floats);
  CHECK(both.in_bytes.residence() == Residence::resident);
}

TEST_CASE("byte rows: room for more, which takes no copy, whatever the counts of rows that come") {
  for (const Kind& kind : kinds)
    for (const std::vector<std::int64_t>& parts :
         {std::vector<std::int64_t>{128, 128, 144}, {1, 1, 126, 1, 271}, {200, 3, 197}}) {
      const Element element = kind.element;
      const Metric metric = kind.metric;
      CAPTURE_ALL(name(element), name(metric), parts[0]);
      const std::int64_t n = 400, dims = 40;
      const Matrix all = bytes(n, dims, element, 9), queries = bytes(20, dims, element, 10);
      const Stored stored(all, element);
      Index index(device(), stored.view().slice(0, parts[0]), metric, {.reserve = n});
      const std::size_t before = index.memory_bytes();
      std::vector<Index> snapshots = {index};
      for (std::size_t i = 1; i < parts.size(); ++i) {
        index = index.with(stored.view().slice(index.rows(), parts[i]));
        snapshots.push_back(index);
      }
      if (has_bytes()) CHECK(index.memory_bytes() == before);
      for (const Index& snapshot : snapshots) {
        const Index right(device(), all.view().slice(0, snapshot.rows()), metric);
        CHECK(snapshot.search(queries, std::min<std::int64_t>(30, snapshot.rows())) ==
              right.search(queries, std::min<std::int64_t>(30, snapshot.rows())));
      }
      // Adds rows beyond the reserved room, to a snapshot that is not the last, and floats behind bytes.
      const Matrix more = bytes(150, dims, element, 11);
      const Index right(device(), all, metric), grown = index.with(Stored(more, element).view());
      CHECK(grown.search(queries, 50) == right.with(more).search(queries, 50));
      const Index first(device(), all.view().slice(0, parts[0]), metric);
      CHECK(snapshots[0].with(Stored(more, element).view()).search(queries, 50) ==
            first.with(more).search(queries, 50));
      // no other index has overwritten its rows
      CHECK(index.search(queries, 50) == right.search(queries, 50));
      Matrix odd = more;
      odd.values[5] = 0.5f;
      CHECK(grown.with(odd).search(queries, 50) == right.with(more).with(odd).search(queries, 50));
      CHECK(grown.with(more).search(queries, 50) == right.with(more).with(more).search(queries, 50));
    }
}

TEST_CASE("byte rows: rows that are all alike, so that lists overflow and the chain answers") {
  const std::int64_t n = 40000, dims = 16;
  Matrix rows{n, dims, std::vector<float>(size(n * dims), 7)};
  rows.values[size((n - 1) * dims)] = 8;
  const Both both(rows, Element::u8, Metric::squared_l2);
  const Matrix queries = bytes(3, dims, Element::u8, 4);
  for (const std::int64_t k : {1, 100}) {
    Trace trace;
    CHECK(both.in_bytes.search(queries, k, {}, &trace) ==
          both.floats.search(queries, k, {.proposer = Proposer::none}));
    CHECK(both.in_bytes.search(rows.view().slice(0, 2), k, {.self = 0}) ==
          both.floats.search(rows.view().slice(0, 2), k, {.proposer = Proposer::none, .self = 0}));
  }
}

TEST_CASE("byte rows: rows and queries of zeros alone, which no bound of a product is made for") {
  if (!has_bytes()) return;
  for (const Kind& kind : kinds)
    for (const float value : {0.0f, 1.0f}) {
      CAPTURE_ALL(name(kind.metric), value);
      const Matrix rows{300, 17, std::vector<float>(300 * 17, value)};
      const Both both(rows, kind.element, kind.metric);
      const Stored queries({70, 17, std::vector<float>(70 * 17, 0.0f)}, kind.element);
      for (const std::int64_t k : {1, 27, 300})
        CHECK(both.in_bytes.search(queries.view(), k) == both.floats.search(queries.view(), k));
    }
}

TEST_CASE("byte rows: filters, own rows, radii, removed rows, ids and keys") {
  for (const Kind& kind : kinds) {
    const Element element = kind.element;
    const Metric metric = kind.metric;
    CAPTURE_ALL(name(element), name(metric));
    const std::int64_t n = 900, dims = 48, m = 40, k = 12;
    const Matrix rows = bytes(n, dims, element, 21), queries = bytes(m, dims, element, 22);
    const Both both(rows, element, metric);
    for (const std::int64_t filters : {std::int64_t{1}, m})
      for (const std::uint32_t word : {0xFFFFFFFFu, 0x55555555u, 0x00000010u}) {
        const std::vector<std::uint32_t> words(size(filters * ((n + 31) / 32)), word);
        const SearchOptions options{.filter = {words.data(), filters, (n + 31) / 32}};
        CHECK(both.in_bytes.search(queries, k, options) == both.floats.search(queries, k, options));
      }
    const Matrix own{30, dims, {rows.values.begin(), rows.values.begin() + 30 * dims}};
    CHECK(both.in_bytes.search(own, k, {.self = 0}) == both.floats.search(own, k, {.self = 0}));
    const std::vector<float> radius = {metric == Metric::negative_dot ? -100000.0f : 700.0f};
    CHECK(both.in_bytes.within(queries, radius) == both.floats.within(queries, radius));
    CHECK(both.in_bytes.search_keys(queries, k) == both.floats.search_keys(queries, k));
    const std::vector<std::int64_t> gone = {0, 5, 127, 128, 500, 899};
    const Index rest = both.in_bytes.without(gone), right = both.floats.without(gone);
    CHECK(rest.search(queries, k) == right.search(queries, k));
    CHECK(rest.compact().search(queries, k) == right.search(queries, k));
    CHECK(rest.compact().rows() == n - 6);
    CHECK(rest.search_keys(queries, k) == right.search_keys(queries, k));
  }
}

TEST_CASE("byte rows: a query is refused by the largest element of all rows, those that came later or left") {
  const std::int64_t n = 200, dims = 20;
  const Matrix small{n, dims, std::vector<float>(size(n * dims), 1)};
  Matrix large = small;
  large.values[size((n - 1) * dims + 3)] = -128;
  const Matrix query{1, dims, std::vector<float>(size(dims), 1e36f)};  // refused from 18 on
  const auto check = [&](const Index& index, const Index& right) {
    const auto error = [&](const Index& asked) { return error_of([&] { asked.search(query, 1); }); };
    CHECK(error(index) == error(right));
    CHECK(error(index) != "nothing was thrown");
  };
  const Stored few(small, Element::i8), far(large, Element::i8);
  const std::vector<std::int64_t> last = {n - 1};
  for (const bool later : {false, true})
    for (const std::int64_t room : {std::int64_t{1}, 2 * n}) {
      CAPTURE_ALL(later, room);
      const Both both(later ? small : large, Element::i8, Metric::negative_dot, {}, room);
      const Index grown = both.in_bytes.with((later ? far : few).view()),
                  right = both.floats.with(later ? large : small);
      check(grown, right);
      check(grown.without(std::vector<std::int64_t>{0}), right.without(std::vector<std::int64_t>{0}));
      if (!later) check(grown.without(last), right.without(last));
      const std::vector<std::int64_t> gone = {later ? 2 * n - 1 : n - 1};
      CHECK(error_of([&] { grown.without(gone).compact().search(query, 1); }) == "nothing was thrown");
    }
}

TEST_CASE("byte rows: features, ids that ascend, and a shard") {
  const std::int64_t n = 500, dims = 60, k = 9;
  const Matrix rows = bytes(n, dims, Element::u8, 31), queries = bytes(12, dims, Element::u8, 32);
  IndexOptions options;
  for (std::int64_t d = 1; d < dims; d += 2) options.features.push_back(d);
  const Both some(rows, Element::u8, Metric::l2, options);
  CHECK(some.in_bytes.search(queries, k) == some.floats.search(queries, k));
  CHECK(some.in_bytes.search(Stored(queries, Element::u8).view(), k) == some.floats.search(queries, k));
  const Matrix alike{3000, dims, std::vector<float>(size(3000 * dims), 4)};
  const Both ties(alike, Element::u8, Metric::l2, options);
  CHECK(ties.in_bytes.search(queries, 70) == ties.floats.search(queries, 70));
  IndexOptions with_ids;
  with_ids.ids.resize(size(n));
  std::iota(with_ids.ids.begin(), with_ids.ids.end(), 1000);
  const Both ids(rows, Element::u8, Metric::l2, with_ids);
  CHECK(ids.in_bytes.search(queries, k) == ids.floats.search(queries, k));
  IndexOptions shard{.first_row = std::int64_t{1} << 33};
  const Both part(rows, Element::u8, Metric::l2, shard);
  CHECK(part.in_bytes.search_keys(queries, k) == part.floats.search_keys(queries, k));
}

TEST_CASE("byte rows: on the members of a set, which rows come to, go from and are compacted") {
  const Device set = set_of(3);
  for (const Kind& kind : kinds)
    for (const Placement placement : {Placement::split, Placement::replicate}) {
      const Element element = kind.element;
      const Metric metric = kind.metric;
      CAPTURE_ALL(name(element), name(metric), placement == Placement::split);
      const std::int64_t n = 700, dims = 40, k = 30;
      const Matrix all = bytes(n, dims, element, 41), queries = bytes(20, dims, element, 42),
                   more = bytes(150, dims, element, 43);
      Matrix odd = more;
      odd.values[5] = 0.5f;
      IndexOptions options{.placement = placement, .shares = {1, 3, 2}, .reserve = 1};
      const Stored stored(all, element), stored_more(more, element), asked(queries, element);
      const Index index(set, stored.view(), metric, options), whole(one_device(), all, metric);
      const auto check = [&](const Index& parted, const Index& right) {
        Trace trace;
        CHECK(parted.search(asked.view(), k, {}, &trace) == right.search(queries, k));
        CHECK(parted.search_keys(queries, k) == right.search_keys(queries, k));
        const std::vector<float> radius = {metric == Metric::negative_dot ? -100000.0f : 600.0f};
        CHECK(parted.within(queries, radius) == right.within(queries, radius));
        CHECK(trace.members.size() == 3);
        CHECK(parted.residence() == Residence::resident);
        return trace.plan.rows_are_bytes;
      };
      const bool in_bytes = check(index, whole);
      if (has_bytes() && device().state()->members.empty()) CHECK(in_bytes);
      check(index.with(stored_more.view()), whole.with(more));
      check(index.with(stored_more.view()).compact(), whole.with(more));
      check(index.with(odd).with(stored_more.view()), whole.with(odd).with(more));
      const std::vector<std::int64_t> gone = {0, 31, 32, 127, 300, 699};
      check(index.without(gone), whole.without(gone));
      check(index.without(gone).compact(), whole.without(gone));
      check(index.with(odd).without(gone).compact(), whole.with(odd).without(gone));
      const test_support::TemporaryFolder folder;
      save(index, folder / "rows.kidx");
      OpenOptions open{.placement = placement, .shares = {2, 1, 1}};
      check(open_index(folder / "rows.kidx", set, open), whole);
    }
}

TEST_SUITE_END();

}  // namespace
}  // namespace kith::tests
