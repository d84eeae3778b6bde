#include "communicator.hpp"

#include <algorithm>
#include <array>
#include <exception>
#include <string>

#include "kith/mpi.hpp"
#include "lost_ranks.hpp"

namespace kith::mpi {

void check(int code, const char* what) {
  if (code == MPI_SUCCESS) return;
  if (tells_of_death(code))
    throw RankLost(Errc::device_failure,
                   std::string("mpi: a rank died, as ") + what +
                       " says; start again, or let the others go on by kith::mpi::survivors()");
  std::array<char, MPI_MAX_ERROR_STRING> text{};
  int length = 0;
  if (MPI_Error_string(code, text.data(), &length) != MPI_SUCCESS) length = 0;
  throw Error(Errc::device_failure, std::string("mpi: ") + what + " failed: " +
                                        std::string(text.data(), static_cast<std::size_t>(length)) +
                                        "; look at the network and at what mpirun says");
}

void check(MPI_Comm comm, int code, const char* what) {
  if (tells_of_death(code)) revoke(comm);
  check(code, what);
}

void require_mpi() {
  int running = 0, ended = 0, threads = MPI_THREAD_SINGLE;
  check(MPI_Initialized(&running), "MPI_Initialized");
  check(MPI_Finalized(&ended), "MPI_Finalized");
  if (!running || ended)
    throw Error(Errc::invalid_argument, std::string("mpi: MPI is ") +
                                            (ended ? "finalized already" : "not initialised") +
                                            "; call MPI_Init_thread() before and MPI_Finalize() after kith");
  check(MPI_Query_thread(&threads), "MPI_Query_thread");
  if (threads < MPI_THREAD_FUNNELED)
    throw Error(Errc::invalid_argument,
                "mpi: MPI was initialised for one thread, and kith has threads of its own, which do not call "
                "MPI; call MPI_Init_thread() with MPI_THREAD_FUNNELED or more");
}

namespace {

bool returns_errors(MPI_Comm comm) {
  MPI_Errhandler handler = MPI_ERRHANDLER_NULL;
  check(MPI_Comm_get_errhandler(comm, &handler), "MPI_Comm_get_errhandler");
  const bool returns = handler == MPI_ERRORS_RETURN;
  MPI_Errhandler_free(&handler);
  return returns;
}

}  // namespace

Communicator::Communicator(MPI_Comm from) {
  require_mpi();
  // A program that survives deaths lets MPI return errors. Then its own communicator is used: Open MPI 5.0
  // crashes if it learns of a death while it duplicates one, and would end the survivors.
  is_own_ = !(has_survivors() && returns_errors(from));
  comm_ = from;
  if (is_own_) {
    check(from, MPI_Comm_dup(from, &comm_), "MPI_Comm_dup");
    check(MPI_Comm_set_errhandler(comm_, MPI_ERRORS_RETURN), "MPI_Comm_set_errhandler");
  }
  check(MPI_Comm_rank(comm_, &rank_), "MPI_Comm_rank");
  check(MPI_Comm_size(comm_, &size_), "MPI_Comm_size");
}

Communicator::~Communicator() {
  int ended = 0;
  if (!is_own_ || MPI_Finalized(&ended) != MPI_SUCCESS || ended || comm_ == MPI_COMM_NULL) return;
  MPI_Comm_free(&comm_);
}

std::vector<std::int64_t> Communicator::all_of(std::span<const std::int64_t> facts) const {
  const auto count = static_cast<int>(facts.size());
  std::vector<std::int64_t> all(facts.size() * static_cast<std::size_t>(size_));
  check(comm_, MPI_Allgather(facts.data(), count, MPI_INT64_T, all.data(), count, MPI_INT64_T, comm_),
        "MPI_Allgather");
  return all;
}

float Communicator::largest(float mine) const {
  float most = mine;
  check(comm_, MPI_Allreduce(&mine, &most, 1, MPI_FLOAT, MPI_MAX, comm_), "MPI_Allreduce");
  return most;
}

void Communicator::broadcast(void* data, std::size_t bytes, int from) const {
  constexpr std::size_t at_a_time = std::size_t{1} << 30;  // MPI counts in int
  for (std::size_t done = 0; done < bytes; done += at_a_time)
    check(comm_,
          MPI_Bcast(static_cast<char*>(data) + done, static_cast<int>(std::min(at_a_time, bytes - done)),
                    MPI_BYTE, from, comm_),
          "MPI_Bcast");
}

}  // namespace kith::mpi
