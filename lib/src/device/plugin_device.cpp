#include "device/plugin_device.hpp"

#include <atomic>
#include <new>
#include <type_traits>
#include <utility>

#include "kith/error.hpp"
#include "kith/spi/refusals.hpp"

namespace kith {
namespace {

Error failure(const std::string& spec, const char* call, const std::string& what) {
  return {Errc::device_failure, spec + " " + call + ": its back end threw " + what +
                                    "; report it to those who wrote that back end"};
}

/// Returns what `body` returns. Turns exceptions of a back end other than kith::Error into
/// Error device_failure.
template <class Body>
std::invoke_result_t<const Body&> run(const std::string& spec, const char* call, const Body& body) {
  try {
    return body();
  } catch (const Error&) {
    throw;
  } catch (const std::bad_alloc&) {
    throw;
  } catch (const std::exception& error) {
    throw failure(spec, call, error.what());
  } catch (...) {
    throw failure(spec, call, "an unknown exception");
  }
}

/// Counters are atomic, because a queue may copy at the same time as its device.
struct CopyCounts {
  std::atomic<std::uint64_t> to_device = 0, from_device = 0;
};

class GuardedQueue : public spi::CopyQueue {
 public:
  GuardedQueue(std::string spec, std::unique_ptr<spi::CopyQueue> real, std::shared_ptr<CopyCounts> copied)
      : spec_(std::move(spec)), real_(std::move(real)), copied_(std::move(copied)) {}

  void write(spi::Allocation& to, std::size_t offset, const void* from, std::size_t bytes) override {
    copied_->to_device += bytes;
    run(spec_, "write", [&] { real_->write(to, offset, from, bytes); });
  }

 private:
  const std::string spec_;
  const std::unique_ptr<spi::CopyQueue> real_;
  const std::shared_ptr<CopyCounts> copied_;
};

class GuardedDevice : public spi::Device {
 public:
  explicit GuardedDevice(std::unique_ptr<spi::Device> real)
      : spi::Device(real->info), real_(std::move(real)) {}

  std::unique_ptr<spi::Allocation> allocate(std::size_t bytes) override {
    return run("allocate", [&] { return real_->allocate(bytes); });
  }
  void write(spi::Allocation& to, std::size_t offset, const void* from, std::size_t bytes) override {
    copied_->to_device += bytes;
    run("write", [&] { real_->write(to, offset, from, bytes); });
  }
  void read(const spi::Allocation& from, std::size_t offset, void* to, std::size_t bytes) override {
    copied_->from_device += bytes;
    run("read", [&] { real_->read(from, offset, to, bytes); });
  }
  void finish() override {
    run("finish", [&] { real_->finish(); });
  }
  std::unique_ptr<spi::HostMemory> allocate_host(std::size_t bytes) override {
    return run("allocate_host", [&] { return real_->allocate_host(bytes); });
  }
  std::unique_ptr<spi::CopyQueue> copy_queue() override {
    std::unique_ptr<spi::CopyQueue> real = run("copy_queue", [&] { return real_->copy_queue(); });
    return real ? std::make_unique<GuardedQueue>(info.spec, std::move(real), copied_) : nullptr;
  }
  bool is_locked(const void* begin, std::size_t bytes) const override {
    return run("is_locked", [&] { return real_->is_locked(begin, bytes); });
  }
  std::unique_ptr<spi::Allocation> borrow(const spi::CallersMemory& of) override {
    return run("borrow", [&] { return real_->borrow(of); });
  }
  std::uint64_t mark() override {
    return run("mark", [&] { return real_->mark(); });
  }
  double elapsed(std::uint64_t from, std::uint64_t to) override {
    return run("elapsed", [&] { return real_->elapsed(from, to); });
  }
  void hold() override {
    run("hold", [&] { real_->hold(); });
  }
  void let_go() override {
    run("let_go", [&] { real_->let_go(); });
  }
  spi::ProgramCounts programs() const override {
    return run("programs", [&] { return real_->programs(); });
  }
  spi::Support check(const spi::Step& step) const override {
    std::string refusal = spi::refusal_of(step);
    if (!refusal.empty()) return {std::move(refusal), 0};
    return run("check", [&] { return real_->check(step); });
  }
  void enqueue(const spi::Step& step) override {
    run("enqueue", [&] { real_->enqueue(step); });
  }

  CopiedBytes copied() const { return {copied_->to_device, copied_->from_device}; }

 private:
  template <class Body>
  std::invoke_result_t<const Body&> run(const char* call, const Body& body) const {
    return kith::run(info.spec, call, body);
  }

  const std::unique_ptr<spi::Device> real_;
  const std::shared_ptr<CopyCounts> copied_ = std::make_shared<CopyCounts>();
};

}  // namespace

CopiedBytes copied_bytes(const spi::Device& device) {
  const auto* const counting = dynamic_cast<const GuardedDevice*>(&device);
  return counting ? counting->copied() : CopiedBytes{};
}

std::unique_ptr<spi::Device> guarded(std::unique_ptr<spi::Device> device) {
  return std::make_unique<GuardedDevice>(std::move(device));
}

}  // namespace kith
