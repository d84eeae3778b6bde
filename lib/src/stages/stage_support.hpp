// What the stages of kith/stages.hpp share: rows and lists checked, one step run.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "base/float_guard.hpp"
#include "base/numbers.hpp"
#include "kith/error.hpp"
#include "kith/spi/step_runner.hpp"
#include "kith/stages.hpp"
#include "rows/rows.hpp"

namespace kith::stages {

/// Throws invalid_argument.
[[noreturn]] void refuse(const std::string& message);

/// Both sides of a comparison, checked and prepared.
struct RowPair {
  PreparedRows queries, train;
};

/// Throws invalid_argument, as the public stages say.
RowPair row_pair(const RowsView& queries, const RowsView& train, Metric metric);

/// Whether pairs that stages::mask() struck out may be among values.
enum class Masked { refused, accepted };

/// A matrix of values, row by row. Throws invalid_argument: one is NaN.
std::vector<float> dense_values(const char* stage, MatrixView<const float> values, Masked masked);

/// Throws invalid_argument: the keys are not as many as the lists say, or a list does not ascend.
void check_lists(const char* stage, const KeyLists& lists);

/// Throws invalid_argument: there are no classes, or a label is none of them.
void check_labels(const char* stage, std::span<const std::uint32_t> labels, std::uint32_t classes);

/// Throws invalid_argument: as check_lists() and check_labels(), there are several lists a row, or a
/// neighbour has no label.
void check_neighbours(const char* stage, const KeyLists& nearest, std::span<const std::uint32_t> labels,
                      std::uint32_t classes);

/// Run one step on the device behind a handle. `make(runner)` puts its operands there and returns it,
/// `take(runner, step)` reads what it wrote. Throws unsupported: what check() says.
template <class Make, class Take>
void run(const Device& device, const Make& make, const Take& take) {
  spi::with_device(device, [&](spi::Device& opened) {
    spi::StepRunner runner(opened);
    const auto step = make(runner);
    runner.set(step);
    runner.run();
    take(runner, step);
  });
}

}  // namespace kith::stages
