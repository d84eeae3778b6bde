// Tests which rows and queries each member of a set gets by its share: docs/contract.md, section 13.
#include "common/oracle.hpp"
#include "common/parted/sets.hpp"
#include "common/proxy_device.hpp"

namespace kith::tests {
namespace {

TEST_CASE("sets: a member whose share is 0 has neither rows nor queries, wherever it stands") {
  std::vector<Device> members;
  for (int i = 0; i < 3; ++i) {
    members.push_back(cpu_behind<ProxyDevice>());
    members.back().state()->info.spec = "card:" + std::to_string(i);
  }
  const Device set = set_of_devices(members);
  // The numbers of rows are a multiple of the 32 rows of a word, more than that, and less than one word.
  for (const std::int64_t n : {96, 100, 31})
    for (const std::vector<double>& shares :
         std::vector<std::vector<double>>{{0, 1, 1}, {1, 0, 1}, {1, 1, 0}, {1, 0, 0}, {0, 0, 2}, {0, 3, 0}})
      for (const Placement placement : {Placement::split, Placement::replicate}) {
        CAPTURE_ALL(n, shares[0], shares[1], shares[2], name(placement));
        const Matrix train = hard_rows(DataKind::grid, Set::train, n, 3, Metric::l2);
        const Index index(set, train, Metric::l2, {.placement = placement, .shares = shares});
        Trace trace;
        CHECK(difference(index.search(train, 5, {}, &trace), neighbors(Metric::l2, train, train, 5)) == "");
        std::int64_t rows = 0, queries = 0;
        for (const MemberTrace& member : trace.members) {
          CHECK(shares[size(member.device.back() - '0')] > 0);
          rows += member.rows;
          queries += member.queries;
        }
        const auto taking_part = static_cast<std::int64_t>(trace.members.size());
        CHECK(rows == (placement == Placement::split ? n : n * taking_part));
        CHECK(queries == (placement == Placement::split ? n * taking_part : n));
      }
}

}  // namespace
}  // namespace kith::tests
