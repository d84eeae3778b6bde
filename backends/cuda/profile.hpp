// The sizes for which the CUDA kernels are written. It needs none of CUDA's headers, so that plans can be
// tested anywhere.
#pragma once

#include "kith/unstable/kernel_profile.hpp"

namespace kith::cuda {

constexpr KernelProfile kernel_profile() {
  KernelProfile profile;
  profile.rows_at_once = 12288;
  profile.groups_a_unit = 1;
  profile.batches_a_unit = 2;
  profile.divides_rows = true;  // nearest_tiles.cu
  profile.lands_rows = true;
  return profile;
}

}  // namespace kith::cuda
