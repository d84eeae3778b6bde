// The kernels as the back end sees them: one launcher for each step or selector.
//
// A launcher enqueues and returns; what it returns is the error of a launch, not of what was
// launched. `..._scratch` tells how many bytes of scratch a launcher wants; with less, but never
// less than it wants for a single row, it works in more rounds.
// No twin in kernels_cl: kernels of OpenCL are launched by their names.
#pragma once

#include <cuda_runtime_api.h>

#include <cstddef>
#include <cstdint>
#include <functional>

#include "kith/key.hpp"
#include "kith/metric.hpp"
#include "kith/spi/kernel_limits.hpp"

namespace kith::cuda {

/// Rows a block of packed rows (kith/spi/memory.hpp, RowBlocks): of queries and of training rows alike.
using spi::rows_a_block;

/// Most neighbours of `nearest`; of a list in shared memory, above which selector `threshold` uses scratch;
/// of `threshold` at all; and of local_sort, which sorts that many values at a time.
inline constexpr std::uint32_t nearest_max_k = 256;
using spi::threshold_max_k;
inline constexpr std::uint32_t threshold_most_k = std::uint32_t{1} << 30;
inline constexpr std::uint32_t local_sort_max_k = 256;

/// Where work goes.
struct Queue {
  cudaStream_t stream = nullptr;
  std::uint32_t multiprocessors = 1;
  std::uint32_t capability = 0;            ///< 90 is compute capability 9.0
  std::uint32_t shared_bytes = 48 * 1024;  ///< most shared memory of a block
  bool overlaps = false;                   ///< kernels are launched while those before them end (common.cuh)
  std::function<bool()> make_room;         ///< frees memory of the device; false: there was none to free
};

/// What `call` returns; it is called once more where memory ran out and there was some to free.
template <class Call>
cudaError_t with_room(const Queue& queue, const Call& call) {
  const cudaError_t error = call();
  if (error != cudaErrorMemoryAllocation || !queue.make_room || !queue.make_room()) return error;
  cudaGetLastError();  // the first call is forgotten
  return call();
}

/// Whether the kernels that this device runs were compiled so that queues may overlap.
bool may_overlap(std::uint32_t capability);

/// Rows first .. first + rows - 1 of packed rows: blocks of 32, transposed.
struct Rows {
  const float* data;
  std::uint32_t first;
  std::uint32_t rows;
  std::uint32_t dims;
};

/// A rectangle in device memory, row-major, `stride` elements from row to row.
template <class T>
struct Matrix {
  T* data;
  std::size_t stride;
};

struct Scratch {
  void* data;
  std::size_t bytes;
};

cudaError_t distance(const Queue& queue, Metric metric, const Rows& queries, const Rows& train,
                     const Matrix<float>& out);

/// What every selector is given.
struct Selection {
  Matrix<const float> distances;  ///< [rows, columns]
  std::uint32_t rows;
  std::uint32_t columns;
  std::uint32_t first_row;  ///< training row of column 0
  std::uint32_t k;
  std::uint32_t groups;  ///< parts of ceil(columns / groups) columns
  Matrix<Key> out;       ///< [rows, groups * k]
};

std::size_t select_threshold_scratch(const Selection& selection);
cudaError_t select_threshold(const Queue& queue, const Selection& selection, const Scratch& scratch);

std::size_t select_radix_scratch(const Selection& selection);
cudaError_t select_radix(const Queue& queue, const Selection& selection, const Scratch& scratch);

std::size_t select_bubble_scratch(const Selection& selection);
cudaError_t select_bubble(const Queue& queue, const Selection& selection, const Scratch& scratch);

std::size_t select_insertion_scratch(const Selection& selection);
cudaError_t select_insertion(const Queue& queue, const Selection& selection, const Scratch& scratch);

std::size_t select_local_sort_scratch(const Selection& selection);
cudaError_t select_local_sort(const Queue& queue, const Selection& selection, const Scratch& scratch);

std::size_t select_k_min_scratch(const Selection& selection);
cudaError_t select_k_min(const Queue& queue, const Selection& selection, const Scratch& scratch);

std::size_t select_bitonic_scratch(const Selection& selection);
cudaError_t select_bitonic(const Queue& queue, const Selection& selection, const Scratch& scratch);

std::size_t select_odd_even_scratch(const Selection& selection);
cudaError_t select_odd_even(const Queue& queue, const Selection& selection, const Scratch& scratch);

cudaError_t select_rank_sort(const Queue& queue, const Selection& selection);

std::size_t select_merge_sort_scratch(const Selection& selection);
cudaError_t select_merge_sort(const Queue& queue, const Selection& selection, const Scratch& scratch);

/// What `nearest` is given.
struct Search {
  Metric metric;
  Rows queries;
  Rows train;
  std::uint32_t first_row;  ///< training row of train.first
  std::uint32_t k;
  std::uint32_t groups;
  Matrix<Key> out;  ///< [queries.rows, groups * k]
};

std::size_t nearest_scratch(const Queue& queue, const Search& search);
cudaError_t nearest(const Queue& queue, const Search& search, const Scratch& scratch);

/// The two ways of `nearest`: by rows where there are few queries, else by tiles.
cudaError_t nearest_rows(const Queue& queue, const Search& search);
std::size_t nearest_tiles_scratch(const Queue& queue, const Search& search);
cudaError_t nearest_tiles(const Queue& queue, const Search& search, const Scratch& scratch);

cudaError_t merge(const Queue& queue, const Matrix<const Key>& in, std::uint32_t rows, std::uint32_t lists,
                  std::uint32_t k, const Matrix<Key>& out);

/// What is known of a row, by row of a matrix of facts (kith/spi/candidates.hpp, Fact).
namespace fact {
inline constexpr std::size_t half_norm = 0, norm = 1, shadow_norm = 2, residual = 3;
}

/// What `prepare` is given.
struct Preparation {
  Rows rows;
  const float* centre;   ///< [dims]
  Matrix<float> shadow;  ///< [rows.rows, rows.dims]
  Matrix<float> facts;   ///< [4, rows.rows]
  Matrix<float> copy;    ///< [rows.rows, rows.dims] of the rows themselves; none where data is null
};

cudaError_t prepare(const Queue& queue, const Preparation& preparation);

/// Shadows for tensor cores are padded to whole multiples of so many rows (kith/spi/candidates.hpp, Shadow).
inline constexpr std::uint32_t tile_of_halves = spi::shadow_rows;

/// How a shadow of 16-bit floats lies in memory: tile after tile of 128 rows, of each tile slab after slab of
/// up to 64 dimensions, of each slab 128 lines, a row's. The pieces of 16 bytes of a line are in an order
/// that depends on the row, so that the same piece of 8 rows is in different banks (the 128-, 64- or 32-byte
/// swizzle of the hardware): piece p of row r stands at place p ^ r * pieces / 8 % pieces.
struct HalfShape {
  std::uint32_t pieces;  ///< of a line: 8, or 4 or 2 of up to 32 or 16 dimensions
  std::uint32_t slabs;   ///< of a tile
};

constexpr HalfShape half_shape(std::uint32_t dims) {
  return {dims <= 16 ? 2u : dims <= 32 ? 4u : 8u, (dims + 63) / 64};
}

/// Halves of a row, padding included.
constexpr std::size_t half_columns(const HalfShape& shape) {
  return std::size_t{shape.pieces} * 8 * shape.slabs;
}

/// preparation.shadow: from its first place; its stride means nothing.
cudaError_t prepare_fp16(const Queue& queue, const Preparation& preparation, float scale);

/// Lists of candidates: places behind min(counts, capacity) of a row mean nothing.
template <class T>
struct Lists {
  Matrix<T> rows;    ///< [queries, capacity]
  Matrix<T> counts;  ///< [queries, 1]
  std::uint32_t capacity;
};

/// Columns a row may have for the bound of a product: (dims + 2) 2^-24 < 1/2. docs/certificate.md, section 1.
inline constexpr std::uint32_t product_max_dims = (1u << 23) - 3;

/// Where the training rows of a step lie, 128 at a time (spi::Visits): visit v is of block v * stride %
/// blocks, `a_visit` tiles long. Rows in their order are one visit to the only block.
struct Tiles {
  std::uint32_t a_visit;  ///< tiles of a visit
  std::uint32_t first;    ///< number of the first visit
  std::uint32_t blocks;
  std::uint32_t stride;
};

/// What the bound of a product is made of.
struct ProductBound {
  bool squared;                     ///< squared distances; else inner products
  Matrix<const float> query_facts;  ///< [4, queries]
  Matrix<const float> train_facts;  ///< [4, rows]
  std::uint32_t queries;
  std::uint32_t rows;     ///< that facts are of
  std::uint32_t columns;  ///< places: rows of the step, one for each column; of whole tiles with visits
  std::uint32_t dims;     ///< at most product_max_dims
  double b;               ///< error of a product, a unit of both norms: of spi::CollectStep
  Tiles tiles;
};

/// What products are taken from and how far bounds are apart, inside of scratch.
struct ProductLow {
  const float* low;  ///< [columns]  NaN where there is no row
  const float* gap;  ///< [columns]  null: not wanted
};

/// Bytes for both.
std::size_t product_low_scratch(std::uint32_t columns, bool gap);

/// Compute low(t), and the gap, of the row t at each place.
cudaError_t product_low(const Queue& queue, const ProductBound& bound, bool gap, const Scratch& scratch,
                        ProductLow* out);

/// Lists with what bounds say of each candidate: docs/certificate.md, section 4.
struct BoundedLists {
  Lists<std::uint32_t> lists;
  Matrix<float> low;  ///< [queries, capacity]  data null: no bounds
  Matrix<Key> high;   ///< [queries, capacity]
};

/// What `collect` is given.
struct Collection {
  Matrix<const float> values;  ///< [rows, columns]
  std::uint32_t rows;
  std::uint32_t columns;
  const float* low;           ///< [columns]: low - value is compared; null: value is
  Matrix<const float> theta;  ///< [rows, 1]
  std::uint32_t first_row;    ///< training row of column 0
  Lists<std::uint32_t> out;
};

cudaError_t collect(const Queue& queue, const Collection& collection);

/// What `collect` is given where products are never written.
struct HalfCollection {
  const void* queries;  ///< shadow [rows, dims], as of prepare_fp16()
  const void* train;    ///< shadow of all training rows
  std::uint32_t rows;
  std::uint32_t columns;  ///< places of the step, whole tiles; tiles behind `train_rows` are not in memory
  std::uint32_t train_rows;
  Tiles tiles;
  std::uint32_t dims;
  float unscale;  ///< makes products of the shadows those of the rows; of fp16 a power of two
  ProductLow from;
  Matrix<const float> theta;  ///< [rows, 1]
  std::uint32_t first_row;    ///< training row of row 0 of `train`
  BoundedLists out;
  Matrix<std::uint32_t> sample;  ///< [rows, columns / sample_rows]  data null: candidates are listed
};

/// Places of a step that one number of a sample stands for: the least bound of these, as ordered_bits().
using spi::sample_rows;

cudaError_t collect_fp16(const Queue& queue, const HalfCollection& collection);

/// The same for up to spi::small_batch queries, as fast as memory. `low` is made on the way: `from` is not
/// read.
cudaError_t collect_fp16_few(const Queue& queue, const HalfCollection& collection, const ProductBound& bound);

/// Keep of each list the candidates whose `low` is at most theta.
struct Pruning {
  std::uint32_t rows;
  Matrix<const float> theta;  ///< [rows, 1]
  BoundedLists lists;
};

cudaError_t prune(const Queue& queue, const Pruning& pruning);

/// What `rerank` is given.
struct Reranking {
  Metric metric;
  Rows queries;
  Rows train;
  std::uint32_t first_row;  ///< training row of train.first
  Lists<const std::uint32_t> candidates;
  Matrix<Key> out;  ///< [queries.rows, capacity]
};

cudaError_t rerank(const Queue& queue, const Reranking& reranking);

/// What theta is made of.
enum class Limit {
  value,    ///< the k-th value
  squared,  ///< what a product of shadows is compared with, of squared distances
  // Keys are bounds of all that is listed; counts stay, and so does theta where it was smaller.
  bound,            ///< the k-th value
  bound_of_square,  ///< of squared distances
};

/// What `tighten` is given.
struct Tightening {
  Limit limit;
  std::uint32_t dims;  ///< for Limit::squared, at most product_max_dims
  std::uint32_t rows;
  std::uint32_t k;
  Matrix<const Key> keys;  ///< [rows, capacity]
  std::uint32_t capacity;
  Matrix<std::uint32_t> counts;     ///< [rows, 1]
  Matrix<Key> best;                 ///< [rows, k]
  Matrix<const float> query_facts;  ///< [4, rows], for Limit::squared
  Matrix<float> theta;              ///< [rows, 1]
  Matrix<std::uint32_t> lost;       ///< [rows, 1]
  bool afresh;                      ///< as if best had held nothing
  bool guessed;                     ///< a theta of chains that grows means lost, too
};

std::size_t tighten_scratch(const Tightening& tightening);
cudaError_t tighten(const Queue& queue, const Tightening& tightening, const Scratch& scratch);

/// Where keys are bounds; `best` is not used.
cudaError_t tighten_by_bounds(const Queue& queue, const Tightening& tightening);

/// By the k-th of a sample of `groups` bounds; of `tightening` only k, rows, facts and theta are used.
cudaError_t tighten_by_sample(const Queue& queue, const Tightening& tightening,
                              Matrix<const std::uint32_t> sample, std::uint32_t groups);

/// The same of few queries, up to a small k.
inline constexpr std::uint32_t sample_few_max_k = 128;
cudaError_t tighten_by_sample_of_few(const Queue& queue, const Tightening& tightening,
                                     Matrix<const std::uint32_t> sample, std::uint32_t groups);

/// What `vote` is given.
struct Ballot {
  Matrix<const Key> nearest;  ///< [rows, k]
  std::uint32_t rows;
  std::uint32_t k;
  const std::uint32_t* labels;  ///< [n]
  std::uint32_t classes;
  Matrix<std::uint32_t> counts;  ///< [rows, classes]
  Matrix<std::uint32_t> winner;  ///< [rows, 1]
};

/// Three ways to count, for spi::VoteMethod.
cudaError_t vote(const Queue& queue, const Ballot& ballot);
cudaError_t vote_atomic(const Queue& queue, const Ballot& ballot);
cudaError_t vote_branch_free(const Queue& queue, const Ballot& ballot);

/// What `mask` is given.
struct Masking {
  Matrix<const std::uint32_t> filter;  ///< [rows, words]; stride 0: one row of bits for all
  Matrix<std::uint32_t> distances;     ///< [rows, columns], as bits
  std::uint64_t rows;
  std::uint64_t columns;
  std::uint32_t first_row;  ///< training row of column 0
  std::uint32_t masked;     ///< what is written where a bit is 0
};

/// Blocks that a row of `mask` takes.
std::uint64_t mask_pieces(std::uint32_t first_row, std::uint64_t columns);
cudaError_t mask(const Queue& queue, const Masking& masking);

/// What `tally` is given.
struct Tallying {
  Matrix<const Key> nearest;    ///< [rows, k]
  Matrix<const float> weights;  ///< [rows, k]
  std::uint32_t rows;
  std::uint32_t k;
  const std::uint32_t* labels;  ///< [n]
  std::uint32_t classes;
  Matrix<float> sums;  ///< [rows, classes]
};

cudaError_t tally(const Queue& queue, const Tallying& tallying);

/// What `accumulate` is given.
struct Accumulation {
  Matrix<const float> distances;  ///< [rows, columns]
  std::uint64_t rows;
  std::uint64_t columns;
  const std::uint32_t* labels;  ///< [columns]
  std::uint32_t classes;
  Matrix<float> smallest;   ///< [rows, classes]
  Matrix<float> high, low;  ///< [rows, classes]
};

cudaError_t accumulate(const Queue& queue, const Accumulation& accumulation);

}  // namespace kith::cuda
