// Declares the interface of back ends, for their authors. Programs that search do not include this.
//
// The interface does not grow, because work is data. A new kind of work is one struct here, or in a header
// of spi/ that the list of steps names, a line in that list, spi/steps.def, one file in each back end and
// one test. refusal_of() of spi/refusals.hpp says what no device does of it. Back ends never loop over
// tiles, never allocate during a search and never know what step comes next; lib/src/search/pipeline.cpp
// does this, and similar files do for radii and classes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "kith/device.hpp"
#include "kith/error.hpp"
#include "kith/export.hpp"
#include "kith/key.hpp"
#include "kith/metric.hpp"
#include "kith/selector.hpp"
#include "kith/spi/boxes.hpp"
#include "kith/spi/candidates.hpp"
#include "kith/spi/doubles.hpp"
#include "kith/spi/groups.hpp"
#include "kith/spi/landing.hpp"
#include "kith/spi/memory.hpp"

namespace kith::spi {

/// Is raised whenever anything in this header, or those of `kith/spi/`, changes; the loader compares
/// it first.
inline constexpr std::uint32_t plugin_abi = 6;

/// Computes one chain for each (query, row) pair, raw.
struct DistanceStep {
  static constexpr const char* name = "distance";
  Metric metric;
  RowBlocks queries;
  RowBlocks train;
  Grid<float> out;  ///< [queries.rows, train.rows]

  /// Returns the bits of a row as it is given, or its columns: n of KITH_SUMS (metrics.def).
  std::uint32_t summed() const { return compares_bits(metric) ? train.bits : train.dims; }
};

/// Selects the k smallest keys of each of `lists` contiguous parts of each row of `distances`.
struct SelectStep {
  static constexpr const char* name = "select";
  Selector selector;        ///< never automatic
  Grid<float> distances;    ///< [q, t], read only
  std::uint32_t first_row;  ///< training row of column 0
  std::uint32_t k;
  std::uint32_t lists;  ///< parts of ceil(t / lists) columns; some may be short or empty
  Grid<Key> out;        ///< [q, lists * k], each list ascending, padded with no_key
  Scratch scratch;
};

/// Does distance and select in one step.
struct NearestStep {
  static constexpr const char* name = "nearest";
  Metric metric;
  RowBlocks queries;
  RowBlocks train;
  std::uint32_t first_row;  ///< training row of train.first
  std::uint32_t k;
  std::uint32_t lists;  ///< as in SelectStep
  Grid<Key> out;        ///< [queries.rows, lists * k]
  Scratch scratch;
};

/// Merges the `lists` of each row: its k smallest keys.
struct MergeStep {
  static constexpr const char* name = "merge";
  std::uint32_t lists;
  std::uint32_t k;
  Grid<Key> in;   ///< [q, lists * k], read only, each list ascending
  Grid<Key> out;  ///< [q, k], another part of memory than `in`
  Scratch scratch;
};

/// Says how votes are counted. All methods give the same counts.
enum class VoteMethod {
  automatic,    ///< chosen for the device
  atomic,       ///< one work-item per neighbour adds atomically to the counters of the query (GS_KNN, knn01)
  branch_free,  ///< every class adds the comparison with its number, without indexed counters (knn03)
};

/// Counts one vote for each key other than no_key; most votes win, and the smallest class among equal counts.
struct VoteStep {
  static constexpr const char* name = "vote";
  Grid<Key> nearest;           ///< [q, k], read only
  Grid<std::uint32_t> labels;  ///< [1, n], read only, each < classes
  std::uint32_t classes;
  Grid<std::uint32_t> counts;  ///< [q, classes]
  Grid<std::uint32_t> winner;  ///< [q, 1]; no_row without a vote
  VoteMethod method = VoteMethod::automatic;
};

/// The bits of the distance of a masked pair, which does not count. They are a NaN that ordered() puts after
/// +infinity. If fewer than k pairs of a query count, select pads its list with such pairs or with no_key;
/// collect keeps none. Only MaskStep makes it. In row terms (QuantizedRows) it marks a missing row.
inline constexpr std::uint32_t masked_bits = 0x7FFFFFFFu;

/// Masks the pairs of a tile that do not count; or, in a copy of row terms, the training rows that do
/// not count.
struct MaskStep {
  static constexpr const char* name = "mask";
  /// [1 or q, words]  bit t % 32 of word t / 32 says whether training row t counts; read only.
  Grid<std::uint32_t> filter;
  std::uint32_t first_row;  ///< training row of column 0
  Grid<float> distances;    ///< [q, t]  in and out: becomes masked_bits if the bit is 0
  /// [q, t]  read only: values to copy to `distances`, which is other memory, if the bit is 1. Without
  /// columns: `distances` has the values.
  Grid<float> from = {};
};

/// Counts weighted votes: adds the weights of the neighbours of each class in order of rank, beginning with
/// 0, and rounds each sum once. no_key has no vote, whatever its weight.
struct ScoreStep {
  static constexpr const char* name = "score";
  Grid<Key> nearest;           ///< [q, k], read only
  Grid<float> weights;         ///< [q, k], read only, finite, >= 0
  Grid<std::uint32_t> labels;  ///< [1, n], read only, each < classes
  std::uint32_t classes;
  Grid<float> sums;  ///< [q, classes]  out
};

/// Computes the smallest and the sum of the distances of each query to each class, carried from tile to tile.
/// Begins with smallest = +infinity, high = low = 0. Columns are visited in ascending order; distance x of
/// class c does
///   smallest = min(smallest, x)
///   s = high + x;  if s is finite: b = s - high, low = low + ((high - (s - b)) + (x - b));  high = s
/// Each operation is rounded once (TwoSum: Knuth, The Art of Computer Programming 2, 4.2.2), so that high +
/// low, added in double, is the sum with hardly any error. -0 counts as +0. No distance is masked.
struct AccumulateStep {
  static constexpr const char* name = "accumulate";
  Grid<float> distances;       ///< [q, t], read only
  Grid<std::uint32_t> labels;  ///< [1, t]  classes of the columns, each < classes; read only
  std::uint32_t classes;
  Grid<float> smallest;   ///< [q, classes]  in and out
  Grid<float> high, low;  ///< [q, classes]  in and out
  Scratch scratch;
};

template <class, class... Steps>
struct AnyOf {
  using Type = std::variant<Steps...>;
};

/// Is one of the steps of steps.def.
#define KITH_STEP(Type) , Type
using Work = AnyOf<void
#include "kith/spi/steps.def"
                   >::Type;
#undef KITH_STEP

struct Step {
  Work work;
  std::uint32_t threads = 0;  ///< host threads it may use; 0: one for each core
};

/// Says whether a device can do a step, and what the step needs besides its operands. This depends only on
/// the sizes in the step, never on its memory, which may be null here.
struct Support {
  std::string refusal;  ///< why not, as a sentence; empty if it can
  std::size_t scratch_bytes = 0;
};

/// Copies to the memory of a device while its steps run. Only one thread at a time uses it, without the lock
/// of the device.
class KITH_API CopyQueue {
 public:
  CopyQueue() = default;
  virtual ~CopyQueue();
  CopyQueue(const CopyQueue&) = delete;
  CopyQueue& operator=(const CopyQueue&) = delete;

