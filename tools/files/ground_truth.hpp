// Neighbours of queries as other programs write them: the truth that an approximate search is measured by,
// and what it found.
//
//   .ibin, .bin  big-ann-benchmarks: queries and k as two little-endian u32, then the rows of each query
//                as i32, then, where the file is so long, their distances as f32
//   .npz, .hdf5  the arrays neighbors and distances, or neighbors alone
//   others       rows alone, one line or row a query: .ivecs, .npy, .csv and the like
//
// Source: Simhadri et al., Results of the NeurIPS'21 Challenge on Billion-Scale Approximate Nearest Neighbor
// Search (2022), and its repository big-ann-benchmarks.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "files/table.hpp"

namespace kith::files {

struct NeighborLists {
  std::string path;                ///< as given, for messages
  std::int64_t queries = 0;        ///< > 0
  std::int64_t k = 0;              ///< > 0
  std::vector<std::int64_t> rows;  ///< [queries, k], nearest first; -1: none was found
  std::vector<double> distances;   ///< the same, or empty where the file has none

  bool has_distances() const { return !distances.empty(); }
};

/// Reads a whole file. Throws as read_table() does, and bad_file: a row that is no whole number of at least
/// -1, or a distance that is NaN.
NeighborLists read_neighbors(const std::filesystem::path& path, const FileOptions& options = {});

/// Refuse a name that is not one of ground truth, before any work is done. Throws invalid_argument.
void check_ground_truth_name(const std::filesystem::path& path);

}  // namespace kith::files
