// Computes chains of listed rows by the kernels of the CPU back end.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "certified/list_reader.hpp"
#include "kith/key.hpp"
#include "kith/matrix_view.hpp"
#include "kith/metric.hpp"
#include "kith/spi.hpp"

namespace kith {

/// Keeps its memory from tile to tile.
class HostChains {
 public:
  HostChains(Metric metric, std::uint32_t threads);

  /// Packs queries, [m, dims], in the layout that the kernels read.
  void take(MatrixView<const float> queries);
  /// Computes the chain of every listed place of each query. Returns keys, [m, longest], valid until the next
  /// call; those behind the end of a list have no meaning.
  ///   rows     [count, dims]
  ///   longest  the length of the longest list
  std::span<Key> rank(const float* rows, std::size_t count, const ListedPlaces& lists, std::size_t longest);

 private:
  const Metric metric_;
  const std::uint32_t threads_;
  const std::unique_ptr<spi::Device> host_;  ///< the CPU back end, whose kernels rank
  std::size_t m_ = 0, dims_ = 0;
  std::vector<float> queries_;  ///< packed
  std::vector<Key> keys_;
};

}  // namespace kith
