// An open OpenCL device: its memory, its clock, and the launch of kernels.
#pragma once

#include <CL/opencl.hpp>
#include <algorithm>
#include <array>
#include <atomic>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <type_traits>

#include "clblast.hpp"
#include "common/shapes.hpp"
#include "guard.hpp"
#include "kith/spi.hpp"
#include "programs.hpp"

namespace kith::opencl {

struct Blocks;  // select/shapes.hpp

/// The places of rows along a curve or in a cut, and the numbers of the rows: [1, n] each.
struct Places {
  spi::Grid<std::uint64_t> places;
  spi::Grid<std::uint32_t> numbers;
};

/// The memory that steps use.
class Buffer : public spi::Allocation {
 public:
  Buffer(cl::Buffer of, std::size_t size) : Allocation(size), buffer(std::move(of)) {}
  const cl::Buffer buffer;
};

/// Memory that kith has allocated.
class Memory : public Buffer {
 public:
  Memory(cl::Buffer made, std::size_t size, std::atomic<std::size_t>& total)
      : Buffer(std::move(made), size), total_(total) {
    total_ += size;
  }
  ~Memory() override { total_ -= bytes; }

 private:
  std::atomic<std::size_t>& total_;  // the total of its device, which lives longer
};

/// Returns the OpenCL buffer of a step's memory.
inline const cl::Buffer& buffer_of(const spi::Allocation* memory) {
  return static_cast<const Buffer*>(memory)->buffer;
}

/// Returns the same; a null buffer if there is no memory.
inline cl::Buffer buffer_or_none(const spi::Allocation* memory) {
  return memory ? buffer_of(memory) : cl::Buffer();
}

/// Local memory, as a kernel argument.
struct Local {
  std::size_t bytes;
};

/// Arguments by value, declared in common.cl and candidates.cl with the same names: the place of a matrix;
/// the rows of queries and of training rows; lists of candidates.
struct Place {
  cl_ulong first, stride;

  template <class T>
  Place(const spi::Grid<T>& grid) : first(grid.first), stride(grid.stride) {}
};
struct Sides {
  const spi::RowBlocks& queries;
  const spi::RowBlocks& train;
};
struct SideNumbers {
  cl_uint q_first, q_rows, t_first, t_rows, dims;
};
struct Lists {
  Place rows, counts, lows, highs;
  cl_uint capacity;
};

class Device : public spi::Device {
 public:
  ///   queue  a queue of the caller; its work is completed before borrowed memory is used; may be null
  Device(DeviceInfo known, Family family, Limits limits, const cl::Device& device,
         const std::shared_ptr<SharedContext>& context, cl::CommandQueue queue);
  ~Device() override;

  std::unique_ptr<spi::Allocation> allocate(std::size_t bytes) override;
  void write(spi::Allocation& to, std::size_t offset, const void* from, std::size_t bytes) override;
  void write_later(spi::Allocation& to, std::size_t offset, const void* from, std::size_t bytes) override;
  void read(const spi::Allocation& from, std::size_t offset, void* to, std::size_t bytes) override;
  void read_pieces(std::span<const spi::Piece> pieces) override;
  void finish() override;
  std::unique_ptr<spi::HostMemory> allocate_host(std::size_t bytes) override;
  std::unique_ptr<spi::CopyQueue> copy_queue() override;  // copy_queue.cpp
  std::unique_ptr<spi::Allocation> borrow(const spi::CallersMemory& of) override;
  std::uint64_t mark() override;
  double elapsed(std::uint64_t from, std::uint64_t to) override;
  void hold() override;
  spi::ProgramCounts programs() const override { return programs_.counts(); }
  spi::Support check(const spi::Step& step) const override;
  void enqueue(const spi::Step& step) override;

 private:
  // The steps are in files of their names in steps/.
#define KITH_STEP(Type)                            \
  spi::Support check(const spi::Type& step) const; \
  void enqueue(const spi::Type& step);
#include "kith/spi/steps.def"
#undef KITH_STEP

  /// A selector: a function that returns the scratch it needs, and its launcher.
  struct SelectorKernels {
    Selector selector;
    std::size_t (Device::*scratch)(const spi::SelectStep& step) const;
    void (Device::*select)(const spi::SelectStep& step);
  };
  /// Returns null if this back end has no such selector.
  static const SelectorKernels* find_selector(Selector selector);

