// Searches training rows that are distributed over the ranks of an MPI program:
// libkith_mpi.so, docs/howto/mpi.md.
//
//   MPI_Init_thread(&argc, &argv, MPI_THREAD_FUNNELED, &provided);
//   kith::mpi::Index index(MPI_COMM_WORLD, device, my_rows);        // each rank gives its own rows
//   kith::Neighbors found = index.search(queries, k);               // the same answer on every rank
//
// It is built if MPI is found (KITH_MPI); kith.hpp does not include it. Each rank searches its rows on its
// own device. A commutative MPI_Op reduces the keys (keys.hpp), so that the answers are those of one Index of
// all rows, bit for bit, with any number of ranks.
//
// All functions are collective: all ranks of the communicator call them, in the same order, with the same
// queries, k, radii and votes; devices, rows, filters and other SearchOptions may differ from rank to rank.
// Only the calling thread calls MPI (MPI_THREAD_FUNNELED), and only with host memory. A failure on one rank
// is thrown on every rank, with that rank's message; if several fail, the lowest rank counts. If a rank dies,
// Open MPI 4.1 ends the program; see RankLost.
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
#include "kith/options.hpp"
#include "kith/rows_view.hpp"
#include "kith/shard_votes.hpp"
#include "kith/trace.hpp"
#include "kith/voting.hpp"

namespace kith::mpi {

/// Says that a rank died. With User Level Failure Mitigation (Bland, Bouteiller, Herault, Bosilca, Dongarra
/// 2013), as in Open MPI 5 under `mpirun --with-ft ulfm`, and a communicator whose errors are returned, a
/// call throws this on every living rank or on none. The Index is then unusable, and so is the communicator,
/// except for survivors().
class KITH_API RankLost : public Error {
 public:
  using Error::Error;
};

/// Returns whether ranks can go on after one dies: MPI has ULFM. (mpirun must allow it, too.)
KITH_API bool has_survivors();

/// Returns the living ranks of `comm`, in their order, as a communicator whose errors are returned. The
/// caller frees it. These ranks call it together, after each has caught RankLost. Throws unsupported
/// without ULFM.
KITH_API MPI_Comm survivors(MPI_Comm comm);

/// Tells the other ranks whether a step of this one failed.
///   failure  the exception that it threw; null: none
/// Throws on every rank what the lowest rank with a failure gave: an Error unchanged, std::bad_alloc and
///        std::length_error as out_of_memory, anything else as device_failure.
KITH_API void agree(MPI_Comm comm, const std::exception_ptr& failure);

/// Runs a step that each rank does by itself, such as reading its rows or opening its device. What it throws
/// on one rank is thrown on all, so that none waits for a rank that has left.
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

/// An Index of the rows of all ranks. It is a handle: copies share the rows. Free it before MPI_Finalize().
class KITH_API Index {
 public:
  /// Copies my_rows to `device`. Duplicates `comm`; but if has_survivors() and errors of `comm` are returned,
  /// uses `comm` itself: then free it after the Index.
  ///   my_rows    [n_r, dims]  as for kith::Index; a rank may have none
  ///   first_row  the number of this rank's first row; no number may occur twice. If absent, rows are
  ///              numbered rank after rank, from 0. Give it on all ranks or on none
  ///   metric     the same on all ranks
  ///   options    features, centre, learn_centre, box and what the metric takes (column_weights, ...)
  ///              must be the same on all ranks; learn_centre
  ///              learns the centre of all rows. first_row and largest must stay 0: they are computed.
  ///              All ranks with rows must come to one arithmetic, by elements or by the option
  /// Throws as kith::Index does, and invalid_argument if MPI is not initialised, or with less than
  ///        MPI_THREAD_FUNNELED; if no rank has a row; if ranks differ in what must be the same; if a row
  ///        number occurs on two ranks; for seuclidean without variances, and gower or nan_gower without
  ///        ranges, of which each rank would have its own.
  Index(MPI_Comm comm, const Device& device, const RowsView& my_rows,
        std::optional<std::int64_t> first_row = {}, Metric metric = default_metric,
        const IndexOptions& options = {});
  /// Opens an index file (index_file.hpp), which all ranks must see under this name. Each rank opens a part
  /// of its rows; together they answer as the Index of the whole file does. Keys number rows from the file's
  /// first_row, neighbours from 0.
  ///   options  options of this rank: threads, stop and progress; the rest is computed
  /// Throws as kith::open_index() does, and invalid_argument if ranks see different files.
  Index(MPI_Comm comm, const Device& device, const std::string& path, const OpenOptions& options = {});

