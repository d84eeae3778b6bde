// distance by terms, in a periodic box or others (-D MIXED): computes one chain for each pair of a query and
// a training row.
//
//   queries [q, dims]   blocks of QUERY_BLOCK rows     train [t, dims]   blocks of TRAIN_BLOCK rows
//   terms   [dims]      parameters of the columns (metrics.def)
//   out     [q, t]      row-major, stride in elements; raw values
//
// Work-item (t, q) computes one pair. There is one kernel for both families: rows in a box mostly have two or
// three columns, and are mostly searched by boxes.
// Work: q * t * dims terms of four instructions each, if periodic; q * t floats are written.
#include "common/metric.cl"

kernel void kith_distance_periodic(global const float* restrict queries, global const float* restrict train,
                                   const Sides sides, global const float* restrict terms,
                                   global float* restrict out, Place out_at) {
  const uint t = (uint)get_global_id(0), q = (uint)get_global_id(1), dims = sides.dims;
  if (t >= sides.t_rows || q >= sides.q_rows) return;
  const uint from = sides.q_first + q, to = sides.t_first + t;
  queries += (size_t)(from / QUERY_BLOCK) * dims * QUERY_BLOCK + from % QUERY_BLOCK;
  train += (size_t)(to / TRAIN_BLOCK) * dims * TRAIN_BLOCK + to % TRAIN_BLOCK;
  float acc = chain_start();
  for (uint d = 0; d < dims; ++d)
    acc = chain_next(
        acc, pair_term(queries[(size_t)d * QUERY_BLOCK], train[(size_t)d * TRAIN_BLOCK], terms[d]), 0.0f);
  out[out_at.first + q * out_at.stride + t] = acc;
}
