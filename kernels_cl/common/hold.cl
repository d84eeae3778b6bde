// hold: keeps a GPU busy for half a millisecond or more, so that the host can enqueue ahead of it.
//
// There is one work-item. Work: `rounds` multiplications and additions, each of which waits for the one
// before; a GPU takes two to five nanoseconds per round. (A user event could hold a queue, too, but with
// NVIDIA's driver a search of two kernels then took 28 us instead of 20, because waiting commands are
// submitted only when the event is set.)
// No twin in kernels_cuda: there a function of the host holds the queue (backends/cuda/device.cpp).
kernel void kith_hold(uint rounds, global uint* out) {
  uint x = rounds;
  for (uint i = 0; i < rounds; ++i) x = x * 1664525u + 1013904223u;
  *out = x;
}
