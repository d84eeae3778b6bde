// Gives the device under test, and device memory surrounded by canaries.
#pragma once

#include "common/data.hpp"
#include "common/test.hpp"
#include "kith/device.hpp"
#include "kith/error.hpp"
#include "kith/spi.hpp"

namespace kith::tests {

/// Returns the device that --device=SPEC names; the CPU by default.
const Device& device();

/// Returns SPEC itself.
const std::string& device_spec();

/// Returns whether the device can compute quantized rows for matrix products, even if it has no library that
/// multiplies them. This is so for the CPU and for all devices that list such a proposer.
inline bool has_quantized_rows() {
  const auto& proposers = device().info().proposers;
  return device().info().backend == "cpu" ||
         std::find(proposers.begin(), proposers.end(), Proposer::gemm) != proposers.end();
}

/// Returns whether the device has this selector.
inline bool has(Selector selector) {
  const auto& all = device().info().selectors;
  return std::find(all.begin(), all.end(), selector) != all.end();
}

/// Returns whether the device has this proposer.
inline bool has(Proposer proposer) {
  const auto& all = device().info().proposers;
  return std::find(all.begin(), all.end(), proposer) != all.end();
}

/// Returns the kith::Error that `body` throws, as "code: message", or "nothing was thrown".
template <class Body>
std::string error_of(const Body& body) {
  try {
    body();
  } catch (const Error& error) {
    return std::string(name(error.code())) + ": " + error.what();
  }
  return "nothing was thrown";
}

/// Device memory with a copy on the host of what was written to it.
template <class T>
class GuardedMemory {
 public:
  GuardedMemory(spi::Device& device, std::vector<T> image)
      : device_(device), image_(std::move(image)), memory_(device.allocate(image_.size() * sizeof(T))) {
    device.write(*memory_, 0, image_.data(), image_.size() * sizeof(T));
  }

  spi::Allocation* memory() const { return memory_.get(); }
  const std::vector<T>& written() const { return image_; }

  std::vector<T> read() const {
    std::vector<T> now(image_.size());
    device_.read(*memory_, 0, now.data(), now.size() * sizeof(T));
    return now;
  }

  /// Returns whether the memory still equals, byte for byte, what was written to it.
  bool unchanged() const {
    const std::vector<T> now = read();
    return now.empty() || std::memcmp(now.data(), image_.data(), now.size() * sizeof(T)) == 0;
  }

 private:
  spi::Device& device_;
  std::vector<T> image_;
  std::unique_ptr<spi::Allocation> memory_;
};

/// A rectangle in device memory that begins at an odd place and has gaps between its rows. All other cells
/// hold `around`: for an input a value that would win, for an output a canary.
template <class T>
class GuardedGrid {
 public:
  GuardedGrid(spi::Device& device, std::size_t rows, std::size_t cols, T around,
              const std::vector<T>& inside = {})
      : rows_(rows), cols_(cols), memory_(device, image(rows, cols, around, inside)) {}

  spi::Grid<T> grid() const { return {memory_.memory(), first, rows_, cols_, cols_ + gap}; }

  /// Returns the cells of the rectangle, row by row.
  std::vector<T> inside() const {
    const std::vector<T> now = memory_.read();
    std::vector<T> cells;
    for (std::size_t r = 0; r < rows_; ++r)
      cells.insert(cells.end(), now.begin() + at(r, 0), now.begin() + at(r, cols_));
    return cells;
  }

  /// Returns whether no cell outside the rectangle was written.
  bool canaries_live() const {
    std::vector<T> now = memory_.read();
    const std::vector<T>& before = memory_.written();
    for (std::size_t r = 0; r < rows_; ++r)
      std::copy(before.begin() + at(r, 0), before.begin() + at(r, cols_), now.begin() + at(r, 0));
    return std::memcmp(now.data(), before.data(), now.size() * sizeof(T)) == 0;
  }

  bool unchanged() const { return memory_.unchanged(); }

 private:
  static constexpr std::size_t first = 5, gap = 3, tail = 67;

  std::ptrdiff_t at(std::size_t r, std::size_t c) const {
    return static_cast<std::ptrdiff_t>(first + r * (cols_ + gap) + c);
  }

  static std::vector<T> image(std::size_t rows, std::size_t cols, T around, const std::vector<T>& inside) {
    std::vector<T> cells(first + rows * (cols + gap) + tail, around);
    for (std::size_t i = 0; i < inside.size(); ++i)
      cells[first + i / cols * (cols + gap) + i % cols] = inside[i];
    return cells;
  }

  std::size_t rows_, cols_;
  GuardedMemory<T> memory_;
};

/// Checks that no cell outside these rectangles was written.
template <class... Grids>
void check_canaries(const Grids&... grids) {
  for (const bool live : {grids.canaries_live()...}) CHECK(live);
}

/// Checks that none of these was written.
template <class... Memory>
void check_unchanged(const Memory&... memory) {
  for (const bool unchanged : {memory.unchanged()...}) CHECK(unchanged);
}

/// Returns rows in the blocks of RowBlocks, beginning at row `first` of the memory. All other rows, also the
/// padding of the last block, are copies of the rows of `around`.
class GuardedRows {
 public:
  GuardedRows(spi::Device& device, const Matrix& rows, std::uint32_t block, std::uint32_t first,
              const Matrix& around)
      : rows_{nullptr, first, static_cast<std::uint32_t>(rows.rows), static_cast<std::uint32_t>(rows.cols),
              block},
        memory_(device, image(rows, block, first, around)) {
    rows_.memory = memory_.memory();
  }

  const spi::RowBlocks& rows() const { return rows_; }
  bool unchanged() const { return memory_.unchanged(); }

 private:
  static std::vector<float> image(const Matrix& rows, std::uint32_t block, std::uint32_t first,
                                  const Matrix& around) {
    const std::int64_t total = (first + rows.rows + block - 1) / block * block;
    std::vector<float> packed(size(total * rows.cols));
    for (std::int64_t r = 0; r < total; ++r) {
      const bool meant = r >= first && r < first + rows.rows;
      const auto row = meant ? rows.row(r - first) : around.row(r % around.rows);
      for (std::int64_t d = 0; d < rows.cols; ++d)
        packed[size((r / block * rows.cols + d) * block + r % block)] = row[size(d)];
    }
    return packed;
  }

  spi::RowBlocks rows_;
  GuardedMemory<float> memory_;
};

/// Runs a step with exactly the scratch memory it asks for, filled with ones and followed by a canary.
/// Returns why the device refuses the step, or an empty string if it ran.
template <class Work>
std::string run_step(spi::Device& device, Work work, std::uint32_t threads = 0) {
  const spi::Support support = device.check({work, threads});
  if (!support.refusal.empty()) return support.refusal;
  constexpr std::size_t canary = 64;
  const std::vector<unsigned char> before(support.scratch_bytes + canary, 0xFF);
  const GuardedMemory<unsigned char> scratch(device, before);
  if constexpr (requires { work.scratch; }) work.scratch = {scratch.memory(), support.scratch_bytes};
  device.enqueue({work, threads});
  device.finish();
  const std::vector<unsigned char> after = scratch.read();
  CHECK_MESSAGE(std::equal(after.end() - canary, after.end(), before.end() - canary),
                "the bytes behind the scratch were overwritten");
  return {};
}

/// Sets the error bound of the step's products, times `share`.
inline spi::CollectStep with_error(spi::CollectStep step, double share = 1) {
  step.b = share * spi::product_error(step);
  return step;
}

}  // namespace kith::tests
