// An open CUDA device: its memory, its clock, and one stream.
#pragma once

#include <cuda_runtime_api.h>

#include <condition_variable>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <span>

#include "common/kernels.hpp"
#include "common/views.hpp"
#include "cublas.hpp"
#include "guard.hpp"
#include "kith/spi.hpp"
#include "visit.hpp"

namespace kith::cuda {

/// Returns the number of bytes of memory that an allocation takes.
inline std::size_t rounded(std::size_t bytes) {
  return bytes == 0 ? 256 : (bytes + 255) / 256 * 256;
}

class Memory : public Block {
 public:
  Memory(void* made, std::size_t size, CUcontext context) : Block(made, size), context_(context) {}
  ~Memory() override;

 private:
  const CUcontext context_;
};

/// The page-locked memory of a device. Any thread may remove a range.
class LockedRanges {
 public:
  void add(const void* begin, std::size_t bytes);
  void remove(const void* begin);
  /// Returns whether all of these bytes are in one range.
  bool holds(const void* begin, std::size_t bytes) const;

 private:
  mutable std::mutex mutex_;
  std::map<const unsigned char*, std::size_t> bytes_of_;  // the key is the beginning of the range
};

class LockedMemory : public spi::HostMemory {
 public:
  LockedMemory(void* made, std::size_t size, CUcontext context, std::shared_ptr<LockedRanges> ranges);
  ~LockedMemory() override;

 private:
  const CUcontext context_;
  const std::shared_ptr<LockedRanges> ranges_;
};

/// Makes a stream wait until the host opens it. It does not wait forever, because some CUDA calls wait for
/// streams themselves, for example to load a kernel at its first launch.
class Gate {
 public:
  void close();
  void open();
  /// The stream calls this.
  void pass();

 private:
  std::mutex mutex_;
  std::condition_variable opened_;
  bool open_ = true;
};

class Device : public spi::Device {
 public:
  /// `ordinal` is CUDA's number. Throws unavailable or device_failure.
  Device(DeviceInfo known, int ordinal);
  ~Device() override;

  std::unique_ptr<spi::Allocation> allocate(std::size_t bytes) override;
  void write(spi::Allocation& to, std::size_t offset, const void* from, std::size_t bytes) override;
  void write_later(spi::Allocation& to, std::size_t offset, const void* from, std::size_t bytes) override;
  void read(const spi::Allocation& from, std::size_t offset, void* to, std::size_t bytes) override;
  void read_pieces(std::span<const spi::Piece> pieces) override;
  void finish() override;
  std::unique_ptr<spi::HostMemory> allocate_host(std::size_t bytes) override;
  std::unique_ptr<spi::CopyQueue> copy_queue() override;  // copy_queue.cpp
  bool is_locked(const void* begin, std::size_t bytes) const override;
  std::unique_ptr<spi::Allocation> borrow(const spi::CallersMemory& of) override;
  std::uint64_t mark() override;
  double elapsed(std::uint64_t from, std::uint64_t to) override;
  void hold() override;
  void let_go() override;
  spi::Support check(const spi::Step& step) const override;
  void enqueue(const spi::Step& step) override;

 private:
  // The steps are in files of their names in steps/.
#define KITH_STEP(Type)                            \
  spi::Support check(const spi::Type& step) const; \
  cudaError_t enqueue(const spi::Type& step);
#include "kith/spi/steps.def"
#undef KITH_STEP

  /// Makes the device's context current during a call, and restores the host program's, which each thread may
  /// have. Every call of the device begins with one; any thread may call.
  class Call {
   public:
    /// Throws device_failure.
    Call(const Device& device, const char* stage);

   private:
    const Visit visit_;
  };

  // These are in borrowed.cpp. They throw unsupported: the memory cannot be locked in place; it is not memory
  // of this device.
  std::unique_ptr<spi::Allocation> borrow_of_host(const spi::CallersMemory& of);
  void check_callers_memory(const void* memory);
  void wait_for(cudaStream_t stream);

  void wait(const char* stage);

  // These are in transfers.cpp.
  void open_staging();
  void copy(unsigned char* target, const void* from, std::size_t bytes);
  ///   staged  where the pieces go in the staging memory; null: nowhere
  void copy_pieces(std::span<const spi::Piece> pieces, std::span<unsigned char* const> staged);
  void fetch_pieces(std::span<const spi::Piece> pieces, std::span<unsigned char* const> staged);

  /// Calls `call`, and again if it ran out of memory and some could be freed. Throws what
  /// Guard::check() throws.
  template <class Function>
  void ask(const char* stage, const char* name, const Function& call) {
    guard_.check(with_room(queue_, call), stage, name);
  }
  /// Returns cuBLAS, which the first call opens. May be called only if Cublas has no refusal. Throws what
  /// Cublas throws, and unavailable while a capture of the host program prevents opening it.
  Cublas& cublas() const;
  void close() noexcept;

  mutable Guard guard_;
  const int ordinal_;  // CUDA's number
  CUcontext context_ = nullptr;
  Queue queue_;
  unsigned char* staging_ = nullptr;  // page-locked host memory for small transfers
  std::size_t staged_ = 0;            // number of its bytes that may still be in use
  std::uint32_t* ticket_ = nullptr;   // behind it: the number of the last fetch that has arrived
  std::uint32_t fetched_ = 0;         // the number of fetches
  const std::shared_ptr<LockedRanges> locked_ = std::make_shared<LockedRanges>();
  mutable std::unique_ptr<Cublas> cublas_;
  // Events by mark. They move between the maps as nodes, so that nothing is allocated; each is in one map,
  // and is destroyed once.
  using Events = std::map<std::uint64_t, cudaEvent_t>;
  Events marks_, older_marks_;  // marks since the last finish(), and before it
  Events spare_events_;         // events of forgotten marks, for reuse
  Gate gate_;
  std::uint64_t next_mark_ = 0;
};

}  // namespace kith::cuda
