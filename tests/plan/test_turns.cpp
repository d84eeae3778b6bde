// Tests after which steps of a proposer the host waits for the device.
#include "common/test.hpp"
#include "tiles/tiles.hpp"

namespace kith::tests {
namespace {

/// Returns phases that see so many blocks of 128 rows.
std::vector<Phase> phases_of(const std::vector<std::uint32_t>& blocks) {
  std::vector<Phase> all;
  for (const std::uint32_t count : blocks) all.push_back({0, {128, 0, count, 1, 1}, true, 1});
  return all;
}

/// Returns how many phases each turn has.
std::vector<std::size_t> turns_of(const std::vector<std::uint32_t>& blocks, bool reports, bool stops) {
  const std::vector<Phase> all = phases_of(blocks);
  std::vector<std::size_t> turns;
  for (std::size_t first = 0, end = 0; first < all.size(); first = end) {
    end = end_of_turn(all, first, reports, stops);
    REQUIRE(end > first);
    turns.push_back(end - first);
  }
  return turns;
}

using Turns = std::vector<std::size_t>;

}  // namespace

TEST_CASE("turns: steps that grow go together if a stop token is all that looks at them") {
  CHECK(turns_of({16, 64, 320, 1280, 6133}, false, true) == Turns{5});
  CHECK(turns_of({16, 64, 320, 1280, 6133}, false, false) == Turns{5});
  CHECK(turns_of({16, 64, 320, 1280, 6133}, true, true) == Turns{1, 1, 1, 1, 1});
}

TEST_CASE("turns: steps of equal size go one by one, so that a stop waits for one of them") {
  CHECK(turns_of({100, 100, 100}, false, true) == Turns{1, 1, 1});
  CHECK(turns_of({60, 100, 60, 100}, false, true) == Turns{2, 2});
  CHECK(turns_of({100, 100, 100}, false, false) == Turns{3});
  CHECK(turns_of({0, 0}, false, true) == Turns{1, 1});  // steps without visits
  CHECK(turns_of({}, false, true).empty());
}

}  // namespace kith::tests
