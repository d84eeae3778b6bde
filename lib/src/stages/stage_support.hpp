// What the stages of kith/stages.hpp share: rows and lists checked and copied to the device, one step run.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "base/numbers.hpp"
#include "device/device_state.hpp"
#include "kith/error.hpp"
#include "kith/stages.hpp"
#include "rows/rows.hpp"

namespace kith::stages {

using StatePointer = std::shared_ptr<kith::Device::State>;

/// Throws invalid_argument.
[[noreturn]] void refuse(const std::string& message);

/// Rows checked, prepared and copied to the device.
struct DeviceRows {
  DeviceMemory memory;
  spi::RowBlocks rows;
  float largest;
  PreparedRows prepared;
};

struct DevicePair {
  DeviceRows queries, train;
};

/// Both sides of a comparison. Throws invalid_argument, as the public stages say.
DevicePair device_pair(const StatePointer& state, MatrixView<const float> queries,
                       MatrixView<const float> train, Metric metric);

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

/// Run one step with the scratch it needs. Throws unsupported: what check() says.
template <class Work>
void run(const StatePointer& state, Work work) {
  const spi::Support support = state->check({work});
  if (!support.refusal.empty())
    throw Error(Errc::unsupported,
                std::string(Work::name) + ": " + state->device->info.spec + ": " + support.refusal);
  DeviceMemory scratch;
  if constexpr (requires { work.scratch; }) {
    if (support.scratch_bytes) scratch = DeviceMemory(state, support.scratch_bytes);
    work.scratch = {scratch.get(), support.scratch_bytes};
  }
  const DeviceSession session(*state);
  session->enqueue({work});
  session->finish();
}

template <class T>
void read(const StatePointer& state, const DeviceMemory& from, std::vector<T>& to) {
  const DeviceSession session(*state);
  if (!to.empty()) session->read(*from.get(), 0, to.data(), to.size() * sizeof(T));
}

/// A copy in device memory.
template <class T>
DeviceMemory upload(const StatePointer& state, std::span<const T> from) {
  DeviceMemory to(state, from.size_bytes());
  const DeviceSession session(*state);
  if (!from.empty()) session->write(*to.get(), 0, from.data(), from.size_bytes());
  return to;
}

}  // namespace kith::stages
