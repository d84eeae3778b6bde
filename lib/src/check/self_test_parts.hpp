// What tests of a device's steps share: memory with values in it, and a step run for its result.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <stdexcept>
#include <vector>

#include "kith/spi.hpp"

namespace kith {

/// A block of device memory with values in it.
template <class T>
std::unique_ptr<spi::Allocation> put(spi::Device& device, const std::vector<T>& values) {
  auto memory = spi::retried(device.info, [&] { return device.allocate(values.size() * sizeof(T)); });
  device.write(*memory, 0, values.data(), values.size() * sizeof(T));
  return memory;
}

/// Run one step with its scratch, and read `count` elements of what it wrote. Throws what it is refused for.
template <class T, class Work>
std::vector<T> result_of(spi::Device& device, Work work, spi::Allocation& out, std::size_t count) {
  const spi::Support support = device.check({work});
  if (!support.refusal.empty()) throw std::runtime_error(support.refusal);
  std::unique_ptr<spi::Allocation> scratch;
  if constexpr (requires { work.scratch; }) {
    if (support.scratch_bytes)  // what is in it must not matter
      scratch = put(device, std::vector<std::uint8_t>(support.scratch_bytes, 0xA5));
    work.scratch = {scratch.get(), support.scratch_bytes};
  }
  device.enqueue({work});
  std::vector<T> values(count);
  device.read(out, 0, values.data(), count * sizeof(T));
  return values;
}

}  // namespace kith
