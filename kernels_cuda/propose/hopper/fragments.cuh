// Hands what is found from the warps that multiply to those that append (collect_hopper.cu, wide.cuh).
//
// Products of a group wait for each of its four warps, so a warp that multiplies must not look for what it
// found, nor wait for memory. If a lane has a sum that passes, it writes its 16 sums of that query and 64
// rows into a ring in shared memory, which belongs to its warp. A warp that appends serves several rings: it
// looks which sums of a fragment pass, a lane for each fragment, and appends them (findings.cuh).
// `written` and `read` count the fragments of a ring. Each is written by one warp, after what it counts
// (release), and read by the other before that (acquire).
// No twin in kernels_cl: the OpenCL back end multiplies by mma.sync alone.
#pragma once

#include <type_traits>

#include "propose/findings.cuh"

namespace kith::cuda {

inline constexpr std::uint32_t fragments_of_ring = 16, fragment_sums = 16;

__device__ __forceinline__ std::uint32_t word_of(int sum) {
  return static_cast<std::uint32_t>(sum);
}
__device__ __forceinline__ std::uint32_t word_of(float sum) {
  return __float_as_uint(sum);
}

/// The sums of a query by the 16 rows that a lane has of 64 rows of a tile.
struct alignas(16) Fragment {
  std::uint32_t query, place, row;  // of the first sum
  std::uint32_t limit;              // a floor, or a threshold
  uint4 sums[fragment_sums / 4];    // those of bytes are lifted

  template <class Sum>
  __device__ __forceinline__ void set(std::uint32_t of_query, std::uint32_t of_place, std::uint32_t of_row,
                                      Sum of_limit, const Sum (&from)[fragment_sums]) {
    *reinterpret_cast<uint4*>(this) = {of_query, of_place, of_row, word_of(of_limit)};
#pragma unroll
    for (std::uint32_t i = 0; i < fragment_sums; i += 4)
      sums[i / 4] = {word_of(from[i]), word_of(from[i + 1]), word_of(from[i + 2]), word_of(from[i + 3])};
  }
  /// Returns how far sum i is behind the first in places and rows.
  __device__ __forceinline__ static std::uint32_t column(std::uint32_t i) {
    return i / 2 * 8 + i % 2;
  }
};

/// Returns the value of a product that is compared with the threshold.
__device__ __forceinline__ float value_of(const HalfCollection& collection, float sum, float low) {
  return __fmaf_rn(-collection.unscale, sum, low);
}

struct FragmentRing {
  Fragment fragments[fragments_of_ring];
  std::uint32_t written;  // twice the number; plus 1 after the last
  std::uint32_t read;
};

__device__ __forceinline__ std::uint32_t load_acquired(const std::uint32_t* from) {
  std::uint32_t value;
  asm volatile("ld.acquire.cta.shared::cta.u32 %0, [%1];"
               : "=r"(value)
               : "r"(static_cast<std::uint32_t>(__cvta_generic_to_shared(from)))
               : "memory");
  return value;
}
__device__ __forceinline__ void store_released(std::uint32_t* to, std::uint32_t value) {
  asm volatile("st.release.cta.shared::cta.u32 [%0], %1;" ::"r"(
                   static_cast<std::uint32_t>(__cvta_generic_to_shared(to))),
               "r"(value)
               : "memory");
}

/// Writes the fragments of a warp. All lanes of the warp call each function.
class FragmentWriter {
 public:
  __device__ __forceinline__ FragmentWriter(FragmentRing& ring, std::uint32_t lane)
      : ring_(static_cast<std::uint32_t>(__cvta_generic_to_shared(&ring))), lane_(lane) {
    asm volatile("" : "+r"(ring_));  // otherwise its address is computed again for each fragment
  }

  /// Writes the fragments of each lane that has some, in rounds if there is no room.
  ///   has[p]       whether this lane has fragment p
  ///   write(p, to)  writes it
  template <int count, class Write>
  __device__ __forceinline__ void put(const bool (&has)[count], Write write) {
    std::uint32_t before[count], all = 0;  // how many fragments come before each, and in all
#pragma unroll
    for (int p = 0; p < count; ++p) {
      const std::uint32_t vote = __ballot_sync(whole_warp, has[p]);
      before[p] = all + static_cast<std::uint32_t>(__popc(vote & ((1u << lane_) - 1)));
      all += static_cast<std::uint32_t>(__popc(vote));
    }
    std::uint32_t done = 0;
#pragma unroll 1
    do {
      const std::uint32_t some = min(all - done, wait_for_room());
#pragma unroll
      for (int p = 0; p < count; ++p)
        if (has[p] && before[p] - done < some)  // wraps around if it is done
          write(p, ring().fragments[(written_ + before[p] - done) % fragments_of_ring]);
      written_ += some;
      done += some;
    } while (done < all);
    publish();
  }

  /// Lets the warp that appends see what was written.
  __device__ __forceinline__ void publish(bool last = false) {
    __syncwarp();
    if (lane_ == 0) store_released(&ring().written, 2 * written_ + (last ? 1 : 0));
    __syncwarp();
  }

