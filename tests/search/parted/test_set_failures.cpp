// Tests members of a set that fail, and searches of a set with progress and stops.
#include <atomic>
#include <chrono>
#include <stop_token>
#include <thread>

#include "common/oracle.hpp"
#include "common/parted/sets.hpp"
#include "common/proxy_device.hpp"

namespace kith::tests {
namespace {

/// Counts the calls that a FailingDevice still answers; below 0 it answers all.
struct Countdown {
  std::atomic<std::int64_t> left = -1;

  void count(const std::string& spec) {
    if (left < 0) return;
    if (left-- == 0) throw Error(Errc::device_failure, "the card of " + spec + " is gone; look after it");
  }
};

class FailingDevice : public ProxyDevice {
 public:
  FailingDevice(std::unique_ptr<spi::Device> real, Countdown& countdown)
      : ProxyDevice(std::move(real)), countdown_(countdown) {}

  std::unique_ptr<spi::Allocation> allocate(std::size_t bytes) override {
    countdown_.count(info.spec);
    return ProxyDevice::allocate(bytes);
  }
  void write(spi::Allocation& to, std::size_t offset, const void* from, std::size_t bytes) override {
    countdown_.count(info.spec);
    ProxyDevice::write(to, offset, from, bytes);
  }
  void read(const spi::Allocation& from, std::size_t offset, void* to, std::size_t bytes) override {
    countdown_.count(info.spec);
    ProxyDevice::read(from, offset, to, bytes);
  }
  void enqueue(const spi::Step& step) override {
    countdown_.count(info.spec);
    ProxyDevice::enqueue(step);
  }

 private:
  Countdown& countdown_;
};

/// Runs no step until the countdown of the FailingDevice has ended, and always pauses before a step.
class SlowDevice : public ProxyDevice {
 public:
  SlowDevice(std::unique_ptr<spi::Device> real, Countdown& countdown)
      : ProxyDevice(std::move(real)), countdown_(countdown) {}

  void enqueue(const spi::Step& step) override {
    do std::this_thread::sleep_for(std::chrono::milliseconds(2));
    while (countdown_.left >= 0);
    ProxyDevice::enqueue(step);
  }

