// Tests the joules from energy counters that kith reads, which are simulated here.
#include <chrono>
#include <filesystem>
#include <thread>

#include "common/device.hpp"
#include "common/folder.hpp"
#include "lab/energy/energy.hpp"
#include "paths.hpp"

using namespace kith;
using namespace kith::energy;

namespace {

namespace fs = std::filesystem;
using test_support::contains;

/// Makes a temporary folder that imitates /sys/class/powercap.
class Powercap : public test_support::TemporaryFolder {
 public:
  void domain(const std::string& folder, const std::string& name, const std::string& now,
              const std::string& range = "1000000") const {
    fs::create_directory(*this / folder);
    put(folder + "/name", name);
    put(folder + "/max_energy_range_uj", range);
    put(folder + "/energy_uj", now);
  }
  void put(const std::string& file, const std::string& text) const { write(file, text + "\n"); }
  void remove(const std::string& file) const { fs::remove(*this / file); }
  Sources sources() const { return Sources{.powercap = path()}; }
};

/// Holds the boards that a simulated NVML reports.
struct Boards {
  struct Board {
    std::string name, pci;
    unsigned long long millijoules = 0;
  };
  std::vector<Board> boards;
  int init_status = 0, energy_status = 0;
  int open = 0;  ///< times initialised and not shut down again

  Nvml nvml() {
    Nvml nvml;
    nvml.init = [this] {
      if (init_status == 0) ++open;
      return init_status;
    };
    nvml.shutdown = [this] {
      --open;
      return 0;
    };
    nvml.error_text = [](int status) { return status == 3 ? "Not Supported" : "Unknown Error"; };
    nvml.count = [this](unsigned* count) {
      *count = static_cast<unsigned>(boards.size());
      return 0;
    };
    nvml.board_at = [this](unsigned ordinal, Nvml::Board* board) {
      *board = &boards.at(ordinal);
      return 0;
    };
    nvml.board_by_pci = [this](const char* address, Nvml::Board* found) {
      for (Board& board : boards)
        if (board.pci == address) {
          *found = &board;
          return 0;
        }
      return 6;
    };
    nvml.name = [](Nvml::Board board, char* text, unsigned size) {
      std::strncpy(text, static_cast<Board*>(board)->name.c_str(), size);
      return 0;
    };
    nvml.energy = [this](Nvml::Board board, unsigned long long* millijoules) {
      *millijoules = static_cast<Board*>(board)->millijoules;
      return energy_status;
    };
    return nvml;
  }

  Sources sources() { return Sources{.nvml = nvml()}; }
};

DeviceInfo gpu(const std::string& name, const std::string& pci, const std::string& backend = "cuda") {
  DeviceInfo info;
  info.spec = backend + ":0";
  info.backend = backend;
  info.platform = "NVIDIA CUDA";
  info.name = name;
  info.pci = pci;
  info.kind = DeviceKind::gpu;
  return info;
}

DeviceInfo processor() {
  DeviceInfo info;
  info.spec = info.backend = "cpu";
  return info;
}

/// A counter whose joules come from a function.
class Scripted : public Counter {
 public:
  explicit Scripted(std::function<double()> script) : script_(std::move(script)) {}
  double joules() override { return script_(); }

 private:
  std::function<double()> script_;
};

EnergyMeter scripted(std::function<double()> script) {
  return EnergyMeter(Opened{std::make_unique<Scripted>(std::move(script)), "a script"});
}

}  // namespace

TEST_CASE("energy: RAPL sums the packages, and nothing twice") {
  const Powercap powercap;
  powercap.domain("intel-rapl:0", "package-0", "100");
  powercap.domain("intel-rapl:0:0", "core", "100");
  powercap.domain("intel-rapl:1", "package-1", "200");
  powercap.domain("intel-rapl:2", "psys", "1000");
  powercap.domain("intel-rapl-mmio:0", "package-0", "100");
  const Opened opened = open_rapl(powercap.sources());
  REQUIRE(opened.counter);
  CHECK(contains(opened.what, "RAPL (intel-rapl:0, intel-rapl:1 in " + powercap.path() + ")"));
  CHECK(contains(opened.what, "idle power and other programs included"));
  CHECK(opened.counter->joules() == 0);
  powercap.put("intel-rapl:0/energy_uj", "500100");
  powercap.put("intel-rapl:0:0/energy_uj", "900000");
  powercap.put("intel-rapl:2/energy_uj", "999999");
  powercap.put("intel-rapl-mmio:0/energy_uj", "500100");
  CHECK(opened.counter->joules() == 0.5);
  powercap.put("intel-rapl:1/energy_uj", "250200");
  CHECK(opened.counter->joules() == 0.75);
}

