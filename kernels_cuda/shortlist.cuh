// The k smallest of a stream of candidates, kept by a block in shared memory.
//
// Candidates below the bound go into a buffer; when it is full, all threads sort it, keep the k
// smallest, and the k-th becomes the bound. On data in random order k (1 + ln(n / k)) of n
// candidates get past the bound.
// Source: Johnson, Douze, Jegou 2017 (FAISS: a threshold before the selection); Klepl and others,
// bits-kNN, 2024 (one buffer a block, sorted when full).
#pragma once

#include <type_traits>

#include "sort.cuh"

namespace kith::cuda {

/// Behind the keys of all rows with that value; no_key for no_value.
__device__ inline Key last_key_of(std::uint32_t ordered_value) {
  return static_cast<Key>(ordered_value) << 32 | 0xFFFFFFFFu;
}

/// In shared memory.
template <int lists>
struct ShortlistState {
  Key bound[lists];            // a candidate must be smaller
  float value[lists];          // bound_value(bound)
  std::uint32_t count[lists];  // keys in the buffer; while it overflows, keys that wanted to be
};

/// `lists` lists of k keys each, offered together. Every function is called by all threads.
template <int lists>
class Shortlist {
 public:
  /// keys      [lists, capacity] in shared memory
  /// capacity  a power of two above k
  __device__ Shortlist(ShortlistState<lists>& state, Key* keys, std::uint32_t capacity, std::uint32_t k)
      : state_(state), keys_(keys), capacity_(capacity), k_(k) {}

  /// Begin with empty lists, which take what is below `bound`; those that are not open(q) refuse
  /// everything.
  template <class Open>
  __device__ void start(Open open, Key bound = no_key) {
    for (std::uint32_t q = threadIdx.x; q < lists; q += blockDim.x) {
      set_bound(q, open(q) ? bound : 0);
      state_.count[q] = 0;
    }
    __syncthreads();
  }

  /// Values above this are refused.
  __device__ float value(std::uint32_t q) const { return state_.value[q]; }
  __device__ Key bound(std::uint32_t q) const { return state_.bound[q]; }

  /// Find a first bound from the first candidates of all threads, before they are offered: the
  /// k-th smallest among the least of 32 parts of the block (of all threads, where k > 32). Without
  /// effect where k exceeds the threads. Needs capacity >= blockDim.x, a power of two >= 32.
  ///   least_at(q)  ordered_bits of the least candidate of this thread for list q; no_value where
  ///                it has none
  template <class LeastAt>
  __device__ void seed(LeastAt least_at) {
    if (k_ > blockDim.x) return;
    const std::uint32_t part = k_ <= 32 ? blockDim.x / 32 : 1;  // threads
#pragma unroll
    for (int q = 0; q < lists; ++q) {
      std::uint32_t least = least_at(q);
      for (std::uint32_t step = 1; step < part; step *= 2)
        least = min(least, __shfl_xor_sync(0xFFFFFFFFu, least, step));
      if (threadIdx.x % part == 0) keys_[q * capacity_ + threadIdx.x / part] = last_key_of(least);
    }
    if (k_ <= 32) {
      __syncthreads();
      const std::uint32_t lane = threadIdx.x % 32;
      for (std::uint32_t q = threadIdx.x / 32; q < lists; q += blockDim.x / 32) {
        Key key[1] = {keys_[q * capacity_ + lane]};
        sort_warp(key, lane);
        const Key kept = state_.bound[q];
        __syncwarp();  // all lanes may have read it before one writes
        if (lane == k_ - 1 && key[0] < kept) set_bound(q, key[0]);
      }
    } else {
      sort_lists(keys_, lists, blockDim.x, capacity_);
      for (std::uint32_t q = threadIdx.x; q < lists; q += blockDim.x)
        lower_bound(q, keys_[q * capacity_ + k_ - 1]);
    }
    __syncthreads();
  }

  /// Offer candidates. Has one barrier when all find room.
  ///   pending       bit q * each + j: candidate j of list q may be below the bound
  ///   key_at(q, j)  its key
  template <int each, class KeyAt>
  __device__ void offer(std::conditional_t<(lists * each > 32), std::uint64_t, std::uint32_t> pending,
                        KeyAt key_at) {
    for (;;) {
      if (pending != 0) {
#pragma unroll
        for (int q = 0; q < lists; ++q) {
#pragma unroll
          for (int j = 0; j < each; ++j) {
            const auto bit = static_cast<decltype(pending)>(1) << (q * each + j);
            if ((pending & bit) == 0) continue;
            const Key key = key_at(q, j);
            if (key >= state_.bound[q] || put(q, key)) pending &= ~bit;
          }
        }
      }
      if (!__syncthreads_or(pending != 0)) return;
      shrink();
    }
  }

  /// Sort what was offered so far, for better bounds.
  __device__ void tighten() {
    shrink();
  }

  /// Keys in the buffer of the first list, after an offer.
  __device__ std::uint32_t found() const {
    return state_.count[0];
  }

  /// Sort; afterwards at(q, j), j < k, is the result, padded with no_key.
  __device__ void finish() {
    __syncthreads();
    sort();
  }

  __device__ Key at(std::uint32_t q, std::uint32_t j) const {
    return keys_[q * capacity_ + j];
  }

 private:
  __device__ void set_bound(std::uint32_t q, Key bound) {
    state_.bound[q] = bound;
    state_.value[q] = bound_value(bound);
  }

  __device__ void lower_bound(std::uint32_t q, Key bound) {
    if (bound < state_.bound[q]) set_bound(q, bound);
  }

  /// False when the buffer is full.
  __device__ bool put(std::uint32_t q, Key key) {
    const std::uint32_t place = atomicAdd(&state_.count[q], 1u);
    if (place >= capacity_) return false;
    keys_[q * capacity_ + place] = key;
    return true;
  }

  /// Pad and sort every buffer, as far as the fullest is filled, or k goes.
  __device__ void sort() {
    std::uint32_t filled = k_;
#pragma unroll
    for (int q = 0; q < lists; ++q) filled = max(filled, min(state_.count[q], capacity_));
    const std::uint32_t length = max(2u, power_of_two(filled));
    for (std::uint32_t i = threadIdx.x; i < lists * length; i += blockDim.x) {
      const std::uint32_t q = lists == 1 ? 0 : i / length, place = i & (length - 1);
      if (place >= state_.count[q]) keys_[q * capacity_ + place] = no_key;
    }
    sort_lists(keys_, lists, length, capacity_);
  }

  /// Keep the k smallest of every list. Comes after a barrier, ends with one.
  __device__ void shrink() {
    sort();
    for (std::uint32_t q = threadIdx.x; q < lists; q += blockDim.x) {
      if (state_.count[q] < k_) continue;
      lower_bound(q, keys_[q * capacity_ + k_ - 1]);
      state_.count[q] = k_;
    }
    __syncthreads();
  }

  ShortlistState<lists>& state_;
  Key* keys_;
  const std::uint32_t capacity_;
  const std::uint32_t k_;
};

}  // namespace kith::cuda
