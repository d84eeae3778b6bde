// Appends candidates to lists, for CPU devices: 16 training rows at a time.
// No twin in kernels_cuda: CUDA has no CPU devices.
#include "propose/candidates.cl"

// Appends those of training rows row ... row + 15 whose element of `near` is not 0 to list q.
//   v    values that were compared with the threshold
//   gap  [16]  with -D BOUNDS: the distance from v to `high` (collect_low.cl)
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
