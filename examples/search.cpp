// Finds the nearest rows of each query, all rows within a radius, and the nearest other row of each row.
#include <cstdio>
#include <kith/kith.hpp>
#include <vector>

namespace {

void print_rows(const char* what, const kith::Neighbors& found) {
  std::printf("%s\n", what);
  for (std::int64_t q = 0; q < found.queries; ++q)
    for (std::int64_t rank = 0; rank < found.k; ++rank) {
      const auto place = static_cast<std::size_t>(q * found.k + rank);
      std::printf("  query %d: row %d at %g\n", static_cast<int>(q), static_cast<int>(found.row[place]),
                  static_cast<double>(found.distance[place]));
    }
}

}  // namespace

int main() {
  const std::vector<float> train = {0, 0, 3, 4, 6, 8, 0, 1};  // [4, 2]
  const std::vector<float> queries = {0, 0, 6, 7};            // [2, 2]
  const kith::Index index(kith::open_device(), {train.data(), 4, 2});

  print_rows("two nearest rows:", index.search({queries.data(), 2, 2}, 2));

  const std::vector<float> radii = {5};  // one for all queries
  const kith::RadiusNeighbors near = index.within({queries.data(), 2, 2}, radii);
  for (std::int64_t q = 0; q < near.queries; ++q)
    std::printf("query %d: %d rows within 5\n", static_cast<int>(q), static_cast<int>(near.count(q)));

  kith::SearchOptions leave_one_out;
  leave_one_out.self = 0;  // query q is training row q
  print_rows("each row's nearest other row:", index.search({train.data(), 4, 2}, 1, leave_one_out));
}
//> two nearest rows:
//>   query 0: row 0 at 0
//>   query 0: row 3 at 1
//>   query 1: row 2 at 1
//>   query 1: row 1 at 4.24264
//> query 0: 3 rows within 5
//> query 1: 2 rows within 5
//> each row's nearest other row:
//>   query 0: row 3 at 1
//>   query 1: row 3 at 4.24264
//>   query 2: row 1 at 5
//>   query 3: row 0 at 1
