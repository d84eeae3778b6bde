// The ranks of an MPI program, as the command knows them.
#pragma once

#include <mpi.h>

#include <functional>

#include "command/shared/ranks.hpp"

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
  std::vector<std::int64_t> sums(const std::vector<std::int64_t>& mine) override;

  /// What `body` returns. What it throws on one rank is thrown on all, wherever the others are: whoever fails
  /// waits here until the others ask, before their next common step or at their own end.
  int run(const std::function<int()>& body);

  /// A step that all ranks do together, once none has failed. What it throws, it throws on all of them.
  template <class Step>
  auto step(Step&& together);

 private:
  int rank_ = 0, size_ = 1, place_ = 0;
  bool told_ = false;  ///< all ranks throw what this one throws
};

}  // namespace kith::command
