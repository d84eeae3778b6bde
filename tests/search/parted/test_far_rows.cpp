// Tests more rows than the 2^32 - 2 that one device can number. They are searched in parts, and their numbers
// have 64 bits.
#include "base/xxh64.hpp"
#include "common/folder.hpp"
#include "common/oracle.hpp"
#include "common/parted/sets.hpp"
#include "common/parted/sources.hpp"
#include "kith/classifier.hpp"
#include "kith/index.hpp"
#include "kith/keys.hpp"

namespace kith::tests {
namespace {

constexpr std::int64_t border = std::int64_t{1} << 32, n = 150;

/// Makes more rows than a device can number, of two columns, when they are read.
class ManyRows : public Source {
 public:
  RowsInfo info() const override { return {border + 200, 2, Element::i8}; }
  void read(std::int64_t first, std::int64_t count, void* to) const override {
    before_read(first, count);
    auto* byte = static_cast<std::int8_t*>(to);
    for (std::int64_t row = first; row < first + count; ++row) {
      *byte++ = static_cast<std::int8_t>(row * 37 % 19);
      *byte++ = static_cast<std::int8_t>((row % 23) * (row % 23) % 23);
    }
  }
  std::string name() const override { return "many rows"; }

  std::function<void(std::int64_t first, std::int64_t count)> before_read = [](std::int64_t, std::int64_t) {};
};

/// Changes a checkpoint of the first rows, so that it claims all rows before `rows` were searched.
void say_searched(const std::string& path, std::int64_t rows) {
  std::string bytes = test_support::text_of_file(path);
  // Before this count of rows of the first piece lie magic, version, order, three digests, shapes and the
  // number of pieces.
  constexpr std::size_t place_of_rows = 80 + 3 * sizeof(std::int64_t);
  std::memcpy(bytes.data() + place_of_rows, &rows, sizeof rows);
  const std::size_t summed = bytes.size() - sizeof(std::uint64_t);
  const std::uint64_t sum = Xxh64::of(bytes.data(), summed);
  std::memcpy(bytes.data() + summed, &sum, sizeof sum);
  std::ofstream(path, std::ios::binary) << bytes;
}

/// Adds `shift` to all row numbers.
Keys shifted(Keys keys, std::int64_t shift) {
  for (std::int64_t& row : keys.row) row += shift;
  return keys;
}

TEST_SUITE_BEGIN("device");

TEST_CASE("far rows: a stream numbers rows beyond 2^32") {
  constexpr std::int64_t chunk = 31, last = 264, begin = border + 200 - last, k = 60;
  const auto source = std::make_shared<ManyRows>();
  const test_support::TemporaryFolder folder;
  const SearchOptions options{.checkpoint = folder / "kept"};
  const Matrix queries{3, 2, {3, 4, 0, 0, 9, 20}};
  const Index index(one_device(), source, Metric::l2, streamed(chunk));
  source->before_read = [](std::int64_t first, std::int64_t count) {
    if (count > 1 && first >= chunk) throw std::runtime_error("stopped");
  };
  CHECK_THROWS_AS(index.search(queries, k, options), std::runtime_error);
  source->before_read = [](std::int64_t, std::int64_t) {};
  say_searched(folder / "kept", begin);
  const Neighbors found = index.search(queries, k, options);
  std::vector<std::int8_t> rows(size((chunk + last) * 2));  // all rows that were searched
  source->read(0, chunk, rows.data());
  source->read(begin, last, rows.data() + chunk * 2);
  const Index near(one_device(), RowsView(rows.data(), Element::i8, chunk + last, 2), Metric::l2);
  Neighbors expected = near.search(queries, k);
  for (std::int64_t& row : expected.row) row += row < chunk ? 0 : begin - chunk;
  CHECK(difference(found, expected) == "");
  CHECK(*std::max_element(found.row.begin(), found.row.end()) > border);
}

TEST_CASE("far rows: shards and parts whose numbers cross 2^32, by k and by radius") {
  constexpr std::int64_t first = border - 40, k = 70;
  const Matrix train = hard_rows(DataKind::grid, Set::train, n, 3, Metric::l2),
               queries = hard_rows(DataKind::grid, Set::queries, 5, 3, Metric::l2);
  const Index near(one_device(), train, Metric::l2);
  const std::vector<float> radii{1.5f};
  const Keys keys = shifted(near.search_keys(queries, k), first);
  RadiusKeys within = near.within_keys(queries, radii);
  for (std::int64_t& row : within.row) row += first;
  IndexOptions options{.first_row = first};
  const IndexOptions split{.first_row = first, .placement = Placement::split, .shares = {1, 2, 1}};
  const Device set = set_of(3);
  const Index shards[] = {
      Index(one_device(), train, Metric::l2, options),
      Index(one_device(), memory_source(train), Metric::l2, streamed(33, options)),
      Index(set, train, Metric::l2, split),
      Index(set, train.view().slice(0, 30), Metric::l2, split).with(train.view().slice(30, 120)),
      Index(set, memory_source(train), Metric::l2, streamed(17, split))};
  for (const Index& shard : shards) {
    CHECK(shard.search_keys(queries, k) == keys);
    CHECK(shard.within_keys(queries, radii) == within);
  }
}

TEST_CASE("far rows: ids beyond 2^32 in searches, votes and votes within a radius") {
  const Matrix train = hard_rows(DataKind::grid, Set::train, n, 3, Metric::l2),
               queries = hard_rows(DataKind::grid, Set::queries, 5, 3, Metric::l2);
  std::vector<std::int64_t> ids(size(n)), labels;
  std::iota(ids.begin(), ids.end(), border - 75);
  for (const std::int64_t id : ids) labels.push_back(id % 3);
  const MatrixView<const std::int64_t> column(labels.data(), n, 1);
  const std::vector<float> radii{1.5f};
  const Classifier near(Index(one_device(), train, Metric::l2), column);
  Classification expected = near.classify(queries, 9);
  RadiusClassification within = near.classify_within(queries, radii);
  for (std::int64_t& row : expected.neighbors.row) row = ids[size(row)];
  for (std::int64_t& row : within.neighbors.row) row = ids[size(row)];
  const IndexOptions options{.ids = ids};
  for (const Index& index : {Index(one_device(), memory_source(train), Metric::l2, streamed(33, options)),
                             Index(set_of(3), train, Metric::l2, options),
                             Index(set_of(2), memory_source(train), Metric::l2, streamed(17, options))}) {
    const Classifier classifier(index, column);
    const Classification found = classifier.classify(queries, 9);
    CHECK(found.label == expected.label);
    CHECK(found.neighbors == expected.neighbors);
    const RadiusClassification near_found = classifier.classify_within(queries, radii);
    CHECK(near_found.label == within.label);
    CHECK(near_found.neighbors == within.neighbors);
  }
}

/// Makes rows of one byte, which is the same for all but a few rows.
class RowsOfOneByte : public Source {
 public:
  static constexpr std::int64_t planted[] = {17, border - 5, border, border + 250}, rows = border + 300;
  static constexpr std::uint8_t near = 10, far = 200;

