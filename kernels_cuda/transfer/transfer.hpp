// Declares the launchers of small copies between the device and the host, and what they take.
// No twin in kernels_cl: kernels of OpenCL are launched by their names.
#pragma once

#include "common/kernels.hpp"

namespace kith::cuda {

/// Copies few bytes from locked memory of the host.
cudaError_t put(const Queue& queue, void* to, const void* from, std::size_t bytes);

/// Copies pieces to locked memory of the host, and then sets a ticket there to a number. It is fast up to
/// most_fetched bytes.
inline constexpr std::size_t most_fetched = std::size_t{1} << 15, most_pieces = 4;
struct Fetch {
  struct Piece {
    void* to;
    const void* from;
    std::size_t bytes;
  };
  std::uint32_t* ticket;
  std::uint32_t number;
  Piece pieces[most_pieces];
};
cudaError_t fetch(const Queue& queue, const Fetch& wanted);

}  // namespace kith::cuda
