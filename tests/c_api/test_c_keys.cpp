// kith.h: keys of shards equal those of kith.hpp, and merge to the keys of one index.
#include "c_api/c_support.hpp"
#include "kith/index.hpp"
#include "kith/keys.hpp"

namespace kith::tests {
namespace {

using namespace c;
using Freeing = std::unique_ptr<kith_radius_keys, Freed<kith_radius_keys_free>>;

constexpr std::int64_t n = 120, m = 9, k = 70;

Matrix train_rows(Metric metric) {
  return hard_rows(DataKind::integers, Set::train, n, 5, metric);
}
Matrix query_rows(Metric metric) {
  return hard_rows(DataKind::integers, Set::queries, m, 5, metric);
}

/// Makes a shard of rows first ... first + count - 1.
Rows shard_of(const kith_device* on, const Matrix& train, std::int64_t first, std::int64_t count,
              const char* metric) {
  kith_index_options options = KITH_INIT(kith_index_options);
  options.metric = metric;
  options.first_row = first;
  const kith_rows all = rows_of(train.view());
  CHECK(told(kith_largest_element(&all, nullptr, 0, &options.largest)) == "ok");
  const kith_rows rows = rows_of(train.view().slice(first, count));
  return made<Rows>([&](kith_index** out) { return kith_index_new(on, &rows, &options, out); });
}

Keys keys_of(const kith_index* shard, const Matrix& queries, std::int64_t neighbors) {
  const std::size_t cells = size(queries.rows * neighbors);
  Keys keys{queries.rows, neighbors, std::vector<std::uint32_t>(cells), std::vector<std::int64_t>(cells)};
  const kith_rows rows = rows_of(queries.view());
  CHECK(told(kith_index_search_keys(shard, &rows, neighbors, nullptr, keys.value.data(), keys.row.data())) ==
        "ok");
  return keys;
}

RadiusKeys lists_of(const kith_radius_keys* keys) {
  kith_radius_keys_info info = KITH_INIT(kith_radius_keys_info);
  REQUIRE(told(kith_radius_keys_describe(keys, &info)) == "ok");
  const std::int64_t cells = info.first[info.queries];
  return {info.queries,
          {info.first, info.first + info.queries + 1},
          {info.value, info.value + cells},
          {info.row, info.row + cells}};
}

Keys merged(const std::vector<Keys>& lists) {
  std::vector<const std::uint32_t*> value;
  std::vector<const std::int64_t*> row;
  for (const Keys& keys : lists) {
    value.push_back(keys.value.data());
    row.push_back(keys.row.data());
  }
  Keys to = lists.front();
  CHECK(told(kith_merge(to.queries, to.k, static_cast<std::int64_t>(lists.size()), value.data(), row.data(),
                        to.value.data(), to.row.data())) == "ok");
  return to;
}

TEST_SUITE_BEGIN("device");

TEST_CASE("c: keys of shards, merged, are those of one index") {
  const OpenDevice on = opened();
  for (const Metric metric : number_metrics) {
    CAPTURE(std::string(name(metric)));
    const Matrix train = train_rows(metric), queries = query_rows(metric);
    const Index whole(device(), train, metric);
    const std::string named(name(metric));
    const Rows a = shard_of(on.get(), train, 0, 50, named.c_str()),
               b = shard_of(on.get(), train, 50, 70, named.c_str());
    const Keys expected = whole.search_keys(queries, k);
    const Keys all = merged({keys_of(b.get(), queries, k), keys_of(a.get(), queries, k)});
    CHECK(all == expected);
    std::vector<float> distance(all.value.size());
    CHECK(told(kith_finish(named.c_str(), 0, static_cast<std::int64_t>(all.value.size()), all.value.data(),
                           distance.data())) == "ok");
    CHECK(Neighbors{m, k, distance, all.row} == whole.search(queries, k));
    std::uint64_t sum = 0;
    CHECK(told(kith_digest(m, k, all.value.data(), all.row.data(), &sum)) == "ok");
    CHECK(sum == digest(expected));
    const std::vector<std::int64_t> own(m, 7);
    Keys kept{m, k - 1, std::vector<std::uint32_t>(size(m * (k - 1))),
              std::vector<std::int64_t>(size(m * (k - 1)))};
    CHECK(told(kith_leave_out(m, k - 1, all.value.data(), all.row.data(), own.data(), kept.value.data(),
                              kept.row.data())) == "ok");
    CHECK(kept == leave_out(expected, own));
    kith_index_info info = KITH_INIT(kith_index_info);
    CHECK(told(kith_index_describe(b.get(), &info)) == "ok");
    CHECK(info.first_row == 50);
  }
}

TEST_CASE("c: keys of any k, where there is no query or no room") {
  const std::uint32_t* values[] = {nullptr, nullptr};
  const std::int64_t* rows[] = {nullptr, nullptr};
  for (const std::int64_t most : {std::int64_t{1'000'000'000}, INT64_MAX})
    CHECK(told(kith_merge(0, most, 2, values, rows, nullptr, nullptr)) == "ok");
  CHECK(told(kith_leave_out(0, INT64_MAX, nullptr, nullptr, nullptr, nullptr, nullptr)) ==
        "2: kith_leave_out: k = 9223372036854775807; give 1 or more, and keys with one more");
}

TEST_CASE("c: keys of rows within a radius, merged, are those of one index") {
  const OpenDevice on = opened();
  const Matrix train = train_rows(Metric::l2), queries = query_rows(Metric::l2);
  const Rows a = shard_of(on.get(), train, 0, 50, nullptr), b = shard_of(on.get(), train, 50, 70, nullptr);
  const Index whole(device(), train, Metric::l2);
  const float radius[] = {whole.search(queries, 20).distance[19]};
  const kith_rows rows = rows_of(queries.view());
  const auto keys_within = [&](const kith_index* shard) {
    return lists_of(made<Freeing>([&](kith_radius_keys** out) {
                      return kith_index_within_keys(shard, &rows, radius, 1, nullptr, out);
                    }).get());
  };
  const RadiusKeys lists[] = {keys_within(b.get()), keys_within(a.get())};
  const std::int64_t* first[] = {lists[0].first.data(), lists[1].first.data()};
  const std::uint32_t* value[] = {lists[0].value.data(), lists[1].value.data()};
  const std::int64_t* row[] = {lists[0].row.data(), lists[1].row.data()};
  const Freeing all =
      made<Freeing>([&](kith_radius_keys** out) { return kith_merge_radius(m, 2, first, value, row, out); });
  CHECK(lists_of(all.get()) == whole.within_keys(queries, radius));
}

TEST_CASE("c: keys: what is wrong is told") {
  const OpenDevice on = opened();
  const Matrix train = train_rows(Metric::l2), queries = query_rows(Metric::l2);
  const Rows shard = shard_of(on.get(), train, 0, n, nullptr);
  const kith_rows rows = rows_of(queries.view());
  kith_search_options options = KITH_INIT(kith_search_options);
  options.has_self = 1;
  options.self = 0;
  std::vector<std::uint32_t> value(size(m * k));
  std::vector<std::int64_t> row(size(m * k));
  CHECK(told(kith_index_search_keys(shard.get(), &rows, k, &options, value.data(), row.data())) ==
        "6: search_keys: self = 0, but a row leaves the lists after the merge; search for k + 1 and call "
        "leave_out() then");
  CHECK(told(kith_merge(m, k, 0, nullptr, nullptr, value.data(), row.data())) ==
        "2: merge: there is no list; give at least one");
  CHECK(told(kith_merge(-1, 0, 0, nullptr, nullptr, nullptr, nullptr)) ==
        "2: merge: there is no list; give at least one");
  const std::uint32_t* values[] = {value.data()};
  const std::int64_t* all[] = {row.data()};
  CHECK(told(kith_merge(1, 0, 1, values, all, value.data(), row.data())) ==
        "2: kith_merge: m = 1, k = 0; give m of 0 or more and k of 1 or more");
  value[0] = 1;
  float distance = 0;
  CHECK(told(kith_finish("l2", 0, 1, value.data(), &distance)) ==
        "2: kith_finish: value 1 at place 0 is that of no distance by l2; give keys as search_keys(), "
        "within_keys() and merge() of this kith do");
  kith_index_options shard_options = KITH_INIT(kith_index_options);
  shard_options.first_row = std::numeric_limits<std::int64_t>::max();
  kith_index* none = nullptr;
  CHECK(told(kith_index_new(on.get(), &rows, &shard_options, &none)) ==
        "2: index: first_row = 9223372036854775807 with 9 rows; choose from 0 to 9223372036854775798");
}

TEST_SUITE_END();

}  // namespace
}  // namespace kith::tests
