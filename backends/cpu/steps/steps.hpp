// The steps of spi.hpp on the CPU, with one file for each step.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <string>

#include "cpu/isa/instruction_set.hpp"
#include "cpu/isa/kernels.hpp"
#include "cpu/memory.hpp"
#include "kith/error.hpp"
#include "kith/spi.hpp"

namespace kith::cpu {

/// The resources that a step runs with.
struct Resources {
  const InstructionSet& set;
  std::uint32_t team;  ///< number of threads, at least 1
  const Kernels& kernels = *set.kernels;
  const std::vector<Proposer>& proposers() const { return set.proposers; }
};

#define KITH_STEP(Type)                                             \
  spi::Support check(const spi::Type& step, const Resources& with); \
  void run(const spi::Type& step, const Resources& with);
#include "kith/spi/steps.def"
#undef KITH_STEP

/// Raises a value that several threads share to at least `value`.
inline void raise_to(std::atomic<std::uint32_t>& word, std::uint32_t value) {
  std::uint32_t known = word;
  while (known < value && !word.compare_exchange_weak(known, value)) {
  }
}
inline void lower_to(std::atomic<std::uint32_t>& word, std::uint32_t value) {
  std::uint32_t known = word;
  while (value < known && !word.compare_exchange_weak(known, value)) {
  }
}

/// Returns the selectors of SelectStep, with `threshold` first.
const std::vector<Selector>& selectors();

/// The division of rows into contiguous parts for SelectStep and NearestStep.
struct Parts {
  std::size_t count, size;

  Parts(std::size_t rows, std::size_t lists) : count(rows), size((rows + lists - 1) / lists) {}
  std::size_t begin(std::size_t g) const { return std::min(count, g * size); }
  std::size_t end(std::size_t g) const { return std::min(count, (g + 1) * size); }
};

/// Scratch divided into equal parts, one per thread. Throws device_failure: it is smaller than check()
/// asked for.
class ScratchParts {
 public:
  ScratchParts(const char* step, const spi::Scratch& scratch, std::size_t bytes_a_thread, std::uint32_t team)
      : memory_(scratch.memory), bytes_(bytes_a_thread), team_(team) {
    const std::size_t fitting = scratch.bytes / std::max<std::size_t>(1, bytes_a_thread);
    if (fitting < team) team_ = static_cast<std::uint32_t>(fitting);
    if (team_ == 0)
      throw Error(Errc::device_failure, "cpu: step " + std::string(step) + " has " +
                                            std::to_string(scratch.bytes) + " bytes of scratch but needs " +
                                            std::to_string(bytes_a_thread) + "; give what check() says");
  }

  /// Returns the number of threads that have a part.
  std::uint32_t team() const { return team_; }
  template <class T>
  T* of(std::size_t thread) const {
    return reinterpret_cast<T*>(bytes_of(*memory_) + thread * bytes_);
  }

 private:
  const spi::Allocation* memory_;
  std::size_t bytes_;
  std::uint32_t team_;
};

}  // namespace kith::cpu
