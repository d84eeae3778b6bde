// Checks rows and lists for kith/unstable/stages.hpp, and runs one step.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "base/float_guard.hpp"
#include "base/numbers.hpp"
#include "kith/error.hpp"
#include "kith/spi/step_runner.hpp"
#include "kith/unstable/stages.hpp"
#include "rows/rows.hpp"

namespace kith::stages {

/// Throws invalid_argument with this message.
[[noreturn]] void refuse(const std::string& message);

/// Holds both sides of a comparison, checked and prepared.
struct RowPair {
  PreparedRows queries, train;
};

/// Checks and prepares both sides. Throws invalid_argument, as the public stages say.
RowPair row_pair(const RowsView& queries, const RowsView& train, Metric metric);

/// Says whether pairs that stages::mask() excluded may be among the values.
enum class Masked { refused, accepted };

/// Copies a matrix of values without gaps. Throws invalid_argument if one is NaN.
std::vector<float> dense_values(const char* stage, MatrixView<const float> values, Masked masked);

/// Throws invalid_argument if the keys are not as many as the lists say, or if a list does not ascend.
void check_lists(const char* stage, const KeyLists& lists);

/// Throws invalid_argument if there are no classes, or if a label is none of them.
void check_labels(const char* stage, std::span<const std::uint32_t> labels, std::uint32_t classes);

/// Throws invalid_argument as check_lists() and check_labels() do, if a row has several lists, or if a
/// neighbour has no label.
void check_neighbours(const char* stage, const KeyLists& nearest, std::span<const std::uint32_t> labels,
                      std::uint32_t classes);

/// Runs one step on the device behind a handle. `make(runner)` puts its operands on the device and returns
/// it; `take(runner, step)` reads what it wrote. Throws unsupported if the device refuses it.
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
