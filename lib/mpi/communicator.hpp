// MPI's calls as kith makes them: what fails throws, and counts may be beyond 2^31.
#pragma once

#include <mpi.h>

#include <cstddef>
#include <cstdint>
#include <exception>
#include <span>
#include <utility>
#include <vector>

namespace kith::mpi {

/// Throw device_failure, or RankLost, where `code` is not MPI_SUCCESS.
///   what  the function that returned it
void check(int code, const char* what);
/// The same of a call that all ranks of `comm` make. Throws RankLost, too: then the others do not wait any
/// longer.
void check(MPI_Comm comm, int code, const char* what);

/// agree(), but for a death, of which the others may not know yet: for use within uniformly().
void tell(MPI_Comm comm, const std::exception_ptr& failure);

/// Throws invalid_argument: MPI is not running, or does not allow for threads that do not call it.
void require_mpi();

/// A communicator whose errors are returned: a duplicate, or where ranks may outlive others, the one given.
class Communicator {
 public:
  explicit Communicator(MPI_Comm from);
  ~Communicator();
  Communicator(const Communicator&) = delete;
  Communicator& operator=(const Communicator&) = delete;

  MPI_Comm get() const { return comm_; }
  int rank() const { return rank_; }
  int size() const { return size_; }

  /// As mpi::together(), by tell().
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

  /// The `facts` of each rank in turn, on every rank; all have as many.
  std::vector<std::int64_t> all_of(std::span<const std::int64_t> facts) const;

  float largest(float mine) const;

  /// `bytes` bytes of rank `from`, on every rank.
  void broadcast(void* data, std::size_t bytes, int from) const;

 private:
  MPI_Comm comm_ = MPI_COMM_NULL;
  int rank_ = 0, size_ = 1;
  bool is_own_ = false;
};

}  // namespace kith::mpi
