// ANN (Mount, Arya: ANN, a library for approximate nearest neighbor searching, version 1.1.2), asked
// for exact neighbours: the CPU library that GS_KNN compares itself with. Doubles, one thread.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "kith/matrix_view.hpp"

namespace kith::experiments {

/// Returns whether kith was built with ANN.
bool ann_built_in();

/// Rows in one of ANN's two structures.
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

  /// Nearest first, by distances in double precision; ties as ANN happens to meet them.
  ///   query    [dims]
  ///   k        1 ... n: ANN ends the process above
  ///   returns  training rows, [k]
  std::vector<std::int64_t> search(const float* query, std::int64_t k);

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace kith::experiments
