// kith.h: keys of shards in double precision merge to what the oracle finds among all rows.
#include "c_api/c_doubles.hpp"
#include "kith/keys.hpp"

namespace kith::tests::test_c_double_keys {
namespace {

using namespace c;
using Lists = std::unique_ptr<kith_radius_keys, Freed<kith_radius_keys_free>>;

constexpr std::int64_t n = 90, m = 7, k = 6, a_shard = 30;

/// Three shards, and what one index of all rows finds.
struct Shards {
  DoubleMatrix train, queries;
  Metric metric;
  OpenDevice on = opened();
  std::vector<Rows> shards;

  Shards(Metric by_metric, DoubleData kind, std::mt19937& random)
      : train(double_rows(kind, n, 3, random)), queries(double_rows(kind, m, 3, random)), metric(by_metric) {
    const kith_rows all = rows_of(train);
    for (std::int64_t first = 0; first < n; first += a_shard) {
      kith_index_options options = by(name(metric).data());
      options.first_row = first;
      CHECK(told(kith_largest_element(&all, nullptr, 0, &options.largest)) == "ok");
      shards.push_back(index_of(on.get(), part_of(train, first, a_shard), options));
    }
  }
};

Keys room(std::int64_t neighbors) {
  Keys keys;
  keys.queries = m;
  keys.k = neighbors;
  keys.arithmetic = Arithmetic::f64;
  keys.value64.resize(size(m * neighbors));
  keys.row.resize(size(m * neighbors));
  return keys;
}

Keys merged(const std::vector<Keys>& lists) {
  std::vector<const std::uint64_t*> value;
  std::vector<const std::int64_t*> row;
  for (const Keys& keys : lists) {
    value.push_back(keys.value64.data());
    row.push_back(keys.row.data());
  }
  Keys to = room(lists.front().k);
  CHECK(told(kith_merge_f64(m, to.k, static_cast<std::int64_t>(lists.size()), value.data(), row.data(),
                            to.value64.data(), to.row.data())) == "ok");
  return to;
}

RadiusKeys keys_of(const kith_radius_keys* lists) {
  kith_radius_keys_info info = KITH_INIT(kith_radius_keys_info);
  REQUIRE(told(kith_radius_keys_describe(lists, &info)) == "ok");
  CHECK(info.value == nullptr);
  RadiusKeys keys{info.queries, {info.first, info.first + info.queries + 1}, {}, {}, Arithmetic::f64};
  keys.value64.assign(info.value64, info.value64 + keys.first.back());
  keys.row.assign(info.row, info.row + keys.first.back());
  return keys;
}

std::vector<double> finished(Metric metric, const std::vector<std::uint64_t>& value) {
  std::vector<double> distance(value.size());
  CHECK(told(kith_finish_f64(name(metric).data(), 0, static_cast<std::int64_t>(value.size()), value.data(),
                             distance.data())) == "ok");
  return distance;
}

TEST_SUITE_BEGIN("device");

TEST_CASE("c: doubles: keys of shards merge to the neighbours among all rows") {
  std::mt19937 random(4);
  for (const Metric metric : {Metric::l2, Metric::negative_dot, Metric::cosine})
    for (const DoubleData kind : {DoubleData::map, DoubleData::one_ulp}) {
      const Shards of(metric, kind, random);
      const auto all = all_by_oracle(metric, of.train, of.queries, every);
      const kith_rows asked = rows_of(of.queries);
      std::vector<Keys> lists;
      for (const Rows& shard : of.shards) {
        lists.push_back(room(k + 1));
        CHECK(told(kith_index_search_keys_f64(shard.get(), &asked, k + 1, nullptr,
                                              lists.back().value64.data(), lists.back().row.data())) == "ok");
      }
      const Keys keys = merged({merged({lists[2], lists[0]}), lists[1], lists[0]});
      const Neighbors right = nearest_by_oracle(metric, all, k + 1);
      CHECK(keys.row == right.row);
      CHECK(finished(metric, keys.value64) == right.distance64);
      std::uint64_t sum = 0;
      CHECK(told(kith_digest_f64(m, k + 1, keys.value64.data(), keys.row.data(), &sum)) == "ok");
      CHECK(sum == digest(keys));
      std::vector<std::int64_t> own;
      for (std::int64_t q = 0; q < m; ++q) own.push_back(keys.row[size(q * (k + 1) + q % k)]);
      Keys kept = room(k);
      CHECK(told(kith_leave_out_f64(m, k, keys.value64.data(), keys.row.data(), own.data(),
                                    kept.value64.data(), kept.row.data())) == "ok");
      CHECK(kept == leave_out(keys, own));
    }
}

TEST_CASE("c: doubles: keys within radii merge to the lists among all rows") {
  std::mt19937 random(5);
  const Shards of(Metric::l1, DoubleData::map, random);
  const auto all = all_by_oracle(of.metric, of.train, of.queries, every);
  const Neighbors near = nearest_by_oracle(of.metric, all, k);
  std::vector<double> radii;
  for (std::int64_t q = 0; q < m; ++q) radii.push_back(near.distance64[size(q * k + k - 1)]);
  const kith_rows asked = rows_of(of.queries);
  std::vector<RadiusKeys> lists;
  std::vector<const std::int64_t*> first, row;
  std::vector<const std::uint64_t*> value;
  for (const Rows& shard : of.shards) {
    const Lists found = made<Lists>([&](kith_radius_keys** out) {
      return kith_index_within_keys_f64(shard.get(), &asked, radii.data(), m, nullptr, out);
    });
    lists.push_back(keys_of(found.get()));
  }
  for (const RadiusKeys& keys : lists) {
    first.push_back(keys.first.data());
    value.push_back(keys.value64.data());
    row.push_back(keys.row.data());
  }
  const Lists merged = made<Lists>([&](kith_radius_keys** out) {
    return kith_merge_radius_f64(m, 3, first.data(), value.data(), row.data(), out);
  });
  const RadiusKeys keys = keys_of(merged.get());
  const RadiusNeighbors right = within_by_oracle(of.metric, all, radii);
  CHECK(keys.first == right.first);
  CHECK(keys.row == right.row);
  CHECK(finished(of.metric, keys.value64) == right.distance64);
}

TEST_CASE("c: doubles: keys of the other width are refused") {
  std::mt19937 random(6);
  const Shards of(Metric::l2, DoubleData::normal, random);
  const kith_rows asked = rows_of(of.queries);
  const float radius = 1;
  std::uint32_t value[m] = {};
  std::int64_t row[m] = {};
  kith_radius_keys* none = nullptr;
  const std::string why = "the index computes in double precision, and its distances are doubles; call ";
  CHECK(told(kith_index_search_keys(of.shards[0].get(), &asked, 1, nullptr, value, row)) ==
        "2: kith_index_search_keys: " + why + "kith_index_search_keys_f64()");
  CHECK(told(kith_index_within_keys(of.shards[0].get(), &asked, &radius, 1, nullptr, &none)) ==
        "2: kith_index_within_keys: " + why + "kith_index_within_keys_f64()");
  const std::uint64_t wrong[] = {0xFFF0000000000001ull};
  double distance = 0;
  CHECK(told(kith_finish_f64("l2", 0, 1, wrong, &distance)).starts_with("2: kith_finish_f64: "));
}

TEST_CASE("c: distances of keys by a parameter of the shards") {
  const float sum = 8;
  const double sum64 = 8;
  const std::uint32_t value = ordered(sum);
  const std::uint64_t value64 = ordered(sum64);
  const struct {
    const char* metric;
    double parameter, right, wrong;
    const char* why;
  } cases[] = {{"minkowski", 3, 2, 3.2, "3.2; give its p"},
               {"gower", 4, 2, 0, "0; give the number of columns that count"},
               {"matching", 2, 4, 1.5, "1.5; give the number of columns that count"},
               {"l1", 0, 8, 2, "2; give 0, which stands for none"}};
  for (const auto& one : cases) {
    float distance = 0;
    double distance64 = 0;
    CHECK(told(kith_finish(one.metric, one.parameter, 1, &value, &distance)) == "ok");
    CHECK(told(kith_finish_f64(one.metric, one.parameter, 1, &value64, &distance64)) == "ok");
    CHECK(distance == static_cast<float>(one.right));
    CHECK(distance64 == one.right);
    const std::string why = ": distances by " + std::string(one.metric) + " with the parameter " + one.why;
    CHECK(told(kith_finish(one.metric, one.wrong, 1, &value, &distance)) == "2: kith_finish" + why);
    CHECK(told(kith_finish_f64(one.metric, one.wrong, 0, nullptr, nullptr)) == "2: kith_finish_f64" + why);
  }
}

TEST_CASE("c: doubles: the largest element is rounded up") {
  const DoubleMatrix one{1, 2, {-1.0 - 0x1p-30, 0.5}};
  const kith_rows rows = rows_of(one);
  float largest = 0;
  CHECK(told(kith_largest_element(&rows, nullptr, 0, &largest)) == "ok");
  CHECK(largest == 1 + 0x1p-23f);
}

TEST_SUITE_END();

}  // namespace
}  // namespace kith::tests::test_c_double_keys