  // Each selector has its own file, select_NAME.cpp; those from publications are in select/published/;
  // threshold and insertion are in select.cpp.
  void select_threshold(const spi::SelectStep& step);
  bool guesses(const spi::SelectStep& step) const;
  void select_by_guess(const spi::SelectStep& step);
  void select_insertion(const spi::SelectStep& step);
  void select_bubble(const spi::SelectStep& step);
  void select_radix(const spi::SelectStep& step);
  bool partitions(const spi::SelectStep& step) const;
  void select_by_partition(const spi::SelectStep& step);
  void select_local_sort(const spi::SelectStep& step);
  void select_k_min(const spi::SelectStep& step);
  void select_bitonic(const spi::SelectStep& step);
  void select_odd_even(const spi::SelectStep& step);
  void select_rank_sort(const spi::SelectStep& step);
  void select_merge_sort(const spi::SelectStep& step);
  std::size_t threshold_scratch_bytes(const spi::SelectStep& step) const;
  std::size_t bubble_scratch_bytes(const spi::SelectStep& step) const;
  std::size_t radix_scratch_bytes(const spi::SelectStep& step) const;
  std::size_t local_sort_scratch_bytes(const spi::SelectStep& step) const;
  std::size_t k_min_scratch_bytes(const spi::SelectStep& step) const;
  std::size_t bitonic_scratch_bytes(const spi::SelectStep& step) const;
  std::size_t odd_even_scratch_bytes(const spi::SelectStep& step) const;
  std::size_t merge_sort_scratch_bytes(const spi::SelectStep& step) const;
  std::size_t no_scratch_bytes(const spi::SelectStep&) const {
    return 0;
  }
  std::string refuse_local_sort(const spi::SelectStep& step) const;
  void bitonic_level(const spi::SelectStep& step, const Blocks& blocks, std::size_t width, bool last);
  // These are in select_blocks.cpp and .hpp.
  std::size_t blocks_scratch_bytes(const spi::SelectStep& step, const Blocks& blocks) const;
  void merge_blocks(const spi::SelectStep& step, const Blocks& blocks);
  void merge_whole_blocks(const spi::SelectStep& step, const Blocks& blocks);
  template <class... More>
  void launch_blocks(const spi::SelectStep& step, const Blocks& blocks, const char* source, const char* name,
                     const More&... more);

  void nearest_lanes(const spi::NearestStep& step);
  void nearest_tiles(const spi::NearestStep& step);
  void nearest_rows(const spi::NearestStep& step);
  void nearest_low_dim(const spi::NearestStep& step);
  void prepare_halves(const spi::PrepareStep& step);
  void prepare_bytes(const spi::PrepareStep& step);
  void prepare_dot(const spi::PrepareStep& step);
  void collect_values(const spi::CollectStep& step);
  void collect_tiles(const spi::CollectStep& step);
  void collect_fused_test(const spi::CollectStep& step);
  void collect_small_batch(const spi::CollectStep& step);
  void collect_dot(const spi::CollectStep& step);
  void multiply(const spi::CollectStep& step);
  void collect_low(const spi::CollectStep& step);
  bool by_small_batch(const spi::CollectStep& step) const;
  std::size_t low_bytes(const spi::CollectStep& step) const;
  std::size_t fused_test_bytes(const spi::CollectStep& step) const;
  /// Launches a kernel whose last arguments, after `arguments`, are lists of candidates (candidates.cl).
  template <class... Arguments>
  void launch_listing(const spi::CandidateLists& lists, const spi::Bounds& bounds, const char* source,
                      const std::string& defines, const char* name, const Range& range,
                      const Arguments&... arguments) {
    const std::string bounded = bounds.low.cols > 0 ? " -D BOUNDS" : "";
    launch(source, defines + bounded, name, range, arguments..., buffer_of(lists.rows.memory),
           buffer_of(lists.counts.memory), buffer_or_none(bounds.low.memory),
           buffer_or_none(bounds.high.memory),
           Lists{lists.rows, lists.counts, bounds.low, bounds.high, static_cast<cl_uint>(lists.rows.cols)});
  }
  /// Does the same, but if a sample is asked for, passes it in place of the listed rows.
  template <class... Arguments>
  void launch_listing_or_sampling(const spi::CollectStep& step, const char* source,
                                  const std::string& defines, const char* name, const Range& range,
                                  const Arguments&... arguments) {
    if (step.sample.cols == 0)
      return launch_listing(step.out, step.bounds, source, defines, name, range, arguments...);
    launch_listing({step.sample, step.out.counts}, step.bounds, source, defines + " -D SAMPLE", name, range,
                   arguments...);
  }
  Operand part_of(const spi::Allocation* memory, std::size_t first, std::size_t bytes) const;
  void rerank_lines(const spi::RerankStep& step);
  void rerank_products(const spi::RerankStep& step);
  void tighten_at_once(const spi::TightenStep& step);
  void tighten_join(const spi::TightenStep& step);
  void tighten_threshold(const spi::TightenStep& step, const std::string& defines);
  void tighten_by_lanes(const spi::TightenByBoundsStep& step);
  void tighten_by_small_batch(const spi::TightenBySampleStep& step);
  template <class Step, class Listed>
  void tighten_by_groups(const Step& step, const spi::Grid<Listed>& listed,
                         const spi::Grid<std::uint32_t>& counts, const spi::Grid<std::uint32_t>& lost,
                         const std::string& defines);
  bool merges_at_once(std::uint32_t k) const;
  void merge_at_once(const spi::Grid<Key>& in, std::uint32_t rows, std::uint32_t results, std::uint32_t lists,
                     std::uint32_t k, const spi::Grid<Key>& out);
  void merge_pairs(const spi::MergeStep& step);
  void merge_runs(const spi::Grid<Key>& in, std::uint32_t rows, std::uint32_t lists, std::uint32_t total,
                  std::uint32_t run, const spi::Grid<Key>& out, std::uint32_t out_total,
                  std::uint32_t out_run);

