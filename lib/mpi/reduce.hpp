// The keys of all ranks become one list a query.
#pragma once

#include "communicator.hpp"
#include "kith/keys.hpp"

namespace kith::mpi {

/// Keep of each query the k nearest keys of all ranks, in `keys`, on every rank. All ranks give [m, k].
void reduce(const Communicator& ranks, Keys& keys);

/// The lists of all ranks as one, on every rank. All ranks give m lists.
RadiusKeys gather(const Communicator& ranks, RadiusKeys mine);

}  // namespace kith::mpi
