// Sorts all keys of a list by one partition: a sample of the keys gives borders, each key goes into the
// bucket between two borders, and each bucket is sorted. The twin of kernels_cuda/select/sample_sort.cu.
//
//   slots     [lists, buckets, ROOM]    keys of each bucket, in any order
//   spilled   [lists, width]            keys for which their bucket had no room, in any order
//   too_long  [lists, width]            keys of buckets that are longer than local memory, at their places
//   borders   [lists, buckets]          keys of the sample, ascending; a bucket ends before its border
//   counts    [lists, buckets, SPREAD]  keys of each bucket, in the first: atomics on a line are in turn
//   spills    [lists]                   number of spilled keys
//
// Keys of a list differ, since they hold their rows: equal distances fill no bucket. Many keys spill only
// where the sample misleads; then the sort is slow, but right.
// With -D WARPS, by PTX, a warp sorts a bucket in registers; elsewhere a work-group sorts several at once in
// local memory.
// Work: three launches; a value is read once, a key written twice and read once; a bucket of n keys takes
// n / 4 log2(n) (log2(n) + 1) compare-exchanges. Local memory: 16 KiB, 34 with WARPS.
// Source: Frazer, McKellar, Samplesort, 1970; Leischner, Osipov, Sanders, GPU sample sort, 2010.
#include "common/sort.cl"
#ifdef WARPS
#include "common/sort_warp.cl"
#endif

#define IN_LOCAL 2048u  // keys

#ifdef WARPS
#define SORT_SLOTS (BUCKETS_A_GROUP * (ROOM / 32) * STORE_PITCH)
#else
#define SORT_SLOTS IN_LOCAL
#endif

// This is PartitionSizes in sample_sort.cpp of the back end.
typedef struct {
  ulong lists, first_list;  // that are sorted together, and which of all is their first
  uint width, buckets;      // of each
} Sizes;

// A list, and the memory of its sort.
typedef struct {
  global const float* values;
  uint count, first_row;
  ulong q;  // its query
  uint g;   // its part
  global Key *slots, *spilled, *too_long, *borders;
  global uint *counts, *spills;
} List;

// Returns list `at` of those that are sorted together.
List list_at(ulong at, global const float* distances, Place distances_at, uint columns, uint first_row,
             uint lists, global Key* memory, const Sizes sizes) {
  List list;
  list.q = (sizes.first_list + at) / lists;
  list.g = (uint)((sizes.first_list + at) % lists);
  const uint begin = first_column(list.g, columns, lists);
  list.values = distances + distances_at.first + list.q * distances_at.stride + begin;
  list.count = first_column(list.g + 1, columns, lists) - begin;
  list.first_row = first_row + begin;
  const ulong buckets = sizes.lists * sizes.buckets, widths = sizes.lists * sizes.width;
  list.slots = memory + at * sizes.buckets * ROOM;
  list.spilled = memory + buckets * ROOM + at * sizes.width;
  list.too_long = memory + buckets * ROOM + widths + at * sizes.width;
  list.borders = memory + buckets * ROOM + 2 * widths + at * sizes.buckets;
  global uint* counts = (global uint*)(memory + buckets * ROOM + 2 * widths + buckets);
  list.counts = counts + at * sizes.buckets * SPREAD;
  list.spills = counts + buckets * SPREAD + at;
  return list;
}

Key key_of(const List* list, uint i) {
  return make_key(list->values[i], list->first_row + i);
}

// Returns where key i of a sample of `size` keys lies: anywhere in the i-th of equal runs of the list.
uint sampled_place(uint i, uint size, uint count) {
  const ulong run = ((ulong)count << 32) / size;
  const uint begin = (uint)(i * run >> 32), end = (uint)((i + 1) * run >> 32);
  return begin + mul_hi(i * 2654435761u, end - begin);
}

// Returns how many of four values are below `value`, or equal to it.
uint count_up_to(uint4 four, uint value) {
  const int4 counted = four <= (uint4)value;  // -1 for each
  return (uint) - (counted.x + counted.y + counted.z + counted.w);
}

// Returns the rank of a key of the sample among fours begin ... end - 1: of equal values, the row of an
// earlier one is less.
//   own  the place of its value in the sample
//   mine first of the RANKED / 4 fours that this group ranks
ALL_INLINE uint rank_among(local const uint4* fours, uint begin, uint end, uint own, uint mine, uint value) {
  uint rank = 0;
#pragma unroll 4
  for (uint f = begin; f < min(end, mine); ++f) rank += count_up_to(fours[f], value);
  local const uint* values = (local const uint*)fours;
  for (uint i = 4 * max(begin, mine); i < 4 * min(end, mine + RANKED / 4); ++i)
    rank += values[i] < value || (values[i] == value && i < own);
  if (value == 0) return rank;
#pragma unroll 4
  for (uint f = max(begin, mine + RANKED / 4); f < end; ++f) rank += count_up_to(fours[f], value - 1);
  return rank;
}