  RowsInfo info() const override { return {rows, 1, Element::u8}; }
  void read(std::int64_t first, std::int64_t count, void* to) const override {
    std::memset(to, far, size(count));
    for (const std::int64_t row : planted)
      if (row >= first && row < first + count) static_cast<std::uint8_t*>(to)[row - first] = near;
  }
  std::string name() const override { return "rows of one byte"; }
};

// This takes some 60 GB of memory, most of it for labels.
TEST_CASE("far rows: as many real rows, by k, by radius, and their votes" * doctest::skip()) {
  using Far = RowsOfOneByte;
  const Index index(device(), std::make_shared<Far>(), Metric::l2, streamed(0));
  const Matrix queries{2, 1, {static_cast<float>(Far::near), static_cast<float>(Far::near) + 1}};
  const std::vector<float> radii{2};
  const std::vector<std::int64_t> all(std::begin(Far::planted), std::end(Far::planted));
  std::vector<std::int64_t> twice(all);
  twice.insert(twice.end(), all.begin(), all.end());
  const Neighbors found = index.search(queries, 4);
  CHECK(found.row == twice);
  CHECK(found.distance == std::vector<float>{0, 0, 0, 0, 1, 1, 1, 1});
  const RadiusNeighbors within = index.within(queries, radii);
  CHECK(within.row == twice);
  CHECK(within.first == std::vector<std::int64_t>{0, 4, 8});
  std::vector<std::int64_t> labels(size(Far::rows), 3);
  for (std::size_t i = 0; i < all.size(); ++i) labels[size(all[i])] = i == 0 ? 4 : 9;
  const Classifier classifier(index, MatrixView<const std::int64_t>(labels.data(), Far::rows, 1));
  CHECK(classifier.classify(queries, 4).label == std::vector<std::int64_t>{9, 9});
  CHECK(classifier.classify(queries, 4).votes == std::vector<std::uint32_t>{0, 1, 3, 0, 1, 3});
  CHECK(classifier.classify_within(queries, radii).votes == std::vector<std::uint32_t>{0, 1, 3, 0, 1, 3});
}

TEST_SUITE_END();

}  // namespace
}  // namespace kith::tests
