// A block keeps the k smallest of a stream of candidates in shared memory.
//
// Candidates below the bound go into a buffer. When it is full, all threads sort it, the k smallest stay, and
// the k-th becomes the bound. If n candidates come in random order, k (1 + ln(n / k)) of them pass. The first
// candidates give a first bound. Few keys are ordered by counting, for each, the keys before it; this needs
// no rounds and no barrier. Source: Johnson, Douze, Jegou 2017 (FAISS: a threshold before the selection);
// Klepl and others, bits-kNN, 2024 (one buffer per block, sorted when full).
#pragma once

#include <type_traits>

#include "common/sort.cuh"

namespace kith::cuda {

/// Returns a key that is at or behind the keys of all rows with this value; no_key for no_value.
__device__ inline Key last_key_of(std::uint32_t ordered_value) {
  return static_cast<Key>(ordered_value) << 32 | 0xFFFFFFFFu;
}

/// Returns how many of keys[0, count) come before keys[place]; equal keys are ordered by place. Neighbouring
/// threads read the same keys, so that one access serves a warp.
__device__ inline std::uint32_t rank_among(const Key* keys, std::uint32_t count, std::uint32_t place) {
  constexpr std::uint32_t piece = 32;
  const Key mine = keys[place];
  std::uint32_t rank = 0;
  for (std::uint32_t begin = 0; begin < count; begin += piece) {
    const std::uint32_t end = min(begin + piece, count);
    if (begin == place / piece * piece) {
      for (std::uint32_t other = begin; other < end; ++other) rank += keys[other] < mine + (other < place);
    } else {
      const Key limit = mine + (begin < place);
#pragma unroll 8
      for (std::uint32_t other = begin; other < end; ++other) rank += keys[other] < limit;
    }
  }
  return rank;
}

/// Divides the work of counting for each of `items` things among the threads: each thing gets a power of two
/// of neighbouring threads of a warp.
struct Sharers {
  std::uint32_t share, item, first;

  __device__ explicit Sharers(std::uint32_t items) {
    const std::uint32_t most = min(blockDim.x / items, 32u);
    share = most <= 1 ? 1 : 1u << (31 - __clz(static_cast<int>(most)));
    item = threadIdx.x / share;
    first = threadIdx.x & (share - 1);
  }
  /// Returns for how many of 0 ... end - 1 `before` is true. All threads of a warp call this.
  template <class Before>
  __device__ std::uint32_t count(std::uint32_t end, Before before) const {
    std::uint32_t counted = 0;
#pragma unroll 4
    for (std::uint32_t other = first; other < end; other += share) counted += before(other) ? 1 : 0;
    for (std::uint32_t step = share / 2; step > 0; step /= 2)
      counted += __shfl_xor_sync(0xFFFFFFFFu, counted, step);
    return counted;
  }
};

/// The state of the lists, in shared memory.
template <int lists>
struct ShortlistState {
  Key bound[lists];            // only smaller candidates pass
  float value[lists];          // bound_value(bound)
  std::uint32_t count[lists];  // keys in the buffer; if it overflows, keys that were offered
};

/// Collects `lists` lists of k keys each at the same time. All threads call every function.
template <int lists>
class Shortlist {
 public:
  /// keys      [lists, capacity] in shared memory
  /// capacity  a power of two above k
  __device__ Shortlist(ShortlistState<lists>& state, Key* keys, std::uint32_t capacity, std::uint32_t k)
      : state_(state), keys_(keys), capacity_(capacity), k_(k), parts_(parts_for(k)) {}

  /// Makes the lists empty; they accept keys below `bound`. Lists for which open(q) is false accept none.
  template <class Open>
  __device__ void start(Open open, Key bound = no_key) {
    for (std::uint32_t q = threadIdx.x; q < lists; q += blockDim.x) {
      set_bound(q, open(q) ? bound : 0);
      state_.count[q] = 0;
    }
    for (std::uint32_t i = threadIdx.x; i < lists * parts_; i += blockDim.x)
      part_least(lists == 1 ? 0 : i / parts_)[i & (parts_ - 1)] = no_value;
    __syncthreads();
  }

  /// Returns the bound of values: larger ones are refused.
  __device__ float value(std::uint32_t q) const { return state_.value[q]; }
  __device__ Key bound(std::uint32_t q) const { return state_.bound[q]; }

