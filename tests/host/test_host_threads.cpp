// Tests how many threads kith uses, by environment variables, affinity and control groups.
#include "common/test.hpp"
#include "host/host_threads.hpp"

#include <sched.h>

#include <thread>

#include "common/folder.hpp"
#include "host/control_groups.hpp"

namespace kith::tests {
namespace {

using GroupFolder = test_support::TemporaryFolder;
namespace fs = std::filesystem;

std::uint32_t cores_in(const GroupFolder& folder, const std::string& groups) {
  return cores_of_quota(group_folders(groups, folder / "", "cpu"));
}

TEST_CASE("host threads: a number in the environment") {
  CHECK(threads_in("4") == 4);
  CHECK(threads_in(" 16 ") == 16);
  CHECK(threads_in("3,2") == 3);  // the outermost of nested teams
  for (const char* text : {"", "0", "-1", "4x", "auto", "99999", "1e3"}) {
    CAPTURE(std::string(text));
    CHECK(threads_in(text) == 0);
  }
}

TEST_CASE("host threads: control groups of version 2 limit the time, the tightest first") {
  const GroupFolder folder;
  folder.write_all({{"cpu.max", "max 100000\n"},
                    {"pod/cpu.max", "250000 100000\n"},
                    {"pod/one/cpu.max", "max 100000\n"},
                    {"pod/half/cpu.max", "50000 100000\n"}});
  CHECK(cores_in(folder, "0::/\n") == 0);
  CHECK(cores_in(folder, "0::/pod\n") == 3);
  CHECK(cores_in(folder, "0::/pod/one\n") == 3);
  CHECK(cores_in(folder, "0::/pod/half\n") == 1);
  CHECK(cores_in(folder, "0::/elsewhere\n") == 0);
  CHECK(cores_in(folder, "") == 0);
  CHECK(cores_in(folder, "nonsense") == 0);
}

TEST_CASE("host threads: control groups of version 1") {
  const GroupFolder folder;
  folder.write_all({{"cpu,cpuacct/cpu.cfs_quota_us", "-1\n"},
                    {"cpu,cpuacct/cpu.cfs_period_us", "100000\n"},
                    {"cpu,cpuacct/docker/a/cpu.cfs_quota_us", "400000\n"},
                    {"cpu,cpuacct/docker/a/cpu.cfs_period_us", "100000\n"}});
  const std::string groups = "5:memory:/docker/a\n4:cpu,cpuacct:/docker/a\n1:name=systemd:/docker/a\n";
  CHECK(cores_in(folder, groups) == 4);
  CHECK(cores_in(folder, "4:cpu,cpuacct:/\n") == 0);
  CHECK(cores_in(folder, "4:cpuset:/docker/a\n") == 0);
}

TEST_CASE("host threads: what the environment asks for, KITH_THREADS before OMP_NUM_THREADS") {
  const auto kept = [](const char* name) {
    const char* value = std::getenv(name);
    return value ? std::optional<std::string>(value) : std::nullopt;
  };
  const auto mine = kept("KITH_THREADS"), openmp = kept("OMP_NUM_THREADS");
  unsetenv("KITH_THREADS");
  unsetenv("OMP_NUM_THREADS");
  const std::uint32_t cores = usable_cores();
  CHECK(team_size(0) == cores);
  CHECK(team_size(1) == 1);
  CHECK(team_size(cores + 9) == cores);
  setenv("OMP_NUM_THREADS", "5", 1);
  CHECK(team_size(0) == 5);
  CHECK(team_size(3) == std::min(3u, std::max(5u, cores)));
  setenv("KITH_THREADS", "7", 1);
  CHECK(team_size(0) == 7);
  CHECK(team_size(100) == std::max(7u, cores));
  setenv("KITH_THREADS", "many", 1);
  CHECK(team_size(0) == 5);
  const auto restore = [](const char* name, const std::optional<std::string>& value) {
    value ? setenv(name, value->c_str(), 1) : unsetenv(name);
  };
  restore("KITH_THREADS", mine);
  restore("OMP_NUM_THREADS", openmp);
}

TEST_CASE("host threads: a thread takes the cores that it may run on") {
  std::uint32_t cores = 0;
  std::thread([&] {
    cpu_set_t all, one;
    sched_getaffinity(0, sizeof all, &all);
    CPU_ZERO(&one);
    for (int i = 0; i < CPU_SETSIZE && CPU_COUNT(&one) == 0; ++i)
      if (CPU_ISSET(i, &all)) CPU_SET(i, &one);
    sched_setaffinity(0, sizeof one, &one);
    cores = usable_cores();
  }).join();
  CHECK(cores == 1);
}

}  // namespace
}  // namespace kith::tests
