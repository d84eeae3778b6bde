// Tests streamed searches that are stopped and continued from their checkpoint.
#include <filesystem>
#include <mutex>
#include <random>

#include "base/xxh64.hpp"
#include "common/folder.hpp"
#include "common/oracle.hpp"
#include "common/parted/sets.hpp"
#include "common/parted/sources.hpp"
#include "kith/filter.hpp"
#include "kith/keys.hpp"
#include "search/lists/search_pieces.hpp"

namespace kith::tests {
namespace {

constexpr std::int64_t n = 200, m = 6, dims = 5, k = 9;

struct StoppedSearch {
  test_support::TemporaryFolder folder;
  Matrix train = hard_rows(DataKind::grid, Set::train, n, dims, Metric::l2),
         queries = hard_rows(DataKind::grid, Set::queries, m, dims, Metric::l2);
  std::shared_ptr<CopiedRows> source = std::make_shared<CopiedRows>(train);
  SearchOptions options;

  StoppedSearch() { options.checkpoint = folder / "kept"; }
  Index index(std::int64_t chunk_rows) const {
    return Index(one_device(), source, Metric::l2, streamed(chunk_rows));
  }
  Neighbors right() const { return Index(one_device(), train, Metric::l2).search(queries, k); }
  /// Makes reads fail that reach beyond row `bad`.
  void stop_at(std::int64_t bad) {
    source->before_read = [bad](std::int64_t first, std::int64_t count) {
      if (count > 1 && first + count > bad) throw std::runtime_error("stopped");
    };
    CHECK_THROWS_AS(index(20).search(queries, k, options), std::runtime_error);
    source->before_read = [](std::int64_t, std::int64_t) {};
  }
  std::string refusal(const Matrix& asked, std::int64_t how_many, const SearchOptions& way) const {
    std::string text = error_of([&] { index(20).search(asked, how_many, way); });
    const std::string prefix = folder.path() + "/";
    for (std::size_t at = text.find(prefix); at != std::string::npos; at = text.find(prefix))
      text.erase(at, prefix.size());
    return text;
  }
};

TEST_SUITE_BEGIN("device");

TEST_CASE("checkpoint: a search goes on where it was stopped, by chunks of any length, to the same bits") {
  for (const std::int64_t bad : {60, 130, 199}) {
    StoppedSearch search;
    search.stop_at(bad);
    REQUIRE(search.folder.has("kept"));
    search.source->before_read = [](std::int64_t first, std::int64_t count) {
      if (count > 1 && first < 40) throw std::runtime_error("this was searched already");
    };
    Trace trace;
    CHECK(difference(search.index(33).search(search.queries, k, search.options, &trace), search.right()) ==
          "");
    CHECK(trace.chunks < 6);
    CHECK(difference(search.index(7).search(search.queries, k, search.options, &trace), search.right()) ==
          "");
    CHECK(trace.chunks == 0);  // all was done
  }
}

TEST_CASE("checkpoint: on another device") {
  StoppedSearch search;
  search.stop_at(130);
  const Index other(open_device("cpu"), search.source, Metric::l2, streamed(50));
  CHECK(difference(other.search(search.queries, k, search.options), search.right()) == "");
}

TEST_CASE("checkpoint: a set goes on with what one device has left, and the other way round") {
  for (const Placement placement : {Placement::split, Placement::replicate}) {
    StoppedSearch search;
    search.stop_at(130);  // chunks of 20: the first 120 rows are done
    IndexOptions options{.placement = placement, .shares = {1, 2, 1}};
    const Index on_set(set_of(3), search.source, Metric::l2, streamed(30, options));
    search.source->before_read = [](std::int64_t first, std::int64_t count) {
      if (count > 1 && first < 120) throw std::runtime_error("this was searched already");
      if (count > 1 && first + count > 190) throw std::runtime_error("stopped");
    };
    CHECK_THROWS_AS(on_set.search(search.queries, k, search.options), std::runtime_error);
    search.source->before_read = [](std::int64_t first, std::int64_t count) {
      if (count > 1 && first < 120) throw std::runtime_error("this was searched already");
    };
    Trace trace;
    CHECK(difference(search.index(33).search(search.queries, k, search.options, &trace), search.right()) ==
          "");
    CHECK(trace.chunks > 0);
    CHECK(difference(on_set.search(search.queries, k, search.options, &trace), search.right()) == "");
    CHECK(trace.chunks == 0);  // all was done
    CHECK(trace.members.size() == 3);
  }
}

TEST_CASE("checkpoint: random sets and chunks, stopped again and again, to the same bits") {
  std::mt19937 random(77);
  for (int i = 0; i < 30; ++i) {
    CAPTURE(i);
    StoppedSearch search;
    RowFilter filter(n, random() % 2 ? 1 : m);
    for (std::int64_t f = 0; f < filter.filters(); ++f)
      for (std::int64_t t = 0; t < n; ++t) filter.set(t, random() % 3 != 0, f);
    SearchOptions plain;
    if (random() % 2) plain.filter = filter;
    if (random() % 4 == 0) plain.self = static_cast<std::int64_t>(random() % (n - m));
    search.options.filter = plain.filter;
    search.options.self = plain.self;
    const std::int64_t asked = 1 + random() % (n - 1);
    const Neighbors right =
        Index(one_device(), search.train, Metric::l2).search(search.queries, asked, plain);
    std::mutex mutex;
    int reads_left = 0;
    search.source->before_read = [&](std::int64_t, std::int64_t count) {
      const std::lock_guard lock(mutex);
      if (count > 1 && --reads_left < 0) throw std::runtime_error("stopped");
    };
    int stops = 0;
    while (stops < 50) {
      const auto [set, options] = set_by_chance(random, 4);
      const bool alone = random() % 3 == 0;
      reads_left = stops;
      const Index index(alone ? one_device() : set, search.source, Metric::l2,
                        streamed(2 + random() % 90, alone ? IndexOptions{} : options));
      try {
        const Neighbors found = index.search(search.queries, asked, search.options);
        CHECK(difference(found, right) == "");
        break;
      } catch (const std::runtime_error&) {
        ++stops;
      }
    }
    CHECK(stops > 0);
    CHECK(stops < 50);
  }
}

TEST_CASE("checkpoint: what is left is all that was not searched, once") {
  std::mt19937 random(78);
  constexpr std::int64_t rows = 9, queries = 7;
  for (int i = 0; i < 200; ++i) {
    CAPTURE(i);
    std::vector<SearchPiece> done;
    std::vector<int> searched(rows * queries, 0);
    const auto by_chance = [&](std::int64_t count) {
      const auto first = static_cast<std::int64_t>(random() % size(count));
      return RowRange{first, 1 + static_cast<std::int64_t>(random() % size(count - first))};
    };
    for (int step = 0; step < 6; ++step) {
      const SearchPiece asked = {by_chance(queries), by_chance(rows)};
      for (const SearchPiece& piece : pieces_left(done, asked)) {
        for (std::int64_t q = piece.queries.first; q < piece.queries.first + piece.queries.count; ++q)
          for (std::int64_t t = piece.rows.first; t < piece.rows.first + piece.rows.count; ++t)
            ++searched[size(q * rows + t)];
        done.push_back(piece);
        if (random() % 2) join_pieces(done);
      }
      for (std::int64_t q = asked.queries.first; q < asked.queries.first + asked.queries.count; ++q)
        for (std::int64_t t = asked.rows.first; t < asked.rows.first + asked.rows.count; ++t)
          CHECK(searched[size(q * rows + t)] == 1);
    }
    CHECK(*std::max_element(searched.begin(), searched.end()) == 1);
  }
}

TEST_CASE("checkpoint: with a filter") {
  StoppedSearch search;
  RowFilter filter(n);
  for (std::int64_t t = 0; t < n; t += 3) filter.set(t, false);
  search.options.filter = filter;
  SearchOptions plain{.filter = filter};
  const Index whole(device(), search.train, Metric::l2);
  CHECK(difference(search.index(50).search(search.queries, k, search.options),
                   whole.search(search.queries, k, plain)) == "");
  CHECK(difference(search.index(50).search(search.queries, k, search.options),
                   whole.search(search.queries, k, plain)) == "");
  CHECK(search.refusal(search.queries, k,
                       [&] {
                         SearchOptions without = search.options;
                         without.filter = {};
                         return without;
                       }()) ==
        "invalid_argument: search: checkpoint kept: it is that of a search with another metric, k, choice of "
        "columns or filter; give the same again, name another file, or remove it");
}

TEST_CASE(
    "checkpoint: that of other powers, or of another box, is refused, though the source tells no state") {
  StoppedSearch search;
  const std::string nothing = "nothing was thrown";
  const auto asked = [&](Metric metric, double p, std::vector<double> box) {
    IndexOptions options = streamed(50);
    options.p = p;
    options.box = std::move(box);
    const Index index(one_device(), search.source, metric, options);
    return error_of([&] { index.search(search.queries, k, search.options); });
  };
  CHECK(asked(Metric::minkowski, 3, {}) == nothing);
  CHECK(asked(Metric::minkowski, 3, {}) == nothing);
  const std::string words = "another metric, k, choice of columns or filter";
  CHECK(asked(Metric::minkowski, 4, {}).find(words) != std::string::npos);
  CHECK(asked(Metric::canberra, 0, {}).find(words) != std::string::npos);
  CHECK(asked(Metric::l1, 0, {}).find(words) != std::string::npos);
  search.options.checkpoint = search.folder / "boxed";
  CHECK(asked(Metric::l1, 0, {9, 9, 9, 0, 9}) == nothing);
  CHECK(asked(Metric::l1, 0, {9, 9, 9, 9, 9}) != nothing);
  CHECK(asked(Metric::l1, 0, {}) != nothing);
}

TEST_CASE("checkpoint: that of another search is refused, by what is another") {
  StoppedSearch search;
  search.stop_at(130);
  const std::string begin = "invalid_argument: search: checkpoint kept: it is that of a search with ",
                    end = "; give the same again, name another file, or remove it";
  Matrix asked = search.queries;
  asked.values[3] += 1;
  CHECK(search.refusal(asked, k, search.options) == begin + "other queries" + end);
  CHECK(search.refusal(search.queries, k + 1, search.options) ==
        begin + "another metric, k, choice of columns or filter" + end);
  search.train.values[size((n - 1) * dims)] += 1;
  CHECK(search.refusal(search.queries, k, search.options) == begin + "other training rows" + end);
}

TEST_CASE("checkpoint: what is damaged is a bad file, and stays") {
  StoppedSearch search;
  search.stop_at(130);
  const std::string whole = search.folder.read("kept");
  const std::string refused =
      "bad_file: search: checkpoint kept: it is damaged, or no checkpoint of a search; remove it, or name "
      "another file";
  for (const std::size_t at :
       {std::size_t{0}, std::size_t{9}, std::size_t{60}, std::size_t{100}, whole.size() - 1}) {
    std::string damaged = whole;
    damaged[at] = static_cast<char>(damaged[at] ^ 1);
    search.folder.write("kept", damaged);
    CHECK(search.refusal(search.queries, k, search.options) == refused);
    CHECK(search.folder.read("kept") == damaged);
  }
  for (const std::size_t bytes : {std::size_t{0}, std::size_t{50}, whole.size() - 8}) {
    search.folder.write("kept", whole.substr(0, bytes));
    CHECK(search.refusal(search.queries, k, search.options) == refused);
  }
  search.options.checkpoint = search.folder / "none/kept";
  CHECK(search.refusal(search.queries, k, search.options)
            .starts_with("bad_file: search: checkpoint: none/kept: cannot be written: "));
}

/// Splits a checkpoint into its parts, and writes it with a new digest: docs/contract.md, section 13.
struct CheckpointFile {
  std::string head, pieces, values, rows;

