// Tests hundreds of small random problems: tools/workloads draws data, sizes, tiles, selector and path. The
// seed is fixed, so a failure repeats every time.
#include "common/device.hpp"
#include "workloads/cases.hpp"

namespace kith::tests {
namespace {

TEST_SUITE_BEGIN("device");

TEST_CASE("random: hundreds of cases, the bits of the contract spelt out, or on other devices the cpu's") {
  workloads::RandomOptions options;
  options.seed = 20240229;
  const Device cpu = open_device("cpu");
  const bool is_cpu = device().info().backend == "cpu";
  options.cases = is_cpu ? KITH_RANDOM_CASES : KITH_RANDOM_CASES / 4;  // the gate `differential` draws more
  const workloads::RandomResult result =
      workloads::run_random_cases(device(), is_cpu ? nullptr : &cpu, options);
  MESSAGE(workloads::summary(result) << ", seed " << options.seed << ", on " << device().info().spec);
  for (const std::string& failure : result.failures) FAIL_CHECK(failure);
  CHECK(result.different == 0);
  CHECK(result.compared == options.cases);
}

TEST_CASE("random: a case that once lacked the scratch of lists that were made longer") {
  const auto& has = device().info().proposers;
  const auto& selects = device().info().selectors;
  if (std::find(has.begin(), has.end(), Proposer::int8) == has.end() ||
      std::find(selects.begin(), selects.end(), Selector::selection_sort) == selects.end())
    return;
  workloads::Case c{.data = DataKind::integers,
                    .seed = 256205,
                    .n = 5784,
                    .m = 31,
                    .dims = 1,
                    .k = 17,
                    .metric = Metric::negative_dot,
                    .train_element = Element::bf16,
                    .query_element = Element::f16};
  c.selector = Selector::selection_sort;  // other selectors ask for more scratch, which hides it
  c.proposer = Proposer::int8;
  c.query_tile = 28;
  c.train_tile = 256;
  c.threads = 1;
  CHECK(workloads::difference(workloads::plain_answer(c), workloads::answer(device(), c)) == "");
}

TEST_SUITE_END();

}  // namespace
}  // namespace kith::tests