 private:
  Countdown& countdown_;
};

/// Returns a set of the CPU, a failing device, and the CPU again; the failing one is called `faulty:1`.
Device set_that_fails(Countdown& countdown) {
  const Device faulty = cpu_behind<FailingDevice>(countdown);
  faulty.state()->info.spec = "faulty:1";
  return set_of_devices({open_device("cpu"), faulty, open_device("cpu")});
}

TEST_CASE("set failures: whichever call fails, the error names the member, and the next call is right") {
  const Matrix train = hard_rows(DataKind::grid, Set::train, 300, 4, Metric::l2),
               queries = hard_rows(DataKind::grid, Set::queries, 20, 4, Metric::l2);
  const Neighbors expected = neighbors(Metric::l2, queries, train, 7);
  Countdown countdown;
  for (const Placement placement : {Placement::split, Placement::replicate}) {
    IndexOptions options{.placement = placement};
    const Device set = set_that_fails(countdown);
    const auto failures_of = [&](const auto& body) {
      std::int64_t failures = 0;
      for (;; ++failures) {
        countdown.left = failures;
        const std::string error = error_of(body);
        countdown.left = -1;
        if (error == "nothing was thrown") return failures;
        CHECK(error.starts_with("device_failure: faulty:1: the card of "));
        CHECK(difference(Index(set, train, Metric::l2, options).search(queries, 7), expected) == "");
      }
    };
    CHECK(failures_of([&] { Index(set, train, Metric::l2, options); }) > 0);
    const Index index(set, train, Metric::l2, options);
    CHECK(failures_of([&] { index.search(queries, 7); }) > 1);
    CHECK(failures_of([&] { index.within(queries, std::vector<float>{1}); }) > 1);
    CHECK(difference(index.search(queries, 7), expected) == "");
  }
}

TEST_CASE("set failures: what failed is told, and not that a member before it was stopped") {
  const Matrix train = hard_rows(DataKind::grid, Set::train, 2000, 4, Metric::l2),
               queries = hard_rows(DataKind::grid, Set::queries, 20, 4, Metric::l2);
  Countdown countdown;
  const Device faulty = cpu_behind<FailingDevice>(countdown), slow = cpu_behind<SlowDevice>(countdown);
  faulty.state()->info.spec = "faulty:1";
  const Index index(set_of_devices({slow, faulty}), train, Metric::l2, {.placement = Placement::split});
  SearchOptions options{.query_tile = 5, .train_tile = 32};
  countdown.left = 0;
  CHECK(error_of([&] {
          index.search(queries, 7, options);
        }).starts_with("device_failure: faulty:1: the card of "));
  CHECK(difference(index.search(queries, 7), neighbors(Metric::l2, queries, train, 7)) == "");
}

TEST_CASE("set failures: one progress, told on the caller's thread") {
  const Matrix train = hard_rows(DataKind::normal, Set::train, 4000, 8, Metric::l2);
  const Device cpu = open_device("cpu");
  const Index index(set_of_devices({cpu, cpu, cpu}), train, Metric::l2, {.placement = Placement::split});
  const std::thread::id caller = std::this_thread::get_id();
  double last = 0;
  SearchOptions options{.query_tile = 100, .train_tile = 100};
  options.progress = [&](const Progress& progress) {
    CHECK(std::this_thread::get_id() == caller);
    CHECK(progress.fraction >= last);
    CHECK(progress.fraction <= 1);
    last = progress.fraction;
  };
  const RowsView queries = RowsView(train).slice(0, 400);
  const Neighbors expected = Index(cpu, train, Metric::l2).search(queries, 3);
  CHECK(index.search(queries, 3, options) == expected);
  CHECK(last > 0.3);

  options.progress = [](const Progress&) { throw std::runtime_error("enough"); };
  CHECK_THROWS_WITH_AS(index.search(queries, 3, options), "enough", std::runtime_error);
  CHECK(index.search(queries, 3) == expected);

  std::stop_source stop;
  options.stop = stop.get_token();
  options.progress = [&](const Progress&) { stop.request_stop(); };
  CHECK(error_of([&] { index.search(queries, 3, options); }).starts_with("interrupted: "));
  options.progress = nullptr;
  CHECK(error_of([&] { index.search(queries, 3, options); }).starts_with("interrupted: "));
  CHECK(index.search(queries, 3) == expected);
}

TEST_CASE("set failures: a set has no memory of its own, and says so") {
  const Device cpu = open_device("cpu"), set = set_of_devices({cpu, cpu});
  CHECK(error_of([&] { spi::with_device(set, [](spi::Device& device) { device.allocate(1); }); }) ==
        "unsupported: cpu+cpu: a single step runs on one device, and this is a set of them; name one of its "
        "members instead");
  CHECK(set.info().name == "2 x " + cpu.info().name);
  CHECK(set.info().memory_bytes == 2 * cpu.info().memory_bytes);
  CHECK(set.info().backend == "set");
}

TEST_CASE("set failures: specs and shares that mean nothing") {
  CHECK(error_of([] { open_device("cpu+cpu:0"); }) == "invalid_argument: open_device: cpu (" +
                                                          open_device("cpu").info().name +
                                                          ") is there twice in a set; name each device once");
  CHECK(error_of([] { open_device("cpu+"); }) ==
        "invalid_argument: open_device: \"cpu+\": a part between + is empty; name a device in each");
  CHECK(error_of([] { open_device("cpu+gpu7"); }).starts_with("invalid_argument: open_device: \"gpu7\": "));
  CHECK(open_device("cpu:*").info().spec == "cpu");
  const Device cpu = open_device("cpu"), set = set_of_devices({cpu, cpu});
  const auto refused = [&](std::vector<double> shares) {
    const Matrix rows = matrix(1, {1, 2});
    return error_of([&] { Index(set, rows, Metric::l2, {.shares = shares}); });
  };
  CHECK(refused({1}) == "invalid_argument: index: 1 shares for the 2 members of cpu+cpu; give one each");
  CHECK(refused({1, -2}) == "invalid_argument: index: share 1 of cpu+cpu is -2; give numbers of 0 or more");
  CHECK(refused({0, 0}) == "invalid_argument: index: all shares of cpu+cpu are 0; give one member a part");
}

}  // namespace
}  // namespace kith::tests