  explicit CheckpointFile(const std::string& bytes, std::int64_t keys = m * k) {
    std::int64_t count = 0;
    std::memcpy(&count, bytes.data() + 72, sizeof count);
    head = bytes.substr(0, 80);
    pieces = bytes.substr(80, size(count) * 32);
    values = bytes.substr(80 + pieces.size(), size(keys) * 4);
    rows = bytes.substr(80 + pieces.size() + values.size(), size(keys) * 8);
  }
  std::string text() const {
    std::string all = head + pieces + values + rows;
    const auto count = static_cast<std::int64_t>(pieces.size() / 32);
    std::memcpy(all.data() + 72, &count, sizeof count);
    const std::uint64_t sum = Xxh64::of(all.data(), all.size());
    return all + std::string(reinterpret_cast<const char*>(&sum), sizeof sum);
  }
  void set_row(std::int64_t query, std::int64_t rank, std::int64_t row) {
    std::memcpy(rows.data() + size(query * k + rank) * 8, &row, sizeof row);
  }
  void add_piece(std::int64_t first_query, std::int64_t queries, std::int64_t first_row, std::int64_t count) {
    for (const std::int64_t number : {first_query, queries, first_row, count})
      pieces.append(reinterpret_cast<const char*>(&number), sizeof number);
  }
};

TEST_CASE(
    "checkpoint: rows that are not there, or were not searched, and pieces that overlap are a bad file") {
  StoppedSearch search;
  search.stop_at(130);  // the first 120 rows are done
  const CheckpointFile whole(search.folder.read("kept"));
  CHECK(whole.text() == search.folder.read("kept"));
  const auto refused = [&](const CheckpointFile& file, const IndexOptions& options = streamed(20)) {
    search.folder.write("kept", file.text());
    const std::string why = error_of([&] {
      Index(one_device(), search.source, Metric::l2, options).search(search.queries, k, search.options);
    });
    return why.starts_with("bad_file: search: checkpoint ") &&
           why.find("/kept: it is damaged") != std::string::npos;
  };
  IndexOptions with_ids = streamed(20);
  for (std::int64_t t = 0; t < n; ++t) with_ids.ids.push_back(5 * t);
  for (const std::int64_t row : {std::int64_t{120}, n - 1, n, 1000 * n, std::int64_t{1} << 40, INT64_MAX})
    for (const std::int64_t query : {std::int64_t{0}, m - 1}) {
      CAPTURE(row);
      CheckpointFile file = whole;
      file.set_row(query, k - 1, row);
      CHECK(refused(file));
      CHECK(refused(file, with_ids));
    }
  CheckpointFile twice = whole;
  twice.pieces += twice.pieces;
  CHECK(refused(twice));
  CheckpointFile overlaps = whole;
  overlaps.add_piece(2, 1, 119, 2);
  CHECK(refused(overlaps));
  CheckpointFile unsorted = whole;
  unsorted.set_row(1, 0, n - 1);
  CHECK(refused(unsorted));
  const std::int64_t outside[][4] = {{0, 1, n, 1},       {0, 1, n - 1, 2}, {0, 1, 120, n},
                                     {0, 1, -1, 1},      {0, 1, 120, 0},   {m, 1, 120, 1},
                                     {m - 1, 2, 120, 1}, {-1, 1, 120, 1},  {0, 0, 120, 1}};
  for (const auto& piece : outside) {
    CAPTURE_ALL(piece[0], piece[1], piece[2], piece[3]);
    CheckpointFile file = whole;
    file.add_piece(piece[0], piece[1], piece[2], piece[3]);
    CHECK(refused(file));
  }
  CheckpointFile beside = whole;
  beside.add_piece(2, 1, 120, 2);
  search.folder.write("kept", beside.text());
  CHECK_NOTHROW(search.index(20).search(search.queries, k, search.options));
}

// If each piece were compared with every other, 400,000 pieces would take minutes.
TEST_CASE("checkpoint: many pieces are put in order, not compared with one another") {
  constexpr std::int64_t asked = 40000, rows = 10;
  StoppedSearch search;
  const Matrix queries = hard_rows(DataKind::grid, Set::queries, asked, dims, Metric::l2);
  const auto found_by = [&](std::int64_t chunk_rows) {
    return Index(open_device("cpu"), search.source, Metric::l2, streamed(chunk_rows))
        .search(queries, 1, search.options);
  };
  search.source->before_read = [](std::int64_t first, std::int64_t count) {
    if (count > 1 && first + count > rows) throw std::runtime_error("stopped");
  };
  CHECK_THROWS_AS(found_by(rows), std::runtime_error);
  search.source->before_read = [](std::int64_t, std::int64_t) {};
  CheckpointFile file(search.folder.read("kept"), asked);
  file.pieces.clear();
  for (std::int64_t t = 0; t < rows; ++t)
    for (std::int64_t q = 0; q < asked; ++q) file.add_piece(q, 1, t, 1);
  search.folder.write("kept", file.text());
  CHECK(difference(found_by(20), Index(open_device("cpu"), search.train, Metric::l2).search(queries, 1)) ==
        "");
}

TEST_CASE("checkpoint: of rows in memory any change is told, and the file is for its owner alone") {
  StoppedSearch search;
  const auto over = [&] {
    return error_of([&] {
      Index(one_device(), memory_source(search.train.view()), Metric::l2, streamed(20))
          .search(search.queries, k, search.options);
    });
  };
  CHECK(over() == "nothing was thrown");
  namespace fs = std::filesystem;
  const fs::path path = search.folder / "kept";
  CHECK(fs::status(path).permissions() == (fs::perms::owner_read | fs::perms::owner_write));
  CHECK(over() == "nothing was thrown");
  for (const std::size_t at : {std::size_t{0}, size(7 * dims + 2), size(n * dims - 1)}) {
    search.train.values[at] += 1;
    CHECK(over().find("it is that of a search with other training rows") != std::string::npos);
    search.train.values[at] -= 1;
  }
}

TEST_CASE("checkpoint: permissions of the file stay from chunk to chunk") {
  StoppedSearch search;
  search.stop_at(60);
  namespace fs = std::filesystem;
  const fs::path path = search.folder / "kept";
  fs::permissions(path, fs::perms(0640));
  search.stop_at(130);
  CHECK(fs::status(path).permissions() == fs::perms(0640));
}

TEST_CASE("checkpoint: only of rows that pass, and of a search for k") {
  StoppedSearch search;
  const float radius[] = {3};
  const std::string refused =
      ": a checkpoint is kept of a search for k among rows that stay in a source (residence stream); leave "
      "it out, or choose these";
  CHECK(error_of([&] {
          Index(device(), search.train, Metric::l2).search(search.queries, k, search.options);
        }) == "unsupported: search" + refused);
  CHECK(error_of([&] { search.index(20).within(search.queries, radius, search.options); }) ==
        "unsupported: within" + refused);
}

TEST_SUITE_END();

}  // namespace
}  // namespace kith::tests