 private:
  __device__ __forceinline__ FragmentRing& ring() const {
    return *static_cast<FragmentRing*>(__cvta_shared_to_generic(ring_));
  }
  /// Returns for how many fragments there is room, at least one.
  __device__ __forceinline__ std::uint32_t wait_for_room() {
    if (written_ - read_ == fragments_of_ring) {
      publish();
      do read_ = __shfl_sync(whole_warp, load_acquired(&ring().read), 0);
      while (written_ - read_ == fragments_of_ring);
      __syncwarp();  // what lane 0 has acquired holds for all
    }
    return fragments_of_ring - (written_ - read_);
  }

  std::uint32_t ring_;
  const std::uint32_t lane_;
  std::uint32_t written_ = 0, read_ = 0;  // `read_` may be out of date
};

/// Returns which of the 16 sums of a fragment pass, a bit each. Sums of bytes pass from the limit on. Of a
/// float sum value_of() passes up to the limit.
template <class Sum>
__device__ __forceinline__ std::uint32_t passing_of(const HalfCollection& collection,
                                                    const Fragment& fragment, const uint4& first) {
  std::uint32_t passing = 0;
  if constexpr (std::is_same_v<Sum, int>) {
    const auto passes = [&](std::uint32_t word) {
      return static_cast<int>(word) >= static_cast<int>(first.w) ? 1u : 0u;
    };
#pragma unroll
    for (std::uint32_t i = 0; i < fragment_sums; i += 4) {
      const uint4 four = fragment.sums[i / 4];
      passing |= passes(four.x) << i | passes(four.y) << (i + 1) | passes(four.z) << (i + 2) |
                 passes(four.w) << (i + 3);
    }
  } else {
    const float limit = __uint_as_float(first.w);
    const auto passes = [&](std::uint32_t word, float low) {
      return value_of(collection, __uint_as_float(word), low) <= limit ? 1u : 0u;
    };
    const float* const low = collection.from.low + first.y;
    float2 lows[fragment_sums / 2];
#pragma unroll
    for (std::uint32_t i = 0; i < fragment_sums; i += 2)
      lows[i / 2] = __ldg(reinterpret_cast<const float2*>(low + Fragment::column(i)));
#pragma unroll
    for (std::uint32_t i = 0; i < fragment_sums; i += 4) {
      const uint4 four = fragment.sums[i / 4];
      const float2 one = lows[i / 2], other = lows[i / 2 + 1];
      passing |= passes(four.x, one.x) << i | passes(four.y, one.y) << (i + 1) |
                 passes(four.z, other.x) << (i + 2) | passes(four.w, other.y) << (i + 3);
    }
  }
  return passing;
}

/// Appends what passes in fragments, of which each lane has one or none.
template <class Sum, class Findings>
__device__ __forceinline__ void find_in_fragments(Findings& findings, const HalfCollection& collection,
                                                  const Fragment& fragment, bool has) {
  std::uint32_t pending = 0;
  uint4 first = {};  // query, place and row of the first sum, and the limit
  if (has) {
    first = *reinterpret_cast<const uint4*>(&fragment);
    pending = passing_of<Sum>(collection, fragment, first);
  }
  const auto* const sums = reinterpret_cast<const float*>(fragment.sums);
  while (__any_sync(whole_warp, pending != 0)) {
    const std::uint32_t i = (static_cast<std::uint32_t>(__ffs(static_cast<int>(pending))) - 1) %
                            fragment_sums;  // any, if nothing is pending
    const std::uint32_t column = Fragment::column(i), place = first.y + column;
    float value = sums[i];
    if constexpr (std::is_same_v<Sum, float>)
      if (pending != 0) value = value_of(collection, value, __ldg(collection.from.low + place));
    findings.add(collection, pending != 0, {first.x, place, first.z + column, value});
    pending &= pending - 1;
  }
}

/// Appends what comes through rings first, first + step, ... below `count`, 32 at most, until each has had
/// its last. A whole warp calls this; its lanes are divided among the rings.
template <class Sum, class Findings>
__device__ __forceinline__ void append_fragments(Findings& findings, const HalfCollection& collection,
                                                 FragmentRing* rings, std::uint32_t first, std::uint32_t step,
                                                 std::uint32_t count, std::uint32_t lane) {
  const std::uint32_t own = (count - first + step - 1) / step, each = 32 / own;  // rings, lanes of each
  const std::uint32_t number = lane / own;  // of the fragment that this lane takes, among those to be read
  const int reader = static_cast<int>(lane % own);  // the lane that takes the first, and looks for all
  FragmentRing& ring = rings[first + lane % own * step];
  bool open = true;
  std::uint32_t read = 0;
  while (__any_sync(whole_warp, open)) {
    std::uint32_t written = number == 0 ? load_acquired(&ring.written) : 0;
    written = __shfl_sync(whole_warp, written, reader);
    __syncwarp();  // what one lane has acquired, all may read
    const std::uint32_t some = (written / 2 - read) % (1u << 31), taken = min(some, each);
    const bool has = number < taken;
    if (!__any_sync(whole_warp, has)) __nanosleep(100);
    find_in_fragments<Sum>(findings, collection, ring.fragments[(read + number) % fragments_of_ring], has);
    __syncwarp();  // all have read
    read += taken;
    if (number == 0 && taken != 0) store_released(&ring.read, read);
    open = written % 2 == 0 || taken < some;
  }
  findings.finish(collection);
}

}  // namespace kith::cuda
