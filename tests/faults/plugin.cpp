// The back end `faulty` has one device. It forwards to the device KITH_FAULTY_OF, unless kith_fault_tests
// lets a call fail.
#include <cstdlib>
#include <memory>
#include <new>
#include <stdexcept>
#include <string>
#include <type_traits>
#include <utility>

#include "hooks.hpp"
#include "kith/device.hpp"
#include "kith/error.hpp"
#include "kith/spi.hpp"
#include "plugin.hpp"

namespace {

using namespace kith;

void may_fail(const char* call) {
  const std::string where = std::string("faulty: ") + call + ": ";
  switch (static_cast<FaultyDevice>(kith_fault(static_cast<int>(tests::faults::Site::device_call)))) {
    case FaultyDevice::works:
      return;
    case FaultyDevice::fails:
      throw Error(Errc::device_failure, where + "it fails on purpose; ask again");
    case FaultyDevice::is_full:
      throw Error(Errc::out_of_memory, where + "it is full on purpose; ask for less");
    case FaultyDevice::throws_runtime_error:
      throw std::runtime_error("no Error of kith");
    case FaultyDevice::throws_bad_alloc:
      throw std::bad_alloc();
    case FaultyDevice::throws_int:
      throw 42;
  }
}

class FailingQueue : public spi::CopyQueue {
 public:
  explicit FailingQueue(std::unique_ptr<spi::CopyQueue> real) : real_(std::move(real)) {}
  void write(spi::Allocation& to, std::size_t offset, const void* from, std::size_t bytes) override {
    may_fail("copy");
    real_->write(to, offset, from, bytes);
  }

 private:
  const std::unique_ptr<spi::CopyQueue> real_;
};

class Device : public spi::Device {
  template <class Body>
  auto of_real(const Body& body) const {
    using Result = decltype(body(std::declval<spi::Device&>()));
    if constexpr (std::is_void_v<Result>) {
      spi::with_device(real_, body);
    } else {
      Result result{};
      spi::with_device(real_, [&](spi::Device& device) { result = body(device); });
      return result;
    }
  }

 public:
  Device(DeviceInfo known, kith::Device real) : spi::Device(std::move(known)), real_(std::move(real)) {}

  std::unique_ptr<spi::Allocation> allocate(std::size_t bytes) override {
    may_fail("allocate");
    return of_real([&](spi::Device& device) { return device.allocate(bytes); });
  }
  void write(spi::Allocation& to, std::size_t offset, const void* from, std::size_t bytes) override {
    may_fail("write");
    of_real([&](spi::Device& device) { device.write(to, offset, from, bytes); });
  }
  void read(const spi::Allocation& from, std::size_t offset, void* to, std::size_t bytes) override {
    may_fail("read");
    of_real([&](spi::Device& device) { device.read(from, offset, to, bytes); });
  }
  void finish() override {
    may_fail("finish");
    of_real([](spi::Device& device) { device.finish(); });
  }
  std::unique_ptr<spi::HostMemory> allocate_host(std::size_t bytes) override {
    may_fail("allocate_host");
    return of_real([&](spi::Device& device) { return device.allocate_host(bytes); });
  }
  std::unique_ptr<spi::CopyQueue> copy_queue() override {
    may_fail("copy_queue");
    std::unique_ptr<spi::CopyQueue> real = of_real([](spi::Device& device) { return device.copy_queue(); });
    return real ? std::make_unique<FailingQueue>(std::move(real)) : nullptr;
  }
  bool is_locked(const void* begin, std::size_t bytes) const override {
    may_fail("is_locked");
    return of_real([&](spi::Device& device) { return device.is_locked(begin, bytes); });
  }
  std::unique_ptr<spi::Allocation> borrow(const spi::CallersMemory& of) override {
    may_fail("borrow");
    return of_real([&](spi::Device& device) { return device.borrow(of); });
  }
  std::uint64_t mark() override {
    may_fail("mark");
    return of_real([](spi::Device& device) { return device.mark(); });
  }
  double elapsed(std::uint64_t from, std::uint64_t to) override {
    may_fail("elapsed");
    return of_real([&](spi::Device& device) { return device.elapsed(from, to); });
  }
  void hold() override {
    may_fail("hold");
    of_real([](spi::Device& device) { device.hold(); });
  }
  void let_go() override {
    of_real([](spi::Device& device) { device.let_go(); });
    may_fail("let_go");
  }
  spi::Support check(const spi::Step& step) const override {
    may_fail("check");
    return of_real([&](spi::Device& device) { return device.check(step); });
  }
  void enqueue(const spi::Step& step) override {
    may_fail("enqueue");
    of_real([&](spi::Device& device) { device.enqueue(step); });
  }

 private:
  const kith::Device real_;
};

class Backend : public spi::Backend {
 public:
  spi::Found find() override {
    const char* const of = std::getenv("KITH_FAULTY_OF");
    DeviceInfo info = kith::open_device(of ? of : "cpu").info();
    info.spec = "faulty:0";
    info.tuning = nullptr;
    real_ = of ? of : "cpu";
    return {{info}, "", {}};
  }

  std::unique_ptr<spi::Device> open(std::uint32_t) override {
    may_fail("open");
    return std::make_unique<Device>(find().devices[0], kith::open_device(real_));
  }

 private:
  std::string real_;
};

}  // namespace

extern "C" KITH_API const kith::spi::Plugin* kith_plugin();
extern "C" KITH_API const kith::spi::Plugin* kith_plugin() {
  static const kith::spi::Plugin plugin{
      kith::spi::plugin_abi, "faulty",
      []() -> std::unique_ptr<kith::spi::Backend> { return std::make_unique<Backend>(); }};
  return &plugin;
}
