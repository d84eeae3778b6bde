// Says how large launches of selectors are, and divides their lists into blocks.
// No twin in kernels_cuda: launchers there compute their shapes where they launch.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>

#include "common/shapes.hpp"
#include "kith/key.hpp"
#include "kith/spi.hpp"

namespace kith::opencl {

constexpr std::uint32_t threshold_group = 256, threshold_values = 4;
constexpr std::uint32_t most_local = 2048;  // k whose lists leave room for other work-groups

/// The shortlist of a list, and the memory it is in.
struct Threshold {
  Shortlist shape;
  bool local;
  std::size_t part;  // keys per list

  Threshold(std::uint32_t k, std::size_t local_memory_bytes)
      : shape(k, threshold_group * threshold_values),
        local(k <= most_local && shape.refuse(k, local_memory_bytes).empty()),
        part(0) {
    // A sort of keys in scratch takes long, so it should handle many keys.
    if (!local) shape = Shortlist(k, threshold_group * threshold_values, 1u << 31);
    part = std::size_t{shape.list_size} + shape.capacity;
  }
};

/// The guessed bounds of long lists, and the keys that pass them (select_guess.cl).
struct Guess {
  static constexpr std::uint32_t from_k = 96, rate = 32, slice_columns = 8192;
  std::uint32_t rank;  // of the bound in the sample
  std::uint32_t room;  // keys of a list that may pass
  Shortlist sample;

  explicit Guess(std::uint32_t k)
      : rank(rank_of(k)), room(4 * std::bit_ceil(k)), sample(rank, threshold_group * threshold_values) {}

  /// Returns whether so many are wanted, of so many, that a guess pays.
  static bool pays(const spi::SelectStep& step) {
    return step.k >= from_k && widest_part(step.distances.cols, step.lists) / 64 >= step.k;
  }
  /// About k / 32 of the k nearest are in the sample, and hardly ever more than four deviations above that.
  static std::uint32_t rank_of(std::uint32_t k) {
    const std::uint32_t mean = k / rate;
    return mean + static_cast<std::uint32_t>(4.0f * std::sqrt(static_cast<float>(mean))) + 4;
  }
  /// Scratch of a list: its keys, its bound and its count.
  std::size_t bytes_a_list() const { return room * sizeof(Key) + sizeof(float) + sizeof(std::uint32_t); }
};

/// Returns how many keys one work-group sorts in local memory: 2048, which take 16 KiB, or fewer if it
/// has less.
inline std::uint32_t sorted_run(const Limits& limits) {
  return static_cast<std::uint32_t>(
      std::clamp<std::size_t>(std::bit_floor(limits.local_memory_bytes / (2 * sizeof(Key))), 2, 2048));
}

inline std::uint32_t merges_of(std::uint32_t k, std::uint32_t run) {
  return static_cast<std::uint32_t>(std::bit_width(divide_up(k, run) - 1));
}

inline std::size_t lists_of(const spi::SelectStep& step) {
  return step.distances.rows * step.lists;
}

/// The sort of whole lists by one partition each (sample_sort.cl).
struct Partition {
  static constexpr std::uint32_t least_width = 1u << 13, most_width = 1u << 18;
  static constexpr std::uint32_t mean_of_bucket = 128, room_of_bucket = 512, buckets_a_group = 8;  // keys
  static constexpr std::uint32_t oversampled = 2;  // keys of the sample for each bucket
  static constexpr std::uint32_t ranked = 32;      // keys of the sample for each work-group
  static constexpr std::uint32_t spread = 8;       // counters are so many apart
  static constexpr std::uint32_t group = 256, keys_an_item = 2;
  static constexpr std::size_t round_bytes = std::size_t{1} << 28;
  std::uint32_t width, buckets;

  explicit Partition(const spi::SelectStep& step)
      : width(widest_part(step.distances.cols, step.lists)), buckets(divide_up(width, mean_of_bucket)) {}

  bool fits() const { return width >= least_width && width <= most_width; }
  /// Returns whether it is faster than to select the k-th key by a work-group for each list: where there are
  /// too few lists to fill a GPU, or most keys are wanted.
  bool pays(const spi::SelectStep& step) const {
    return fits() && (lists_of(step) < 64 || step.k > width / 4);
  }
  std::size_t bytes_a_list() const {
    const std::size_t keys = std::size_t{buckets} * (room_of_bucket + 1) + 2 * std::size_t{width};
    return keys * sizeof(Key) + (std::size_t{buckets} * spread + 1) * sizeof(std::uint32_t);
  }
  /// Returns how many lists of a step are sorted at once, with so much scratch; 0 if that is too little.
  std::size_t lists_at_once(const spi::SelectStep& step, std::size_t bytes) const {
    return std::min(lists_of(step), bytes / bytes_a_list());
  }
  /// Returns the scratch for a step. Where it does not pay, it may for a shorter step with the same scratch.
  std::size_t bytes(const spi::SelectStep& step) const {
    if (!fits()) return 0;
    return bytes_a_list() * (pays(step) ? std::max<std::size_t>(1, lists_at_once(step, round_bytes)) : 1);
  }
};

constexpr std::uint32_t most_in_registers = 32;  // bubbles per item
constexpr std::uint32_t bubble_lanes = 16;       // floats of a vector

/// Returns for how many bubbles the kernel is compiled: up to a third more than k, so that not every k needs
/// its own kernel.
inline std::uint32_t bubbles_for(std::uint32_t k) {
  constexpr std::array<std::uint32_t, 10> compiled{1, 2, 3, 4, 6, 8, 12, 16, 24, 32};
  return *std::lower_bound(compiled.begin(), compiled.end(), k);
}

/// Returns how many work-items share a list: more for longer lists, if local memory has room for their lists.
inline std::uint32_t items_for(std::uint32_t width, std::uint32_t list_places) {
  const std::uint32_t wanted = width < 1024 ? 32 : width < 4096 ? 64 : 128;
  return std::min(wanted, 2048 / list_places);
}

/// How packs of bubbles walk (select_bubble.cl), and where their window is.
struct Walk {
  std::uint32_t pack, items, stretch;
  std::size_t window;  // keys per list
  bool local;

