#include "boxes/boxes_rules.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>

#include "kith/error.hpp"
#include "kith/spi/boxes.hpp"

namespace kith {
namespace {

// With more columns, queries reach nearly every box, even of a million uniform rows.
constexpr std::int64_t most_columns = 16;
constexpr std::int64_t fewest_rows = 16384;
// On a CPU fewer rows of at most so many columns are worth it, too: with 2,000 to 8,000 uniform rows, as many
// queries and k from 1 to 100, searches by boxes took 0.2 to 0.9 times as long as by scans, making included.
constexpr std::int64_t few_columns = 8, fewest_rows_of_few = 2048;
// A query that reads less than this share of the break-even number of leaves costs almost nothing. Without a
// sample, no query may cost more.
constexpr double small_share = 0.1;
// The largest sample of queries; a sample takes one query of `queries_a_sampled`.
constexpr std::int64_t most_sampled = 64, queries_a_sampled = 16;
// If the average of a sample is below break-even, a single query may read this many times the break-even
// number of leaves. In simulations with uniform rows none of 200 queries read more than 4.0 times the
// average. In clusters some do, but there the average is far below break-even.
constexpr double most_of_one = 4;

// The time of a walk on a GPU, even for few queries, because each read of a walk waits for the one before it.
// It was measured on an H100 with 1,310,720 rows of 2 columns and one query: a walk reads 3 to 8 leaves and
// takes 8.6 us (CUDA) or 9.7 us (OpenCL) for 15 neighbours and 28.4 us for 101; the fused step, which reads
// all rows, takes 12.0 or 14.6 us for 15 and 19.2 or 24.3 us for 101.
constexpr double walk_seconds = 6e-6, seconds_a_neighbour = 0.23e-6;
constexpr double seconds_a_launch = 5e-6, bytes_a_second = 1.5e12;
// Each further leaf adds one dependent read of memory, at its latency.
constexpr double seconds_a_leaf = 0.7e-6;
constexpr double leaves_of_walk = 8;
// A sample costs one more walk, and the host waits for its result.
constexpr double host_seconds = 20e-6;
// The time that a GPU busy with 10,000 queries needs for a leaf, and for a block of rows that a query scans.
constexpr double busy_seconds_a_leaf = 0.57e-9, busy_seconds_a_block = 0.0043e-9;

/// Returns the cost of making boxes, as a number of leaf reads per row. With two threads of AVX2 the host
/// needs 0.06 us per row of 3 columns and 0.2 us of 12. Boxes of 3,000 to a million rows of 2 to 12 columns
/// then paid, in one search, from 0.4 to 1.4 times the number of queries that follows from this. A GPU sorts
/// and packs rows itself, which is assumed to take 5 ns per row, and reads a leaf in 0.57 ns.
double leaves_to_make_a_row(const DeviceInfo& device, std::int64_t dims) {
  return device.kind == DeviceKind::gpu ? 9 : 0.6 + 0.09 * static_cast<double>(dims);
}

/// Returns the temporary device memory of a GPU that sorts n rows: at most 32 bytes per row, including
/// the sort.
std::size_t making_bytes(const DeviceInfo& device, std::int64_t n) {
  return device.kind == DeviceKind::gpu ? std::size_t{32} * static_cast<std::size_t>(n) : 0;
}

[[noreturn]] void refuse(const std::string& why) {
  throw Error(Errc::unsupported, "search: " + why);
}

/// Returns whether the caller demands an option that a search by boxes does not have.
bool names_another_way(const SearchOptions& o) {
  return o.selector != Selector::automatic || o.proposer != Proposer::automatic || !o.sample.empty() ||
         o.fused || o.lists != 0 || o.train_tile != 0;
}

void check_asked(const DeviceInfo& device, const Problem& p, const SearchOptions& o) {
  if (p.terms == Terms::pairs) refuse("boxes bound no terms of pairs of values; drop the demand for boxes");
  if (is_of_sums(p.metric) && compares_bits(p.metric))
    refuse(
        "boxes by numbers of ones are for the k nearest of rows that a device has; drop the demand for "
        "boxes");
  if (!follows_from_gaps(p.metric))
    refuse("boxes bound no distances by " + std::string(name(p.metric)) +
           "; choose squared_l2, l2, cosine, l1 or linf, or drop the demand for boxes");
  if (p.k > static_cast<std::int64_t>(device.boxes_max_k))
    refuse(device.spec +
           (device.boxes_max_k == 0 ? " has no boxes"
                                    : " keeps at most " + std::to_string(device.boxes_max_k) +
                                          " neighbours beside boxes, but k = " + std::to_string(p.k)) +
           "; drop the demand for boxes");
  if (names_another_way(o))
    refuse(
        "boxes have no selector, proposer, sample, fused step, lists or training tile; drop one of the two");
}

std::int64_t fewest_rows_of(const DeviceInfo& device, std::int64_t columns) {
  return device.profile.host_threads && columns <= few_columns ? fewest_rows_of_few : fewest_rows;
}

/// Estimates how many leaves a query of uniform rows reads: all that intersect a cube in which k rows
/// are expected.
double leaves_of_uniform(const Problem& p) {
  const double dims = static_cast<double>(p.dims),
               side = std::pow(static_cast<double>(p.k) / spi::box_rows, 1 / dims);
  return std::pow(1 + side, dims);
}

/// Estimates how many seconds a GPU needs to scan all rows without boxes.
double seconds_of_all_rows(const Problem& p) {
  const double n = static_cast<double>(p.n), m = static_cast<double>(p.m);
  return seconds_a_launch + n * static_cast<double>(p.dims) * sizeof(float) / bytes_a_second +
         m * n / spi::box_rows * busy_seconds_a_block;
}

/// Returns whether boxes are faster on a GPU for few queries. Each query waits for its own reads, so reading
/// fewer leaves is not enough. A sample tells how many leaves queries read; without one, rows are assumed to
/// be uniform.
bool walk_is_short(const Problem& p, bool sampled) {
  const double leaves = sampled ? leaves_of_walk : std::max(leaves_of_walk, leaves_of_uniform(p));
  const double walk = walk_seconds + seconds_a_neighbour * static_cast<double>(p.k) +
                      seconds_a_leaf * (leaves - leaves_of_walk);
  const double busy = busy_seconds_a_leaf * static_cast<double>(p.m) * leaves;
  return (sampled ? 2 * walk + host_seconds : walk) + busy < seconds_of_all_rows(p);
}

/// Returns how many leaves a query may read if there is no sample.
double leaves_untold(const DeviceInfo& device, const Problem& p) {
  const double share = small_share * leaves_worth(device, p);
  return device.kind == DeviceKind::gpu ? std::min(share, seconds_of_all_rows(p) / seconds_a_leaf) : share;
}

/// Returns the number of queries in a tile: enough to share among threads, but few enough that a step can
/// soon be stopped.
std::int64_t tile_of(const DeviceInfo& device) {
  constexpr std::int64_t queries_of_cpu = 1 << 14, queries_of_gpu = 1 << 20;
  return device.kind == DeviceKind::gpu ? queries_of_gpu : queries_of_cpu;
}

}  // namespace

bool follows_from_gaps(Metric metric) {
  return sums_squares(metric) || metric == Metric::l1 || metric == Metric::linf;
}

std::size_t boxes_bytes(std::int64_t n, std::int64_t dims) {
  const auto rows = static_cast<std::uint32_t>(n);
  const std::size_t row = static_cast<std::size_t>(dims) * spi::box_rows * sizeof(float);
  return (std::size_t{spi::boxes_of_level(rows, 0)} + 2 * spi::box_blocks(rows)) * row +
         static_cast<std::size_t>(n) * sizeof(std::uint32_t);
}

std::int64_t queries_to_count(const DeviceInfo& device, const Problem& problem) {
  // Queries of a batch share what they read. On two cores with AVX2, boxes of 200,000 or a million rows of 2
  // to 16 columns paid after 132 to 675 single queries, this rule makes them after 270 to 350.
  constexpr std::int64_t of_one = 3;
  const bool is_alone = problem.m == 1 && device.profile.host_threads && problem.dims <= most_columns;
  return is_alone ? of_one : problem.m;
}

std::int64_t queries_that_share(const Problem& problem) {
  return static_cast<std::int64_t>(static_cast<double>(problem.n) / spi::box_rows /
                                   leaves_of_uniform(problem));
}

double leaves_worth(const DeviceInfo& device, const Problem& problem) {
  const double leaves = static_cast<double>(problem.n) / spi::box_rows;
  // Break-even: reading one leaf takes as long as scanning `turn` leaves in order. On two cores with a
  // million rows: 0.6 us for 850 leaves with 8 columns (121 leaves per query), 0.43 us for 1000 with 10
  // columns (350), 0.77 us for 273 with 3 columns, most of it before the first of 6 leaves. A GPU busy with
  // 10,000 queries reads a leaf of 8 columns in 0.57 ns, and scans the 32 rows of one in 0.0043 ns with 1 to
  // 16 columns.
  const double turn = device.profile.host_threads      ? 250 / static_cast<double>(problem.dims + 4)
                      : device.kind == DeviceKind::gpu ? busy_seconds_a_leaf / busy_seconds_a_block
                                                       : 200;  // PoCL: 2.2 us for 365 leaves
  if (!device.profile.host_threads) return leaves / turn;
  // A scan has a short list to keep, too, which takes about 0.02 us for each of k log2(n / k) rows, where a
  // leaf takes 0.4 us.
  const double k = static_cast<double>(problem.k), n = static_cast<double>(problem.n);
  return leaves / turn + 0.05 * k * std::log2(std::max(n / k, 2.0));
}

std::optional<BoxesChoice> choose_boxes(const DeviceInfo& device, const Problem& problem,
                                        const SearchOptions& options, const Feedback& feedback,
                                        std::size_t room) {
  if (options.boxes == false) return std::nullopt;
  const double worth = leaves_worth(device, problem);
  if (options.boxes == true) {
    check_asked(device, problem, options);
    return BoxesChoice{std::numeric_limits<std::uint32_t>::max() - 1, 0, tile_of(device)};
  }
  if (names_another_way(options) || !follows_from_gaps(problem.metric) || problem.terms == Terms::pairs ||
      problem.n < fewest_rows_of(device, problem.dims) || problem.dims > most_columns ||
      problem.k > static_cast<std::int64_t>(device.boxes_max_k))
    return std::nullopt;
  if (feedback.boxes_lose_from > 0 && problem.k >= feedback.boxes_lose_from) return std::nullopt;
  const double fewest = 2 + 2 * static_cast<double>(problem.k) / spi::box_rows;
  const double queries = static_cast<double>(queries_to_count(device, problem) + feedback.queries);
  const double to_make = leaves_to_make_a_row(device, problem.dims) * static_cast<double>(problem.n);
  const std::int64_t sampled = std::min(most_sampled, problem.m / queries_a_sampled);
  const double limit = sampled > 0 ? most_of_one * worth : leaves_untold(device, problem);
  if (fewest > (sampled > 0 ? worth : limit)) return std::nullopt;
  if (device.kind == DeviceKind::gpu && !walk_is_short(problem, sampled > 0)) return std::nullopt;
  if (!feedback.boxes_made && queries * worth < to_make) return std::nullopt;
  if (boxes_bytes(problem.n, problem.dims) + making_bytes(device, problem.n) > room) return std::nullopt;
  return BoxesChoice{static_cast<std::int64_t>(limit), sampled, tile_of(device)};
}

}  // namespace kith
