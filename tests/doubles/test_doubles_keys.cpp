// Tests keys of shards in double precision: docs/contract.md, section 13.
#include "doubles/doubles_oracle.hpp"
#include "kith/key.hpp"
#include "kith/keys.hpp"

namespace kith::tests {
namespace {

/// Returns rows first ... first + count - 1.
DoubleMatrix part_of(const DoubleMatrix& all, std::int64_t first, std::int64_t count) {
  return {count,
          all.cols,
          {all.values.begin() + first * all.cols, all.values.begin() + (first + count) * all.cols}};
}

TEST_SUITE("device") {
  TEST_CASE("doubles: keys of shards, merged, are those of one index") {
    std::mt19937 random(5);
    for (const Metric metric : number_metrics) {
      CAPTURE(name(metric));
      const DoubleMatrix train = double_rows(DoubleData::map, 90, 3, random),
                         queries = double_rows(DoubleData::map, 7, 3, random);
      const Index whole(device(), train, metric);
      const std::int64_t k = 12;
      const std::vector<double> radius = {whole.search(queries, k).distance64[5]};
      std::vector<Keys> keys;
      std::vector<RadiusKeys> near;
      for (const auto& [first, count] : {std::pair{50, 40}, {0, 5}, {5, 45}}) {
        IndexOptions shard;
        shard.first_row = first;
        shard.largest = 1e8f;
        const Index index(device(), part_of(train, first, count), metric, shard);
        keys.push_back(index.search_keys(queries, k));
        near.push_back(index.within_keys(queries, radius));
        CHECK(keys.back().arithmetic == Arithmetic::f64);
      }
      CHECK(merge(keys) == whole.search_keys(queries, k));
      CHECK(finish(metric, merge(keys)) == whole.search(queries, k));
      CHECK(merge(near) == whole.within_keys(queries, radius));
      CHECK(finish(metric, merge(near)) == whole.within(queries, radius));
      CHECK(digest(merge(keys)) == digest(whole.search_keys(queries, k)));
      std::vector<std::int64_t> own;
      for (std::int64_t q = 0; q < 7; ++q) own.push_back(merge(keys).row[static_cast<std::size_t>(q * k)]);
      CHECK(leave_out(merge(keys), own).row[0] == merge(keys).row[1]);
      CHECK(leave_out(merge(near), own).first[1] == merge(near).first[1] - 1);
    }
  }
}

TEST_CASE("doubles: keys of both widths are not merged, and wrong ones are refused") {
  const std::uint64_t one = ordered(1.0), two = ordered(2.0);
  Keys wide;
  wide.queries = 1;
  wide.k = 2;
  wide.arithmetic = Arithmetic::f64;
  wide.value64 = {one, two};
  wide.row = {4, 3};
  const Keys narrow{1, 2, {ordered(1.0f), ordered(2.0f)}, {4, 3}};
  CHECK(error_of([&] {
          merge(std::vector{wide, narrow});
        }) ==
        "invalid_argument: merge: list 1 has arithmetic f32, but list 0 has f64; search all shards in one "
        "arithmetic");
  CHECK(finish(Metric::l2, wide).distance64 == std::vector<double>{1, std::sqrt(2.0)});
  CHECK(digest(wide) != digest(narrow));
  Keys bad = wide;
  bad.value64 = {two, one};
  CHECK(error_of([&] {
          merge(std::vector{bad});
        }).starts_with("invalid_argument: merge: list 0, query 0, rank 1: value "));
  bad.value64 = {ordered(std::numeric_limits<double>::infinity()) + 1, no_double};
  CHECK(error_of([&] { digest(bad); }).starts_with("invalid_argument: digest: the keys, query 0, rank 0"));
  bad.value64.clear();
  CHECK(error_of([&] {
          digest(bad);
        }).starts_with("invalid_argument: digest: the keys have 0 values and 2 rows"));
  Keys padded = wide;
  padded.value64[1] = no_double;
  padded.row[1] = -1;
  CHECK(finish(Metric::l2, padded).distance64[1] == std::numeric_limits<double>::infinity());
}

}  // namespace
}  // namespace kith::tests
