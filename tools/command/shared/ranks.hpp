// Several processes that run one command together, each with a part of the training rows: kith-mpi. The
// command itself knows no MPI: tools/mpi joins it.
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

/// The training rows of all ranks, which search them together: docs/howto/mpi.md.
class SharedIndex {
 public:
  virtual ~SharedIndex() = default;
  virtual Keys search_keys(const RowsView& queries, std::int64_t k, const PlanOptions& options,
                           Trace* trace) const = 0;
  virtual RadiusKeys within_keys(const RowsView& queries, std::span<const float> radii,
                                 const PlanOptions& options, Trace* trace) const = 0;
};

/// All ranks call each of these in the same order. Each waits for the others; if one of them has failed by
/// then, its error is thrown here.
class Ranks {
 public:
  virtual ~Ranks() = default;
  virtual int rank() const = 0;
  virtual int size() const = 0;
  /// Place among the ranks of this machine, from 0.
  virtual int place() const = 0;
  virtual std::unique_ptr<SharedIndex> index(const Device& device, const RowsView& my_rows,
                                             std::int64_t first_row, Metric metric,
                                             const IndexOptions& options) = 0;
  /// Of an index file, of which each rank opens a part.
  virtual std::unique_ptr<SharedIndex> open_index(const Device& device, const std::string& path,
                                                  const OpenOptions& options) = 0;
  /// Of all ranks, one by one; each gives as many.
  virtual std::vector<std::int64_t> sums(const std::vector<std::int64_t>& mine) = 0;
};

/// Null: this process is alone.
Ranks* ranks();
/// Set by main(), before anything else.
void set_ranks(Ranks* together);

/// Whether this process writes files, results, notes and progress: it is alone, or rank 0.
bool speaks();

/// Progress is drawn on the stderr of that process, where it is a terminal: mpirun has put a pipe in the
/// place of that of its ranks.
void draw_on_stderr_of(int process);

/// --device: of several with commas between them the one that this rank takes, by its place. A process that
/// is alone takes all of it.
Device open_my_device(const std::string& spec);

}  // namespace kith::command
