// Computes distances of samples, and classifies other rows by them.
#include <algorithm>
#include <cmath>
#include <new>
#include <numeric>
#include <string>

#include "base/border.hpp"
#include "base/float_guard.hpp"
#include "base/numbers.hpp"
#include "base/refuse.hpp"
#include "device/device_set.hpp"
#include "device/watcher.hpp"
#include "host/host_memory.hpp"
#include "host/parallel.hpp"
#include "kith/error.hpp"
#include "kith/filter.hpp"
#include "kith/unstable/stages.hpp"
#include "metric/chain.hpp"
#include "rows/index_state.hpp"
#include "rows/rows.hpp"
#include "structure/structure_state.hpp"
#include "structure/structure_tiles.hpp"

namespace kith {
namespace {

/// Allocates a matrix on the host. Throws out_of_memory.
template <class Real>
std::vector<Real> host_matrix(std::int64_t rows, std::int64_t columns) {
  const HostMemory memory = host_memory();
  const std::uint64_t numbers = memory.bytes / sizeof(Real);
  try {
    if (size(rows) <= numbers / size(columns)) return std::vector<Real>(size(rows) * size(columns));
  } catch (const std::bad_alloc&) {  // thrown below
  }
  throw Error(Errc::out_of_memory, "structure: distances [" + std::to_string(rows) + ", " +
                                       std::to_string(columns) + "] are more than fits the " +
                                       std::to_string(memory.bytes) + " bytes that " +
                                       std::string(memory.whose) + "; ask for fewer samples at a time");
}

/// Sorts numbers of samples. Throws invalid_argument if one does not exist, or occurs twice.
std::vector<std::int64_t> checked_prototypes(std::span<const std::int64_t> prototypes, std::int64_t n) {
  std::vector<std::int64_t> sorted(prototypes.begin(), prototypes.end());
  std::sort(sorted.begin(), sorted.end());
  for (std::size_t i = 0; i < sorted.size(); ++i) {
    if (sorted[i] < 0 || sorted[i] >= n)
      refuse("structure", "prototype " + std::to_string(sorted[i]) + " is none of the " + std::to_string(n) +
                              " samples; choose from 0 to " + std::to_string(n - 1));
    if (i > 0 && sorted[i] == sorted[i - 1])
      refuse("structure", "prototype " + std::to_string(sorted[i]) + " is named twice; name each once");
  }
  return sorted;
}

/// Computes finished distances of query tiles to all samples, tile by tile.
class DistanceTiles {
 public:
  DistanceTiles(const Structure::State& samples, const SearchOptions& options, std::int64_t count)
      : schema_(samples.index.state()),
        n_(samples.index.rows()),
        state_(first_of(schema_.device).state()),
        options_(options),
        terms_(samples.terms()),
        chunks_(samples.on_one_device(options.threads)),
        tiles_(chosen_tiles()),
        queries_(state_, packed_bytes(tiles_.queries, schema_.dims, state_->info.query_block)),
        distances_(state_, distances_bytes(tiles_)),
        watcher_(options, divide_up(count, tiles_.queries) * train_tiles()) {}

  std::int64_t queries() const { return tiles_.queries; }

  /// Writes the distances of `rows` [at most queries(), dims] to `out` [rows, n].
  void compute(MatrixView<const float> rows, float* out) {
    watcher_.check_stop();
    upload_rows(*state_, *queries_.get(), rows, state_->info.query_block, options_.threads);
    for (const Chunk& chunk : chunks_)
      for (std::int64_t begin = 0; begin < chunk.rows; begin += tiles_.rows) {
        const std::int64_t t = std::min(tiles_.rows, chunk.rows - begin);
        run_tile(chunk, begin, t, rows.rows());
        parallel_for(rows.rows(), rows.rows() * t, options_.threads, [&](std::int64_t q) {
          const FloatGuard guard;  // roots and arcs of the host
          float* const to = out + q * n_ + chunk.first + begin;
          for (std::int64_t i = 0; i < t; ++i) to[i] = finish(schema_.shown, tile_[size(q * t + i)]);
        });
        watcher_.step_done();
      }
  }

 private:
  SumsTiles chosen_tiles() const {
    return sums_tiles(state_->info, {n_, schema_.dims, 0},
                      structure_budget(state_->info, n_, schema_.dims, options_), options_);
  }

  std::int64_t train_tiles() const {
    std::int64_t tiles = 0;
    for (const Chunk& chunk : chunks_) tiles += divide_up(chunk.rows, tiles_.rows);
    return tiles;
  }

