// Searches of rows that pass through the device, stopped and gone on with from what they kept.
#include <doctest/doctest.h>

#include <filesystem>
#include <string>
#include <vector>

#include "common/device.hpp"
#include "common/folder.hpp"
#include "common/oracle.hpp"
#include "common/parted/sources.hpp"
#include "kith/filter.hpp"
#include "kith/keys.hpp"

namespace kith::tests {
namespace {

constexpr std::int64_t n = 200, m = 6, dims = 5, k = 9;

struct KeptSearch {
  test_support::TemporaryFolder folder;
  Matrix train = hard_rows(DataKind::grid, Set::train, n, dims, Metric::l2),
         queries = hard_rows(DataKind::grid, Set::queries, m, dims, Metric::l2);
  std::shared_ptr<CopiedRows> source = std::make_shared<CopiedRows>(train);
  PlanOptions options;

  KeptSearch() { options.checkpoint = folder / "kept"; }
  Index index(std::int64_t chunk_rows) const {
    return Index(device(), source, Metric::l2, streamed(chunk_rows));
  }
  Neighbors right() const { return Index(device(), train, Metric::l2).search(queries, k); }
  /// Read until a row behind `bad`, which cannot be read.
  void stop_at(std::int64_t bad) {
    source->before_read = [bad](std::int64_t first, std::int64_t count) {
      if (count > 1 && first + count > bad) throw std::runtime_error("stopped");
    };
    CHECK_THROWS_AS(index(20).search(queries, k, options), std::runtime_error);
    source->before_read = [](std::int64_t, std::int64_t) {};
  }
  std::string refusal(const Matrix& asked, std::int64_t how_many, const PlanOptions& way) const {
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
    KeptSearch search;
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
  KeptSearch search;
  search.stop_at(130);
  const Index other(open_device("cpu"), search.source, Metric::l2, streamed(50));
  CHECK(difference(other.search(search.queries, k, search.options), search.right()) == "");
}

TEST_CASE("checkpoint: with a filter") {
  KeptSearch search;
  RowFilter filter(n);
  for (std::int64_t t = 0; t < n; t += 3) filter.set(t, false);
  search.options.filter = filter.view();
  PlanOptions plain;
  plain.filter = filter.view();
  const Index whole(device(), search.train, Metric::l2);
  CHECK(difference(search.index(50).search(search.queries, k, search.options),
                   whole.search(search.queries, k, plain)) == "");
  CHECK(difference(search.index(50).search(search.queries, k, search.options),
                   whole.search(search.queries, k, plain)) == "");
  CHECK(search.refusal(search.queries, k,
                       [&] {
                         PlanOptions without = search.options;
                         without.filter = {};
                         return without;
                       }()) ==
        "invalid_argument: search: checkpoint kept: it is that of a search with another metric, k, choice of "
        "columns or "
        "filter; give the same again, name another file, or remove it");
}

TEST_CASE("checkpoint: that of another search is refused, by what is another") {
  KeptSearch search;
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
  KeptSearch search;
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

TEST_CASE("checkpoint: only of rows that pass, and of a search for k") {
  KeptSearch search;
  const float radius[] = {3};
  const std::string refused =
      ": a checkpoint is kept of a search for k, on one device, among rows that stay in a source (residence "
      "stream); leave it out, or choose these";
  CHECK(error_of([&] {
          Index(device(), search.train, Metric::l2).search(search.queries, k, search.options);
        }) == "unsupported: search" + refused);
  CHECK(error_of([&] { search.index(20).within(search.queries, radius, search.options); }) ==
        "unsupported: within" + refused);
}

TEST_SUITE_END();

}  // namespace
}  // namespace kith::tests
