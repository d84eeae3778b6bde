// What plug-ins and drivers that fail on purpose ask of the program that loaded them, kith_fault_tests.
#pragma once

namespace kith::tests::faults {

/// Where a call can be made to fail.
enum class Site : int {
  none,
  allocation,   // of host memory
  device_call,  // of a back end's device
  driver_call,  // of OpenCL or CUDA
  file_call,    // open, read, write, fsync, rename, ...
};

/// What is counted while it exists.
enum class Kept : int {
  host_blocks,
  device_blocks,
  driver_objects,
  time_stamps,  // objects of the driver that a device keeps to use again: as many as were once alive at a
                // time
  count,
};

}  // namespace kith::tests::faults

extern "C" {
/// Count a call at a Site; how it is to fail (Fault::kind), 0: not at all.
int kith_fault(int site);
/// Count what is kept (Kept).
void kith_fault_keep(int what, long change);
/// Whether what this thread does now is kith's own.
int kith_is_watched();
/// From here on (1), or no more (-1), this thread is in the driver.
void kith_in_driver(int change);
}
