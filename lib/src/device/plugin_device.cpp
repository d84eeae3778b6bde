#include "device/plugin_device.hpp"

#include <atomic>
#include <new>
#include <utility>

#include "kith/error.hpp"
#include "kith/spi/refusals.hpp"

namespace kith {
namespace {

Error failure(const std::string& spec, const char* call, const std::string& what) {
  return {Errc::device_failure, spec + " " + call + ": its back end threw " + what +
                                    "; report it to those who wrote that back end"};
}

/// Rethrows what a back end threw in `call`. Turns exceptions other than kith::Error into Error
/// device_failure.
[[noreturn]] void rethrow_of(const std::string& spec, const char* call) {
  try {
    throw;
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

  void write(spi::Allocation& to, std::size_t offset, const void* from, std::size_t bytes) override try {
    copied_->to_device += bytes;
    real_->write(to, offset, from, bytes);
  } catch (...) {
    rethrow_of(spec_, "write");
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

  std::unique_ptr<spi::Allocation> allocate(std::size_t bytes) override try {
    return real_->allocate(bytes);
  } catch (...) {
    fail("allocate");
  }
  void write(spi::Allocation& to, std::size_t offset, const void* from, std::size_t bytes) override try {
    copied_->to_device += bytes;
    real_->write(to, offset, from, bytes);
  } catch (...) {
    fail("write");
  }
  void read(const spi::Allocation& from, std::size_t offset, void* to, std::size_t bytes) override try {
    copied_->from_device += bytes;
    real_->read(from, offset, to, bytes);
  } catch (...) {
    fail("read");
  }
  void write_later(spi::Allocation& to, std::size_t offset, const void* from, std::size_t bytes) override
      try {
    copied_->to_device += bytes;
    real_->write_later(to, offset, from, bytes);
  } catch (...) {
    fail("write");
  }
  void read_pieces(std::span<const spi::Piece> pieces) override try {
    for (const spi::Piece& piece : pieces) copied_->from_device += piece.bytes;
    real_->read_pieces(pieces);
  } catch (...) {
    fail("read");
  }
  void finish() override try { real_->finish(); } catch (...) {
    fail("finish");
  }
  std::unique_ptr<spi::HostMemory> allocate_host(std::size_t bytes) override try {
    return real_->allocate_host(bytes);
  } catch (...) {
    fail("allocate_host");
  }
  std::unique_ptr<spi::CopyQueue> copy_queue() override try {
    std::unique_ptr<spi::CopyQueue> real = real_->copy_queue();
    return real ? std::make_unique<GuardedQueue>(info.spec, std::move(real), copied_) : nullptr;
  } catch (...) {
    fail("copy_queue");
  }
  bool is_locked(const void* begin, std::size_t bytes) const override try {
    return real_->is_locked(begin, bytes);
  } catch (...) {
    fail("is_locked");
  }
  std::unique_ptr<spi::Allocation> borrow(const spi::CallersMemory& of) override try {
    return real_->borrow(of);
  } catch (...) {
    fail("borrow");
  }
  std::uint64_t mark() override try { return real_->mark(); } catch (...) {
    fail("mark");
  }
  double elapsed(std::uint64_t from, std::uint64_t to) override try {
    return real_->elapsed(from, to);
  } catch (...) {
    fail("elapsed");
  }
  void hold() override try { real_->hold(); } catch (...) {
    fail("hold");
  }
  void let_go() override try { real_->let_go(); } catch (...) {
    fail("let_go");
  }
  spi::ProgramCounts programs() const override try { return real_->programs(); } catch (...) {
    fail("programs");
  }
  spi::Support check(const spi::Step& step) const override try {
    std::string refusal = spi::refusal_of(step);
    if (!refusal.empty()) return {std::move(refusal), 0};
    return real_->check(step);
  } catch (...) {
    fail("check");
  }
  void enqueue(const spi::Step& step) override try { real_->enqueue(step); } catch (...) {
    fail("enqueue");
  }

  CopiedBytes copied() const { return {copied_->to_device, copied_->from_device}; }

 private:
  [[noreturn]] void fail(const char* call) const { rethrow_of(info.spec, call); }

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