// Ranks the sample, and stores each OVERSAMPLED-th key in order. All groups read the sample; a group ranks
// RANKED of its keys, each by GROUP / RANKED items, which share the values that they are compared with.
kernel __attribute__((reqd_work_group_size(GROUP, 1, 1))) void kith_choose_borders(
    global const float* restrict distances, Place distances_at, uint columns, uint first_row, uint lists,
    global Key* memory, const Sizes sizes) {
  local uint4 fours[MOST_BUCKETS * OVERSAMPLED / 4];
  local uint ranks[RANKED];
  local uint* values = (local uint*)fours;
  const uint groups = (uint)(get_num_groups(0) / sizes.lists), lid = (uint)get_local_id(0);
  const uint x = (uint)(get_group_id(0) % groups), buckets = sizes.buckets;
  const List list =
      list_at(get_group_id(0) / groups, distances, distances_at, columns, first_row, lists, memory, sizes);
  const uint bucket = x * (RANKED / OVERSAMPLED) + lid;
  if (lid < RANKED / OVERSAMPLED && bucket < buckets) list.counts[bucket * SPREAD] = 0;
  if (x == 0 && lid == 0) list.spills[0] = 0;
  const uint size = list.count > 0 ? buckets * OVERSAMPLED : 0, all = (size + 3) / 4;
#pragma unroll 4
  for (uint i = lid; i < 4 * all; i += GROUP)
    values[i] = i < size ? ordered(list.values[sampled_place(i, size, list.count)]) : NO_VALUE;
  if (lid < RANKED) ranks[lid] = 0;
  barrier(CLK_LOCAL_MEM_FENCE);
  const uint own = x * RANKED + lid % RANKED;
  const uint each = (all + GROUP / RANKED - 1) / (GROUP / RANKED), begin = lid / RANKED * each;
  if (own < size)
    atomic_add(ranks + lid % RANKED,
               rank_among(fours, begin, min(begin + each, all), own, x * (RANKED / 4), values[own]));
  barrier(CLK_LOCAL_MEM_FENCE);
  if (lid < RANKED && own < size && ranks[lid] % OVERSAMPLED == OVERSAMPLED - 1)
    list.borders[ranks[lid] / OVERSAMPLED] = key_of(&list, sampled_place(own, size, list.count));
}

// Borders as a search tree: the children of node i are 2 i and 2 i + 1, so that the keys of a level, which
// neighbouring items read together, are neighbours. There are a power of two of them; those behind the last
// are NO_KEY. Ends with a barrier.
ALL_INLINE void plant(local Key* tree, global const Key* borders, uint buckets, uint leaves) {
#pragma unroll 4
  for (uint node = (uint)get_local_id(0); node < leaves; node += GROUP) {
    if (node == 0) continue;
    const uint level = 31 - clz(node), span = leaves >> level;
    const uint border = (node - (1u << level)) * span + span / 2 - 1;
    tree[node] = border < buckets - 1 ? borders[border] : NO_KEY;
  }
  barrier(CLK_LOCAL_MEM_FENCE);
}

// Returns the bucket of a key: the number of borders that are not above it.
uint bucket_of(Key key, local const Key* tree, uint leaves) {
  uint node = 1;
  while (node < leaves) node = 2 * node + (tree[node] <= key ? 1 : 0);
  return node - leaves;
}

// Puts each key into its bucket. An item takes KEYS_AN_ITEM keys.
kernel __attribute__((reqd_work_group_size(GROUP, 1, 1))) void kith_fill_buckets(
    global const float* restrict distances, Place distances_at, uint columns, uint first_row, uint lists,
    global Key* memory, const Sizes sizes) {
  local Key tree[MOST_BUCKETS];
  const uint groups = (uint)(get_num_groups(0) / sizes.lists);
  const List list =
      list_at(get_group_id(0) / groups, distances, distances_at, columns, first_row, lists, memory, sizes);
  const uint leaves = list.count > 0 ? power_of_two(sizes.buckets) : 1;
  const uint first = (uint)(get_group_id(0) % groups) * GROUP * KEYS_AN_ITEM + (uint)get_local_id(0);
  Key keys[KEYS_AN_ITEM];
#pragma unroll
  for (uint e = 0; e < KEYS_AN_ITEM; ++e)
    keys[e] = first + e * GROUP < list.count ? key_of(&list, first + e * GROUP) : NO_KEY;
  plant(tree, list.borders, sizes.buckets, leaves);
  uint buckets[KEYS_AN_ITEM], places[KEYS_AN_ITEM];
#pragma unroll
  for (uint e = 0; e < KEYS_AN_ITEM; ++e) buckets[e] = bucket_of(keys[e], tree, leaves);
#pragma unroll
  for (uint e = 0; e < KEYS_AN_ITEM; ++e)
    places[e] = first + e * GROUP < list.count ? atomic_inc(list.counts + buckets[e] * SPREAD) : 0;
#pragma unroll
  for (uint e = 0; e < KEYS_AN_ITEM; ++e) {
    if (first + e * GROUP >= list.count) continue;
    if (places[e] < ROOM)
      list.slots[(ulong)buckets[e] * ROOM + places[e]] = keys[e];
    else
      list.spilled[atomic_inc(list.spills)] = keys[e];
  }
}

