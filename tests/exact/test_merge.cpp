// Tests the step merge: it finds the k smallest keys of several sorted lists. docs/contract.md, sections 2
// and 4.
#include "common/device.hpp"
#include "common/oracle.hpp"
#include "kith/unstable/stages.hpp"
#include "workloads/random.hpp"

namespace kith::tests {
namespace {

std::vector<Key> merge(std::int64_t lists, std::int64_t k, std::vector<Key> keys) {
  const auto rows = static_cast<std::int64_t>(keys.size()) / (lists * k);
  return stages::merge(device(), {rows, lists, k, std::move(keys)}).keys;
}

/// Returns ascending lists of distinct keys with many ties. Each ends in a random number of "no key".
std::vector<Key> random_lists(std::size_t rows, std::size_t lists, std::size_t k, std::uint64_t seed) {
  workloads::Random random(seed);
  std::vector<Key> all;
  for (std::size_t row = 0; row < rows; ++row)
    for (std::size_t list = 0; list < lists; ++list) {
      std::vector<Key> keys;
      const bool full = !random.one_in(4);
      const auto count = full ? k : size(random.between(0, static_cast<std::int64_t>(k)));
      for (std::size_t j = 0; j < count; ++j) {
        const auto value = static_cast<float>(random.between(-2, 2)) * (random.one_in(9) ? inf : 1.5f);
        keys.push_back(make_key(value == value ? value : 0.0f, static_cast<std::uint32_t>(list * k + j)));
      }
      std::sort(keys.begin(), keys.end());
      keys.resize(k, no_key);
      all.insert(all.end(), keys.begin(), keys.end());
    }
  return all;
}

TEST_SUITE_BEGIN("device");

TEST_CASE("merge: joins sorted lists, skips their padding, ties to the smaller row") {
  const std::vector<Key> lists{make_key(1, 8), make_key(4, 5), no_key,  // the second list follows
                               make_key(1, 3), make_key(2, 7), make_key(9, 6)};
  CHECK(merge(2, 3, lists) == std::vector<Key>{make_key(1, 3), make_key(1, 8), make_key(2, 7)});
}

TEST_CASE("merge: pads when all lists together are too short") {
  CHECK(merge(3, 2, {no_key, no_key, make_key(-inf, 4), no_key, no_key, no_key}) ==
        std::vector<Key>{make_key(-inf, 4), no_key});
  CHECK(merge(2, 2, {no_key, no_key, no_key, no_key}) == std::vector<Key>{no_key, no_key});
}

TEST_CASE("merge: a neighbour at plus infinity comes before none") {
  CHECK(merge(2, 2, {make_key(inf, 0xFFFFFFFDu), no_key, make_key(inf, 2), no_key}) ==
        std::vector<Key>{make_key(inf, 2), make_key(inf, 0xFFFFFFFDu)});
}

TEST_CASE("merge: one list stays as it is") {
  const std::vector<Key> list{make_key(-3, 9), make_key(0, 2), make_key(0, 4), no_key};
  CHECK(merge(1, 4, list) == list);
  CHECK(merge(4, 1, list) == std::vector<Key>{make_key(-3, 9)});
}

TEST_CASE("merge: all from one list, whichever it is") {
  for (std::size_t winner = 0; winner < 5; ++winner) {
    std::vector<Key> lists;
    for (std::uint32_t i = 0; i < 5 * 7; ++i) lists.push_back(make_key(i / 7 == winner ? -1.0f : 1.0f, i));
    const auto first = lists.begin() + static_cast<std::ptrdiff_t>(winner * 7);
    CHECK(merge(5, 7, lists) == std::vector<Key>(first, first + 7));
  }
}

TEST_CASE("merge: any number of lists of any length, between canaries") {
  spi::with_device(device(), [](spi::Device& device) {
    for (const std::uint32_t lists : {1u, 2u, 3u, 16u, 17u, 65u, 257u})
      for (const std::uint32_t k : {1u, 2u, 15u, 32u, 33u, 100u, 1024u, 2049u, 5000u}) {
        if (lists * k > 40000) continue;
        const std::size_t rows = lists * k > 2000 ? 2 : 7;
        CAPTURE_ALL(lists, k);
        const std::vector<Key> keys = random_lists(rows, lists, k, lists + k);
        const GuardedGrid<Key> in(device, rows, size(lists) * k, 0, keys);  // a key of 0 would win
        const GuardedGrid<Key> out(device, rows, k, 0xCAFECAFECAFECAFEull);
        REQUIRE(run_step(device, spi::MergeStep{lists, k, in.grid(), out.grid(), {}}) == "");
        CHECK(difference(out.inside(), merged(keys, lists, k)) == "");
        CHECK(out.canaries_live());
        CHECK(in.unchanged());
      }
  });
}

TEST_CASE("merge: many lists, most of which are empty, or are all that counts") {
  for (const std::uint32_t lists : {9u, 132u, 700u})
    for (const std::uint32_t k : {1u, 15u, 26u, 101u})
      for (const std::uint32_t full : {0u, 1u, 3u, 20u}) {  // how many lists hold keys
        CAPTURE_ALL(lists, k, full);
        std::vector<Key> keys(size(lists) * k, no_key);
        for (std::uint32_t i = 0; i < std::min(full, lists); ++i) {
          const std::uint32_t list = (i * 37 + 5) % lists;
          for (std::uint32_t j = 0; j < k - k / 4 * (i % 2); ++j)
            keys[size(list) * k + j] = make_key(static_cast<float>(j / 2) - 3.0f, list * k + j);
        }
        CHECK(difference(merge(lists, k, keys), merged(keys, lists, k)) == "");
      }
}

TEST_CASE("merge: the same key in several lists is there as often") {
  for (const std::uint32_t k : {2u, 40u}) {
    CAPTURE(k);
    std::vector<Key> keys;
    for (std::uint32_t i = 0; i < 12 * k; ++i) keys.push_back(make_key(1, i % k / 2));
    CHECK(difference(merge(12, k, keys), merged(keys, 12, k)) == "");
  }
}

TEST_CASE("merge: refuses lists that are not what they say") {
  const auto refusal = [](const stages::KeyLists& lists) {
    return error_of([&] { stages::merge(device(), lists); });
  };
  CHECK(refusal({1, 2, 2, {1, 2, 3}}) ==
        "invalid_argument: merge: 3 keys for lists of shape [1, 2, 2]; give one for each place");
  CHECK(refusal({1, 1, 3, {1, 3, 2}}) ==
        "invalid_argument: merge: key 2 is smaller than the one before it; each list must ascend");
  CHECK(refusal({1, 3, 1, {3, 2, 1}}) == "nothing was thrown");
  CHECK(stages::merge(device(), {0, 2, 3, {}}) == stages::KeyLists{0, 1, 3, {}});
}

TEST_SUITE_END();

}  // namespace
}  // namespace kith::tests
