#include "kith/spi/step_runner.hpp"

#include <algorithm>
#include <chrono>

namespace kith::spi {

std::vector<float> packed(MatrixView<const float> rows, std::uint32_t block) {
  const auto count = static_cast<std::size_t>(rows.rows()), dims = static_cast<std::size_t>(rows.cols());
  std::vector<float> values((count + block - 1) / block * block * dims);
  for (std::size_t r = 0; r < count; ++r) {
    const float* const row = rows.row(static_cast<std::int64_t>(r));
    for (std::size_t d = 0; d < dims; ++d) values[(r / block * dims + d) * block + r % block] = row[d];
  }
  return values;
}

Allocation* StepRunner::allocate(std::size_t bytes) {
  bytes = std::max<std::size_t>(bytes, 1);
  return memory_.emplace_back(retried(device_.info, [&] { return device_.allocate(bytes); })).get();
}

Allocation* StepRunner::put(const void* from, std::size_t bytes) {
  constexpr std::size_t most = std::size_t{256} << 20;  // bytes per write
  Allocation* const memory = allocate(bytes);
  for (std::size_t at = 0; at < bytes; at += most)
    device_.write(*memory, at, static_cast<const char*>(from) + at, std::min(most, bytes - at));
  return memory;
}

Allocation* StepRunner::put_again(const void* from, std::size_t bytes) {
  const auto* const first = static_cast<const unsigned char*>(from);
  Allocation* const memory = allocate(bytes);
  begins_.push_back({memory, std::vector<unsigned char>(first, first + bytes)});
  return memory;
}

Allocation* StepRunner::room(std::size_t bytes) {
  const std::vector<unsigned char> nonsense(std::min(bytes, std::size_t{1} << 20), 0xA5);
  Allocation* const memory = allocate(bytes);
  if (!nonsense.empty()) device_.write(*memory, 0, nonsense.data(), nonsense.size());
  return memory;
}

RowBlocks StepRunner::rows(MatrixView<const float> rows, std::uint32_t block) {
  const std::vector<float> values = packed(rows, block);
  return {put(values.data(), values.size() * sizeof(float)), 0, static_cast<std::uint32_t>(rows.rows()),
          static_cast<std::uint32_t>(rows.cols()), block};
}

void StepRunner::set(const Work& work) {
  step_ = {work, threads_};
  const Support support = device_.check(step_);
  refusal_ = support.refusal;
  scratch_.reset();
  if (!refusal_.empty() || support.scratch_bytes == 0) return;
  room(support.scratch_bytes);
  scratch_ = std::move(memory_.back());
  memory_.pop_back();
  const Scratch scratch{scratch_.get(), support.scratch_bytes};
  std::visit(
      [&](auto& step) {
        if constexpr (requires { step.scratch; }) step.scratch = scratch;
      },
      step_.work);
}

/// Restores the first contents of all memory that the step changes, and waits for the device.
void StepRunner::begin() {
  if (!refusal_.empty())
    throw Error(Errc::unsupported,
                std::visit([](const auto& step) { return std::string(step.name); }, step_.work) + ": " +
                    device_.info.spec + ": " + refusal_);
  for (const Begin& again : begins_)
    if (!again.bytes.empty()) device_.write(*again.memory, 0, again.bytes.data(), again.bytes.size());
  device_.finish();
}

void StepRunner::run() {
  begin();
  device_.enqueue(step_);
  device_.finish();
}

StepRunner::Seconds StepRunner::time() {
  begin();
  const auto start = std::chrono::steady_clock::now();
  const std::uint64_t before = device_.mark();
  device_.enqueue(step_);
  const std::uint64_t after = device_.mark();
  device_.finish();
  const std::chrono::duration<double> host = std::chrono::steady_clock::now() - start;
  return {device_.elapsed(before, after), host.count()};
}

}  // namespace kith::spi
