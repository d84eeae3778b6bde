// Searches rows in two indexes, which may be on two devices or two machines, as one.
#include <cstdint>
#include <cstdio>
#include <kith/kith.hpp>
#include <vector>

int main() {
  const std::vector<float> prices = {10, 11, 12, 20, 21};  // [5, 1]
  const std::vector<float> query = {19};
  const kith::Index first(kith::open_device(), {prices.data(), 3, 1});
  const kith::Index second(kith::open_device("cpu"), {prices.data() + 3, 2, 1}, kith::Metric::l2,
                           {.first_row = 3});

  std::vector<kith::Keys> lists;
  for (const kith::Index& shard : {second, first})  // in any order
    lists.push_back(shard.search_keys({query.data(), 1, 1}, 3));
  const kith::Keys merged = kith::merge(lists);
  const kith::Neighbors found = kith::finish(kith::Metric::l2, merged);
  for (std::size_t j = 0; j < found.row.size(); ++j)
    std::printf("row %d at distance %g\n", static_cast<int>(found.row[j]),
                static_cast<double>(found.distance[j]));

  const kith::Index all(kith::open_device(), {prices.data(), 5, 1});
  const bool same = kith::digest(merged) == kith::digest(all.search_keys({query.data(), 1, 1}, 3));
  std::printf("%s\n", same ? "as one index" : "not as one index");
}
//> row 3 at distance 1
//> row 4 at distance 2
//> row 2 at distance 7
//> as one index
