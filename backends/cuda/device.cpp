#include "device.hpp"

#include <algorithm>
#include <chrono>
#include <iterator>

namespace kith::cuda {
namespace {

constexpr std::chrono::milliseconds longest_hold{100};

/// Frees a block if host memory has run out and the object that should own it cannot be made.
struct FreeUnkept {
  void operator()(void* data) const { cudaFree(data); }
};
struct FreeUnkeptHost {
  void operator()(void* data) const { cudaFreeHost(data); }
};

}  // namespace

Memory::~Memory() {
  // An error here cannot be handled; one that matters also occurs in the next call.
  const Visit visit(context_);
  if (visit.error() == cudaSuccess) cudaFree(data);
  cudaGetLastError();
}

void LockedRanges::add(const void* begin, std::size_t bytes) {
  const std::lock_guard lock(mutex_);
  bytes_of_[static_cast<const unsigned char*>(begin)] = bytes;
}

void LockedRanges::remove(const void* begin) {
  const std::lock_guard lock(mutex_);
  bytes_of_.erase(static_cast<const unsigned char*>(begin));
}

bool LockedRanges::holds(const void* begin, std::size_t bytes) const {
  const auto* const from = static_cast<const unsigned char*>(begin);
  const std::lock_guard lock(mutex_);
  const auto after = bytes_of_.upper_bound(from);
  if (after == bytes_of_.begin()) return false;
  const auto& [start, size] = *std::prev(after);
  return from + bytes <= start + size;
}

LockedMemory::LockedMemory(void* made, std::size_t size, CUcontext context,
                           std::shared_ptr<LockedRanges> ranges)
    : HostMemory(made, size), context_(context), ranges_(std::move(ranges)) {
  ranges_->add(data, bytes);
}

LockedMemory::~LockedMemory() {
  ranges_->remove(data);
  const Visit visit(context_);
  if (visit.error() == cudaSuccess) cudaFreeHost(data);
  cudaGetLastError();
}

void Gate::close() {
  const std::lock_guard lock(mutex_);
  open_ = false;
}

void Gate::open() {
  {
    const std::lock_guard lock(mutex_);
    open_ = true;
  }
  opened_.notify_all();
}

void Gate::pass() {
  std::unique_lock lock(mutex_);
  opened_.wait_for(lock, longest_hold, [&] { return open_; });
}

Device::Device(DeviceInfo known, int ordinal)
    : spi::Device(std::move(known)), guard_(info.spec), ordinal_(ordinal) {
  guard_.check(primary_context(ordinal, context_), "open", "cuDevicePrimaryCtxRetain");
  try {
    const Call call(*this, "open");
    queue_.make_room = [this] { return spi::give_back(info); };
    guard_.check(cudaStreamCreateWithFlags(&queue_.stream, cudaStreamNonBlocking), "open",
                 "cudaStreamCreate");
    open_staging();
    queue_.multiprocessors = info.compute_units;
    int major = 0, minor = 0;
    guard_.check(cudaDeviceGetAttribute(&major, cudaDevAttrComputeCapabilityMajor, ordinal), "open",
                 "cudaDeviceGetAttribute");
    guard_.check(cudaDeviceGetAttribute(&minor, cudaDevAttrComputeCapabilityMinor, ordinal), "open",
                 "cudaDeviceGetAttribute");
    queue_.capability = static_cast<std::uint32_t>(10 * major + minor);
    queue_.shared_bytes = static_cast<std::uint32_t>(info.local_memory_bytes);
    queue_.overlaps = may_overlap(queue_.capability);
  } catch (...) {
    close();
    throw;
  }
}

Device::~Device() {
  close();
}

void Device::close() noexcept {
  gate_.open();
  const Visit visit(context_);
  if (visit.error() == cudaSuccess) {
    if (queue_.stream) cudaStreamSynchronize(queue_.stream);  // the gate is open, so that this ends
    cublas_.reset();
    for (const Events* events : {&marks_, &older_marks_, &spare_events_})
      for (const auto& [mark, event] : *events) cudaEventDestroy(event);
    if (staging_) cudaFreeHost(staging_);
    if (queue_.stream) cudaStreamDestroy(queue_.stream);
  }
  cudaGetLastError();
}

Device::Call::Call(const Device& device, const char* stage) : visit_(device.context_) {
  device.guard_.refuse_after_failure();
  device.guard_.check(visit_.error(), stage, "cuCtxSetCurrent");
}

void Device::wait(const char* stage) {
  gate_.open();
  guard_.check(cudaStreamSynchronize(queue_.stream), stage, "cudaStreamSynchronize");
  staged_ = 0;
}

std::unique_ptr<spi::Allocation> Device::allocate(std::size_t bytes) {
  const Call call(*this, "allocate");
  void* data = nullptr;
  const cudaError_t error = cudaMalloc(&data, rounded(bytes));
  if (error == cudaErrorMemoryAllocation) {
    cudaGetLastError();
    std::size_t free = 0, total = 0;
    guard_.check(cudaMemGetInfo(&free, &total), "allocate", "cudaMemGetInfo");
    throw Error(Errc::out_of_memory, info.spec + ": " + std::to_string(bytes) +
                                         " bytes asked for, but only " + std::to_string(free) + " of " +
                                         std::to_string(total) +
                                         " are free; ask for less, or free memory of the device");
  }
  guard_.check(error, "allocate", "cudaMalloc");
  std::unique_ptr<void, FreeUnkept> unkept(data);
  auto memory = std::make_unique<Memory>(data, bytes, context_);
  static_cast<void>(unkept.release());
  return memory;
}

std::unique_ptr<spi::HostMemory> Device::allocate_host(std::size_t bytes) {
  const Call call(*this, "allocate");
  void* data = nullptr;
  const cudaError_t error = cudaHostAlloc(&data, rounded(bytes), cudaHostAllocDefault);
  if (error == cudaErrorMemoryAllocation) {
    cudaGetLastError();
    throw Error(Errc::out_of_memory, info.spec + ": " + std::to_string(bytes) +
                                         " bytes of page-locked host memory asked for, and the system has no "
                                         "such block; ask for less, or do without");
  }
  guard_.check(error, "allocate", "cudaHostAlloc");
  std::unique_ptr<void, FreeUnkeptHost> unkept(data);
  auto memory = std::make_unique<LockedMemory>(data, bytes, context_, locked_);
  static_cast<void>(unkept.release());
  return memory;
}

Cublas& Device::cublas() const {
  if (cublas_) return *cublas_;
  // cuBLAS works on the legacy stream, which would break a capture that waits for that stream.
  cudaStreamCaptureStatus status = cudaStreamCaptureStatusNone;
  const cudaError_t error = cudaStreamIsCapturing(cudaStreamLegacy, &status);
  cudaGetLastError();
  if (error == cudaErrorStreamCaptureImplicit)
    throw Error(Errc::unavailable,
                info.spec + ": proposer gemm needs cuBLAS, which cannot be opened now: " + during_capture);
  cublas_ = spi::retried(info, [&] { return std::make_unique<Cublas>(info.spec, context_, queue_.stream); });
  return *cublas_;
}

void Device::finish() {
  const Call call(*this, "finish");
  wait("finish");
  spare_events_.merge(older_marks_);  // the maps have no number in common
  older_marks_.swap(marks_);
}

std::uint64_t Device::mark() {
  const Call call(*this, "mark");
  const std::uint64_t mark = next_mark_++;  // even after a failure, because an event may have the number
  if (spare_events_.empty()) {
    Events made{{mark, nullptr}};
    ask("mark", "cudaEventCreate", [&] { return cudaEventCreate(&made.begin()->second); });
    spare_events_.merge(made);
  }
  auto event = spare_events_.extract(spare_events_.begin());
  event.key() = mark;
  const auto kept = marks_.insert(std::move(event)).position;
  guard_.check(cudaEventRecord(kept->second, queue_.stream), "mark", "cudaEventRecord");
  return mark;
}

double Device::elapsed(std::uint64_t from, std::uint64_t to) {
  const Call call(*this, "elapsed");
  const auto event_of = [&](std::uint64_t mark) {
    for (const Events* marks : {&marks_, &older_marks_})
      if (const auto it = marks->find(mark); it != marks->end()) return it->second;
    throw Error(Errc::invalid_argument, info.spec + " elapsed: there is no time stamp " +
                                            std::to_string(mark) +
                                            " any more; ask before the finish() after next");
  };
  float milliseconds = 0;
  guard_.check(cudaEventElapsedTime(&milliseconds, event_of(from), event_of(to)), "elapsed",
               "cudaEventElapsedTime");
  return static_cast<double>(milliseconds) * 1e-3;
}

void Device::hold() {
  const Call call(*this, "hold");
  gate_.close();
  const auto pass = [](void* gate) { static_cast<Gate*>(gate)->pass(); };
  ask("hold", "cudaLaunchHostFunc", [&] { return cudaLaunchHostFunc(queue_.stream, pass, &gate_); });
}

void Device::let_go() {
  gate_.open();
}

spi::Support Device::check(const spi::Step& step) const {
  const Call call(*this, "check");
  return std::visit([&](const auto& work) { return check(work); }, step.work);
}

void Device::enqueue(const spi::Step& step) {
  std::visit(
      [&](const auto& work) {
        const Call call(*this, work.name);
        guard_.check(enqueue(work), work.name, "the launch of a kernel");
      },
      step.work);
}

}  // namespace kith::cuda
