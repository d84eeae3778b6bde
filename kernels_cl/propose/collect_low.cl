// The first kernel of collect: computes the value from which the product with each training row
// is subtracted.
//
//   queries  [4, q]   row terms of the quantized rows, stride in elements
//   train    [4, t]   the same of the training rows
//   low      [places] for the row t at each place (visits.cl): half_norm(t) - E(t), or -E(t) for inner
//            products, rounded down; NaN if there is no row or its terms are NaN
//   gap      [places] with -D BOUNDS, behind `low`: norm(t)^2 / 2 + E(t) - low(t), or 2 E(t), rounded up
//   lift     [places] with -D LIFT, behind these: the lift of the row (lifted.cl)
//
//   EXACT    is defined if products are exact: then E is 0, and half_norm is the only term that is read
//   b        an upper bound of the relative error of a product; twice that if the chain has this error, too
//   chain    0, or an upper bound of the error of the chain of inner products, relative to both norms
//   under    an upper bound of what underflow takes from a product of rows of norm 0; twice that likewise
//   unit     value of 1 in a sum of products of bytes, for lifts
//   HALVES   1 for squared distances, which contain half the squared norm; 0 for inner products
//
// Work-item i handles places i, i + items, ... Each group computes the three maxima over the queries itself.
// docs/certificate.md, section 4. Work: one step per place, and q steps in each group.
#include "propose/product_error.cl"
#include "propose/visits.cl"
#ifdef LIFT
#include "propose/lifted.cl"
#endif

kernel __attribute__((reqd_work_group_size(GROUP, 1, 1))) void kith_collect_low(
    global const float* restrict queries, Place q_at, uint q_rows, global const float* restrict train,
    Place t_at, uint t_rows, uint4 visits, ulong places, const ErrorNumbers numbers, float unit, uint dims,
    global float* restrict low) {
  train += t_at.first;
#ifdef LIFT
#ifdef BOUNDS
  global int* lift = (global int*)(low + 2 * places);
#else
  global int* lift = (global int*)(low + places);
#endif
#endif
#ifndef EXACT
  const uint lid = (uint)get_local_id(0);
  queries += q_at.first;
  float most_norm = 0, most_error = 0, most_quantized = 0;
  for (uint q = lid; q < q_rows; q += GROUP) {
    const float quantized = queries[QUANTIZED_NORM * q_at.stride + q];
    most_norm = fmax(most_norm, queries[NORM * q_at.stride + q]);
    most_error = fmax(most_error, query_error(queries[RESIDUAL * q_at.stride + q], numbers.b, quantized));
    most_quantized = fmax(most_quantized, quantized);
  }
#if GROUP > 1
  local float most[3 * GROUP];
  most[lid] = most_norm;
  most[GROUP + lid] = most_error;
  most[2 * GROUP + lid] = most_quantized;
  barrier(CLK_LOCAL_MEM_FENCE);
  for (uint step = GROUP / 2; step > 0; step /= 2) {
    if (lid < step)
      for (uint i = lid; i < 3 * GROUP; i += GROUP) most[i] = fmax(most[i], most[i + step]);
    barrier(CLK_LOCAL_MEM_FENCE);
  }
  most_norm = most[0];
  most_error = most[GROUP];
  most_quantized = most[2 * GROUP];
#endif
  const ErrorTerms terms = {most_norm,     most_error,    most_quantized,
                            numbers.chain, numbers.under, numbers.gap_share};
#endif
  for (ulong place = get_global_id(0); place < places; place += get_global_size(0)) {
    const ulong t = row_of_tile(visits, (uint)(place / VISIT_TILE)) + place % VISIT_TILE;
#ifdef EXACT
    const float half_norm = t < t_rows ? train[t] : NAN;
    const float least = HALVES || isnan(half_norm) ? half_norm : 0.0f;
#else
    const float norm = t < t_rows ? train[NORM * t_at.stride + t] : NAN;
    float error = 0, least = NAN;
    if (!isnan(norm)) {  // next_up() would treat NaN as a number
      error =
          row_error(terms, train[RESIDUAL * t_at.stride + t], norm, train[QUANTIZED_NORM * t_at.stride + t]);
      least = row_low(train[t], error);
    }
#endif
    low[place] = least;
#ifdef LIFT
    lift[place] = lift_of(least, unit, dims);
#endif
#if defined(BOUNDS) && defined(EXACT)
    low[places + place] = 0;
#elif defined(BOUNDS)
    if (!isnan(norm)) low[places + place] = row_gap(numbers.gap_share, norm, error, least);
#endif
  }
}