  /// Like Device::write(), but returns when the copy is complete: steps enqueued after that see it. No
  /// unfinished step may use this part of `to`.
  virtual void write(Allocation& to, std::size_t offset, const void* from, std::size_t bytes) = 0;
};

/// Counts the programs of kernels that a device has got since it was opened.
struct ProgramCounts {
  std::size_t compiled = 0;  ///< programs that the compiler of its driver made
  std::size_t kept = 0;      ///< programs from files, which an earlier process has compiled
};

/// Names bytes of device memory and where they go on the host.
struct Piece {
  const Allocation* from;
  std::size_t offset;
  void* to;
  std::size_t bytes;
};

/// Is an open device with one in-order queue. Calls enqueue and return; only read() and finish() wait. It is
/// not thread-safe: the library calls it under a lock. Failures throw kith::Error. After a failure from which
/// the driver cannot recover, every later call throws the first message again.
class KITH_API Device {
 public:
  explicit Device(DeviceInfo known) : info(std::move(known)) {}
  virtual ~Device();
  Device(const Device&) = delete;
  Device& operator=(const Device&) = delete;
  const DeviceInfo info;

  /// Allocates memory. Throws out_of_memory with both sizes; the library then frees what it keeps, and tries
  /// once more.
  virtual std::unique_ptr<Allocation> allocate(std::size_t bytes) = 0;
  /// Copies `bytes` from the host; `from` may be reused when this returns.
  virtual void write(Allocation& to, std::size_t offset, const void* from, std::size_t bytes) = 0;
  /// Does the same, but may return earlier: `from`, of allocate_host(), must stay as it is until the next
  /// read() or finish().
  virtual void write_later(Allocation& to, std::size_t offset, const void* from, std::size_t bytes);
  /// Copies to the host, after everything enqueued before is done.
  virtual void read(const Allocation& from, std::size_t offset, void* to, std::size_t bytes) = 0;
  /// Does the same for several pieces, and waits once.
  virtual void read_pieces(std::span<const Piece> pieces);
  virtual void finish() = 0;

