// Tests programs that an earlier process compiled: what is taken from a file, and what is compiled again.
// `kith_opencl_tests --device=opencl:pocl` runs it on PoCL.
#include "../../backends/opencl/kept_programs.hpp"

#include <unistd.h>

#include <cstdint>
#include <string>
#include <vector>

#include "../../backends/opencl/programs.hpp"
#include "callers.hpp"
#include "common/folder.hpp"
#include "common/tuning.hpp"

namespace kith::opencl {

// These replace the kernels in the plug-in.
const EmbeddedFile embedded_files[] = {
    {"planted.cl", "kernel void planted(global uint* out) { out[get_global_id(0)] = VALUE; }\n"},
    {"other.cl", "kernel void other(global uint* out) { out[get_global_id(0)] = VALUE + 1; }\n"}};
const std::size_t embedded_file_count = 2;

}  // namespace kith::opencl

namespace kith::tests {
namespace {

using test_support::TemporaryFolder;

/// Does what a process would do that finds this folder: makes a context, and builds programs.
class Process {
 public:
  std::uint32_t value(const std::string& source, const std::string& defines) {
    cl::Kernel& kernel = programs_.kernel(source, defines, source.substr(0, source.find('.')));
    const cl::Buffer out(context_, CL_MEM_READ_WRITE, sizeof(std::uint32_t));
    kernel.setArg(0, out);
    const cl::CommandQueue queue(context_, device_);
    queue.enqueueNDRangeKernel(kernel, cl::NullRange, cl::NDRange(1), cl::NDRange(1));
    std::uint32_t value = 0;
    queue.enqueueReadBuffer(out, CL_TRUE, 0, sizeof value, &value);
    return value;
  }
  std::size_t compiled() const { return programs_.counts().compiled; }
  std::size_t kept() const { return programs_.counts().kept; }

 private:
  Caller caller_;
  cl::Context context_{caller_.context(), true};
  cl::Device device_{caller_.cl_device(), true};
  opencl::Programs programs_{std::make_shared<opencl::SharedContext>(context_), device_, true};
};

/// Makes a folder for the programs of several processes.
struct Shared {
  TemporaryFolder above;
  const std::string folder = above / "programs";
  const Variable named{"KITH_CL_CACHE", folder.c_str()};

