// The first kernel of collect, fp16, if the test is part of the product (collect_fused_test.cl): writes lines
// of training rows that contain `low`, and the thresholds as halves.
//
//   queries     [4, q]    row terms of the quantized rows, stride in elements
//   threshold   [q]       stride in elements
//   row_terms   [4, t]    of the training rows, stride in elements
//   train       [t, dims] their quantized rows, as prepare_fp16.cl writes them
//   lines       [places]  the line of the row at each place (visits.cl), with `low` in its last columns
//                         (fused_test.cl); contiguous tiles of 128 lines, with STEPS * 2 pieces each, in the
//                         order of place_of()
//   gap         [places]  with -D BOUNDS, `gap_first` words behind the beginning of lines: norm(t)^2 / 2 +
//                         E(t) and what the sum may lose, less `low`; rounded up
//   fused_test  [3, q]    `fused_test_first` words behind it: the threshold as two halves; the base, from
//                         which a sum is subtracted to get a lower bound; and what is added to the gap
//
//   products  uses train_first, q_rows and t_rows; unscale is K unscale (fused_test.cl)
//   numbers   b is an upper bound of the error of a sum, relative to the magnitudes that are added
//   HALVES    see product_error.cl
//
// Compiled with -D PIECES=n, pieces of a line of the quantized rows (2 or 4), and -D STEPS=n, steps of 16
// dimensions that a line takes with `low` (1 or 2). Work-item i handles places and queries i, i + items, ...
// Each group computes the three maxima over the queries itself.
// Work: one line per place is read and written, and q steps in each group. docs/certificate.md, section 4.
// No twin in kernels_cuda: collect_fused_test.cu has this kernel, too.
#include "propose/fused_test.cl"
#include "propose/visits.cl"

#define LINE_PIECES (2 * STEPS)

// Returns the place of piece p of row r of a tile, if each row has `pieces` pieces.
uint place_of(uint pieces, uint r, uint p) {
  return r * pieces + (p ^ (r * pieces / 8 % pieces));
}

// `low` of a row as it is stored in the line, and the gap of the row.
typedef struct {
  uint parts;
  float gap;
} Low;

Low low_of_row(FusedTestTerms terms, ErrorTerms errors, global const float* row_terms, ulong stride) {
  const float norm = row_terms[NORM * stride];
  const double error =
      row_error(errors, row_terms[RESIDUAL * stride], norm, row_terms[QUANTIZED_NORM * stride]);
  const double half_norm = HALVES ? row_terms[0] : 0.0f,
               above = HALVES ? 0.5 * (double)norm * (double)norm : 0.0;
  const double apart = half_norm - error;
  const Parts parts = fused_test_low(terms, apart - fabs(apart) * 0x1p-50);
  const double low = parts.sum * terms.unit, lost = error + fused_test_error(terms, parts.sum) * terms.unit;
  // There are three roundings; each is less than 2^-52 of the sum of the magnitudes.
  const double gap = above + lost - low + (above + lost + fabs(low)) * 0x1p-50;
  const Low made = {parts.both, round_up(gap * errors.gap_share)};
  return made;
}

kernel __attribute__((reqd_work_group_size(GROUP, 1, 1))) void kith_fused_test_rows(
    global const float* restrict queries, global const float* restrict row_terms, const TermPlaces terms_at,
    global const float* restrict threshold_of, Place threshold_at, global const uint4* restrict train,
    const Products products, uint4 visits, ulong places, uint dims, const ErrorNumbers numbers,
    global uint4* lines, ulong gap_first, ulong fused_test_first) {
  const uint q_rows = products.q_rows, t_rows = products.t_rows;
  const ulong q_stride = terms_at.queries.stride, t_stride = terms_at.train.stride;
  local float most[3 * GROUP];
  const uint lid = (uint)get_local_id(0);
  queries += terms_at.queries.first;
  row_terms += terms_at.train.first;
  train += products.train_first;
  most[lid] = most[GROUP + lid] = most[2 * GROUP + lid] = 0;
  for (uint q = lid; q < q_rows; q += GROUP) {
    const float quantized = queries[QUANTIZED_NORM * q_stride + q];
    const float error = query_error(queries[RESIDUAL * q_stride + q], numbers.b, quantized);
    most[lid] = fmax(most[lid], queries[NORM * q_stride + q]);
    most[GROUP + lid] = fmax(most[GROUP + lid], error);
    most[2 * GROUP + lid] = fmax(most[2 * GROUP + lid], quantized);
  }
  barrier(CLK_LOCAL_MEM_FENCE);
  for (uint step = GROUP / 2; step > 0; step /= 2) {
    if (lid < step)
      for (uint i = lid; i < 3 * GROUP; i += GROUP) most[i] = fmax(most[i], most[i + step]);
    barrier(CLK_LOCAL_MEM_FENCE);
  }
  const ErrorTerms errors = {most[0],       most[GROUP],   most[2 * GROUP],
                             numbers.chain, numbers.under, numbers.gap_share};
  const FusedTestTerms terms = {products.unscale, numbers.b, dims};

  global uint* fused_test = (global uint*)lines + fused_test_first;
  for (uint q = (uint)get_global_id(0); q < q_rows; q += (uint)get_global_size(0)) {
    const float threshold = threshold_of[threshold_at.first + q * threshold_at.stride];
    const Parts parts = fused_test_threshold(terms, threshold);
    const double sum = parts.sum, size = fmin(fabs((double)threshold),
                                              KITH_MOST_FUSED_TEST_THRESHOLD * terms.dims * terms.unit);
    fused_test[q] = parts.both;
    fused_test[q_rows + q] = as_uint(round_down((sum - fused_test_error(terms, sum)) * terms.unit));
    fused_test[2 * q_rows + q] =
        as_uint(round_up(size * (2 * terms.b * (1.0 + 0x1p-8) + 0x1p-22) + terms.unit * 0x1p-20));
  }

  for (ulong place = get_global_id(0); place < places; place += get_global_size(0)) {
    const uint r = place % VISIT_TILE;
    const ulong tile = row_of_tile(visits, (uint)(place / VISIT_TILE)), t = tile + r;
    const bool some = t < t_rows;
    Low low = {HALF_INFINITY, 0.0f};  // also for a row whose terms are NaN
    if (some && !isnan(row_terms[NORM * t_stride + t]))
      low = low_of_row(terms, errors, row_terms + t, t_stride);
#ifdef BOUNDS
    ((global float*)lines)[gap_first + place] = low.gap;
#endif
    global uint4* to = lines + place / VISIT_TILE * (VISIT_TILE * LINE_PIECES);
#pragma unroll
    for (uint p = 0; p < LINE_PIECES; ++p) {
      uint4 piece = (uint4)(0);
      if (some && p < PIECES) piece = train[tile * PIECES + place_of(PIECES, r, p)];
      if (p + 1 == LINE_PIECES) piece.zw = (uint2)(low.parts, FUSED_TEST_FACTOR * 0x10001u);
      to[place_of(LINE_PIECES, r, p)] = piece;
    }
  }
}