  /// Allocates host memory for write() and read(); null if locked memory makes no difference to the device.
  /// Throws out_of_memory.
  virtual std::unique_ptr<HostMemory> allocate_host(std::size_t bytes);

  /// Makes a separate queue, which the device outlives. Returns null if there is none: then write() copies
  /// between its steps. Throws as allocate() does.
  virtual std::unique_ptr<CopyQueue> copy_queue();

  /// Returns whether the system has locked these bytes of the host, so that write() needs no staging.
  virtual bool is_locked(const void* begin, std::size_t bytes) const;

  /// Makes memory of the caller usable by steps; it must outlive the result. Memory of the host is read only.
  /// Work enqueued from here on waits for the current work in the caller's stream or queue.
  /// Throws unsupported:      the device cannot use it: it is of another device or context, or of an unknown
  ///                          kind, or the stream is captured.
  ///        invalid_argument: it has fewer bytes.
  /// Both messages continue "the rows lie on a CUDA device, and ".
  virtual std::unique_ptr<Allocation> borrow(const CallersMemory& of);

  /// Puts a time stamp into the queue; elapsed() returns the device seconds between two of them after
  /// finish(). Stamps may be forgotten at the next finish() after the one that completed them.
  virtual std::uint64_t mark() = 0;
  virtual double elapsed(std::uint64_t from, std::uint64_t to) = 0;

  /// Delays work enqueued from here on until let_go(), until a call has to wait for it, or for a while: time
  /// stamps then do not depend on how fast the host enqueues. A device may ignore it; one whose enqueue()
  /// does the work itself must.
  virtual void hold();
  virtual void let_go();

  /// Counts its programs; none if the kernels were compiled with kith.
  virtual ProgramCounts programs() const;

  /// Says whether the device can do a step that refusal_of() allows.
  virtual Support check(const Step& step) const = 0;
  virtual void enqueue(const Step& step) = 0;
};

/// Holds what a back end finds: its devices in order, or why there are none.
struct Found {
  std::vector<DeviceInfo> devices;
  std::string reason;                 ///< why there are no devices; empty if there are
  std::vector<std::string> failures;  ///< a sentence for each driver without devices, if others have some
};

class KITH_API Backend {
 public:
  Backend() = default;
  virtual ~Backend();
  Backend(const Backend&) = delete;
  Backend& operator=(const Backend&) = delete;

  /// Finds the devices, and opens none that stays open. Throws nothing: failures become a reason.
  virtual Found find() = 0;
  /// Opens device number `ordinal` of find().devices. The library calls it under a lock.
  virtual std::unique_ptr<Device> open(std::uint32_t ordinal) = 0;

  /// Opens a device in the caller's context, which borrows memory of that context. Throws unsupported: this
  /// back end adopts no devices, or not this one. The library calls it under a lock, after find().
  virtual std::unique_ptr<Device> adopt(const CallersDevice& callers);
};

/// Holds the content of a plug-in, which its one exported symbol returns,
///   extern "C" KITH_API const kith::spi::Plugin* kith_plugin();
struct Plugin {
  std::uint32_t abi;  ///< plugin_abi when the plug-in was compiled
  const char* name;   ///< the NAME of libkith_NAME.so
  std::unique_ptr<Backend> (*create)();
};

/// Frees the blocks of device memory and locked host memory that the library keeps for reuse, for all handles
/// of this device's card. Returns whether there were any. Back ends whose memory runs out in other calls than
/// allocate() and allocate_host() use it, and should then try the call once more.
KITH_API bool give_back(const DeviceInfo& device);

/// Returns what `call` returns; calls it once more if memory ran out and some could be freed.
template <class Call>
auto retried(const DeviceInfo& device, const Call& call) {
  try {
    return call();
  } catch (const Error& error) {
    if (error.code() != Errc::out_of_memory || !give_back(device)) throw;
  }
  return call();
}

/// Runs `body` on the open device behind a handle, while no search uses it: for tests and benchmarks of
/// single steps on device memory.
KITH_API void with_device(const kith::Device& device, const std::function<void(Device&)>& body);

}  // namespace kith::spi