  std::vector<std::filesystem::path> files() const {
    std::vector<std::filesystem::path> all;
    std::error_code ignored;
    for (const auto& entry : std::filesystem::directory_iterator(folder, ignored))
      all.push_back(entry.path());
    return all;
  }
};

bool on_opencl() {
  return device().info().backend == "opencl";
}

TEST_SUITE_BEGIN("device");

TEST_CASE("kept programs: what one process compiled the next one takes, and nothing else") {
  if (!on_opencl()) return;
  const Shared shared;
  Process first;
  CHECK(first.value("planted.cl", "-D VALUE=7") == 7);
  CHECK(first.value("planted.cl", "-D VALUE=7") == 7);
  CHECK(first.compiled() == 1);
  CHECK(first.kept() == 0);
  REQUIRE(shared.files().size() == 1);
  Process second;
  CHECK(second.value("planted.cl", "-D VALUE=7") == 7);
  CHECK(second.compiled() == 0);
  CHECK(second.kept() == 1);
  CHECK(second.value("planted.cl", "-D VALUE=8") == 8);  // other options
  CHECK(second.value("other.cl", "-D VALUE=7") == 8);    // another source
  CHECK(second.compiled() == 2);
  CHECK(second.kept() == 1);
  Process third;
  CHECK(third.value("planted.cl", "-D VALUE=8") == 8);
  CHECK(third.value("other.cl", "-D VALUE=7") == 8);
  CHECK(third.value("planted.cl", "-D VALUE=7") == 7);
  CHECK(third.compiled() == 0);
  CHECK(third.kept() == 3);
}

TEST_CASE("kept programs: a changed file of kernels is compiled") {
  if (!on_opencl()) return;
  const Shared shared;
  const TemporaryFolder kernels;
  const Variable there("KITH_CL_DIR", kernels.path().c_str());
  const std::string text = "kernel void planted(global uint* out) { out[get_global_id(0)] = VALUE + ";
  kernels.write("planted.cl", text + "20; }\n");
  CHECK(Process().value("planted.cl", "-D VALUE=1") == 21);
  kernels.write("planted.cl", text + "30; }\n");  // it has the same length
  Process second;
  CHECK(second.value("planted.cl", "-D VALUE=1") == 31);
  CHECK(second.compiled() == 1);
}

TEST_CASE("kept programs: what is damaged, or what the driver refuses, is compiled and replaced") {
  if (!on_opencl()) return;
  const Shared shared;
  CHECK(Process().value("planted.cl", "-D VALUE=7") == 7);
  REQUIRE(shared.files().size() == 1);
  const std::string path = shared.files()[0].string(), good = test_support::text_of_file(path);
  std::string flipped = good;
  flipped[good.size() - good.size() / 4] ^= 1;
  for (const std::string& bad : {std::string(), good.substr(0, good.size() - 1), flipped}) {
    CAPTURE(bad.size());
    std::ofstream(path, std::ios::binary) << bad;
    Process second, third;
    CHECK(second.value("planted.cl", "-D VALUE=7") == 7);
    CHECK(second.compiled() == 1);
    CHECK(third.value("planted.cl", "-D VALUE=7") == 7);
    CHECK(third.kept() == 1);
  }
  // The file is whole, but its content is no program.
  const std::size_t line = good.find('\n');
  REQUIRE(line != std::string::npos);
  const std::size_t key_bytes = std::stoul(good.substr(std::string("kith kept 1 ").size(), 16), nullptr, 16);
  const std::string key = good.substr(line + 1, key_bytes);
  CHECK(key.ends_with("VALUE; }\n"));  // it holds the source itself
  spi::KeptFiles({"KITH_CL_CACHE", "programs", std::size_t{1} << 20}).keep(key, "nonsense");
  Process fourth, fifth;
  CHECK(fourth.value("planted.cl", "-D VALUE=7") == 7);
  CHECK(fourth.compiled() == 1);
  CHECK(fifth.value("planted.cl", "-D VALUE=7") == 7);
  CHECK(fifth.kept() == 1);
}

TEST_CASE("kept programs: without a folder every process compiles") {
  if (!on_opencl()) return;
  const Shared shared;
  const auto compiles = [] {
    for (int i = 0; i < 2; ++i) {
      Process process;
      CHECK(process.value("planted.cl", "-D VALUE=7") == 7);
      CHECK(process.compiled() == 1);
      CHECK(process.kept() == 0);
    }
  };
  for (const char* nowhere : {"off", "relative", "/proc/kith"}) {
    CAPTURE(std::string(nowhere));
    const Variable instead("KITH_CL_CACHE", nowhere);
    compiles();
  }
  CHECK(shared.files().empty());
}

TEST_CASE("kept programs: a key names all that a program depends on") {
  if (!on_opencl()) return;
  const Shared shared;
  const Caller caller;
  const cl::Device of(caller.cl_device(), true);
  const cl::Platform platform(of.getInfo<CL_DEVICE_PLATFORM>());
  const std::string key =
      opencl::KeptPrograms(cl::Context(caller.context(), true), of).key_of("source", "-D A=1");
  for (const std::string& part :
       {of.getInfo<CL_DEVICE_NAME>(), of.getInfo<CL_DEVICE_VENDOR>(), of.getInfo<CL_DEVICE_VERSION>(),
        of.getInfo<CL_DRIVER_VERSION>(), of.getInfo<CL_DEVICE_EXTENSIONS>(),
        platform.getInfo<CL_PLATFORM_NAME>(), platform.getInfo<CL_PLATFORM_VERSION>()}) {
    CAPTURE(part);
    CHECK(key.find(part) != std::string::npos);
  }
  CHECK(key.ends_with("\noptions: -D A=1\nsource"));
}

TEST_SUITE_END();

}  // namespace
}  // namespace kith::tests
