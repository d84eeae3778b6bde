// Runs one step by itself, on its own memory: for the tests of a device when it is opened, for stages.hpp,
// and for programs that compare and time steps. Also declares the device that they compare with.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "kith/matrix_view.hpp"
#include "kith/spi.hpp"

namespace kith::spi {

/// Packs rows as RowBlocks, from row 0 of the memory; the padding of the last block is 0.
KITH_API std::vector<float> packed(MatrixView<const float> rows, std::uint32_t block);

/// Holds memory on a device, and runs steps that use it. Use it inside with_device(), or while nothing else
/// uses the device; the caller provides a FloatGuard.
class KITH_API StepRunner {
 public:
  struct Seconds {
    double device = 0, host = 0;  ///< between two time stamps; from the first call until finish() returns
  };

  explicit StepRunner(Device& device, std::uint32_t threads = 0) : device_(device), threads_(threads) {}
  StepRunner(const StepRunner&) = delete;
  StepRunner& operator=(const StepRunner&) = delete;

  Device& device() const { return device_; }

  /// Returns memory for a step to read, with `bytes` of `from`.
  Allocation* put(const void* from, std::size_t bytes);
  /// Returns memory for a step to read and write: each run begins with the content of `from`.
  Allocation* put_again(const void* from, std::size_t bytes);
  /// Returns memory for a step to write. At least its first MiB is filled with nonsense, so that places that
  /// a step does not write cannot look right by chance.
  Allocation* room(std::size_t bytes);

  /// Puts `values`, a vector or a span of rows * cols elements.
  template <class Values>
  auto input(const Values& values, std::size_t rows, std::size_t cols) {
    using T = typename Values::value_type;
    return Grid<T>{put(values.data(), values.size() * sizeof(T)), 0, rows, cols, cols};
  }
  template <class Values>
  auto in_and_out(const Values& values, std::size_t rows, std::size_t cols) {
    using T = typename Values::value_type;
    return Grid<T>{put_again(values.data(), values.size() * sizeof(T)), 0, rows, cols, cols};
  }
  template <class T>
  Grid<T> output(std::size_t rows, std::size_t cols) {
    return {room(rows * cols * sizeof(T)), 0, rows, cols, cols};
  }
  RowBlocks rows(MatrixView<const float> rows, std::uint32_t block);
  /// Put rows into the blocks that the device uses.
  RowBlocks queries(MatrixView<const float> of) { return rows(of, device_.info.query_block); }
  RowBlocks train(MatrixView<const float> of) { return rows(of, device_.info.train_block); }

  /// Asks the device about a step, and allocates the scratch that it needs.
  void set(const Work& work);
  /// Says why the device does not do the step; empty if it does.
  const std::string& refusal() const { return refusal_; }
  /// Runs the step once. Throws unsupported: the refusal.
  void run();
  /// Runs the step once, and times it.
  Seconds time();

  /// Reads rows first .. first + rows - 1 of a grid without gaps.
  template <class T>
  std::vector<T> read(const Grid<T>& grid, std::size_t first, std::size_t rows) {
    std::vector<T> values(rows * grid.cols);
    if (!values.empty())
      device_.read(*grid.memory, (grid.first + first * grid.stride) * sizeof(T), values.data(),
                   values.size() * sizeof(T));
    return values;
  }
  template <class T>
  std::vector<T> read(const Grid<T>& grid) {
    return read(grid, 0, grid.rows);
  }

 private:
  struct Begin {
    Allocation* memory;
    std::vector<unsigned char> bytes;
  };
  Allocation* allocate(std::size_t bytes);
  void begin();

  Device& device_;
  const std::uint32_t threads_;
  std::vector<std::unique_ptr<Allocation>> memory_;
  std::vector<Begin> begins_;
  std::unique_ptr<Allocation> scratch_;
  Step step_;
  std::string refusal_;
};

/// Makes a device that does what docs/contract.md says, slowly, pair by pair, in memory of the host. It has
/// only the steps with one right answer: not `prepare` and `prune`, nor `collect` with a proposer, for which
/// any valid bound is right.
KITH_API std::unique_ptr<Device> plain_device();

}  // namespace kith::spi
