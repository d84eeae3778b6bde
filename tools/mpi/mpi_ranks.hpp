// Represents the ranks of an MPI program for the command.
#pragma once

#include <mpi.h>

#include <cstdint>
#include <exception>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "command/shared/ranks.hpp"

namespace kith::command {

class MpiRanks final : public Ranks {
 public:
  /// MPI must be running.
  MpiRanks();

  int rank() const override { return rank_; }
  int size() const override { return size_; }
  int place() const override { return place_; }
  std::unique_ptr<SharedIndex> index(const Device& device, const RowsView& my_rows, std::int64_t first_row,
                                     Metric metric, const IndexOptions& options) override;
  std::unique_ptr<SharedIndex> open_index(const Device& device, const std::string& path,
                                          const OpenOptions& options) override;
  std::vector<std::int64_t> sums(const std::vector<std::int64_t>& mine) override;

  /// Calls `body` and returns its result. What it throws on one rank is thrown on all ranks: a rank that
  /// fails waits here until the others meet it, before their next common step or at their end. If a rank
  /// dies and MPI lets the others live, they divide all rows among them and begin again, unless rank 0 has
  /// written everything.
  int run(const std::function<int()>& body);

  /// Returns whether a rank died meanwhile.
  bool lost() const { return lost_; }

  /// Lists the steps that ranks do together.
  enum class Common : std::int64_t { index, index_file, search, within, sums, end };
  /// Does a step together with all ranks, unless one has failed. An error of the step is thrown on all
  /// of them.
  ///   count  number of exchanged elements, which must be the same on all
  template <class Step>
  auto step(Common what, std::int64_t count, Step&& together);

 private:
  static constexpr int unwritten = -1;

  /// Waits for the others, and fails unless they do the same.
  ///   failure  the failure of this rank, which the others throw, too
  void meet(Common what, std::int64_t count, const std::exception_ptr& failure);
  void find_place();
  std::vector<std::int64_t> all_of(const std::vector<std::int64_t>& mine, MPI_Op op);
  int run_once(const std::function<int()>& body);
  int written_before();

  MPI_Comm comm_ = MPI_COMM_WORLD;
  int rank_ = 0, size_ = 1, place_ = -1;
  bool told_ = false;  ///< the other ranks throw what this one throws
  bool lost_ = false;
  int code_ = unwritten;     ///< what the body of this rank has returned
  int written_ = unwritten;  ///< what the body of rank 0 had returned when another rank died
};

}  // namespace kith::command
