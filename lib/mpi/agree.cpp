// Makes a failure on one rank a failure on all ranks.
#include <array>
#include <new>
#include <stdexcept>
#include <string>

#include "communicator.hpp"
#include "kith/error.hpp"
#include "kith/mpi.hpp"
#include "lost_ranks.hpp"

namespace kith::mpi {
namespace {

/// Returns the exception in `failure` as an Error.
Error as_error(const std::exception_ptr& failure) {
  const char* const no_memory = "mpi: the host has no memory left for this; use fewer rows or queries";
  try {
    std::rethrow_exception(failure);
  } catch (const Error& error) {
    return error;
  } catch (const std::bad_alloc&) {
    return {Errc::out_of_memory, no_memory};
  } catch (const std::length_error&) {
    return {Errc::out_of_memory, no_memory};
  } catch (const std::exception& error) {
    return {Errc::device_failure, error.what()};
  } catch (...) {
    return {Errc::device_failure, "mpi: a rank threw what is no exception of C++'s library; see its output"};
  }
}

}  // namespace

void tell(MPI_Comm comm, const std::exception_ptr& failure) {
  int rank = 0, size = 0;
  check(MPI_Comm_rank(comm, &rank), "MPI_Comm_rank");
  check(MPI_Comm_size(comm, &size), "MPI_Comm_size");
  const int mine = failure ? rank : size;
  int first = size;
  check(comm, MPI_Allreduce(&mine, &first, 1, MPI_INT, MPI_MIN, comm), "MPI_Allreduce");
  if (first == size) return;
  Errc code{};
  std::string message;
  if (first == rank) {
    const Error error = as_error(failure);
    code = error.code();
    message = error.what();
  }
  std::array<int, 2> head = {static_cast<int>(code), static_cast<int>(message.size())};
  check(comm, MPI_Bcast(head.data(), 2, MPI_INT, first, comm), "MPI_Bcast");
  message.resize(static_cast<std::size_t>(head[1]));
  check(comm, MPI_Bcast(message.data(), head[1], MPI_CHAR, first, comm), "MPI_Bcast");
  throw Error(static_cast<Errc>(head[0]), message);
}

void agree(MPI_Comm comm, const std::exception_ptr& failure) {
  uniformly(comm, [&] { tell(comm, failure); });
}

}  // namespace kith::mpi
