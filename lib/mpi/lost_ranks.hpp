// Ranks that die while others work, where MPI has User Level Failure Mitigation; see RankLost.
#pragma once

#include <mpi.h>

#include <functional>

namespace kith::mpi {

/// Whether `code` says that a rank died, or that another one learned of it before.
bool tells_of_death(int code);

/// End every call that waits for other ranks of `comm`, on all of them, and all such calls to come.
void revoke(MPI_Comm comm);

/// Whether `mine` is true on all ranks of `comm` that live: the same answer on all of them, also where ranks
/// die meanwhile or `comm` was revoked. Without ULFM: `mine`.
bool all_well(MPI_Comm comm, bool mine);

/// A collective call, as all ranks of `comm` make it. MPI tells some ranks of a death and lets others go on
/// who have what they waited for; here it throws RankLost on all ranks that live, or on none.
void uniformly(MPI_Comm comm, const std::function<void()>& call);

}  // namespace kith::mpi
