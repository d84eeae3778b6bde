// Replaces tensor.cl and warp.cl on devices whose only known language is OpenCL C: each item works by itself.
// No twin in kernels_cuda: every device there has warps.

// Copies 16 bytes. The copy is complete on return, so that batches have no meaning here.
void copy_piece(local uint4* to, global const uint4* from) {
  *to = *from;
}

#define END_BATCH()
#define WAIT_FOR_BATCHES(left)
#define JOIN_WARP()

bool any_of_warp(bool mine) {
  return mine;
}

uint hidden(uint value) {
  return value;
}

// Returns the sum of four products of signed bytes.
int dot_of_bytes(uint a, uint b) {
#ifdef __opencl_c_integer_dot_product_input_4x8bit_packed
  return dot_4x8packed_ss_int(a, b);
#else
  const char4 x = as_char4(a), y = as_char4(b);
  return x.s0 * y.s0 + x.s1 * y.s1 + x.s2 * y.s2 + x.s3 * y.s3;
#endif
}
