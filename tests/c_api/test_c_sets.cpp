// Tests kith.h: the placement of rows on a set of devices, and the traces of its members.
#include "c_api/c_support.hpp"
#include "common/folder.hpp"
#include "common/oracle.hpp"
#include "kith/index.hpp"

namespace kith::tests::test_c_sets {
namespace {

using namespace c;

constexpr std::int64_t k = 6;

TEST_SUITE_BEGIN("device");

TEST_CASE("c sets: placement and shares, and a trace of each member") {
  // A set cannot have the CPU twice, so without another device this case tests the CPU alone.
  const bool alone = device().info().backend == "cpu" || device().info().backend == "set";
  const std::string spec = alone ? device_spec() : "cpu+" + device_spec();
  const OpenDevice on = opened(spec);
  const Matrix train = hard_rows(DataKind::integers, Set::train, 300, 5, Metric::l2),
               queries = hard_rows(DataKind::integers, Set::queries, 17, 5, Metric::l2);
  const Neighbors expected = neighbors(Metric::l2, queries, train, k);
  const kith_rows rows = rows_of(train), asked = rows_of(queries);
  const std::vector<double> shares{3, 1};
  kith_index_options how = KITH_INIT(kith_index_options);
  how.placement = "split";
  how.shares = alone ? nullptr : shares.data();
  how.shares_count = alone ? 0 : 2;
  const Rows index = made<Rows>([&](kith_index** out) { return kith_index_new(on.get(), &rows, &how, out); });
  const TraceRoom trace = made<TraceRoom>([](kith_trace** out) { return kith_trace_new(1, out); });
  kith_search_options options = KITH_INIT(kith_search_options);
  options.trace = trace.get();
  const auto check_found = [&](const kith_index* in) {
    Neighbors found = expected;
    found.distance.assign(found.distance.size(), 0);
    found.row.assign(found.row.size(), 0);
    CHECK(told(kith_index_search(in, &asked, k, &options, found.distance.data(), found.row.data())) == "ok");
    CHECK(found == expected);
  };
  check_found(index.get());
  kith_trace_info info = KITH_INIT(kith_trace_info);
  REQUIRE(told(kith_trace_describe(trace.get(), &info)) == "ok");
  kith_member_info member = KITH_INIT(kith_member_info);
  if (!alone) {
    REQUIRE(info.member_count == 2);
    REQUIRE(told(kith_trace_member(trace.get(), 0, &member)) == "ok");
    CHECK(std::string(member.device) == "cpu");
    CHECK(member.rows == 224);
    CHECK(member.queries == 17);
    CHECK(member.share == 224.0 / 300);
    CHECK(member.seconds > 0);
    CHECK(member.memory_bytes > 0);
  }
  CHECK(told(kith_trace_member(trace.get(), info.member_count, &member)).starts_with("2: "));

  const test_support::TemporaryFolder folder;
  const std::string path = folder / "a.kidx";
  REQUIRE(told(kith_index_save(index.get(), path.c_str(), nullptr, nullptr, nullptr)) == "ok");
  kith_open_options opening = KITH_INIT(kith_open_options);
  opening.placement = "replicate";
  const auto open = [&](kith_index** out) { return kith_index_open(on.get(), path.c_str(), &opening, out); };
  const Rows opened_again = made<Rows>(open);
  check_found(opened_again.get());
  opening.placement = "spread";
  kith_index* none = nullptr;
  CHECK(told(open(&none)).find("there is none called \"spread\"") != std::string::npos);
}

TEST_SUITE_END();

}  // namespace
}  // namespace kith::tests::test_c_sets