TEST_CASE("energy: a RAPL counter that begins again") {
  const Powercap powercap;
  powercap.domain("intel-rapl:0", "package-0", "900000", "1000000");
  const Opened opened = open_rapl(powercap.sources());
  REQUIRE(opened.counter);
  powercap.put("intel-rapl:0/energy_uj", "150000");
  CHECK(opened.counter->joules() == 0.25);
  powercap.put("intel-rapl:0/energy_uj", "400000");
  CHECK(opened.counter->joules() == 0.5);
  powercap.put("intel-rapl:0/energy_uj", "150000");
  CHECK(opened.counter->joules() == 1.25);
  powercap.remove("intel-rapl:0/energy_uj");
  CHECK(tests::error_of([&] { opened.counter->joules(); }) ==
        "device_failure: energy: " + powercap.path() +
            "/intel-rapl:0/energy_uj cannot be read any more; measure without joules");
}

TEST_CASE("energy: why there is no RAPL") {
  Sources nowhere;
  nowhere.powercap = "/nowhere/powercap";
  const EnergyMeter missing(processor(), nowhere);
  CHECK_FALSE(missing.available());
  CHECK(missing.source() ==
        "no joules: /nowhere/powercap is not there: this kernel or virtual machine does not show the "
        "processor's energy counters (RAPL)");

  const Powercap powercap;
  CHECK(contains(open_rapl(powercap.sources()).what, "no package is listed in " + powercap.path()));
  powercap.domain("intel-rapl:0", "package-0", "12");
  powercap.remove("intel-rapl:0/energy_uj");
  const Opened locked = open_rapl(powercap.sources());
  CHECK_FALSE(locked.counter);
  CHECK(locked.what == powercap.path() +
                           "/intel-rapl:0/energy_uj is not readable for this user; run as root, or let an "
                           "administrator allow it (chmod a+r)");
}

TEST_CASE("energy: NVML's board is found by its address, else by a name that only it has") {
  Boards boards;
  boards.boards = {{"NVIDIA H200", "0000:1a:00.0", 5000},
                   {"NVIDIA H200", "0000:1b:00.0", 7000},
                   {"NVIDIA T4", "0000:2c:00.0", 9000}};
  {
    const Opened opened = open_nvml(gpu("NVIDIA H200", "0000:1b:00.0"), boards.sources());
    REQUIRE(opened.counter);
    CHECK(contains(opened.what, "NVML's counter of NVIDIA H200 at 0000:1b:00.0, the whole board"));
    boards.boards[0].millijoules += 100000;
    boards.boards[1].millijoules += 1250;
    CHECK(opened.counter->joules() == 1.25);
    CHECK(boards.open == 1);
    boards.energy_status = 3;
    CHECK(tests::error_of([&] { opened.counter->joules(); }) ==
          "device_failure: energy: NVML cannot read the energy counter any more: Not Supported; measure "
          "without joules");
    boards.energy_status = 0;
  }
  CHECK(boards.open == 0);
  {
    const Opened opened = open_nvml(gpu("NVIDIA T4", ""), boards.sources());
    REQUIRE(opened.counter);
    boards.boards[2].millijoules += 500;
    CHECK(opened.counter->joules() == 0.5);
  }
  const Opened unclear = open_nvml(gpu("NVIDIA H200", "0000:ff:00.0"), boards.sources());
  CHECK_FALSE(unclear.counter);
  CHECK(unclear.what ==
        "NVML knows 2 boards called NVIDIA H200 and none at 0000:ff:00.0, so it is not clear which is "
        "cuda:0");
  CHECK(boards.open == 0);
}

