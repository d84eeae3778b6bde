#include "structure/structure_tiles.hpp"

#include <algorithm>
#include <string>

#include "base/numbers.hpp"
#include "kith/error.hpp"
#include "rows/rows.hpp"

namespace kith {
namespace {

// bytes of the sums of a query tile, on device and host
constexpr std::size_t usual_sums_bytes = std::size_t{1} << 28;
constexpr std::int64_t least_rows = 256;  // with fewer rows a step is hardly worth its launch

void check_tile(const char* what, std::int64_t tile) {
  if (tile < 0)
    throw Error(Errc::invalid_argument, std::string("structure: ") + what + " = " + std::to_string(tile) +
                                            "; give a positive number, or 0 to let kith choose");
}

/// Returns usual tiles: a GPU needs many queries, and a CPU few, because of its caches.
SumsTiles usual_tiles(const DeviceInfo& device) {
  if (device.kind != DeviceKind::cpu) return {16384, 4096};
  return {std::clamp<std::int64_t>(std::int64_t{64} * device.compute_units, 256, 4096), 4096};
}

std::size_t number_bytes(const SumsProblem& problem) {
  return problem.arithmetic == Arithmetic::f64 ? sizeof(double) : sizeof(float);
}

/// The bytes of the parts of a tile.
struct TileBytes {
  TileBytes(const DeviceInfo& device, const SumsProblem& problem, const SumsTiles& tiles)
      : sums(sums_bytes(problem, tiles.queries)),
        distances(size(tiles.queries) * size(tiles.rows) * number_bytes(problem)),
        queries(problem.arithmetic == Arithmetic::f64
                    ? size(tiles.queries) * size(problem.dims) * number_bytes(problem)
                    : packed_bytes(tiles.queries, problem.dims, device.query_block)) {}

  static std::size_t sums_bytes(const SumsProblem& problem, std::int64_t queries) {
    return size(queries) * size(problem.classes) * numbers_a_sum * number_bytes(problem);
  }
  std::size_t all() const { return sums + distances + queries; }

  std::size_t sums, distances, queries;
};

}  // namespace

std::size_t distances_bytes(const SumsTiles& tiles) {
  return size(tiles.queries) * size(tiles.rows) * sizeof(float);
}

std::size_t tiles_bytes(const DeviceInfo& device, const SumsProblem& problem, const SumsTiles& tiles) {
  return TileBytes(device, problem, tiles).all();
}

SumsTiles sums_tiles(const DeviceInfo& device, const SumsProblem& problem, std::size_t budget,
                     const SearchOptions& options) {
  check_tile("query tile", options.query_tile);
  check_tile("training tile", options.train_tile);
  const SumsTiles usual = usual_tiles(device);
  SumsTiles tiles{
      std::clamp<std::int64_t>(options.query_tile ? options.query_tile : usual.queries, 1, problem.n),
      std::clamp<std::int64_t>(options.train_tile ? options.train_tile : usual.rows, 1, problem.n)};
  const auto half = [](std::int64_t& tile) { tile = (tile + 1) / 2; };
  while (options.query_tile == 0 && tiles.queries > 1 &&
         TileBytes::sums_bytes(problem, tiles.queries) > usual_sums_bytes)
    half(tiles.queries);
  for (;;) {
    const TileBytes bytes(device, problem, tiles);
    const std::size_t largest = std::max({bytes.sums, bytes.distances, bytes.queries});
    if (largest <= device.largest_allocation && bytes.all() <= budget) return tiles;
    if (tiles.rows > least_rows) {
      half(tiles.rows);
    } else if (tiles.queries > 1) {
      half(tiles.queries);
    } else if (tiles.rows > 1) {
      half(tiles.rows);
    } else {
      throw Error(Errc::out_of_memory, "structure: one sample and " + std::to_string(problem.classes) +
                                           " classes take " + std::to_string(bytes.all()) + " bytes on " +
                                           device.spec + ", but " +
                                           std::to_string(std::min(budget, device.largest_allocation)) +
                                           " are allowed; raise the memory limit");
    }
  }
}

}  // namespace kith
