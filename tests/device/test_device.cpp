// Tests names of devices, and which device a name opens: docs/contract.md, section 6.
#include <cctype>
#include <chrono>
#include <thread>

#include "common/device.hpp"
#include "common/oracle.hpp"
#include "kith/index.hpp"

namespace kith::tests {
namespace {

std::string lower(std::string text) {
  for (char& c : text) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return text;
}

TEST_SUITE_BEGIN("device");

TEST_CASE("device: the one asked for is the one running") {
  const DeviceInfo& info = device().info();
  const std::string spec = lower(device_spec());
  const std::string backend = spec.substr(0, spec.find(':'));
  const std::string choice = spec.find(':') == std::string::npos ? "" : spec.substr(spec.find(':') + 1);
  if (backend != "auto") CHECK(info.backend == backend);
  CHECK((info.spec == info.backend || info.spec.starts_with(info.backend + ":")));
  if (choice == "pocl") {
    CHECK(lower(info.platform) == "portable computing language");
  } else if (!choice.empty() && !std::isdigit(static_cast<unsigned char>(choice[0]))) {
    CHECK(lower(info.name + " " + info.platform).find(choice) != std::string::npos);
  } else if (!choice.empty()) {
    CHECK(info.spec == spec);
  }
  const char* isa = std::getenv("KITH_CPU_ISA");
  if (backend == "cpu" && isa) CHECK(info.driver.find(isa) != std::string::npos);
}

TEST_CASE("device: what is known of it can be relied on") {
  const DeviceInfo& info = device().info();
  CHECK(!info.name.empty());
  CHECK(!info.platform.empty());
  CHECK(!info.driver.empty());
  CHECK(info.compute_units >= 1);
  CHECK(info.memory_bytes >= std::size_t{1} << 26);
  CHECK(info.largest_allocation <= info.memory_bytes);
  CHECK(info.largest_allocation >= std::size_t{1} << 16);
  CHECK(info.train_block >= 1);
  CHECK(info.query_block >= 1);
  CHECK(!info.selectors.empty());
  CHECK(std::count(info.selectors.begin(), info.selectors.end(), Selector::automatic) == 0);
  CHECK(std::set<Selector>(info.selectors.begin(), info.selectors.end()).size() == info.selectors.size());
}

TEST_CASE("device: it is in the list, and its own spec opens it again") {
  const DeviceInfo& info = device().info();
  const std::vector<DeviceInfo> all = devices();
  CHECK(std::count_if(all.begin(), all.end(), [&](const DeviceInfo& d) { return d.spec == info.spec; }) == 1);
  CHECK(open_device(info.spec).info().spec == info.spec);
}

TEST_CASE("device: an index keeps its device open") {
  const Matrix train = matrix(1, {4, 2});
  const Index index(open_device(device_spec()), train, Metric::l1);
  CHECK(index.search(matrix(1, {3}), 2) == Neighbors{1, 2, {1, 1}, {0, 1}});
}

TEST_CASE("device: more memory than there is, is out_of_memory, and the device works afterwards") {
  spi::with_device(device(), [](spi::Device& opened) {
    const std::size_t impossible = std::size_t{1} << 60;
    const std::string refusal = error_of([&] { opened.allocate(impossible); });
    CAPTURE(refusal);
    CHECK(refusal.starts_with("out_of_memory: "));
    CHECK(refusal.find(std::to_string(impossible)) != std::string::npos);
  });
  const Matrix train = matrix(1, {4, 2});
  CHECK(Index(device(), train, Metric::l1).search(matrix(1, {4}), 1) == Neighbors{1, 1, {0}, {0}});
}

TEST_CASE("device: memory keeps what is written, at any offset") {
  spi::with_device(device(), [](spi::Device& opened) {
    const auto memory = opened.allocate(1001);
    CHECK(memory->bytes >= 1001);
    std::vector<unsigned char> all(1001, 0x11), part(7, 0x22), back(1001);
    opened.write(*memory, 0, all.data(), 1001);
    opened.write(*memory, 333, part.data(), 7);
    opened.read(*memory, 0, back.data(), 1001);
    std::copy(part.begin(), part.end(), all.begin() + 333);
    CHECK(back == all);
    opened.read(*memory, 335, part.data(), 3);
    CHECK(part == std::vector<unsigned char>(7, 0x22));
  });
}

TEST_CASE("device: its clock does not run backwards") {
  spi::with_device(device(), [](spi::Device& opened) {
    const GuardedGrid<Key> in(opened, 50, 64, 0), out(opened, 50, 32, 0);
    spi::MergeStep step{2, 32, in.grid(), out.grid(), {}};
    const std::size_t scratch_bytes = opened.check({step}).scratch_bytes;
    const auto scratch = opened.allocate(scratch_bytes + 1);
    step.scratch = {scratch.get(), scratch_bytes};
    const std::uint64_t before = opened.mark();
    opened.enqueue({step});
    const std::uint64_t after = opened.mark();
    opened.finish();
    CHECK(opened.elapsed(before, after) >= 0);
    CHECK(opened.elapsed(before, after) < 60);
  });
}

/// Returns a step that merges three lists of three keys.
struct SmallMerge {
  explicit SmallMerge(spi::Device& device)
      : in(device, 1, 9, 7), out(device, 1, 3, 1), step{3, 3, in.grid(), out.grid(), {}} {
    const std::size_t bytes = device.check({step}).scratch_bytes;
    scratch = device.allocate(bytes + 1);
    step.scratch = {scratch.get(), bytes};
  }
  const GuardedGrid<Key> in, out;
  spi::MergeStep step;
  std::unique_ptr<spi::Allocation> scratch;
};

TEST_CASE("device: what is held is done when it is let go, or when somebody waits") {
  spi::with_device(device(), [](spi::Device& opened) {
    opened.let_go();  // allowed although nothing is held
    for (const char* end : {"let go", "finish", "read"}) {
      const SmallMerge merge(opened);
      opened.hold();
      opened.enqueue({merge.step});
      if (end == std::string("let go")) opened.let_go();
      if (end != std::string("read")) opened.finish();
      CHECK(merge.out.inside() == std::vector<Key>(3, 7));
    }
  });
}

TEST_CASE("device: time stamps in a queue that is held tell nothing of the host") {
  if (device().info().kind != DeviceKind::gpu) return;
  spi::with_device(device(), [](spi::Device& opened) {
    const SmallMerge merge(opened);
    constexpr double asleep = 1e-4;
    double least = 1;
    for (int i = 0; i < 5 && least >= asleep; ++i) {  // the process may be interrupted once
      opened.hold();
      const std::uint64_t before = opened.mark();
      opened.enqueue({merge.step});
      std::this_thread::sleep_for(std::chrono::duration<double>(asleep));
      const std::uint64_t after = opened.mark();
      opened.let_go();
      opened.finish();
      least = std::min(least, opened.elapsed(before, after));
    }
    CHECK(least < asleep);
  });
}

TEST_SUITE_END();

std::string cpu_and_its_name() {
  return "cpu (" + open_device("cpu").info().name + ")";
}

TEST_CASE("device: a spec that names no back end is refused, with those there are") {
  std::string known = "auto, gpu";
  for (const BackendInfo& backend : backends()) known += ", " + backend.name;
  CHECK(error_of([] { open_device("gpu7"); }) ==
        "invalid_argument: open_device: \"gpu7\": there is no back end called \"gpu7\"; choose one of " +
            known);
  CHECK(error_of([] { open_device(""); }) ==
        "invalid_argument: open_device: \"\": there is no back end called \"\"; choose one of " + known);
  CHECK(
      error_of([] { open_device("vulkan:0"); }) ==
      "invalid_argument: open_device: \"vulkan:0\": there is no back end called \"vulkan\"; choose one of " +
          known);
  // A message must contain no character that controls a terminal.
  CHECK(error_of([] { open_device("\x1b[31mopencl:x\n"); }).find("\"\\x1b[31mopencl:x\\x0a\": ") !=
        std::string::npos);
  CHECK(error_of([] { open_device("cpu:\x1b[31m\n"); }) ==
        "unavailable: open_device: cpu:\\x1b[31m\\x0a: no such device; there are " + cpu_and_its_name());
  CHECK(error_of([] { open_device("gpu:1"); }) ==
        "invalid_argument: open_device: \"gpu:1\": gpu alone means the first GPU; name others as `kith "
        "devices` lists them, such as cuda:1");
}

TEST_CASE("device: gpu is the GPU that auto takes, and no CPU") {
  const Device best = open_device("auto");
  if (best.info().kind == DeviceKind::cpu)
    CHECK(error_of([] { open_device("gpu"); }) ==
          "unavailable: open_device: gpu: no exact GPU is here; choose cpu, or auto, which takes the CPU "
          "then, or see `kith doctor`");
  else
    CHECK(open_device("GPU").info().spec == best.info().spec);
}

TEST_CASE("device: a device that is not there is refused, with those there are") {
  CHECK(error_of([] { open_device("cpu:7"); }) ==
        "unavailable: open_device: cpu:7: no such device; there are " + cpu_and_its_name());
  CHECK(error_of([] { open_device("cpu:abacus"); }) ==
        "unavailable: open_device: cpu:abacus: no such device; there are " + cpu_and_its_name());
  CHECK(error_of([] { open_device("cpu:99999999999999999999"); }) ==
        "unavailable: open_device: cpu:99999999999999999999: no such device; there are " +
            cpu_and_its_name());
}

TEST_CASE("device: the cpu is always there, and any case names it") {
  CHECK(open_device("cpu").info().spec == "cpu");
  CHECK(open_device("CPU").info().backend == "cpu");
  CHECK(open_device("cpu:0").info().spec == "cpu");
  CHECK(open_device("cpu").info().kind == DeviceKind::cpu);
}

TEST_CASE("device: auto prefers CUDA, then a GPU, then the cpu, and never OpenCL on a CPU") {
  const std::vector<DeviceInfo> all = devices();
  const auto has = [&](auto&& what) { return std::any_of(all.begin(), all.end(), what); };
  const bool cuda = has([](const DeviceInfo& d) { return d.backend == "cuda"; });
  const bool gpu = has([](const DeviceInfo& d) { return d.kind != DeviceKind::cpu; });
  const DeviceInfo best = open_device().info();
  CHECK(best.backend == (cuda ? "cuda" : gpu ? "opencl" : "cpu"));
  CHECK((best.backend != "opencl" || best.kind != DeviceKind::cpu));
}

TEST_CASE("device: each back end of this build is listed, with devices or with the reason why not") {
  std::vector<std::string> names;
  for (const BackendInfo& backend : backends()) {
    names.push_back(backend.name);
    CAPTURE(backend.name);
    CHECK(backend.devices.empty() == !backend.reason.empty());
    for (const DeviceInfo& info : backend.devices) CHECK(info.backend == backend.name);
  }
  REQUIRE(names.size() >= 3);
  CHECK(std::vector<std::string>(names.begin(), names.begin() + 3) ==
        std::vector<std::string>{"cpu", "opencl", "cuda"});
}

}  // namespace
}  // namespace kith::tests