TEST_CASE("energy: the board of an OpenCL device; who is no NVIDIA has none") {
  Boards boards{.boards = {{"NVIDIA H200", "0000:1a:00.0", 5000}}};
  const EnergyMeter meter(gpu("NVIDIA H200", "0000:1a:00.0", "opencl"), boards.sources());
  CHECK(meter.available());
  CHECK(contains(meter.source(), "joules: NVML's counter of NVIDIA H200"));

  DeviceInfo other = gpu("gfx1100", "", "opencl");
  other.platform = "AMD Accelerated Parallel Processing";
  CHECK(EnergyMeter(other, boards.sources()).source() ==
        "no joules: opencl:0 (gfx1100) is neither a processor nor of NVIDIA, and kith knows only their "
        "counters");
}

TEST_CASE("energy: why there is no NVML") {
  const DeviceInfo device = gpu("NVIDIA H200", "0000:1a:00.0");
  Sources sources{.nvml_library = "libkith-no-such-library.so"};
  CHECK(contains(open_nvml(device, sources).what,
                 "NVIDIA's management library cannot be opened (libkith-no-such-library.so"));
  sources.nvml_library = "libm.so.6";
  CHECK(open_nvml(device, sources).what ==
        "libm.so.6 lacks functions that kith needs; install a newer driver");

  Boards boards{.boards = {{"NVIDIA H200", "0000:1a:00.0", 5000}}, .init_status = 9};
  CHECK(open_nvml(device, boards.sources()).what == "NVML does not start: Unknown Error");
  boards.init_status = 0;
  boards.energy_status = 3;
  CHECK(open_nvml(device, boards.sources()).what ==
        "NVML does not tell the energy of NVIDIA H200: Not Supported");
  CHECK(boards.open == 0);
}

TEST_CASE("energy: NVML is a library opened at run time") {
  Sources sources{.nvml_library = test_support::in_plugins("/energy/libnvml.so")};
  const Opened opened = open_nvml(gpu("NVIDIA Planted", "0000:1a:00.0"), sources);
  REQUIRE(opened.counter);
  CHECK(opened.counter->joules() == 2);
  CHECK(opened.counter->joules() == 4);
  CHECK(contains(open_nvml(gpu("NVIDIA H200", ""), sources).what, "NVML knows 0 boards called NVIDIA H200"));
}

TEST_CASE("energy: the mean goes from step to step of the counter") {
  // The counter rises by 8 J after every fourth run, and starts in the middle of a step. Runs before the
  // first step and after the last must not count.
  int runs = 0;
  EnergyMeter meter = scripted([&] { return 8.0 * ((runs + 2) / 4); });
  const auto energy = meter.measure(
      [&] {
        ++runs;
        std::this_thread::sleep_for(std::chrono::microseconds(1100));
      },
      0.05);
  REQUIRE(energy);
  CHECK(energy->joules == 2);
  CHECK(energy->steps >= 20);
  CHECK(energy->runs == 4 * energy->steps);
  CHECK(energy->runs <= runs);
  CHECK(energy->seconds > 0.001);
  CHECK(contains(meter.source(), "joules: a script; seen to move every "));
}

TEST_CASE("energy: a counter that stands still tells nothing, and is not waited for without end") {
  EnergyMeter meter = scripted([] { return 42.0; });
  int runs = 0;
  CHECK_FALSE(meter.measure([&] { ++runs; }, 0.01));
  CHECK(runs > 0);
  CHECK(meter.source() == "no joules: a script; but it did not move while it was watched");

  int asked = 0;
  EnergyMeter once = scripted([&] { return ++asked > 2 ? 1.0 : 0.0; });
  CHECK_FALSE(once.measure([] {}, 0.01));
}

TEST_CASE("energy: without a counter nothing is run") {
  EnergyMeter meter(Opened{nullptr, "there is no counter"});
  CHECK_FALSE(meter.measure([] { FAIL("it was run"); }));
  CHECK(meter.source() == "no joules: there is no counter");
}

TEST_SUITE_BEGIN("device");

TEST_CASE("energy: this device has joules, or a reason") {
  EnergyMeter meter(tests::device().info());
  CHECK(meter.source().starts_with(meter.available() ? "joules: " : "no joules: "));
  if (!meter.available()) return;
  const auto energy = meter.measure([] { std::this_thread::sleep_for(std::chrono::microseconds(100)); }, 0.3);
  if (energy) CHECK(energy->joules > 0);
}

TEST_SUITE_END();