  void place_rows(const spi::OrderStep& step, const Places& to);
  void place_in_cut(const spi::OrderStep& step, std::size_t cut, const Places& to);
  void sort_places(const Places& from, std::uint32_t shift, const spi::Grid<std::uint32_t>& counts,
                   const Places& to);

  void vote_plain(const spi::VoteStep& step);
  void vote_atomic(const spi::VoteStep& step);
  void vote_branch_free(const spi::VoteStep& step);
  template <class... More>
  void launch_vote(const spi::VoteStep& step, const std::string& defines, const char* name, std::size_t items,
                   const More&... more);

  /// Runs kernel `name` of file `source`; global sizes are rounded up to multiples of the local ones.
  /// Arguments are numbers, structs by value, buffers, and Local. A Grid becomes two arguments: its memory,
  /// which may be null, and its Place. Sides become three: the memory of both, and their numbers.
  template <class... Arguments>
  void launch(const char* source, const std::string& defines, const char* name, const Range& range,
              const Arguments&... arguments) {
    cl::Kernel& kernel = with_room([&]() -> cl::Kernel& { return programs_.kernel(source, defines, name); });
    cl_uint index = 0;
    (set_argument(kernel, index, arguments), ...);
    enqueue_kernel(kernel, name, range, (0 + ... + local_bytes(arguments)));
  }
  template <class T>
  static void set_argument(cl::Kernel& kernel, cl_uint& index, const T& value) {
    kernel.setArg(index++, value);
  }
  static void set_argument(cl::Kernel& kernel, cl_uint& index, const Local& local) {
    kernel.setArg(index++, cl::Local(local.bytes));
  }
  template <class T>
  static void set_argument(cl::Kernel& kernel, cl_uint& index, const spi::Grid<T>& grid) {
    kernel.setArg(index++, buffer_or_none(grid.memory));
    kernel.setArg(index++, Place(grid));
  }
  static void set_argument(cl::Kernel& kernel, cl_uint& index, const Sides& sides) {
    const spi::RowBlocks &q = sides.queries, &t = sides.train;
    kernel.setArg(index++, buffer_of(q.memory));
    kernel.setArg(index++, buffer_of(t.memory));
    kernel.setArg(index++, SideNumbers{q.first, q.rows, t.first, t.rows, t.dims});
  }
  template <class T>
  static std::size_t local_bytes(const T&) {
    return 0;
  }
  static std::size_t local_bytes(const Local& local) {
    return local.bytes;
  }
  /// Makes all later work wait for the work that is in the caller's queue now; borrow() calls this.
  void wait_for(const cl::CommandQueue& callers);
  bool stages();
  /// Returns whether the queue still executes commands.
  bool answers();
  /// Returns the result of `call`, which is repeated once if memory ran out and some could be freed.
  /// Throws cl::Error.
  template <class Call>
  decltype(auto) with_room(const Call& call) {
    try {
      return call();
    } catch (const cl::Error& error) {
      if (!may_lack_memory(error.err()) || !spi::give_back(info)) throw;
    }
    return call();
  }
  void enqueue_kernel(cl::Kernel& kernel, const char* name, const Range& range, std::size_t local_bytes);

  const Family family_;
  const Limits limits_;
  Guard guard_{[this] { return answers(); }};
  std::atomic<std::size_t> allocated_ = 0;
  cl::Context context_;
  cl::CommandQueue queue_;
  cl::CommandQueue callers_queue_;  // may be null
  cl::Device device_;
  Programs programs_;
  bool uses_clblast_ = false;
  std::map<std::uint64_t, cl::Event> marks_, older_marks_;  // marks since the last finish(), and before it
  std::uint64_t next_mark_ = 0;
  cl::Buffer held_;        // buffer of hold(), which keeps the device busy; null before the first call
  bool may_stage_ = true;  // becomes false if memory for it cannot be allocated
  std::unique_ptr<spi::HostMemory> staging_;  // staging memory for small writes
  std::size_t staged_ = 0;                    // number of its bytes that may still be in use
};

/// Returns why the chains of rows in these blocks cannot be computed on this device; empty if they can.
std::string refuse_rows(const DeviceInfo& info, const spi::RowBlocks& queries, const spi::RowBlocks& train);

}  // namespace kith::opencl