  /// Computes a first bound from the first candidates of all threads, right after start(): the k-th smallest
  /// of the minima of several parts of the block, or slightly more. It has no effect if k exceeds the number
  /// of parts. It needs capacity >= most_parts / 2.
  ///   least_at(q)  returns ordered_bits of this thread's least candidate for list q; no_value if it has none
  template <class LeastAt>
  __device__ void seed(LeastAt least_at) {
    if (k_ > most_parts) return;
    // The low bits are the number of the part, so that all minima differ.
    const std::uint32_t number = parts_ - 1, part = threadIdx.x & number;
#pragma unroll
    for (int q = 0; q < lists; ++q) {
      const std::uint32_t least = least_at(q);
      if (least != no_value) atomicMin(part_least(q) + part, (least & ~number) | part);
    }
    __syncthreads();
    if (lists == 1 && 2 * parts_ <= blockDim.x) {
      const Sharers sharers(parts_);
      const std::uint32_t* all = part_least(0);
      const std::uint32_t mine = all[sharers.item & number];
      const std::uint32_t rank = sharers.count(parts_, [=](std::uint32_t i) { return all[i] < mine; });
      if (rank + 1 == k_ && sharers.first == 0) lower_bound(0, last_key_of(no_smaller_value(mine | number)));
      __syncthreads();
      return;
    }
    for (std::uint32_t i = threadIdx.x; i < lists * parts_; i += blockDim.x) {
      const std::uint32_t q = lists == 1 ? 0 : i / parts_;
      const std::uint32_t* all = part_least(q);
      const std::uint32_t mine = all[i & number];
      std::uint32_t rank = 0;
#pragma unroll 8
      for (std::uint32_t other = 0; other <= number; ++other) rank += all[other] < mine;
      if (rank + 1 == k_) lower_bound(q, last_key_of(no_smaller_value(mine | number)));
    }
    __syncthreads();
  }

  /// Offers candidates. It has one barrier if all candidates find room.
  ///   pending       bit q * each + j: candidate j of list q may be below the bound
  ///   key_at(q, j)  returns its key
  template <int each, class KeyAt>
  __device__ void offer(std::conditional_t<(lists * each > 32), std::uint64_t, std::uint32_t> pending,
                        KeyAt key_at) {
    for (;;) {
      if (pending != 0) put<each>(pending, key_at);
      if (!__syncthreads_or(pending != 0)) return;
      shrink();
    }
  }

  /// Sorts the buffers now, which lowers the bounds.
  __device__ void tighten() {
    shrink();
  }

  /// Returns the number of keys in the buffer of the first list, after an offer.
  __device__ std::uint32_t found() const {
    return state_.count[0];
  }

  /// Sorts the lists. Afterwards at(q, j), j < k, is the result, padded with no_key.
  __device__ void finish() {
    __syncthreads();
    sort();
  }

  __device__ Key at(std::uint32_t q, std::uint32_t j) const {
    return keys_[q * capacity_ + j];
  }

  /// Hands over every list in no particular order; it replaces finish().
  ///   emit(q, j, key)  called once for each q and j < k, by any thread
  template <class Emit>
  __device__ void deliver(Emit emit) {
    __syncthreads();
    const std::uint32_t wide = fullest();
    if (wide > most_ranked()) {
      sort();
      for (std::uint32_t i = threadIdx.x; i < lists * k_; i += blockDim.x)
        emit(i / k_, i % k_, at(i / k_, i % k_));
      return;
    }
    if (lists == 1 && 2 * wide <= blockDim.x) {
      const Sharers sharers(wide);
      const std::uint32_t place = sharers.item, count = state_.count[0];
      const Key mine = place < count ? keys_[place] : no_key;
      const std::uint32_t rank = sharers.count(
          place < count ? count : 0, [&](std::uint32_t i) { return keys_[i] < mine + (i < place); });
      if (sharers.first != 0 || place >= wide) return;
      if (place >= count) emit(0, place, mine);
      if (place < count && rank < k_) emit(0, rank, mine);
      return;
    }
    for (std::uint32_t i = threadIdx.x; i < lists * wide; i += blockDim.x) {
      const std::uint32_t q = lists == 1 ? 0 : i / wide, place = lists == 1 ? i : i % wide;
      const std::uint32_t count = state_.count[q];
      const Key* keys = keys_ + q * capacity_;
      if (place < count) {
        const std::uint32_t rank = rank_among(keys, count, place);
        if (rank < k_) emit(q, rank, keys[place]);
      } else if (place < k_) {
        emit(q, place, no_key);
      }
    }
  }

