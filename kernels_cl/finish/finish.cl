// finish: keys as the caller sees them.
//
//   keys      [q, k or more]  row-major, stride in elements
//   distance  [q, k]          the value of the key by the last column of metrics.def, -D METRIC=<id>
//   numbers   [q, k]          its row; -1 where there is none
//
// A work-item a neighbour. The root is rounded correctly on every device, whatever its sqrt() is worth: see
// root(). Work: each key is read once. No barrier, no local memory.
#include "common/common.cl"

// The float nearest to the square root of s >= 0. Let s = p 2^e with e even and 2^46 <= p < 2^48, and r the
// whole part of the root of p: r has 24 bits. The root of p is not r + 1/2, whose square is no whole number;
// it is above that where p > r^2 + r + 1/4, so where p - r^2 > r. Then r + 1 is nearest, else r. r + 1 is
// at most 2^24: p - r^2 > r and r = 2^24 - 1 would make p more than (2^24 - 1) 2^24, above which there is no
// p. sqrt() is only the first guess of r.
float root(float s) {
  if (!(s > 0.0f) || s == INFINITY) return s;
  const uint bits = as_uint(s);
  uint fraction = bits & 0x7FFFFFu;
  int exponent = (int)(bits >> 23);
  if (exponent == 0) {
    const int shift = (int)clz(fraction) - 8;
    fraction <<= shift;
    exponent = 1 - shift;
  } else {
    fraction |= 0x800000u;
  }
  int e = exponent - 150;
  const int shift = (e & 1) != 0 ? 23 : 24;
  const ulong p = (ulong)fraction << shift;
  e -= shift;
  ulong r = clamp((ulong)sqrt((float)p), (ulong)1 << 23, ((ulong)1 << 24) - 1);
  while (r * r > p) --r;
  while ((r + 1) * (r + 1) <= p) ++r;
  if (p - r * r > r) ++r;
  return as_float((uint)((e / 2 + 150) << 23) + ((uint)r - 0x800000u));
}

#define JOIN_NOW(a, b) a##b
#define JOIN(a, b) JOIN_NOW(a, b)

#undef sqrt  // which may be a macro
#define sqrt root
#define KITH_METRIC(id, prepare, start, accumulate, finish) \
  float finished_##id(float acc) {                          \
    return finish;                                          \
  }
#include "kith/metrics.def"
#undef KITH_METRIC
#undef sqrt

kernel void kith_finish(global const Key* keys, Place keys_at, global float* distance, Place distance_at,
                        global long* numbers, Place numbers_at, uint k, ulong cells) {
  const ulong i = get_global_id(0);
  if (i >= cells) return;
  const ulong q = i / k, j = i % k;
  const Key key = keys[keys_at.first + q * keys_at.stride + j];
  distance[distance_at.first + q * distance_at.stride + j] = JOIN(finished_, METRIC)(value_of(key));
  numbers[numbers_at.first + q * numbers_at.stride + j] = key == NO_KEY ? -1 : (long)(key & 0xFFFFFFFFu);
}
