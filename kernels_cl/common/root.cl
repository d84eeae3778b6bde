// The square root that is correctly rounded on every device, however inaccurate its sqrt() is.
// No twin in kernels_cuda: CUDA has a root that is.

// Returns the whole number 2^23 ... 2^24 - 1 of x > 0, which is it times 2^e.
uint fraction_of(float x, int* e) {
  const uint bits = as_uint(x);
  uint fraction = bits & 0x7FFFFFu;
  int exponent = (int)(bits >> 23);
  if (exponent == 0) {
    const int shift = (int)clz(fraction) - 8;
    fraction <<= shift;
    exponent = 1 - shift;
  } else {
    fraction |= 0x800000u;
  }
  *e = exponent - 150;
  return fraction;
}

// Returns the float nearest to the square root of s >= 0. Let s = p 2^e with e even and 2^46 <= p < 2^48, and
// let r be the integer part of the root of p, which has 24 bits. The root of p is not r + 1/2, whose square
// is no integer. It is above r + 1/2 if p > r^2 + r + 1/4, which means p - r^2 > r; then r + 1 is nearest,
// else r. r + 1 is at most 2^24: if r = 2^24 - 1, then p - r^2 > r would make p exceed (2^24 - 1) 2^24, which
// no p does. sqrt() only gives the first guess of r.
float root(float s) {
  if (!(s > 0.0f) || s == INFINITY) return s;
  int e;
  const ulong fraction = fraction_of(s, &e);
  const int shift = (e & 1) != 0 ? 23 : 24;
  const ulong p = fraction << shift;
  e -= shift;
  ulong r = clamp((ulong)sqrt((float)p), (ulong)1 << 23, ((ulong)1 << 24) - 1);
  while (r * r > p) --r;
  while ((r + 1) * (r + 1) <= p) ++r;
  if (p - r * r > r) ++r;
  return as_float((uint)((e / 2 + 150) << 23) + ((uint)r - 0x800000u));
}
