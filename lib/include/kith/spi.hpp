// For authors of back ends: all that a back end must be. Programs that search do not include this.
//
// The interface does not grow: the work is data. A new kind of work is one struct here, one file in
// each back end and one test. Back ends never loop over tiles, never allocate during a search and
// never know what step comes next; lib/src/pipeline.cpp does, and its like for radii and classes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "kith/device.hpp"
#include "kith/export.hpp"
#include "kith/key.hpp"
#include "kith/metric.hpp"
#include "kith/selector.hpp"

namespace kith::spi {

/// Raised whenever anything in this header changes; the loader compares it first.
inline constexpr std::uint32_t plugin_abi = 8;

/// A block of device memory, aligned to 256 bytes. Freed by its destructor, which never throws.
class KITH_API Allocation {
 public:
  explicit Allocation(std::size_t size) : bytes(size) {}
  virtual ~Allocation();
  Allocation(const Allocation&) = delete;
  Allocation& operator=(const Allocation&) = delete;
  const std::size_t bytes;
};

/// Rows of floats in blocks: each block holds `block` rows, transposed, so that neighbouring
/// elements belong to neighbouring rows. Element (r, d) of the memory lies at
///   ((r / block) * dims + d) * block + r % block.
/// block = 1 is plain row-major. The last block is padded to `block` rows; what stands in the
/// padding is arbitrary, finite, and must not reach a result. `first` need not be a multiple of
/// block; the rows meant are first, first + 1, ..., first + rows - 1.
struct RowBlocks {
  const Allocation* memory = nullptr;
  std::uint32_t first = 0;
  std::uint32_t rows = 0;
  std::uint32_t dims = 0;
  std::uint32_t block = 1;
};

/// A rectangle in device memory, row-major; `first` and `stride` in elements of T.
template <class T>
struct Grid {
  Allocation* memory = nullptr;
  std::size_t first = 0;
  std::size_t rows = 0;
  std::size_t cols = 0;
  std::size_t stride = 0;
};

/// Memory of the host, locked in place, so that copies from and to it need no detour. Freed by its
/// destructor, which never throws.
class KITH_API HostMemory {
 public:
  HostMemory(void* made, std::size_t size) : data(made), bytes(size) {}
  virtual ~HostMemory();
  HostMemory(const HostMemory&) = delete;
  HostMemory& operator=(const HostMemory&) = delete;
  void* const data;
  const std::size_t bytes;
};

/// Device memory a step may use as it likes while it runs; at least what check() asked for.
struct Scratch {
  Allocation* memory = nullptr;
  std::size_t bytes = 0;
};

/// One chain for each (query, row) pair, unfinished.
struct DistanceStep {
  static constexpr const char* name = "distance";
  Metric metric;
  RowBlocks queries;
  RowBlocks train;
  Grid<float> out;  ///< [queries.rows, train.rows]
};

/// The k smallest keys of each of `groups` contiguous parts of each row of `distances`.
struct SelectStep {
  static constexpr const char* name = "select";
  Selector selector;        ///< never automatic
  Grid<float> distances;    ///< [q, t], read only
  std::uint32_t first_row;  ///< training row of column 0
  std::uint32_t k;
  std::uint32_t groups;  ///< parts of ceil(t / groups) columns; some may be short or empty
  Grid<Key> out;         ///< [q, groups * k], each list ascending, padded with no_key
  Scratch scratch;
};

/// distance and select in one step.
struct NearestStep {
  static constexpr const char* name = "nearest";
  Metric metric;
  RowBlocks queries;
  RowBlocks train;
  std::uint32_t first_row;  ///< training row of train.first
  std::uint32_t k;
  std::uint32_t groups;  ///< as in SelectStep
  Grid<Key> out;         ///< [queries.rows, groups * k]
  Scratch scratch;
};

/// The k smallest keys of all `lists` of a row.
struct MergeStep {
  static constexpr const char* name = "merge";
  std::uint32_t lists;
  std::uint32_t k;
  Grid<Key> in;   ///< [q, lists * k], read only, each list ascending
  Grid<Key> out;  ///< [q, k], another part of memory than `in`
  Scratch scratch;
};

/// Rows of Shadow::facts. With x' = x - c, exactly, and x~ the row of the shadow:
enum Fact : std::uint32_t {
  half_norm,    ///< at most |x'|^2 / 2
  norm,         ///< at least |x'|
  shadow_norm,  ///< at least |x~|
  residual,     ///< at least |x' - x~|
};
inline constexpr std::uint32_t facts_a_row = 4;

/// To what shadows in an order of the device's own are padded: rows, and columns, of which fp16 and int8 have
/// whole lines of 128 bytes, or one line of 32 or 64.
inline constexpr std::uint32_t shadow_rows = 128, shadow_dims = 32;
constexpr std::size_t shadow_columns(Proposer proposer, std::size_t dims) {
  if (proposer != Proposer::fp16 && proposer != Proposer::int8)
    return (dims + shadow_dims - 1) / shadow_dims * shadow_dims;
  const std::size_t line = proposer == Proposer::fp16 ? 64 : 128;
  if (dims <= line / 2) return dims <= line / 4 ? line / 4 : line / 2;
  return (dims + line - 1) / line * line;
}

/// Of up to so many columns fp16 takes every number as the sum of two 16-bit floats, and fills four columns
/// of the shadow with it: docs/certificate.md, section 2.
inline constexpr std::uint32_t most_split_dims = 4;
/// Columns of a shadow of fp16 that are not padding: products that are added for a pair of rows.
constexpr std::size_t half_terms(std::size_t dims) {
  return dims <= most_split_dims ? 4 * dims : dims;
}

/// What a proposer works on instead of the rows, and how far that is from them. docs/certificate.md.
/// Rows are floats for gemm. For dot (floats), bf16 (16-bit floats), fp16 (scaled 16-bit floats) and int8
/// (signed bytes, scaled) they are in an order of the device's own, which may depend on the block of the rows
/// they are prepared from, in memory for whole multiples of shadow_rows rows and for shadow_columns()
/// columns; `first` of the grid then counts rows, and is such a multiple, and `stride` means nothing.
struct Shadow {
  Grid<float> rows;   ///< [rows, dims]  each row moved by the centre c and rounded
  Grid<float> facts;  ///< [facts_a_row, rows]  by Fact
};

/// The shadow of rows, once for an Index and once for each query tile. Bits of facts may differ
/// between devices: they are bounds, and every bound gives the same answer.
struct PrepareStep {
  static constexpr const char* name = "prepare";
  Proposer proposer;  ///< gemm, dot, bf16, fp16, int8
  RowBlocks rows;
  Grid<float> centre;  ///< [1, dims], read only
  Shadow out;
  float scale = 1;       ///< fp16: the power of two that rows are multiplied by, so that all stay below 2^14;
                         ///< int8: what rows are multiplied by; what is then beyond 127 becomes 127
  bool queries = false;  ///< else training rows; where fp16 splits numbers the two are unlike
  Grid<float> copy = {};  ///< [rows, dims]  the rows themselves, row-major, for RerankStep; empty: no copy
};

/// Counted lists of candidates. List q holds training rows in its first min(counts[q], capacity)
/// places, in any order; a count above the capacity says that rows were lost.
struct CandidateLists {
  Grid<std::uint32_t> rows;    ///< [q, capacity]
  Grid<std::uint32_t> counts;  ///< [q, 1]
};

/// What the products say of listed candidates before any chain is computed: docs/certificate.md, section 4.
struct Bounds {
  Grid<float> low;  ///< [q, capacity]  of place j of list q: what the test compared with theta
  Grid<Key> high;   ///< [q, capacity]  make_key(h, row), h such that a row whose `low` is above
                    ///< the theta that comes of h (TightenStep) has a chain behind this row's
};

/// Blocks of training rows in an order that has nothing to do with what they hold, so that the first of them
/// are a sample of all: visit v is of block v * stride % blocks. Blocks are of `rows` rows, the last may be
/// shorter.
struct Visits {
  std::uint32_t rows = 0;   ///< of a block, a multiple of shadow_rows; 0: all rows in order, and no visits
  std::uint32_t first = 0;  ///< visits first ... first + count - 1
  std::uint32_t count = 0;
  std::uint32_t blocks = 1;  ///< of all `train`
  std::uint32_t stride = 1;  ///< less than `blocks` unless both are 1, with no divisor in common
};

/// Places of a step that one number of a sample stands for.
inline constexpr std::uint32_t sample_rows = 16;

/// Append every row t of a tile that may be as near as theta to the lists of candidates.
///   none  keeps values[q, t] <= theta[q]: values are given (radius search, any matrix of distances)
///   gemm  writes the inner products of the shadows to `values` first, p = q~ x~, and keeps
///         low(t) - p <= theta[q], where low(t) is such that nobody is lost: docs/certificate.md
///   dot, bf16, fp16, int8  the same, tested as products come; of `values` only the sizes are used
struct CollectStep {
  static constexpr const char* name = "collect";
  Proposer proposer;
  Metric metric;
  Shadow queries, train;    ///< with a proposer; read only
  Grid<float> values;       ///< [q, t]  none: read only; gemm: written; else not used
  Grid<float> theta;        ///< [q, 1], read only
  std::uint32_t first_row;  ///< training row of column 0
  CandidateLists out;
  Scratch scratch;
  float unscale = 1;   ///< fp16, int8: makes products of scaled rows those of rows
  Bounds bounds = {};  ///< written beside the lists; of no columns: not wanted. With a proposer
  Visits visits = {};  ///< of `train`; `values` is then [q, visits.count * visits.rows]. With a proposer
  /// [q, visits.count * visits.rows / sample_rows]; of no columns: not wanted. With fp16 and int8, visits
  /// and bounds. Then nothing is listed. The places of the visits are put into groups of sample_rows, in what
  /// way is the device's own affair, and of each group the smallest h (Bounds) is written, as ordered() has
  /// it; that of +infinity, or more, where there is no row.
  Grid<std::uint32_t> sample = {};
  /// A hint: theta may be +infinity, so that all rows pass and only bounds tell them apart.
  bool open = false;
};

/// Keep of each list the candidates whose `low` is at most theta, in any order.
struct PruneStep {
  static constexpr const char* name = "prune";
  Grid<float> theta;     ///< [q, 1], read only
  CandidateLists lists;  ///< in and out; a count above the capacity counts as the capacity
  Bounds bounds;         ///< in and out
};

/// The chain of every listed candidate, as a key. Training rows may be packed with block 1: single rows are
/// read faster so.
struct RerankStep {
  static constexpr const char* name = "rerank";
  Metric metric;
  RowBlocks queries;
  RowBlocks train;
  std::uint32_t first_row;    ///< training row of train.first
  CandidateLists candidates;  ///< read only; rows first_row ... first_row + train.rows - 1
  Grid<Key> out;              ///< [q, capacity]  place j: the key of candidate j; none behind the last
};

/// Join reranked candidates into the k best so far, and tell what still counts as near.
/// Afterwards counts are 0. theta[q] is such that a row whose chain is at most the k-th best value
/// passes the test of CollectStep: docs/certificate.md. For proposer none it is that value.
struct TightenStep {
  static constexpr const char* name = "tighten";
  Proposer proposer;
  Metric metric;
  std::uint32_t dims;
  std::uint32_t k;
  Grid<Key> keys;              ///< [q, capacity]  the first min(counts[q], capacity) of each row; read only
  Grid<std::uint32_t> counts;  ///< [q, 1]
  Grid<Key> best;              ///< [q, k]  in and out: ascending, padded with no_key
  Grid<float> query_facts;     ///< [facts_a_row, q], with a proposer; read only
  Grid<float> theta;           ///< [q, 1]  out; in and out of bounds, and where it was guessed
  Grid<std::uint32_t> lost;    ///< [q, 1]  becomes 1 where counts[q] > capacity or a guess failed, else stays
  Scratch scratch;
  /// What the keys are. Bounds: those of CollectStep::bounds, of all that is listed. Then counts stay, what
  /// `best` holds means nothing, and theta is in and out: the smaller of what it was and of a number such
  /// that a row whose chain is not behind the k-th smallest passes; where fewer than k are listed it stays.
  /// Sample: the same of the numbers in `sample`; keys, counts and lost are not used.
  enum class Of { chains, bounds, sample } of = Of::chains;
  bool afresh = false;  ///< as if `best` had held nothing; so it is with bounds, too
  /// Of chains: theta was a guess, and is in and out. Where it becomes larger than it was, rows have been
  /// refused that were near, and lost[q] becomes 1.
  bool guessed = false;
  Grid<std::uint32_t> sample = {};  ///< [q, groups]  of CollectStep; read only
};

/// How votes are counted. All ways count the same.
enum class VoteMethod {
  automatic,    ///< as suits the device
  atomic,       ///< a work-item a neighbour, atomic additions to the counters of the query (GS_KNN, knn01)
  branch_free,  ///< no counter is looked up: every class adds the comparison with its number (knn03)
};

/// One vote for each key that is not no_key; most votes win, of several the smallest class.
struct VoteStep {
  static constexpr const char* name = "vote";
  Grid<Key> nearest;           ///< [q, k], read only
  Grid<std::uint32_t> labels;  ///< [1, n], read only, each < classes
  std::uint32_t classes;
  Grid<std::uint32_t> counts;  ///< [q, classes]
  Grid<std::uint32_t> winner;  ///< [q, 1]; no_row where nobody voted
  VoteMethod method = VoteMethod::automatic;
};

/// The distance of a pair that does not count, as bits: a NaN that ordered() puts behind +infinity. Where
/// fewer than k pairs of a query count, select fills its list with such pairs or with no_key; collect
/// keeps none. Only MaskStep makes it.
inline constexpr std::uint32_t masked_bits = 0x7FFFFFFFu;

/// Strike out the pairs of a tile that do not count.
struct MaskStep {
  static constexpr const char* name = "mask";
  Grid<std::uint32_t>
      filter;               ///< [1 or q, words]  bit t % 32 of word t / 32: training row t counts; read only
  std::uint32_t first_row;  ///< training row of column 0
  Grid<float> distances;    ///< [q, t]  in and out: masked_bits where the bit is 0
};

/// Weighted votes: the weights of the neighbours of each class, added in order of rank, beginning with 0,
/// each sum rounded once. A key that is no_key has no vote, whatever its weight.
struct TallyStep {
  static constexpr const char* name = "tally";
  Grid<Key> nearest;           ///< [q, k], read only
  Grid<float> weights;         ///< [q, k], read only, finite, >= 0
  Grid<std::uint32_t> labels;  ///< [1, n], read only, each < classes
  std::uint32_t classes;
  Grid<float> sums;  ///< [q, classes]  out
};

/// Smallest and sum of the distances of each query to each class, carried from tile to tile. Begin with
/// smallest = +infinity, high = low = 0. Columns are visited in ascending order; distance x of class c does
///   smallest = min(smallest, x)
///   s = high + x;  if s is finite: b = s - high, low = low + ((high - (s - b)) + (x - b));  high = s
/// each operation rounded once (TwoSum: Knuth, The Art of Computer Programming 2, 4.2.2), so that high + low,
/// added in double, is the sum with hardly an error. -0 counts as +0. No distance is masked.
struct AccumulateStep {
  static constexpr const char* name = "accumulate";
  Grid<float> distances;       ///< [q, t], read only
  Grid<std::uint32_t> labels;  ///< [1, t]  classes of the columns, each < classes; read only
  std::uint32_t classes;
  Grid<float> smallest;   ///< [q, classes]  in and out
  Grid<float> high, low;  ///< [q, classes]  in and out
  Scratch scratch;
};

using Work = std::variant<DistanceStep, SelectStep, NearestStep, MergeStep, PrepareStep, CollectStep,
                          PruneStep, RerankStep, TightenStep, VoteStep, MaskStep, TallyStep, AccumulateStep>;

struct Step {
  Work work;
  std::uint32_t threads = 0;  ///< host threads it may use; 0: as many as there are cores
};

/// Whether a device can do a step, and what the step needs beside its operands. Depends on the
/// sizes in the step only, never on its memory, which may be null when this is asked.
struct Support {
  std::string refusal;  ///< why not, as a sentence; empty when it can
  std::size_t scratch_bytes = 0;
};

/// An opened device: one in-order queue. Calls enqueue and return; only read() and finish() wait.
/// Not thread-safe: the library calls it under a lock. Failures leave as kith::Error. After a
/// failure from which the driver cannot recover every later call throws the first message again.
class KITH_API Device {
 public:
  explicit Device(DeviceInfo known) : info(std::move(known)) {}
  virtual ~Device();
  Device(const Device&) = delete;
  Device& operator=(const Device&) = delete;
  const DeviceInfo info;

