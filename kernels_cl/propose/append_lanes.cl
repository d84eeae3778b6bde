// Appending to lists of candidates, for CPU devices: 16 training rows at a time.
// No twin in kernels_cuda: it is for CPU devices, which CUDA has not.
#include "propose/candidates.cl"

// Append the training rows row ... row + 15 whose element of `near` is not 0 to list q.
//   v    what was compared with the threshold
//   gap  [16]  with -D BOUNDS: how far `high` is above it (collect_low.cl)
void append(int16 near, float16 v, global const float* gap, ulong q, uint row, CANDIDATES) {
  int lane[16];
  float low[16];
  vstore16(near, 0, lane);
  vstore16(v, 0, low);
  uint many = 0;
  for (uint j = 0; j < 16; ++j) many += lane[j] != 0;
  uint place = atomic_add(COUNT_OF(q), many);
  for (uint j = 0; j < 16; ++j) {
    if (!lane[j] || place >= lists.capacity) continue;
    PUT_CANDIDATE(q, place, row + j, low[j], gap[j]);
    ++place;
  }
}
