// A vector of floats that does not set new elements to zero: this pass over memory would slow down
// many searches.
#pragma once

#include <memory>
#include <new>
#include <utility>
#include <vector>

namespace kith {

template <class T>
struct LeftAsItIs : std::allocator<T> {
  template <class U>
  struct rebind {
    using other = LeftAsItIs<U>;
  };

  template <class U, class... From>
  void construct(U* at, From&&... from) {
    if constexpr (sizeof...(From) == 0)
      ::new (static_cast<void*>(at)) U;
    else
      ::new (static_cast<void*>(at)) U(std::forward<From>(from)...);
  }
};

using Floats = std::vector<float, LeftAsItIs<float>>;

}  // namespace kith