  /// Throws out_of_memory with both sizes.
  virtual std::unique_ptr<Allocation> allocate(std::size_t bytes) = 0;
  /// Copy `bytes` from the host; `from` may be reused when this returns.
  virtual void write(Allocation& to, std::size_t offset, const void* from, std::size_t bytes) = 0;
  /// Copy to the host, when everything enqueued before is done.
  virtual void read(const Allocation& from, std::size_t offset, void* to, std::size_t bytes) = 0;
  virtual void finish() = 0;

  /// Host memory for write() and read(); null when locked memory makes no difference to the device.
  /// Throws out_of_memory.
  virtual std::unique_ptr<HostMemory> allocate_host(std::size_t bytes);

  /// A time stamp in the queue, and the device seconds between two of them after finish().
  /// Stamps may be forgotten at the next finish() after the one that completed them.
  virtual std::uint64_t mark() = 0;
  virtual double elapsed(std::uint64_t from, std::uint64_t to) = 0;

  /// What is enqueued from here on begins when let_go() is called, or a call has to wait for it, or after a
  /// while: time stamps then tell nothing of how fast the host enqueues. A device may ignore it, and one
  /// whose enqueue() does the work itself has to.
  virtual void hold();
  virtual void let_go();

  virtual Support check(const Step& step) const = 0;
  virtual void enqueue(const Step& step) = 0;
};

/// What a back end finds: its devices in order, or why there are none.
struct Found {
  std::vector<DeviceInfo> devices;
  std::string reason;
};

class KITH_API Backend {
 public:
  Backend() = default;
  virtual ~Backend();
  Backend(const Backend&) = delete;
  Backend& operator=(const Backend&) = delete;

  /// Does not open anything that stays open. Throws nothing: trouble is a reason.
  virtual Found find() = 0;
  /// The device at place `ordinal` of find().devices. The library calls it under a lock.
  virtual std::unique_ptr<Device> open(std::uint32_t ordinal) = 0;
};

/// What a plug-in hands over by its one exported symbol,
///   extern "C" KITH_API const kith::spi::Plugin* kith_plugin();
struct Plugin {
  std::uint32_t abi;  ///< plugin_abi, as the plug-in was compiled
  const char* name;   ///< the NAME of libkith_NAME.so
  std::unique_ptr<Backend> (*create)();
};

/// Run `body` on the opened device behind a handle, while no search uses it. For tests and
/// benchmarks of single steps on device memory.
KITH_API void with_device(const kith::Device& device, const std::function<void(Device&)>& body);

}  // namespace kith::spi