  void run_tile(const Chunk& chunk, std::int64_t begin, std::int64_t t, std::int64_t m) {
    const auto dims = static_cast<std::uint32_t>(schema_.dims);
    tile_.resize(size(m * t));
    const spi::DistanceStep step{
        schema_.metric,
        {queries_.get(), 0, static_cast<std::uint32_t>(m), dims, state_->info.query_block},
        rows_of_step(chunk, begin, t, dims, state_->info.train_block, terms_.get()),
        {distances_.get(), 0, size(m), size(t), size(t)}};
    const DeviceSession session(*state_);
    session->enqueue({step, options_.threads});
    session->read(*distances_.get(), 0, tile_.data(), tile_.size() * sizeof(float));
  }

  const RowSchema& schema_;
  const std::int64_t n_;
  const std::shared_ptr<Device::State> state_;
  const SearchOptions& options_;
  const std::shared_ptr<const ColumnTerms> terms_;
  const std::vector<Chunk> chunks_;
  const SumsTiles tiles_;
  DeviceMemory queries_, distances_;
  Watcher watcher_;
  std::vector<float> tile_;
};

/// Refuses distances of a row that are NaN.
void check_number(bool is_nan, std::int64_t row, std::int64_t column) {
  if (is_nan)
    refuse("structure", "row " + std::to_string(row) + ", column " + std::to_string(column) +
                            " holds NaN; every distance must be a number");
}

/// Copies some columns of rows first ... first + count - 1 of a matrix. Throws invalid_argument if one
/// holds NaN.
std::vector<float> columns_of(MatrixView<const float> matrix, std::int64_t first, std::int64_t count,
                              std::span<const std::int64_t> columns) {
  const FloatGuard guard;
  std::vector<float> kept;
  kept.reserve(size(count) * columns.size());
  for (std::int64_t r = first; r < first + count; ++r)
    for (const std::int64_t c : columns) {
      check_number(std::isnan(matrix(r, c)), r, c);
      kept.push_back(matrix(r, c));
    }
  return kept;
}

/// Writes finished distances of samples first ... first + count - 1 to all samples.
void write_floats(const Structure::State& structure, std::int64_t first, std::int64_t count,
                  const SearchOptions& options, float* to) {
  DistanceTiles tiles(structure, options, count);
  const SampleRows samples = structure.rows_in({});
  for (std::int64_t done = 0; done < count; done += tiles.queries()) {
    const std::int64_t rows = std::min(tiles.queries(), count - done);
    const std::vector<float> queries = samples.rows(first + done, rows);
    tiles.compute({queries.data(), rows, samples.dims()}, to + done * structure.index.rows());
  }
}

void write_doubles(const Structure::State& structure, std::int64_t first, std::int64_t count,
                   const SearchOptions& options, double* to) {
  const ShownBy shown = structure.index.shown();
  const std::int64_t n = structure.index.rows();
  const auto take = [&](const DoubleTile& tile) {
    parallel_for(tile.count, tile.count * tile.width, options.threads, [&](std::int64_t i) {
      double* const row = to + (tile.first - first + i) * n + tile.row;
      const std::span<const double> values = tile.values.subspan(size(i * tile.width), size(tile.width));
      std::transform(values.begin(), values.end(), row, [&](double value) { return finish(shown, value); });
    });
  };
  const std::shared_ptr<const ColumnTerms> terms = structure.terms();
  DoubleTiles(structure.ranked_among(terms.get()), 0, options)
      .walk(
          first, count, take, [](std::int64_t, std::int64_t) {}, nullptr);
}

/// Returns the samples that count for a classification by distances, ascending: the prototypes, or all.
///   given  the arithmetic of the distances, and `columns` their number for a row
std::vector<std::int64_t> checked_columns(const Index& index, Arithmetic given, std::int64_t columns,
                                          std::span<const std::int64_t> prototypes) {
  const std::int64_t n = index.rows();
  std::vector<std::int64_t> chosen = checked_prototypes(prototypes, n);
  if (given != index.arithmetic())
    refuse("structure", "distances are " + std::string(name(given)) + ", but the structure computes in " +
                            std::string(name(index.arithmetic())) + "; give distances as it does");
  if (columns != n)
    refuse("structure", "distances have " + std::to_string(columns) + " columns, but there are " +
                            std::to_string(n) + " samples; give one to each");
  if (chosen.empty()) {
    chosen.resize(size(n));
    std::iota(chosen.begin(), chosen.end(), std::int64_t{0});
  }
  return chosen;
}

}  // namespace

SampleDistances Structure::distances(std::int64_t first, std::int64_t count,
                                     const SearchOptions& options) const try {
  const FloatGuard guard;
  const std::int64_t n = state_->index.rows();
  refuse_filters(options);
  if (first < 0 || count < 0 || first > n || count > n - first)
    refuse("structure", "there are no samples " + std::to_string(first) + " ... " +
                            std::to_string(first + count - 1) + " among " + std::to_string(n) +
                            "; choose from 0 to " + std::to_string(n - 1));
  SampleDistances found{count, n, {}, state_->index.arithmetic(), {}};
  if (state_->is_double()) {
    found.distance64 = host_matrix<double>(count, n);
    if (count > 0) write_doubles(*state_, first, count, options, found.distance64.data());
  } else {
    found.distance = host_matrix<float>(count, n);
    if (count > 0) write_floats(*state_, first, count, options, found.distance.data());
  }
  return found;
} catch (...) {
  rethrow_as_error();
}

std::vector<std::int64_t> Structure::classify(const RowsView& queries,
                                              std::span<const std::int64_t> prototypes,
                                              const SearchOptions& options) const try {
  refuse_filters(options);
  const Index& all = state_->index;
  const std::vector<std::int64_t> chosen = checked_prototypes(prototypes, all.rows());
  const auto label_of = [&](std::int64_t sample) { return classes()[codes()[size(sample)]]; };
  std::vector<std::int64_t> labels;
  if (chosen.empty()) {
    for (const std::int64_t sample : all.search(queries, 1, options).row) labels.push_back(label_of(sample));
    return labels;
  }
  if (all.state().prepared) {  // as all samples are: an Index of the prototypes would learn ranges of its own
    const RowFilter some = RowFilter::only(all.rows(), chosen);
    SearchOptions among = options;
    among.filter = some;
    for (const std::int64_t sample : all.search(queries, 1, among).row) labels.push_back(label_of(sample));
    return labels;
  }
  // Copying and searching few rows is faster than searching all and dropping most of them.
  IndexOptions own{all.features()};
  own.arithmetic = all.arithmetic();
  const Index index(all.device(), state_->samples.at(chosen), all.metric(), own);
  for (const std::int64_t place : index.search(queries, 1, options).row)
    labels.push_back(label_of(chosen[size(place)]));
  return labels;
} catch (...) {
  rethrow_as_error();
}

std::vector<std::int64_t> Structure::classify_distances(MatrixView<const float> distances,
                                                        std::span<const std::int64_t> prototypes) const try {
  const std::vector<std::int64_t> chosen =
      checked_columns(index(), Arithmetic::f32, distances.cols(), prototypes);
  constexpr std::size_t usual_floats = std::size_t{1} << 24;
  const Device& device = first_of(index().device());
  const std::size_t floats = std::min(usual_floats, device.info().largest_allocation / sizeof(float));
  const auto columns = static_cast<std::int64_t>(chosen.size());
  const auto step = static_cast<std::int64_t>(std::max<std::size_t>(1, floats / chosen.size()));
  std::vector<std::int64_t> labels;
  for (std::int64_t first = 0; first < distances.rows(); first += step) {
    const std::int64_t count = std::min(step, distances.rows() - first);
    const std::vector<float> kept = columns_of(distances, first, count, chosen);
    for (const Key key : stages::select(device, {kept.data(), count, columns}, 1).keys)
      labels.push_back(classes()[codes()[size(chosen[row_of(key)])]]);
  }
  return labels;
} catch (...) {
  rethrow_as_error();
}

std::vector<std::int64_t> Structure::classify_distances(MatrixView<const double> distances,
                                                        std::span<const std::int64_t> prototypes) const try {
  const std::vector<std::int64_t> chosen =
      checked_columns(index(), Arithmetic::f64, distances.cols(), prototypes);
  const FloatGuard guard;
  std::vector<std::int64_t> labels;
  for (std::int64_t r = 0; r < distances.rows(); ++r) {
    std::int64_t nearest = chosen.front();
    for (const std::int64_t sample : chosen) {
      check_number(std::isnan(distances(r, sample)), r, sample);
      if (distances(r, sample) < distances(r, nearest)) nearest = sample;
    }
    labels.push_back(classes()[codes()[size(nearest)]]);
  }
  return labels;
} catch (...) {
  rethrow_as_error();
}

}  // namespace kith
