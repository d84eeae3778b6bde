// The ranks of an MPI program, as the command knows them.
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
  /// MPI runs.
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

  /// What ranks do together.
  enum class Common : std::int64_t { index, index_file, search, within, sums, end };
  /// A step that all ranks do together, once none has failed. What it throws, it throws on all of them.
  ///   count  of what is exchanged, which must be the same on all
  template <class Step>
  auto step(Common what, std::int64_t count, Step&& together);

 private:
  static constexpr int unwritten = -1;

  /// Wait for the others, and refuse what they do not do, too.
  ///   failure  of this rank, which the others are told
  void meet(Common what, std::int64_t count, const std::exception_ptr& failure);
  void find_place();
  std::vector<std::int64_t> all_of(const std::vector<std::int64_t>& mine, MPI_Op op);
  int run_once(const std::function<int()>& body);
  int written_before();

  MPI_Comm comm_ = MPI_COMM_WORLD;
  int rank_ = 0, size_ = 1, place_ = -1;
  bool told_ = false;  ///< all ranks throw what this one throws
  bool lost_ = false;
  int code_ = unwritten;     ///< what this rank's body has returned
  int written_ = unwritten;  ///< the same of the rank that was 0 when another one died
};

}  // namespace kith::command
