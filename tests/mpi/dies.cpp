// A library for LD_PRELOAD that kills a rank by SIGKILL at a chosen call of MPI.
//
//   KITH_DIES=2:7,3:9+   rank 2 dies before its 7th call, rank 3 after its 9th; calls are counted from 1
//   KITH_DIES_LOG=FILE   writes which rank died; of rank 0 every call, too
//   KITH_DIES_DEAF=1     MPIX_Comm_agree returns without asking other ranks, an error that tests must notice
//
// A rank that dies "before" a call first waits until the others can have begun theirs, so that they wait for
// it. With ~ instead of + it dies during the call. With ! it does not die, but its call reports that another
// rank died: MPI may report a death to some ranks only, while the others' calls succeed.
#include <fcntl.h>
#include <mpi.h>
#include <signal.h>
#include <unistd.h>

#include <chrono>
#include <cstdlib>
#include <sstream>
#include <string>
#include <thread>

#if __has_include(<mpi-ext.h>)
#include <mpi-ext.h>
#endif

namespace {

enum class Moment { none, before, during, after, told };

std::string rank() {
  const char* const mine = std::getenv("OMPI_COMM_WORLD_RANK");
  return mine ? mine : "";
}

/// Returns how this rank is to die at its call `number`.
Moment moment_of(int number) {
  const char* const asked = std::getenv("KITH_DIES");
  std::istringstream list(asked ? asked : "");
  const std::string mine = rank() + ":" + std::to_string(number);
  for (std::string one; std::getline(list, one, ',');) {
    if (one == mine) return Moment::before;
    if (one == mine + "~") return Moment::during;
    if (one == mine + "+") return Moment::after;
    if (one == mine + "!") return Moment::told;
  }
  return Moment::none;
}

void log(const std::string& line) {
  const char* const path = std::getenv("KITH_DIES_LOG");
  const int file = path ? open(path, O_WRONLY | O_APPEND | O_CREAT, 0666) : -1;
  if (file < 0) return;
  if (write(file, line.data(), line.size()) < 0) std::abort();
  close(file);
}

[[noreturn]] void die() {
  raise(SIGKILL);
  std::abort();
}

int calls = 0;

#ifdef MPIX_ERR_PROC_FAILED
constexpr int death = MPIX_ERR_PROC_FAILED;
#else
constexpr int death = MPI_ERR_OTHER;
#endif

template <class Call>
int counted(const char* name, Call&& call) {
  using namespace std::chrono_literals;
  const Moment moment = moment_of(++calls);
  if (moment == Moment::none && rank() == "0") log("call " + std::to_string(calls) + " " + name + "\n");
  if (moment == Moment::told) {
    log("rank " + rank() + " was told at call " + std::to_string(calls) + ", " + name + "\n");
    call();
    return death;
  }
  if (moment != Moment::none)
    log("rank " + rank() + " died at call " + std::to_string(calls) + ", " + name + "\n");
  if (moment == Moment::before) {
    std::this_thread::sleep_for(50ms);
    die();
  }
  if (moment == Moment::during)
    std::thread([] {
      std::this_thread::sleep_for(100us);
      die();
    }).detach();
  const int code = call();
  if (moment != Moment::none) die();
  return code;
}

}  // namespace

// Every function of MPI in which kith's ranks wait for one another.
#define KITH_COUNTED(name, declared, given)               \
  extern "C" int name declared {                          \
    return counted(#name, [&] { return P##name given; }); \
  }

KITH_COUNTED(MPI_Comm_dup, (MPI_Comm comm, MPI_Comm* made), (comm, made))
KITH_COUNTED(MPI_Comm_split_type, (MPI_Comm comm, int type, int key, MPI_Info info, MPI_Comm* made),
             (comm, type, key, info, made))
KITH_COUNTED(MPI_Comm_free, (MPI_Comm * comm), (comm))
KITH_COUNTED(MPI_Allreduce,
             (const void* mine, void* all, int count, MPI_Datatype type, MPI_Op op, MPI_Comm comm),
             (mine, all, count, type, op, comm))
KITH_COUNTED(MPI_Allgather,
             (const void* mine, int given, MPI_Datatype give, void* all, int taken, MPI_Datatype take,
              MPI_Comm comm),
             (mine, given, give, all, taken, take, comm))
KITH_COUNTED(MPI_Bcast, (void* data, int count, MPI_Datatype type, int from, MPI_Comm comm),
             (data, count, type, from, comm))
#ifdef MPIX_ERR_PROC_FAILED
static int agree(MPI_Comm comm, int* bits) {
  const char* const deaf = std::getenv("KITH_DIES_DEAF");
  return deaf && *deaf ? MPI_SUCCESS : PMPIX_Comm_agree(comm, bits);
}
extern "C" int MPIX_Comm_agree(MPI_Comm comm, int* bits) {
  return counted("MPIX_Comm_agree", [&] { return agree(comm, bits); });
}
KITH_COUNTED(MPIX_Comm_shrink, (MPI_Comm comm, MPI_Comm* made), (comm, made))
KITH_COUNTED(MPIX_Comm_revoke, (MPI_Comm comm), (comm))
#endif

extern "C" int MPI_Finalize() {
  return counted("MPI_Finalize", [] { return PMPI_Finalize(); });
}
