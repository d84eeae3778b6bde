// Where exceptions leave the library: all that fails is a kith::Error.
#pragma once

namespace kith {

/// In `catch (...)` around the body of each public function that may run out of host memory: what is being
/// handled goes on, std::bad_alloc and std::length_error as Error out_of_memory. That one was made when the
/// library was loaded, since there may be no memory to make it with.
[[noreturn]] void rethrow_as_error();

}  // namespace kith
