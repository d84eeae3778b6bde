// Lends memory of the host to kernels of the CPU back end.
#pragma once

#include <cstddef>
#include <memory>
#include <type_traits>

#include "kith/spi.hpp"

namespace kith {

/// Lends host memory to kernels, which only read memory that is const here.
template <class T>
std::unique_ptr<spi::Allocation> lent(spi::Device& host, const T* data, std::size_t count) {
  using Plain = std::remove_const_t<T>;
  return host.borrow({Where::host, const_cast<Plain*>(data), count * sizeof(T), false, nullptr});
}

}  // namespace kith
