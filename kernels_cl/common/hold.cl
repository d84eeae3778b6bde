// hold: keep a GPU busy, for half a millisecond or more, so that the host gets ahead of it.
//
// One work-item. Work: `rounds` multiplications and additions, each of which waits for the one before; a GPU
// takes two to five nanoseconds for a round. (A user event would hold a queue, too, but with NVIDIA's driver
// a search of two kernels then took 28 instead of 20 us: what waits is handed over when the event is set.)
// No twin in kernels_cuda: there a function of the host holds the queue (backends/cuda/device.cpp).
kernel void kith_hold(uint rounds, global uint* out) {
  uint x = rounds;
  for (uint i = 0; i < rounds; ++i) x = x * 1664525u + 1013904223u;
  *out = x;
}
