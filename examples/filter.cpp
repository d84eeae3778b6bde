// Searches some of the training rows, without another index.
#include <cstdio>
#include <kith/kith.hpp>
#include <vector>

int main() {
  const std::vector<float> prices = {10, 11, 12, 20, 21};  // [5, 1]
  const std::vector<float> query = {11};
  const kith::Index index(kith::open_device(), {prices.data(), 5, 1});

  const std::vector<std::int64_t> in_stock = {0, 3, 4};
  kith::SearchOptions options;
  options.filter = kith::RowFilter::only(index.rows(), in_stock);

  const kith::Neighbors all = index.search({query.data(), 1, 1}, 2);
  const kith::Neighbors some = index.search({query.data(), 1, 1}, 4, options);
  std::printf("of all rows: %d, %d\n", static_cast<int>(all.row[0]), static_cast<int>(all.row[1]));
  std::printf("of those in stock:");
  for (const std::int64_t row : some.row)
    std::printf(" %d", static_cast<int>(row));  // -1: there is no fourth
  std::printf("\n");
}
//> of all rows: 1, 0
//> of those in stock: 0 3 4 -1
