// Declares the functions of kith_fault_tests that plug-ins and drivers with faults call.
#pragma once

namespace kith::tests::faults {

/// Declares the places where a call can fail.
enum class Site : int {
  none,
  allocation,   // allocation of host memory
  device_call,  // call of a back end's device
  driver_call,  // call of OpenCL or CUDA
  file_call,    // open, read, write, fsync, rename, ...
};

/// Resources that are counted while they exist.
enum class Kept : int {
  host_blocks,
  device_blocks,
  driver_objects,
  time_stamps,  // driver objects that a device keeps for reuse, as many as ever existed at the same time
  count,
};

}  // namespace kith::tests::faults

extern "C" {
/// Counts a call at a Site. Returns how it must fail (Fault::kind), or 0.
int kith_fault(int site);
/// Counts a resource (Kept).
void kith_fault_keep(int what, long change);
/// Returns whether kith itself, not a driver, runs on this thread.
int kith_is_watched();
/// Tells that this thread enters the driver (1) or leaves it (-1).
void kith_in_driver(int change);
}