  Walk(const spi::SelectStep& step, const Limits& limits) {
    pack = step.k <= 64 ? 2 : step.k <= 512 ? 4 : 8;
    const std::uint32_t packs = divide_up(step.k, pack);
    const auto most =
        static_cast<std::uint32_t>(std::min<std::size_t>(std::bit_floor(limits.work_group), 256));
    items = packs >= most ? most : std::min(most, std::max(std::bit_ceil(packs), 32u));
    // This is the longest stretch for which the growing phase is not longer than the walk. It is not 1,
    // because the kernel that PoCL 3.1 compiles for 1 crashes.
    const std::uint32_t width = widest_part(step.distances.cols, step.lists);
    for (stretch = 16; stretch > 2 && std::size_t{stretch} * packs > width;) stretch /= 2;
    const auto keys = [&] { return (std::size_t{packs} + 1) * (stretch + 1) + std::size_t{packs} * pack; };
    const auto fits = [&] { return keys() * sizeof(Key) + 64 <= limits.local_memory_bytes; };
    const std::uint32_t longest = stretch;
    while (stretch > 2 && !fits()) stretch /= 2;
    local = fits();
    if (!local) stretch = longest;
    window = keys();
  }
};

/// Where the bubbles of a CPU device are kept (select_bubble_lanes.cl).
struct Bubbles {
  std::uint32_t vectors;
  std::size_t keys;  // per list; 0: they are in registers
  bool local;

  Bubbles(const spi::SelectStep& step, const Limits& limits) {
    const std::uint32_t walking = std::min(step.k, widest_part(step.distances.cols, step.lists));
    vectors = std::max(1u, divide_up(walking, bubble_lanes));
    keys = vectors <= 2 ? 0 : std::size_t{2} * bubble_lanes * vectors;
    local = keys * sizeof(Key) + 64 <= limits.local_memory_bytes;
  }
};

constexpr std::uint32_t keys_an_item = 8;  // EACH of runs.cl

/// Returns how many keys of local memory `keys` keys take with the gaps between them: PLACE in runs.cl.
inline std::size_t places(std::uint32_t keys, std::uint32_t items) {
  return items == 1 ? keys : keys + keys / 16;
}

/// Returns the largest power of two, up to `most`, so that `copies` times this many keys fit into
/// local memory.
inline std::uint32_t keys_that_fit(const Limits& limits, std::uint32_t copies, std::uint32_t most) {
  while (most > keys_an_item && copies * places(most, 2) * sizeof(Key) + 64 > limits.local_memory_bytes)
    most /= 2;
  return most;
}

/// Returns how many places a list needs: the columns of the widest part, or k if that is more.
inline std::uint32_t list_span(const spi::SelectStep& step) {
  return std::max(widest_part(step.distances.cols, step.lists), step.k);
}

/// The lists of a step, divided into blocks of `size` places, a power of two; `keep` keys of each block
/// are kept.
struct Blocks {
  std::uint32_t size, blocks, keep;
  std::uint32_t items;  // work-items per group
  std::uint32_t keys;   // keys per work-group
  std::size_t lists;

  /// Makes blocks as large as a list, but with at most `most` places.
  Blocks(const spi::SelectStep& step, Family family, std::uint32_t most)
      : size(std::min(most, std::max(keys_an_item, std::bit_ceil(list_span(step))))),
        blocks(divide_up(list_span(step), size)),
        keep(std::min(step.k, size)),
        items(family == Family::lanes ? 1 : std::clamp(size / keys_an_item, 64u, 256u)),
        keys(family == Family::lanes ? size : items * keys_an_item),
        lists(step.distances.rows * step.lists) {}

  /// Returns the range of work-items: every work-group has keys / size blocks.
  Range range() const {
    const std::size_t work_groups = (lists * blocks + keys / size - 1) / (keys / size);
    return {{work_groups * items, 1, 1}, {items, 1, 1}};
  }
  std::size_t local_bytes() const { return places(keys, items) * sizeof(Key); }
  std::size_t left() const { return lists * blocks * keep; }  ///< keys that are kept of all blocks

  /// Returns where the kept keys are written: to scratch, or to `out` if a list is one block.
  spi::Grid<Key> target(const spi::SelectStep& step) const {
    const std::size_t cols = std::size_t{step.lists} * blocks * keep;
    return blocks == 1 ? step.out : spi::Grid<Key>{step.scratch.memory, 0, step.distances.rows, cols, cols};
  }
};

/// Runs of `run` keys, of which a list has `total`; the last run may be short.
struct Runs {
  std::uint32_t total, run;

  bool one() const { return run >= total; }
  /// Returns the runs after a merge of pairs that keeps k keys of each.
  Runs merged(std::uint32_t k) const {
    const std::uint64_t pair = 2 * std::uint64_t{run};
    const auto kept = static_cast<std::uint32_t>(std::min<std::uint64_t>(pair, k));
    const auto rest = static_cast<std::uint32_t>(std::min<std::uint64_t>(total % pair, kept));
    return {static_cast<std::uint32_t>(total / pair) * kept + rest, kept};
  }
};

}  // namespace kith::opencl
