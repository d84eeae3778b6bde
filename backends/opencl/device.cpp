#include "device.hpp"

#include <algorithm>
#include <cstring>
#include <utility>

#include "kith/spi/refusals.hpp"

namespace kith::opencl {
namespace {

// Small data are copied to locked memory, so that the caller need not wait until they are transferred.
constexpr std::size_t staging_bytes = std::size_t{1} << 20;
constexpr std::size_t small_bytes = staging_bytes / 4;
constexpr std::size_t staging_unit = 256;

}  // namespace

Device::Device(DeviceInfo known, Family family, Limits limits, const cl::Device& device,
               const std::shared_ptr<SharedContext>& context, cl::CommandQueue queue)
    : spi::Device(std::move(known)),
      family_(family),
      limits_(std::move(limits)),
      context_(context->context),
      queue_(context_, device, CL_QUEUE_PROFILING_ENABLE),
      callers_queue_(std::move(queue)),
      device_(device),
      programs_(context, device, info.kind != DeviceKind::cpu || family_ == Family::lanes) {}

Device::~Device() {
  try {
    queue_.finish();
    if (uses_clblast_) ClBlast::forget();  // its compiled kernels keep the context alive
  } catch (const cl::Error&) {
    // The device is being closed, and no caller can be told.
  }
}

std::unique_ptr<spi::Allocation> Device::allocate(std::size_t bytes) {
  const std::string asked = "opencl: " + std::to_string(bytes) + " bytes were asked for, but " + info.name;
  const std::size_t held = allocated_.load(), free = info.memory_bytes - std::min(info.memory_bytes, held);
  const std::size_t most = std::min(free, info.largest_allocation);
  if (bytes > most)
    throw Error(Errc::out_of_memory, asked + " has only " + std::to_string(most) +
                                         " for one block; use smaller tiles or fewer rows");
  return guard_.run("allocate", [&] {
    const std::size_t size = std::max<std::size_t>(bytes, 4);
    try {
      cl::Buffer buffer(context_, CL_MEM_READ_WRITE, size);
      // Some drivers allocate memory only when it is first used. It is moved to the device now, where running
      // out of memory is handled.
      queue_.enqueueMigrateMemObjects({buffer}, CL_MIGRATE_MEM_OBJECT_CONTENT_UNDEFINED);
      queue_.finish();
      return std::unique_ptr<spi::Allocation>(std::make_unique<Memory>(std::move(buffer), bytes, allocated_));
    } catch (const cl::Error& error) {
      if (error.err() == CL_MEM_OBJECT_ALLOCATION_FAILURE || error.err() == CL_OUT_OF_HOST_MEMORY)
        throw Error(Errc::out_of_memory, asked + " has no such block left: kith holds " +
                                             std::to_string(held) + " of its " +
                                             std::to_string(info.memory_bytes) +
                                             " bytes; ask for less, or free memory of the device");
      throw;
    }
  });
}

bool Device::answers() {
  try {
    queue_.enqueueMarkerWithWaitList();
    queue_.finish();
    return true;
  } catch (const cl::Error&) {
    return false;
  }
}

/// Returns whether there is staging memory for small writes. Without it, the host waits for them.
bool Device::stages() {
  if (staging_ || !may_stage_) return staging_ != nullptr;
  may_stage_ = false;
  try {
    staging_ = allocate_host(staging_bytes);
  } catch (const Error& error) {
    if (error.code() != Errc::out_of_memory) throw;
  }
  return staging_ != nullptr;
}

void Device::write(spi::Allocation& to, std::size_t offset, const void* from, std::size_t bytes) {
  if (bytes == 0) return;
  const bool staged = bytes <= small_bytes && stages();
  guard_.run("write", [&] {
    const cl::Buffer& target = buffer_of(&to);
    if (!staged) {
      with_room([&] { queue_.enqueueWriteBuffer(target, CL_TRUE, offset, bytes, from); });
      staged_ = 0;
      return;
    }
    if (staged_ + bytes > staging_bytes) {
      queue_.finish();
      staged_ = 0;
    }
    void* const place = static_cast<unsigned char*>(staging_->data) + staged_;
    std::memcpy(place, from, bytes);
    with_room([&] { queue_.enqueueWriteBuffer(target, CL_FALSE, offset, bytes, place); });
    staged_ += divide_up(bytes, staging_unit) * staging_unit;
  });
}

void Device::write_later(spi::Allocation& to, std::size_t offset, const void* from, std::size_t bytes) {
  if (bytes == 0) return;
  guard_.run("write", [&] {
    with_room([&] { queue_.enqueueWriteBuffer(buffer_of(&to), CL_FALSE, offset, bytes, from); });
  });
}

void Device::read(const spi::Allocation& from, std::size_t offset, void* to, std::size_t bytes) {
  if (bytes == 0) return;
  guard_.run("read", [&] {
    with_room([&] { queue_.enqueueReadBuffer(buffer_of(&from), CL_TRUE, offset, bytes, to); });
  });
  staged_ = 0;  // the queue executes in order
}

void Device::read_pieces(std::span<const spi::Piece> pieces) {
  guard_.run("read", [&] {
    for (const spi::Piece& piece : pieces)
      if (piece.bytes > 0)
        with_room([&] {
          queue_.enqueueReadBuffer(buffer_of(piece.from), CL_FALSE, piece.offset, piece.bytes, piece.to);
        });
    queue_.finish();
  });
  staged_ = 0;
}

void Device::finish() {
  guard_.run("finish", [&] { queue_.finish(); });
  staged_ = 0;
  older_marks_ = std::move(marks_);
  marks_.clear();
}

std::uint64_t Device::mark() {
  return guard_.run("mark", [&] {
    cl::Event event;
    with_room([&] { queue_.enqueueMarkerWithWaitList(nullptr, &event); });
    marks_.emplace(next_mark_, std::move(event));
    return next_mark_++;
  });
}

double Device::elapsed(std::uint64_t from, std::uint64_t to) {
  const auto time_of = [&](std::uint64_t mark) {
    const auto recent = marks_.find(mark), older = older_marks_.find(mark);
    if (recent == marks_.end() && older == older_marks_.end())
      throw Error(Errc::invalid_argument, "opencl elapsed: time stamp " + std::to_string(mark) +
                                              " is unknown or forgotten; ask after the next finish()");
    const cl::Event& event = recent != marks_.end() ? recent->second : older->second;
    return event.getProfilingInfo<CL_PROFILING_COMMAND_END>();
  };
  return guard_.run("elapsed", [&] {
    return 1e-9 * (static_cast<double>(time_of(to)) - static_cast<double>(time_of(from)));
  });
}

void Device::hold() {
  constexpr cl_uint rounds = 1u << 18;
  if (info.kind == DeviceKind::cpu) return;  // it would take a core from this thread
  guard_.run("hold", [&] {
    if (!held_()) held_ = cl::Buffer(context_, CL_MEM_READ_WRITE, sizeof(cl_uint));
    launch("common/hold.cl", "", "kith_hold", Range{{1, 1, 1}, {1, 1, 1}}, rounds, held_);
    queue_.flush();
  });
}

spi::Support Device::check(const spi::Step& step) const {
  return std::visit([&](const auto& work) { return check(work); }, step.work);
}

void Device::enqueue(const spi::Step& step) {
  std::visit(
      [&](const auto& work) {
        const std::string refusal = check(work).refusal;
        if (!refusal.empty())
          throw Error(Errc::unsupported, std::string("opencl ") + work.name + ": " + refusal);
        guard_.run(work.name, [&] {
          enqueue(work);
          queue_.flush();  // so that it starts while the host continues
        });
      },
      step.work);
}

void Device::enqueue_kernel(cl::Kernel& kernel, const char* name, const Range& range,
                            std::size_t local_bytes) {
  // Not every driver refuses sizes that are too large: PoCL ends the process.
  const std::size_t items = range.local[0] * range.local[1] * range.local[2];
  const std::size_t most = kernel.getWorkGroupInfo<CL_KERNEL_WORK_GROUP_SIZE>(device_);
  if (items > most)
    throw Error(Errc::unsupported, std::string("opencl: ") + name + " needs work-groups of " +
                                       std::to_string(items) + ", but " + info.name + " allows " +
                                       std::to_string(most) + "; choose another selector or device");
  const std::size_t used =
      std::max<std::size_t>(local_bytes, kernel.getWorkGroupInfo<CL_KERNEL_LOCAL_MEM_SIZE>(device_));
  if (used > limits_.local_memory_bytes)
    throw Error(Errc::unsupported, std::string("opencl: ") + name + " needs " + std::to_string(used) +
                                       " bytes of local memory, but " + info.name + " has " +
                                       std::to_string(limits_.local_memory_bytes) + "; choose a smaller k");
  std::array<std::size_t, 3> global;
  for (std::size_t i = 0; i < 3; ++i)
    global[i] = (range.global[i] + range.local[i] - 1) / range.local[i] * range.local[i];
  with_room([&] {
    queue_.enqueueNDRangeKernel(kernel, cl::NullRange, cl::NDRange(global[0], global[1], global[2]),
                                cl::NDRange(range.local[0], range.local[1], range.local[2]));
  });
}

std::string refuse_rows(const DeviceInfo& info, const spi::RowBlocks& queries, const spi::RowBlocks& train) {
  std::string refusal = spi::refusal_of_block("queries", queries, info.query_block);
  return refusal.empty() ? spi::refusal_of_block("training rows", train, info.train_block) : refusal;
}

}  // namespace kith::opencl
