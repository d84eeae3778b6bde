// Training rows that lie with the ranks of an MPI program, searched as one: libkith_mpi.so,
// docs/howto/mpi.md.
//
//   MPI_Init_thread(&argc, &argv, MPI_THREAD_FUNNELED, &provided);
//   kith::mpi::Index index(MPI_COMM_WORLD, device, my_rows);        // each rank gives its own rows
//   kith::Neighbors found = index.search(queries, k);               // the same answer on every rank
//
// Built where MPI is (KITH_MPI); kith.hpp does not include it. Each rank searches its rows on its own device;
// the keys (keys.hpp) are reduced by a commutative MPI_Op, so the answers are those of one Index of all rows,
// bit for bit, with any number of ranks.
//
// Everything here is collective: all ranks of the communicator call it, in the same order, with the same
// queries, k, radii and votes; devices, rows, filters and other PlanOptions are each rank's own. MPI is
// called by the calling thread alone (MPI_THREAD_FUNNELED), with host memory alone. What fails on one rank is
// thrown on every rank, as that rank has it; of several ranks the lowest counts. Where a rank
// dies, Open MPI 4.1 ends the program; see RankLost.
#pragma once

#include "kith/cxx20.hpp"  // before what C++17 might not find

#include <mpi.h>

#include <cstdint>
#include <exception>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>

#include "kith/device.hpp"
#include "kith/error.hpp"
#include "kith/export.hpp"
#include "kith/index.hpp"
#include "kith/index_file.hpp"
#include "kith/keys.hpp"
#include "kith/metric.hpp"
#include "kith/neighbors.hpp"
#include "kith/plan.hpp"
#include "kith/rows_view.hpp"
#include "kith/shard_votes.hpp"
#include "kith/trace.hpp"
#include "kith/voting.hpp"

namespace kith::mpi {

/// A rank died, of which MPI told the others: where MPI has User Level Failure Mitigation (Bland, Bouteiller,
/// Herault, Bosilca, Dongarra 2013), as Open MPI 5 has under `mpirun --with-ft ulfm`, and errors of the
/// communicator are returned, a call here throws it on every rank that lives, or on none. The Index is of no
/// more use then, nor is the communicator, but for survivors().
class KITH_API RankLost : public Error {
 public:
  using Error::Error;
};

/// Whether ranks go on where one dies: MPI has ULFM. (mpirun must allow it, too.)
KITH_API bool has_survivors();

/// The ranks of `comm` that live, in their order, as a communicator whose errors are returned; the caller
/// frees it. Collective among them, once each has caught RankLost. Throws unsupported: MPI has no ULFM.
KITH_API MPI_Comm survivors(MPI_Comm comm);

/// Tell the other ranks whether a step of this one failed.
///   failure  what it threw; null: nothing
/// Throws what the lowest rank with a failure gave, on every rank: an Error as it is, std::bad_alloc and
/// std::length_error as out_of_memory, anything else as device_failure.
KITH_API void agree(MPI_Comm comm, const std::exception_ptr& failure);

/// A step that each rank does by itself, such as reading its rows or opening its device: what it throws on
/// one rank is thrown on all of them, so that none waits for a rank that has left.
template <class Step>
void together(MPI_Comm comm, Step&& step) {
  std::exception_ptr failure;
  try {
    std::forward<Step>(step)();
  } catch (...) {
    failure = std::current_exception();
  }
  agree(comm, failure);
}

/// An Index of the rows of all ranks. A handle: copies share the rows. Free it before MPI_Finalize().
class KITH_API Index {
 public:
  /// Copy my_rows to `device`. Duplicates `comm`; but where has_survivors() and errors of `comm` are
  /// returned, uses it itself: free it after the Index.
  ///   my_rows    [n_r, dims]  as for kith::Index; a rank may have none
  ///   first_row  the number of the first of them among all rows; none may have two ranks. Absent: rows are
  ///              numbered by rank, from 0. Given on all ranks or on none
  ///   metric     the same on all ranks
  ///   options    features and centre the same on all ranks, and learn_centre, which learns that of all rows;
  ///              first_row and largest stay 0: they are found here
  /// Throws as kith::Index does, and invalid_argument: MPI is not initialised, or with less than
  /// MPI_THREAD_FUNNELED; no rank has a row; ranks differ in what must be the same; a row with two ranks.
  Index(MPI_Comm comm, const Device& device, const RowsView& my_rows,
        std::optional<std::int64_t> first_row = {}, Metric metric = default_metric,
        const IndexOptions& options = {});
  /// Of an index file (index_file.hpp), which all ranks see under its name: each opens a part of its rows,
  /// and they answer as the Index of the whole file does. search_keys() and within_keys() number from its
  /// first_row, search() and within() from 0.
  ///   options  of this rank: threads, stop and progress; the rest is found here
  /// Throws as kith::open_index() does, and invalid_argument: ranks see different files.
  Index(MPI_Comm comm, const Device& device, const std::string& path, const OpenOptions& options = {});

  /// What kith::Index::search() of all rows returns, on every rank.
  ///   queries          [m, dims]  the same on all ranks
  ///   options, trace   of this rank; a filter has the bits of its own rows
  /// Throws as kith::Index::search_keys() does, and invalid_argument: queries or k that are not the same on
  ///                                          all ranks; k above the rows of all ranks, or above 2^31 - 1.
  Neighbors search(const RowsView& queries, std::int64_t k, const PlanOptions& options = {},
                   Trace* trace = nullptr) const;
  /// Its keys, for merge() with what was found elsewhere, or for leave_out(). k may be above the rows of all
  /// ranks: lists are padded.
  Keys search_keys(const RowsView& queries, std::int64_t k, const PlanOptions& options = {},
                   Trace* trace = nullptr) const;

  /// What kith::Index::within() of all rows returns, on every rank; the same.
  ///   radii  [m], or [1] for all queries
  RadiusNeighbors within(const RowsView& queries, std::span<const float> radii,
                         const PlanOptions& options = {}, Trace* trace = nullptr) const;
  /// Its keys.
  RadiusKeys within_keys(const RowsView& queries, std::span<const float> radii,
                         const PlanOptions& options = {}, Trace* trace = nullptr) const;

  /// What Classifier::classify() of all rows returns, on every rank.
  ///   labels  of the rows of all ranks, on every rank
  /// Throws as search() and kith::classify() do.
  Classification classify(const RowsView& queries, std::int64_t k, const ShardLabels& labels,
                          const VotingOptions& voting = {}, const PlanOptions& options = {},
                          Trace* trace = nullptr) const;
  RadiusClassification classify_within(const RowsView& queries, std::span<const float> radii,
                                       const ShardLabels& labels, const VotingOptions& voting = {},
                                       const PlanOptions& options = {}, Trace* trace = nullptr) const;
  /// What Regressor::regress() of all rows returns, on every rank; the same.
  ///   values  of the rows of all ranks, on every rank
  Regression regress(const RowsView& queries, std::int64_t k, const ShardValues& values,
                     const VotingOptions& voting = {}, const PlanOptions& options = {},
                     Trace* trace = nullptr) const;
  RadiusRegression regress_within(const RowsView& queries, std::span<const float> radii,
                                  const ShardValues& values, const VotingOptions& voting = {},
                                  const PlanOptions& options = {}, Trace* trace = nullptr) const;

  std::int64_t rows() const;     ///< of all ranks
  std::int64_t my_rows() const;  ///< of this rank
  /// The number of the first of these; of an index file, its place there.
  std::int64_t first_row() const;
  Metric metric() const;

  struct State;

 private:
  std::shared_ptr<const State> state_;
};

}  // namespace kith::mpi
