// Tests which few queries on a CPU go by int8 once earlier ones have paid for its rows.
#include "common/described_devices.hpp"
#include "common/test.hpp"
#include "kith/unstable/plan.hpp"
#include "rows/lessons.hpp"

namespace kith::tests {
namespace {

const Feedback paid_for{.scans = 1 << 20}, bytes_there{.bytes_made = true};

Proposer after(const Feedback& feedback, const Problem& problem, const SearchOptions& options = {}) {
  return make_plan(described_cpu("avx2", {Proposer::dot, Proposer::int8}), problem, options, feedback)
      .proposer;
}

TEST_CASE("few queries: int8 follows once it is paid for or there, not before") {
  const Problem one{Metric::l2, 1000000, 1, 128, 10};
  CHECK(after({}, one) == Proposer::none);
  CHECK(after(paid_for, one) == Proposer::int8);
  CHECK(after(bytes_there, one) == Proposer::int8);
  CHECK(after(paid_for, {Metric::cosine, 1000000, 15, 128, 10}) == Proposer::int8);
  CHECK(after(paid_for, {Metric::l1, 1000000, 1, 128, 10}) == Proposer::none);
  CHECK(after(paid_for, {Metric::l2, 1000000, 1, 16, 10}) == Proposer::none);
  CHECK(after(paid_for, {Metric::l2, 1000000, 1, 32, 10}) == Proposer::int8);
  CHECK(after(paid_for, {Metric::l2, 500000, 1, 32, 10}) == Proposer::none);  // these stay in a cache
  CHECK(after(paid_for, {Metric::l2, 70000, 1, 128, 10}) == Proposer::none);
  CHECK(after(paid_for, {Metric::l2, 1000000, 1, 128, 300}) == Proposer::none);
  CHECK(after(paid_for, {Metric::l2, 60000, 1, 784, 100}) == Proposer::int8);
  CHECK(after(paid_for, {Metric::l2, 60000, 8, 784, 100}) == Proposer::none);  // many rows are ranked
  CHECK(after(paid_for, one, {.proposer = Proposer::none}) == Proposer::none);
  CHECK(after(paid_for, one, {.memory_limit = 100'000'000}) == Proposer::none);
  Feedback coarse = paid_for;
  coarse.lessons = {{Proposer::int8, false, 10}};
  CHECK(after(coarse, one) == Proposer::none);
  CHECK(after(coarse, {Metric::l2, 1000000, 1, 128, 9}) == Proposer::int8);
}

TEST_CASE("few queries: on no other device does it change a plan") {
  for (const DeviceInfo& device : {described_cpu("baseline", {Proposer::dot}), described_pocl(),
                                   described_gpu("cuda"), described_gpu("opencl"), described_small_gpu()})
    for (const std::int64_t m : {1, 4, 15, 16, 100}) {
      const Problem problem{Metric::l2, 1000000, m, 128, 10};
      CHECK(make_plan(device, problem, {}, {.bytes_made = true, .scans = 1 << 20}) ==
            make_plan(device, problem));
    }
}

TEST_CASE("lessons: scans count until the rows of bytes are made, and anew if that fails") {
  Lessons lessons;
  lessons.tell_scans(5);
  lessons.tell_scans(2);
  CHECK(lessons.feedback() == Feedback{.scans = 7});
  lessons.tell_bytes_begun();
  CHECK(lessons.feedback() == Feedback{});
  lessons.tell_scans(3);
  CHECK(lessons.feedback() == Feedback{.scans = 3});
  lessons.tell_bytes_begun();
  lessons.tell_bytes_made();
  lessons.tell_scans(4);
  CHECK(lessons.feedback() == Feedback{.bytes_made = true});
}

TEST_CASE("lessons: guesses of several searches count together, and end if more than a quarter mislead") {
  Lessons lessons;
  for (int i = 0; i < 16; ++i) lessons.tell_guesses(Proposer::int8, 1, i < 4);
  CHECK(lessons.feedback() == Feedback{});  // a quarter
  for (int i = 0; i < 15; ++i) lessons.tell_guesses(Proposer::int8, 1, i < 5);
  CHECK(lessons.feedback() == Feedback{});  // not enough yet
  lessons.tell_guesses(Proposer::int8, 1, 0);
  CHECK(lessons.feedback() == Feedback{.lessons = {{Proposer::int8, true, 0}}});
}

}  // namespace
}  // namespace kith::tests