// The buckets of a work-group: where each begins in its list, how many keys it has (0: none of them are
// wanted), and how many are wanted.
typedef struct {
  uint begin, count, wanted;
} Bucket;

// Finds the buckets from `first` on. Ends with a barrier.
//   before, counts  local memory for the number of keys before the first, and in each
ALL_INLINE void find_buckets(local Bucket* found, local uint* before, local uint* counts, const List* list,
                             uint first, uint buckets, uint k) {
  const uint lid = (uint)get_local_id(0);
  if (lid == 0) before[0] = 0;
  if (lid < BUCKETS_A_GROUP) counts[lid] = first + lid < buckets ? list->counts[(first + lid) * SPREAD] : 0;
  uint sum = 0;
#pragma unroll 8
  for (uint b = lid; b < first; b += GROUP) sum += list->counts[b * SPREAD];
  barrier(CLK_LOCAL_MEM_FENCE);
#ifdef WARPS
  sum = sum_of_warp(sum);
  if (lid % 32 == 0)
#endif
    atomic_add(before, sum);
  barrier(CLK_LOCAL_MEM_FENCE);
  if (lid < BUCKETS_A_GROUP) {
    uint begin = before[0];
    for (uint b = 0; b < lid; ++b) begin += counts[b];
    const uint count = begin < k ? counts[lid] : 0;
    found[lid] = (Bucket){begin, count, min(count, k - min(begin, k))};
  }
  barrier(CLK_LOCAL_MEM_FENCE);
}

// Sorts any number of keys in global memory by the same network, as if there were largest keys behind them.
void sort_in_place(global Key* keys, uint count) {
  const uint pairs = power_of_two(count) / 2;
  for (uint width = 2; width <= 2 * pairs; width *= 2)
    for (uint step = width / 2; step > 0; step /= 2) {
      for (uint i = (uint)get_local_id(0); i < pairs; i += GROUP) {
        const uint low = 2 * i - (i & (step - 1)), high = step == width / 2 ? low ^ (width - 1) : low + step;
        if (high >= count) continue;
        const Key a = keys[low], b = keys[high];
        keys[low] = min(a, b);
        keys[high] = max(a, b);
      }
      barrier(CLK_GLOBAL_MEM_FENCE);
    }
}

// Sorts bucket b, of more than ROOM keys. All but ROOM of them are among the spilled keys.
//   taken  local memory for the number of its keys so far
ALL_INLINE void sort_long(const List* list, uint b, uint buckets, const Bucket bucket, local uint* taken,
                          local Key* keys, global Key* out) {
  const uint lid = (uint)get_local_id(0), spills = list->spills[0];
  const bool in_local = bucket.count <= IN_LOCAL;
  const Key low = b > 0 ? list->borders[b - 1] : 0, high = b + 1 < buckets ? list->borders[b] : NO_KEY;
  global Key* here = list->too_long + bucket.begin;
  if (lid == 0) taken[0] = ROOM;
  barrier(CLK_LOCAL_MEM_FENCE);
  for (uint i = lid; i < ROOM + spills; i += GROUP) {
    const Key key = i < ROOM ? list->slots[(ulong)b * ROOM + i] : list->spilled[i - ROOM];
    if (key < low || key >= high) continue;
    const uint place = i < ROOM ? i : atomic_inc(taken);
    if (in_local)
      keys[place] = key;
    else
      here[place] = key;
  }
  barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);
  if (in_local) {
    const uint width = power_of_two(bucket.count);
    for (uint i = bucket.count + lid; i < width; i += GROUP) keys[i] = NO_KEY;
    sort_runs(keys, width, width);
  } else {
    sort_in_place(here, bucket.count);
  }
  for (uint i = lid; i < bucket.wanted; i += GROUP) out[bucket.begin + i] = in_local ? keys[i] : here[i];
  barrier(CLK_LOCAL_MEM_FENCE);
}