 private:
  __device__ void set_bound(std::uint32_t q, Key bound) {
    state_.bound[q] = bound;
    state_.value[q] = bound_value(bound);
  }

  __device__ void lower_bound(std::uint32_t q, Key bound) {
    if (bound < state_.bound[q]) set_bound(q, bound);
  }

  /// Returns into how many parts a block is divided for the first bound: enough that the bound refuses much.
  __device__ static std::uint32_t parts_for(std::uint32_t k) {
    const std::uint32_t enough = 1u << (32 - __clz(max(k + k / 4, 32u) - 1));
    return min(enough, most_parts);
  }

  /// Returns the minima of the parts, which occupy the space of the keys of list q.
  __device__ std::uint32_t* part_least(std::uint32_t q) {
    return reinterpret_cast<std::uint32_t*>(keys_ + q * capacity_);
  }

  /// Turns every code above that of +infinity into no_value.
  __device__ static std::uint32_t no_smaller_value(std::uint32_t code) {
    return code > 0xFF800000u ? no_value : code;
  }

  /// Returns up to how many keys per list counting is faster than sorting. Its work grows with the square of
  /// the number, but its time does not, as long as there are threads to share it.
  __device__ static std::uint32_t most_ranked() {
    return blockDim.x >= 512 ? 256 : 128;
  }

  /// Returns the number of keys in the fullest buffer, at least k.
  __device__ std::uint32_t fullest() const {
    std::uint32_t filled = k_;
#pragma unroll
    for (int q = 0; q < lists; ++q) filled = max(filled, min(state_.count[q], capacity_));
    return filled;
  }

  /// Stores the candidates below the bound as long as there is room. The others stay pending.
  template <int each, class Pending, class KeyAt>
  __device__ void put(Pending& pending, KeyAt key_at) {
    constexpr auto one = static_cast<Pending>(1);
    std::uint32_t place[lists];  // all are requested before the first is waited for
#pragma unroll
    for (int q = 0; q < lists; ++q) {
      const Key bound = state_.bound[q];
      const Pending of_list = ((one << each) - 1) << (q * each);
      if ((pending & of_list) == 0) {
        place[q] = 0;
        continue;
      }
#pragma unroll
      for (int j = 0; j < each; ++j) {
        const Pending bit = one << (q * each + j);
        if ((pending & bit) != 0 && key_at(q, j) >= bound) pending &= ~bit;
      }
      const int wanted = __popcll(pending & of_list);
      place[q] = wanted == 0 ? 0 : atomicAdd(&state_.count[q], static_cast<std::uint32_t>(wanted));
    }
#pragma unroll
    for (int q = 0; q < lists; ++q) {
#pragma unroll
      for (int j = 0; j < each; ++j) {
        const Pending bit = one << (q * each + j);
        if ((pending & bit) == 0) continue;
        if (place[q] < capacity_) {
          keys_[q * capacity_ + place[q]] = key_at(q, j);
          pending &= ~bit;
        }
        ++place[q];
      }
    }
  }

  /// Pads and sorts every buffer, up to the length of the fullest, at least k.
  __device__ void sort() {
    const std::uint32_t length = max(2u, power_of_two(fullest()));
    for (std::uint32_t i = threadIdx.x; i < lists * length; i += blockDim.x) {
      const std::uint32_t q = lists == 1 ? 0 : i / length, place = i & (length - 1);
      if (place >= state_.count[q]) keys_[q * capacity_ + place] = no_key;
    }
    sort_lists(keys_, lists, length, capacity_);
  }

  /// Keeps the k smallest of every list. A barrier comes before it, and it ends with one.
  __device__ void shrink() {
    sort();
    for (std::uint32_t q = threadIdx.x; q < lists; q += blockDim.x) {
      if (state_.count[q] < k_) continue;
      lower_bound(q, keys_[q * capacity_ + k_ - 1]);
      state_.count[q] = k_;
    }
    __syncthreads();
  }

  static constexpr std::uint32_t most_parts = 512;

  ShortlistState<lists>& state_;
  Key* keys_;
  const std::uint32_t capacity_;
  const std::uint32_t k_;
  const std::uint32_t parts_;  // a power of two
};

}  // namespace kith::cuda
