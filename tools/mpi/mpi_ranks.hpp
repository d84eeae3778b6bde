// The ranks of an MPI program, as the command knows them.
#pragma once

#include <mpi.h>

#include <functional>

#include "command/rows/ranks.hpp"

namespace kith::command {

class MpiRanks final : public Ranks {
 public:
  /// Collective; MPI runs.
  MpiRanks();

  int rank() const override { return rank_; }
  int size() const override { return size_; }
  int place() const override { return place_; }
  std::unique_ptr<SharedIndex> index(const Device& device, const RowsView& my_rows, std::int64_t first_row,
                                     Metric metric, const IndexOptions& options) override;
  std::unique_ptr<SharedIndex> open_index(const Device& device, const std::string& path,
                                          const OpenOptions& options) override;
  std::vector<std::int64_t> sums(const std::vector<std::int64_t>& mine) override;

  /// What `body` returns. What it throws on one rank is thrown on all, wherever the others are: whoever fails
  /// waits here until the others ask, before their next common step or at their own end. If a rank dies and
  /// MPI lets the others live, they begin again with all rows among them, unless rank 0 has written
  /// everything.
  int run(const std::function<int()>& body);

  /// Whether a rank died meanwhile.
  bool lost() const { return lost_; }

  /// A step that all ranks do together, once none has failed. What it throws, it throws on all of them.
  template <class Step>
  auto step(Step&& together);

 private:
  int run_once(const std::function<int()>& body);
  void take(MPI_Comm comm);

  MPI_Comm comm_ = MPI_COMM_NULL;
  int rank_ = 0, size_ = 1, place_ = 0;
  bool told_ = false;  ///< all ranks throw what this one throws
  bool lost_ = false;
  int code_ = -1;  ///< what this rank's body has returned; -1: nothing yet
};

}  // namespace kith::command
