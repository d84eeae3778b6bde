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

  /// Begin with empty lists; those that are not open(q) refuse everything.
  template <class Open>
  __device__ void start(Open open) {
    for (std::uint32_t q = threadIdx.x; q < lists; q += blockDim.x) {
      set_bound(q, open(q) ? no_key : 0);
      state_.count[q] = 0;
    }
    __syncthreads();
  }

  /// Values above this are refused.
  __device__ float value(std::uint32_t q) const { return state_.value[q]; }
  __device__ Key bound(std::uint32_t q) const { return state_.bound[q]; }

  /// Find a first bound from `each` candidates a thread and list, before they are offered: the k-th
  /// smallest of the threads' own smallest. At most each * k candidates are not above it. Without
  /// effect where k exceeds the threads. Needs capacity >= blockDim.x, a power of two.
  ///   key_at(q, j)  the key of candidate j of list q; no_key where there is none
  template <int each, class KeyAt>
  __device__ void seed(KeyAt key_at) {
    if (k_ > blockDim.x) return;
#pragma unroll
    for (int q = 0; q < lists; ++q) {
      Key least = no_key;
#pragma unroll
      for (int j = 0; j < each; ++j) least = min(least, key_at(q, j));
      keys_[q * capacity_ + threadIdx.x] = least;
    }
    sort_lists(keys_, lists, blockDim.x, capacity_);
    for (std::uint32_t q = threadIdx.x; q < lists; q += blockDim.x) {
      const Key bound = keys_[q * capacity_ + k_ - 1];
      if (bound < state_.bound[q]) set_bound(q, bound + 1);  // that key itself is yet to come
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

  /// False when the buffer is full.
  __device__ bool put(std::uint32_t q, Key key) {
    const std::uint32_t place = atomicAdd(&state_.count[q], 1u);
    if (place >= capacity_) return false;
    keys_[q * capacity_ + place] = key;
    return true;
  }

  /// Pad and sort every buffer; with one list only as far as it is filled, or k goes.
  __device__ void sort() {
    const std::uint32_t filled = max(min(state_.count[0], capacity_), k_);
    const std::uint32_t length = lists == 1 ? max(2u, power_of_two(filled)) : capacity_;
    for (std::uint32_t i = threadIdx.x; i < lists * length; i += blockDim.x) {
      const std::uint32_t q = lists == 1 ? 0 : i / capacity_, place = lists == 1 ? i : i % capacity_;
      if (place >= state_.count[q]) keys_[i] = no_key;
    }
    sort_lists(keys_, lists, length, capacity_);
  }

  /// Keep the k smallest of every list. Comes after a barrier, ends with one.
  __device__ void shrink() {
    sort();
    for (std::uint32_t q = threadIdx.x; q < lists; q += blockDim.x) {
      if (state_.count[q] < k_) continue;
      const Key bound = keys_[q * capacity_ + k_ - 1];
      if (bound < state_.bound[q]) set_bound(q, bound);
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
