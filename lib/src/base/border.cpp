#include "base/border.hpp"

#include <new>
#include <stdexcept>

#include "kith/error.hpp"

namespace kith {
namespace {

const Error no_memory(
    Errc::out_of_memory,
    "kith: the host has no memory left for this; use fewer rows or queries at a time, a smaller k, or "
    "a smaller memory limit");

}  // namespace

void rethrow_as_error() {
  try {
    throw;
  } catch (const std::bad_alloc&) {
    throw Error(no_memory);
  } catch (const std::length_error&) {  // a vector would need more elements than it can have
    throw Error(no_memory);
  }
}

}  // namespace kith
