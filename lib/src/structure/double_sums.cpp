#include "structure/double_sums.hpp"

#include <algorithm>
#include <limits>
#include <numeric>

#include "base/float_guard.hpp"
#include "base/numbers.hpp"
#include "device/timing.hpp"
#include "device/watcher.hpp"
#include "host/parallel.hpp"
#include "plan/reasons.hpp"
#include "structure/structure_pairs.hpp"
#include "vote/voting.hpp"

namespace kith {
namespace {

SumsProblem problem_of(const RankedAmong& samples, std::int64_t classes) {
  return {samples.rows.rows(), samples.rows.dims(), classes, Arithmetic::f64};
}

SumsTiles tiles_of(const RankedAmong& samples, std::int64_t classes, const SearchOptions& options) {
  const DeviceInfo& device = samples.device.info();
  const std::int64_t floats_a_double = 2, rows = samples.rows.rows();
  return sums_tiles(device, problem_of(samples, classes),
                    structure_budget(device, (1 + floats_a_double) * rows, samples.rows.dims(), options),
                    options);
}

template <class Number>
std::vector<Number> counted_from(std::int64_t first, std::int64_t count) {
  std::vector<Number> numbers(size(count));
  std::iota(numbers.begin(), numbers.end(), static_cast<Number>(first));
  return numbers;
}

/// The sums of the samples of one query tile.
class SumsOfTile {
 public:
  SumsOfTile(std::span<const std::uint32_t> codes, std::int64_t classes, std::uint32_t threads)
      : codes_(codes), classes_(size(classes)), threads_(threads) {}

  /// Adds the values of some samples of the query tile that begins with sample `begin`.
  void add(const DoubleTile& tile, std::int64_t begin) {
    constexpr std::int64_t share = 8;  // samples, whose sums do not wait for each other
    const std::size_t before = size(tile.first - begin);
    parallel_for(divide_up(tile.count, share), tile.count * tile.width, threads_, [&](std::int64_t s) {
      const std::size_t first = size(s * share), end = size(std::min((s + 1) * share, tile.count));
      const std::size_t width = size(tile.width);
      for (std::size_t j = 0; j < width; ++j) {
        const std::size_t code = codes_[size(tile.row) + j];
        for (std::size_t i = first; i < end; ++i)
          add((before + i) * classes_ + code, tile.values[i * width + j]);
      }
    });
  }

  void clear(std::int64_t count) {
    const std::size_t sums = size(count) * classes_;
    smallest_.assign(sums, std::numeric_limits<double>::infinity());
    high_.assign(sums, 0);
    low_.assign(sums, 0);
  }

  DoubleTileSums sums(std::int64_t first, std::int64_t count) const {
    return {0, first, count, smallest_.data(), high_.data(), low_.data()};
  }

 private:
  void add(std::size_t at, double value) {
    PairSum sum{high_[at], low_[at]};
    sum.add(value);
    high_[at] = sum.high;
    low_[at] = sum.low;
    smallest_[at] = std::min(smallest_[at], value);
  }

  const std::span<const std::uint32_t> codes_;
  const std::size_t classes_;
  const std::uint32_t threads_;
  std::vector<double> smallest_, high_, low_;  ///< [samples of the query tile, classes]
};

}  // namespace

DoubleTiles::DoubleTiles(const RankedAmong& samples, std::int64_t classes, const SearchOptions& options)
    : samples_(samples),
      options_(options),
      classes_(classes),
      tiles_(tiles_of(samples, classes, options)),
      ranking_(samples, options) {}

void DoubleTiles::start(Trace& trace, std::int64_t count) const {
  const std::int64_t n = samples_.rows.rows();
  restart(trace);
  trace.plan.problem = {samples_.metric, n, count, samples_.rows.dims(), 0};
  trace.plan.device = samples_.device.info().spec;
  trace.plan.query_tile = tiles_.queries;
  trace.plan.train_tile = tiles_.rows;
  trace.plan.threads = options_.threads;
  trace.plan.workspace_bytes = tiles_bytes(samples_.device.info(), problem_of(samples_, classes_), tiles_);
  trace.plan.reason = reasons::class_sums_by_host();
  trace.query_tiles = divide_up(count, tiles_.queries);
  trace.train_tiles = divide_up(n, tiles_.rows);
}

PreparedDoubles DoubleTiles::samples_between(std::int64_t first, std::int64_t count) const {
  const FloatGuard guard;
  return samples_.rows.gathered(counted_from<std::int64_t>(first, count));
}

void DoubleTiles::walk(std::int64_t first, std::int64_t count, const Take& take, const Done& done,
                       Trace* trace) {
  const std::int64_t n = samples_.rows.rows(), end = first + count;
  Watcher watcher(options_, divide_up(count, tiles_.queries) * divide_up(n, tiles_.rows));
  watcher.check_stop();
  if (trace) start(*trace, count);
  for (std::int64_t q = first; q < end; q += tiles_.queries) {
    const std::int64_t m = std::min(tiles_.queries, end - q);
    const PreparedDoubles queries = samples_between(q, m);
    for (std::int64_t row = 0; row < n; row += tiles_.rows) {
      const std::int64_t width = std::min(tiles_.rows, n - row);
      const auto places = counted_from<std::uint32_t>(row, width);
      ranking_.rank(
          queries.view(), {places.data(), 1, width},
          [&](std::int64_t at, std::int64_t some, std::span<const double> values) {
            watcher.check_stop();
            const Stopwatch taken;
            take({q + at, some, row, width, values});
            if (trace) trace->seconds["sum"] += taken.seconds();
          },
          trace);
      watcher.step_done();
    }
    done(q, m);
  }
  if (!trace) return;
  trace->ranked_doubles += count * n;
  trace->plan.double_chains = ranking_.ranker().said();
}

void run_double_sums(const RankedAmong& samples, std::span<const std::uint32_t> codes, std::int64_t classes,
                     const SearchOptions& options, Trace* trace,
                     const std::function<void(const DoubleTileSums& sums)>& take) {
  const Stopwatch total;
  const std::int64_t n = samples.rows.rows();
  DoubleTiles tiles(samples, classes, options);
  SumsOfTile sums(codes, classes, options.threads);
  std::int64_t begin = 0;
  const auto clear = [&](std::int64_t first) {
    begin = first;
    sums.clear(std::min(tiles.sizes().queries, n - begin));
  };
  clear(0);
  tiles.walk(
      0, n, [&](const DoubleTile& tile) { sums.add(tile, begin); },
      [&](std::int64_t first, std::int64_t count) {
        take(sums.sums(first, count));
        clear(first + count);
      },
      trace);
  if (trace) trace->total_seconds = total.seconds();
}

}  // namespace kith
