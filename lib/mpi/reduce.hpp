// Merges the keys of all ranks into one list per query.
#pragma once

#include "communicator.hpp"
#include "kith/keys.hpp"

namespace kith::mpi {

/// Keeps the k nearest keys of all ranks for each query, in `keys`, on every rank. All ranks give [m, k].
void reduce(const Communicator& ranks, Keys& keys);

/// Returns the lists of all ranks as one, on every rank. All ranks give m lists.
RadiusKeys gather(const Communicator& ranks, RadiusKeys mine);

}  // namespace kith::mpi
