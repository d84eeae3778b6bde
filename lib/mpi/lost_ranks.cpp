#include "lost_ranks.hpp"

#if __has_include(<mpi-ext.h>)
#include <mpi-ext.h>  // of Open MPI, which has ULFM since 5.0
#endif

#include <exception>

#include "communicator.hpp"
#include "kith/mpi.hpp"

namespace kith::mpi {

#ifdef MPIX_ERR_PROC_FAILED

bool tells_of_death(int code) {
  int kind = MPI_SUCCESS;
  if (code == MPI_SUCCESS || MPI_Error_class(code, &kind) != MPI_SUCCESS) return false;
  return kind == MPIX_ERR_PROC_FAILED || kind == MPIX_ERR_PROC_FAILED_PENDING || kind == MPIX_ERR_REVOKED;
}

void revoke(MPI_Comm comm) {
  MPIX_Comm_revoke(comm);  // if this fails, MPI ends the program
}

bool all_well(MPI_Comm comm, bool mine) {
  int bits = mine ? 1 : 0;
  const int code = MPIX_Comm_agree(comm, &bits);
  return (code == MPI_SUCCESS || tells_of_death(code)) && bits != 0;  // dead ranks do not object
}

bool has_survivors() {
  return true;
}

MPI_Comm survivors(MPI_Comm comm) {
  revoke(comm);
  MPI_Comm alive = MPI_COMM_NULL;
  check(MPIX_Comm_shrink(comm, &alive), "MPIX_Comm_shrink");
  check(MPI_Comm_set_errhandler(alive, MPI_ERRORS_RETURN), "MPI_Comm_set_errhandler");
  return alive;
}

#else

bool tells_of_death(int /*code*/) {
  return false;
}

void revoke(MPI_Comm /*comm*/) {}

bool all_well(MPI_Comm /*comm*/, bool mine) {
  return mine;
}

bool has_survivors() {
  return false;
}

MPI_Comm survivors(MPI_Comm /*comm*/) {
  throw Error(
      Errc::unsupported,
      "mpi: this MPI ends the program where a rank dies; build kith with one that has ULFM, as Open MPI 5");
}

#endif

void uniformly(MPI_Comm comm, const std::function<void()>& call) {
  std::exception_ptr failure;
  bool lost = false;
  try {
    call();
  } catch (const RankLost&) {
    failure = std::current_exception();
    lost = true;
  } catch (...) {
    failure = std::current_exception();
  }
  if (!all_well(comm, !lost) && !lost)
    throw RankLost(Errc::device_failure,
                   "mpi: a rank died, as another one found; start again, or let the others go on by "
                   "kith::mpi::survivors()");
  if (failure) std::rethrow_exception(failure);
}

}  // namespace kith::mpi
