// Runs one command by several processes, each with a part of the training rows: kith-mpi. The command itself
// does not use MPI: tools/mpi connects it.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "kith/device.hpp"
#include "kith/index.hpp"
#include "kith/index_file.hpp"
#include "kith/keys.hpp"

namespace kith::command {

/// An index over the training rows of all ranks: docs/howto/mpi.md.
class SharedIndex {
 public:
  virtual ~SharedIndex() = default;
  virtual Keys search_keys(const RowsView& queries, std::int64_t k, const SearchOptions& options,
                           Trace* trace) const = 0;
  virtual RadiusKeys within_keys(const RowsView& queries, std::span<const double> radii,
                                 const SearchOptions& options, Trace* trace) const = 0;
  virtual ShownBy shown() const = 0;
};

/// All ranks must call these functions in the same order. Each call waits for the other ranks; if one of them
/// has failed by then, the call throws its error.
class Ranks {
 public:
  virtual ~Ranks() = default;
  virtual int rank() const = 0;
  virtual int size() const = 0;
  /// Returns the position of this rank among the ranks of its machine, from 0.
  virtual int place() const = 0;
  virtual std::unique_ptr<SharedIndex> index(const Device& device, const RowsView& my_rows,
                                             std::int64_t first_row, Metric metric,
                                             const IndexOptions& options) = 0;
  /// Opens an index file; each rank opens a part.
  virtual std::unique_ptr<SharedIndex> open_index(const Device& device, const std::string& path,
                                                  const OpenOptions& options) = 0;
  /// Returns the sums over all ranks, element by element; all ranks must give the same number of elements.
  virtual std::vector<std::int64_t> sums(const std::vector<std::int64_t>& mine) = 0;
};

/// Returns null if this process is alone.
Ranks* ranks();
/// main() must call this before anything else.
void set_ranks(Ranks* together);

/// Returns whether this process writes files, results, notes and progress: it is alone, or rank 0.
bool speaks();

/// Draws progress on the stderr of that process, if it is a terminal: mpirun has replaced the stderr of its
/// ranks by a pipe.
void draw_on_stderr_of(int process);

/// Opens --device: if it names several, separated by commas, the one for this rank's place. A process that is
/// alone opens all of them.
Device open_my_device(const std::string& spec);

}  // namespace kith::command
