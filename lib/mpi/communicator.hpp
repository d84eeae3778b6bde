// Wraps MPI's calls: failures throw, and counts may exceed 2^31.
#pragma once

#include <mpi.h>

#include <cstddef>
#include <cstdint>
#include <exception>
#include <span>
#include <utility>
#include <vector>

namespace kith::mpi {

/// Throws device_failure, or RankLost, unless `code` is MPI_SUCCESS.
///   what  the function that returned it
void check(int code, const char* what);
/// Checks a call that all ranks of `comm` make. For RankLost it also ends the waits of the other ranks.
void check(MPI_Comm comm, int code, const char* what);

/// Does what agree() does, but after a death throws RankLost only on this rank, since others may not know of
/// it yet. It is for use within uniformly().
void tell(MPI_Comm comm, const std::exception_ptr& failure);

/// Throws invalid_argument if MPI is not running, or does not allow for threads that do not call it.
void require_mpi();

/// Holds a communicator on which MPI calls return errors: a duplicate of the given one, or that one itself if
/// it returns errors already and this MPI lets ranks survive the death of others.
class Communicator {
 public:
  explicit Communicator(MPI_Comm from);
  ~Communicator();
  Communicator(const Communicator&) = delete;
  Communicator& operator=(const Communicator&) = delete;

  MPI_Comm get() const { return comm_; }
  int rank() const { return rank_; }
  int size() const { return size_; }

  /// Does what mpi::together() does, but by tell().
  template <class Step>
  void together(Step&& step) const {
    std::exception_ptr failure;
    try {
      std::forward<Step>(step)();
    } catch (...) {
      failure = std::current_exception();
    }
    tell(comm_, failure);
  }

  /// Returns the `facts` of all ranks, rank after rank, on every rank; all give equally many.
  std::vector<std::int64_t> all_of(std::span<const std::int64_t> facts) const;

  float largest(float mine) const;

  /// Sends `bytes` bytes of rank `from` to every rank.
  void broadcast(void* data, std::size_t bytes, int from) const;

 private:
  MPI_Comm comm_ = MPI_COMM_NULL;
  int rank_ = 0, size_ = 1;
  bool is_own_ = false;
};

}  // namespace kith::mpi
