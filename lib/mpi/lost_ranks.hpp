// Handles the death of ranks while others work, if MPI has User Level Failure Mitigation; see RankLost.
#pragma once

#include <mpi.h>

#include <functional>

namespace kith::mpi {

/// Returns whether `code` says that a rank died, or that another rank has reported a death.
bool tells_of_death(int code);

/// Ends all calls that wait for other ranks of `comm`, on all of them, and all such later calls.
void revoke(MPI_Comm comm);

/// Returns whether `mine` is true on all living ranks of `comm`: the same answer on all of them, even if
/// ranks die meanwhile or `comm` was revoked. Without ULFM returns `mine`.
bool all_well(MPI_Comm comm, bool mine);

/// Makes a collective call on all ranks of `comm`. MPI reports a death to some ranks, and lets others go on
/// if they have what they waited for; this throws RankLost on all living ranks, or on none.
void uniformly(MPI_Comm comm, const std::function<void()>& call);

}  // namespace kith::mpi