#ifdef WARPS
// Sorts a bucket of up to 32 * each keys by a warp.
ALL_INLINE void sort_by_warp(const Bucket bucket, global const Key* slots, const uint each,
                             local Key* to_store, global Key* out) {
  const uint lane = (uint)get_local_id(0) % 32;
  Key key[ROOM / 32];
#define LOAD(e) key[e] = (e)*32 + lane < bucket.count ? slots[(e)*32 + lane] : NO_KEY
  FOR_KEYS(LOAD, each);
#undef LOAD
  sort_warp(key, each, lane);
  store_warp(key, each, to_store, lane, out + bucket.begin, bucket.wanted);
}

// Sorts the buckets of up to ROOM keys, each by a warp. Ends with a barrier.
ALL_INLINE void sort_short(local const Bucket* buckets, global const Key* slots, local Key* keys,
                           global Key* out) {
  const uint warp = (uint)get_local_id(0) / 32;
  const Bucket bucket = buckets[warp];
  local Key* to_store = keys + warp * (ROOM / 32) * STORE_PITCH;
  if (bucket.count <= ROOM / 4)
    sort_by_warp(bucket, slots + warp * ROOM, ROOM / 128, to_store, out);
  else if (bucket.count <= ROOM / 2)
    sort_by_warp(bucket, slots + warp * ROOM, ROOM / 64, to_store, out);
  else if (bucket.count <= ROOM)
    sort_by_warp(bucket, slots + warp * ROOM, ROOM / 32, to_store, out);
  barrier(CLK_LOCAL_MEM_FENCE);
}
#else
// Sorts `together` buckets, and writes those of their keys that are wanted; leaves out buckets of more than
// `width` keys. Both numbers are powers of two.
//   slots  of the first of them
ALL_INLINE void sort_together(local const Bucket* buckets, global const Key* slots, uint together, uint width,
                              local Key* keys, global Key* out) {
  const uint lid = (uint)get_local_id(0), shift = 31 - clz(width);
  for (uint i = lid; i < together * width; i += GROUP) {
    const uint b = i >> shift, j = i & (width - 1), count = buckets[b].count;
    keys[i] = count <= width && j < count ? slots[b * ROOM + j] : NO_KEY;
  }
  sort_runs(keys, together * width, width);
  for (uint i = lid; i < together * width; i += GROUP) {
    const uint b = i >> shift, j = i & (width - 1);
    if (buckets[b].count <= width && j < buckets[b].wanted) out[buckets[b].begin + j] = keys[i];
  }
  barrier(CLK_LOCAL_MEM_FENCE);
}

// Sorts the buckets of up to ROOM keys, as many at once as local memory has room for.
ALL_INLINE void sort_short(local const Bucket* buckets, global const Key* slots, local Key* keys,
                           global Key* out) {
  uint longest = 1;
  for (uint b = 0; b < BUCKETS_A_GROUP; ++b)
    if (buckets[b].count <= ROOM) longest = max(longest, buckets[b].count);
  const uint width = power_of_two(longest), together = min((uint)BUCKETS_A_GROUP, IN_LOCAL / width);
  for (uint b = 0; b < BUCKETS_A_GROUP; b += together)
    sort_together(buckets + b, slots + b * ROOM, together, width, keys, out);
}
#endif

// Sorts the keys of each bucket, and writes those that are among the k first of their list. A group has
// BUCKETS_A_GROUP buckets; it sorts those that are longer than ROOM one after another.
kernel __attribute__((reqd_work_group_size(GROUP, 1, 1))) void kith_sort_buckets(
    global const float* restrict distances, Place distances_at, uint columns, uint first_row, uint lists,
    global Key* memory, const Sizes sizes, uint k, global Key* restrict out, Place out_at) {
  local Key keys[SORT_SLOTS];
  local Bucket found[BUCKETS_A_GROUP];
  local uint number[1], counts[BUCKETS_A_GROUP];
  const uint groups = (uint)(get_num_groups(0) / sizes.lists), lid = (uint)get_local_id(0);
  const uint x = (uint)(get_group_id(0) % groups), first = x * BUCKETS_A_GROUP;
  const List list =
      list_at(get_group_id(0) / groups, distances, distances_at, columns, first_row, lists, memory, sizes);
  global Key* to = out + out_at.first + list.q * out_at.stride + (ulong)list.g * k;
  for (ulong j = (ulong)list.count + x * GROUP + lid; j < k; j += groups * GROUP) to[j] = NO_KEY;
  find_buckets(found, number, counts, &list, first, sizes.buckets, k);
  sort_short(found, list.slots + (ulong)first * ROOM, keys, to);
#pragma unroll 1
  for (uint b = 0; b < BUCKETS_A_GROUP; ++b)
    if (found[b].count > ROOM) sort_long(&list, first + b, sizes.buckets, found[b], number, keys, to);
}
