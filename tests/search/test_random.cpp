// Thousands of small problems, chosen at random: data, sizes, tiles, selector and path drawn by
// tools/lab/workloads. The seed is fixed, so a failure is one every time.
#include <doctest/doctest.h>

#include <string>

#include "common/device.hpp"
#include "lab/workloads/cases.hpp"

namespace kith::tests {
namespace {

TEST_SUITE_BEGIN("device");

TEST_CASE("random: thousands of cases, the bits of the contract spelt out, or on other devices the cpu's") {
  workloads::RandomOptions options;
  options.seed = 20240229;
  options.cases = KITH_RANDOM_CASES;
  const Device cpu = open_device("cpu");
  const bool is_cpu = device().info().backend == "cpu";
  const workloads::RandomResult result =
      workloads::run_random_cases(device(), is_cpu ? nullptr : &cpu, options);
  MESSAGE(workloads::summary(result) << ", seed " << options.seed << ", on " << device().info().spec);
  for (const std::string& failure : result.failures) FAIL_CHECK(failure);
  CHECK(result.different == 0);
  CHECK(result.compared == options.cases);
}

TEST_SUITE_END();

}  // namespace
}  // namespace kith::tests
