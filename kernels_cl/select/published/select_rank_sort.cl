// select, rank_sort: places each value by the number of values that come before it.
//
//   distances [q, t]            row-major, stride in elements, NaN only if masked
//   out       [q, lists * k]    keys, ascending in each list, padded with NO_KEY
//
// All smaller values come before a value, and equal ones with a smaller index. So only floats are compared,
// not keys: with `<=` to values at earlier places, with `<` to later ones. No item waits for another: all
// places are counted at once, and written if they are below k. A masked value, NaN, comes before no value and
// gets no place; the list is padded at its end.
// Work: t^2 comparisons and as many additions. Source: enumeration sort, as in Ajorian, Bastan, Montazeri's
// k-NN in CUDA (Isfahan University of Technology).
#include "common/common.cl"

#if GROUP > 1

#define TILE (4 * GROUP)

// Stages columns t0 ... t0 + TILE - 1 of a list of `width`; behind the last column are NaN, which come before
// no value.
void stage_tile(global const float* values, uint t0, uint width, local float* tile) {
#pragma unroll
  for (uint i = 0; i < 4; ++i) {
    const uint place = i * GROUP + (uint)get_local_id(0);
    tile[place] = place < width - t0 ? values[t0 + place] : NAN;
  }
}

#define COUNT_TILE(precedes)                                                                \
  for (uint j = 0; j < staged; j += 4) {                                                    \
    const float4 four = *(local const float4*)(tile + j);                                   \
    _Pragma("unroll") for (uint r = 0; r < OWN; ++r) place[r] +=                            \
        (four.x precedes mine[r]) + (four.y precedes mine[r]) + (four.z precedes mine[r]) + \
        (four.w precedes mine[r]);                                                          \
  }

// Work-group w ranks OWN * GROUP values of list w / blocks, OWN per item. All values of the list pass through
// local memory, TILE at a time, with two barriers per tile; reading four values serves 4 OWN comparisons.
// Local memory: TILE floats.
kernel __attribute__((reqd_work_group_size(GROUP, 1, 1))) void kith_select_rank_sort(
    global const float* restrict distances, Place distances_at, uint columns, uint first_row, uint k,
    uint lists, uint blocks, global Key* restrict out, Place out_at) {
  local float tile[TILE] __attribute__((aligned(16)));
  const ulong list_number = get_group_id(0) / blocks, q = list_number / lists;
  const uint lid = (uint)get_local_id(0), g = (uint)(list_number % lists);
  const uint begin = first_column(g, columns, lists);
  const uint width = first_column(g + 1, columns, lists) - begin;
  const uint own = (uint)(get_group_id(0) % blocks) * OWN * GROUP;  // the first of the work-group's values
  global const float* values = distances + distances_at.first + q * distances_at.stride + begin;
  global Key* list = out + out_at.first + q * out_at.stride + (ulong)g * k;

  float mine[OWN];
  uint place[OWN];
  uint placed = 0;  // number of values that are not masked; only the first work-group of a list counts
#pragma unroll
  for (uint r = 0; r < OWN; ++r) {
    const uint t = own + r * GROUP + lid;
    mine[r] = t < width ? values[t] : NAN;
    place[r] = 0;
  }
  if (own < width) {
    for (uint t0 = 0; t0 < width; t0 += TILE) {
      stage_tile(values, t0, width, tile);
      barrier(CLK_LOCAL_MEM_FENCE);
      const uint staged = min((uint)TILE, width - t0);
      if (own == 0)
        for (uint j = 0; j < staged; ++j) placed += !isnan(tile[j]);
      if (t0 + TILE <= own) {
        COUNT_TILE(<=)
      } else if (t0 >= own + OWN * GROUP) {
        COUNT_TILE(<)
      } else {
        for (uint j = 0; j < staged; ++j) {
#pragma unroll
          for (uint r = 0; r < OWN; ++r)
            place[r] += t0 + j < own + r * GROUP + lid ? tile[j] <= mine[r] : tile[j] < mine[r];
        }
      }
      barrier(CLK_LOCAL_MEM_FENCE);
    }
  }
#pragma unroll
  for (uint r = 0; r < OWN; ++r) {
    const uint t = own + r * GROUP + lid;
    if (t < width && !isnan(mine[r]) && place[r] < k)
      list[place[r]] = make_key(mine[r], first_row + begin + t);
  }
  if (own == 0)
    for (ulong j = (ulong)placed + lid; j < k; j += GROUP) list[j] = NO_KEY;
}

#else

#define OWN 4  // vectors per work-item

// For CPU devices: work-item w ranks 64 values of list w / blocks, one per lane. No barrier, no local memory.
kernel void kith_select_rank_sort_lanes(global const float* restrict distances, Place distances_at,
                                        uint columns, uint first_row, uint k, uint lists, uint blocks,
                                        global Key* restrict out, Place out_at) {
  const ulong list_number = get_global_id(0) / blocks, q = list_number / lists;
  const uint g = (uint)(list_number % lists), begin = first_column(g, columns, lists);
  const uint width = first_column(g + 1, columns, lists) - begin;
  const uint own = (uint)(get_global_id(0) % blocks) * OWN * 16;
  const uint own_end = own < width ? min(width, own + OWN * 16) : own;
  global const float* values = distances + distances_at.first + q * distances_at.stride + begin;
  global Key* list = out + out_at.first + q * out_at.stride + (ulong)g * k;

  float value[OWN * 16];
  for (uint i = 0; i < OWN * 16; ++i) value[i] = own + i < own_end ? values[own + i] : NAN;
  float16 mine[OWN];
  int16 place[OWN];
#pragma unroll
  for (uint r = 0; r < OWN; ++r) {
    mine[r] = vload16(r, value);
    place[r] = 0;
  }
  if (own < width) {
    for (uint t = 0; t < own; ++t) {
#pragma unroll
      for (uint r = 0; r < OWN; ++r) place[r] -= (float16)(values[t]) <= mine[r];
    }
    for (uint t = own_end; t < width; ++t) {
#pragma unroll
      for (uint r = 0; r < OWN; ++r) place[r] -= (float16)(values[t]) < mine[r];
    }
  }
  int places[OWN * 16];
#pragma unroll
  for (uint r = 0; r < OWN; ++r) vstore16(place[r], r, places);
  for (uint i = 0; own + i < own_end; ++i) {
    uint at = (uint)places[i];
    for (uint j = 0; own + j < own_end; ++j) at += j < i ? value[j] <= value[i] : value[j] < value[i];
    if (!isnan(value[i]) && at < k) list[at] = make_key(value[i], first_row + begin + own + i);
  }
  if (own > 0) return;
  ulong placed = 0;  // number of values that are not masked
  for (uint t = 0; t < width; ++t) placed += !isnan(values[t]);
  for (ulong j = placed; j < k; ++j) list[j] = NO_KEY;
}

#endif
