// Turns every exception that leaves the library into a kith::Error.
#pragma once

namespace kith {

/// Rethrows the exception that is being handled; std::bad_alloc and std::length_error become Error
/// out_of_memory. It is called in the `catch (...)` around the body of each public function that may run out
/// of host memory. That Error is made when the library is loaded, because later there may be no memory to
/// make it.
[[noreturn]] void rethrow_as_error();

}  // namespace kith