  /// Returns on every rank what kith::Index::search() of all rows returns.
  ///   queries         [m, dims]  the same on all ranks
  ///   options, trace  those of this rank; a filter has the bits of its own rows
  /// Throws as kith::Index::search_keys() does, and invalid_argument if queries or k differ between ranks, or
  ///        if k exceeds the rows of all ranks or 2^31 - 1.
  Neighbors search(const RowsView& queries, std::int64_t k, const SearchOptions& options = {},
                   Trace* trace = nullptr) const;
  /// Returns the keys that search() finds, for merge() with keys found elsewhere, or for leave_out(). k may
  /// exceed the rows of all ranks: lists are padded.
  Keys search_keys(const RowsView& queries, std::int64_t k, const SearchOptions& options = {},
                   Trace* trace = nullptr) const;

  /// Returns on every rank what kith::Index::within() of all rows returns.
  ///   radii  [m], or [1] for all queries
  RadiusNeighbors within(const RowsView& queries, std::span<const float> radii,
                         const SearchOptions& options = {}, Trace* trace = nullptr) const;
  /// Does the same for radii in double precision; all ranks give radii of one type.
  RadiusNeighbors within(const RowsView& queries, std::span<const double> radii,
                         const SearchOptions& options = {}, Trace* trace = nullptr) const;
  /// Returns the keys that within() finds.
  RadiusKeys within_keys(const RowsView& queries, std::span<const float> radii,
                         const SearchOptions& options = {}, Trace* trace = nullptr) const;
  RadiusKeys within_keys(const RowsView& queries, std::span<const double> radii,
                         const SearchOptions& options = {}, Trace* trace = nullptr) const;

  /// Returns on every rank what Classifier::classify() of all rows returns.
  ///   labels  labels of the rows of all ranks, on every rank
  /// Throws as search() and kith::classify() do.
  Classification classify(const RowsView& queries, std::int64_t k, const ShardLabels& labels,
                          const VotingOptions& voting = {}, const SearchOptions& options = {},
                          Trace* trace = nullptr) const;
  RadiusClassification classify_within(const RowsView& queries, std::span<const float> radii,
                                       const ShardLabels& labels, const VotingOptions& voting = {},
                                       const SearchOptions& options = {}, Trace* trace = nullptr) const;
  RadiusClassification classify_within(const RowsView& queries, std::span<const double> radii,
                                       const ShardLabels& labels, const VotingOptions& voting = {},
                                       const SearchOptions& options = {}, Trace* trace = nullptr) const;
  /// Returns on every rank what Regressor::regress() of all rows returns.
  ///   values  values of the rows of all ranks, on every rank
  Regression regress(const RowsView& queries, std::int64_t k, const ShardValues& values,
                     const VotingOptions& voting = {}, const SearchOptions& options = {},
                     Trace* trace = nullptr) const;
  RadiusRegression regress_within(const RowsView& queries, std::span<const float> radii,
                                  const ShardValues& values, const VotingOptions& voting = {},
                                  const SearchOptions& options = {}, Trace* trace = nullptr) const;
  RadiusRegression regress_within(const RowsView& queries, std::span<const double> radii,
                                  const ShardValues& values, const VotingOptions& voting = {},
                                  const SearchOptions& options = {}, Trace* trace = nullptr) const;

  std::int64_t rows() const;     ///< rows of all ranks
  std::int64_t my_rows() const;  ///< rows of this rank
  /// Returns the number of this rank's first row; for an index file, its place in the file.
  std::int64_t first_row() const;
  Metric metric() const;
  ShownBy shown() const;          ///< of kith::Index, on ranks without rows, too
  Arithmetic arithmetic() const;  ///< f32 or f64, on ranks without rows, too

  struct State;

 private:
  std::shared_ptr<const State> state_;
};

}  // namespace kith::mpi
