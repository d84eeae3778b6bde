// Asks ANN (Mount, Arya: ANN, a library for approximate nearest neighbor searching, version 1.1.2) for exact
// neighbours. GS_KNN's paper compares itself with this CPU library, which uses doubles and one thread.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "kith/matrix_view.hpp"

namespace kith::experiments {

/// Returns whether kith was built with ANN.
bool ann_built_in();

/// Holds rows in one of ANN's two structures.
class AnnPeer {
 public:
  enum class Structure { kd_tree, brute_force };

  /// Copies the rows as doubles and builds the structure.
  ///   train  [n, dims]
  /// Throws unsupported: not built in.
  AnnPeer(MatrixView<const float> train, Structure structure);
  ~AnnPeer();
  AnnPeer(const AnnPeer&) = delete;
  AnnPeer& operator=(const AnnPeer&) = delete;

  /// Returns the k nearest rows, nearest first, by distances in double precision; the order of ties is ANN's.
  ///   query    [dims]
  ///   k        1 ... n; above n, ANN ends the process
  ///   returns  training rows, [k]
  std::vector<std::int64_t> search(const float* query, std::int64_t k);

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace kith::experiments
