// Chooses by hand how a search is done; the answer does not depend on it.
#include <cstdio>
#include <kith/kith.hpp>
#include <vector>

int main() {
  std::vector<float> train(3000), queries(30);
  for (std::size_t i = 0; i < train.size(); ++i) train[i] = static_cast<float>(i * 7919 % 1000);
  for (std::size_t i = 0; i < queries.size(); ++i) queries[i] = static_cast<float>(i * 104729 % 1000);
  const kith::Index index(kith::open_device("cpu"), {train.data(), 1000, 3});
  const kith::MatrixView<const float> asked(queries.data(), 10, 3);

  kith::SearchOptions by_hand;
  by_hand.selector = kith::Selector::merge_sort;
  by_hand.fused = false;  // write the distances, then select
  by_hand.query_tile = 4;
  const kith::Plan plan = index.plan(10, 3, by_hand);
  std::printf("selector %s, %d queries a tile\n", std::string(kith::name(plan.selector)).c_str(),
              static_cast<int>(plan.query_tile));
  std::fprintf(stderr, "%s", kith::explain(plan).c_str());

  kith::Trace trace;
  const bool same = index.search(asked, 3, by_hand, &trace) == index.search(asked, 3);
  std::printf("%d query tiles, %s\n", static_cast<int>(trace.query_tiles),
              same ? "same answer" : "another answer");
}
//> selector merge_sort, 4 queries a tile
//> 3 query tiles, same answer
