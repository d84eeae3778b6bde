// Says how a call of the back end `faulty` fails: Fault::kind at Site::device_call.
#pragma once

enum class FaultyDevice : int {
  works,
  fails,    // Error device_failure
  is_full,  // Error out_of_memory
  throws_runtime_error,
  throws_bad_alloc,
  throws_int,
};
