// Ranks that die while others work, where MPI has User Level Failure Mitigation; see RankLost.
#pragma once

#include <mpi.h>

namespace kith::mpi {

/// Whether `code` says that a rank died, or that another one learned of it before.
bool tells_of_death(int code);

/// End every call that waits for other ranks of `comm`, on all of them, and all such calls to come.
void revoke(MPI_Comm comm);

}  // namespace kith::mpi
