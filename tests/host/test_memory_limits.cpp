// Tests how much memory a process may use, by the machine, control groups and ulimit -v.
#include <sys/resource.h>
#include <sys/wait.h>

#include <filesystem>

#include "common/data_files.hpp"
#include "common/sanitizers.hpp"
#include "files/source.hpp"
#include "host/control_groups.hpp"
#include "host/host_memory.hpp"

namespace kith::tests {
namespace {

using data_files::Folder;
namespace fs = std::filesystem;

constexpr std::uint64_t gib = std::uint64_t{1} << 30, none = UINT64_MAX;

/// Returns the memory for a process in these control groups, on a machine of 64 GiB.
std::uint64_t bytes_in(const Folder& folder, const std::string& groups) {
  return host_memory(64 * gib, none, group_folders(groups, folder / "", "memory")).bytes;
}

TEST_CASE("memory limits: control groups of version 2, as far up as they go") {
  const Folder folder;
  folder.write_all({{"pod/memory.max", "4294967296\n"},
                    {"pod/one/memory.max", "max\n"},
                    {"pod/one/two/memory.max", "1073741824\n"},
                    {"free/memory.max", "max\n"}});
  CHECK(bytes_in(folder, "0::/\n") == 64 * gib);
  CHECK(bytes_in(folder, "0::/free\n") == 64 * gib);
  CHECK(bytes_in(folder, "0::/pod\n") == 4 * gib);
  CHECK(bytes_in(folder, "0::/pod/one\n") == 4 * gib);
  CHECK(bytes_in(folder, "0::/pod/one/two\n") == gib);
  CHECK(bytes_in(folder, "0::/elsewhere\n") == 64 * gib);
  folder.write("memory.max", "2147483648\n");  // in a container, the own group looks like the root
  CHECK(bytes_in(folder, "0::/\n") == 2 * gib);
}

TEST_CASE("memory limits: control groups of version 1, and both") {
  const Folder folder;
  folder.write_all({{"memory/memory.limit_in_bytes", "9223372036854771712\n"},
                    {"memory/docker/a/memory.limit_in_bytes", "2147483648\n"},
                    {"unified/memory.max", "max\n"}});
  CHECK(bytes_in(folder, "5:memory:/docker/a\n4:cpu,cpuacct:/docker/a\n") == 2 * gib);
  CHECK(bytes_in(folder, "5:memory:/docker\n0::/docker\n") == 64 * gib);
  CHECK(bytes_in(folder, "4:cpu,cpuacct:/docker/a\n") == 64 * gib);
  CHECK(bytes_in(folder, "nonsense") == 64 * gib);
}

TEST_CASE("memory limits: the least counts, and has a name") {
  const Folder folder;
  folder.write_all({{"memory.max", "4294967296\n"}});
  const std::vector<fs::path> groups = group_folders("0::/\n", folder / "", "memory");
  CHECK(host_memory(gib, none, groups).whose == "this machine has");
  CHECK(host_memory(64 * gib, none, groups).whose == "its control group (container) may take");
  const HostMemory own = host_memory(64 * gib, 2 * gib, groups);
  CHECK(own.bytes == 2 * gib);
  CHECK(own.whose == "this process (ulimit -v) may take");
}

TEST_CASE("memory limits: rows that no limit of address space holds are refused by its name") {
  if (sanitized()) return;  // sanitizers need much address space themselves
  const Folder folder;
  // Makes a sparse file of 3 GiB.
  const std::string path = folder.write("a.npy", data_files::npy("<f4", "(3, 268435456)", ""));
  fs::resize_file(path, fs::file_size(path) + 3 * gib);
  const pid_t child = fork();
  REQUIRE(child >= 0);
  if (child == 0) {
    const rlimit limit{2 * gib, 2 * gib};
    if (setrlimit(RLIMIT_AS, &limit) != 0) _exit(99);
    const std::string error = folder.error([&] { files::read_table(path); });
    _exit(error == "out_of_memory: a.npy: its values need 3221225472 bytes as float32, this process (ulimit "
                   "-v) may take 2147483648; take fewer rows or columns"
              ? 0
              : 1);
  }
  int status = 0;
  REQUIRE(waitpid(child, &status, 0) == child);
  CHECK(status == 0);
}

}  // namespace
}  // namespace kith::tests
