#include "workloads/rows.hpp"

#include <algorithm>
#include <bit>
#include <iterator>
#include <thread>

#include "files/named.hpp"
#include "workloads/random.hpp"

namespace kith::workloads {
namespace {

struct NamedKind {
  DataKind kind;
  std::string_view name;
};
constexpr NamedKind kind_names[] = {
    {DataKind::uniform, "uniform"},
    {DataKind::normal, "normal"},
    {DataKind::grid, "grid"},
    {DataKind::equal, "equal"},
    {DataKind::offset, "offset"},
    {DataKind::clusters, "clusters"},
    {DataKind::outliers, "outliers"},
    {DataKind::subnormal, "subnormal"},
    {DataKind::huge, "huge"},
    {DataKind::integers, "integers"},
    {DataKind::near_duplicates, "near-duplicates"},
    {DataKind::aligned, "aligned"},
    {DataKind::crowd, "crowd"},
    {DataKind::descending, "descending"},
    {DataKind::one_huge, "one-huge"},
    {DataKind::decades, "decades"},
    {DataKind::integers_2048, "integers-2048"},
    {DataKind::integers_16777216, "integers-16777216"},
    {DataKind::byte_grid, "byte-grid"},
};

constexpr std::uint64_t cluster_count = 16;

/// Holds the numbers that a row is made from: its own, and those it shares with other rows.
struct Source {
  std::uint64_t own;     ///< series of this row's elements
  std::uint64_t shared;  ///< series common to both sets
  std::uint64_t row;     ///< 64 bits of the row itself
  Set set;
  std::int64_t number;  ///< number of the row in its set
};

/// Returns an element of a row that differs from others by so little that the bounds of a proposer, or the
/// rounding of a chain, do not tell them apart.
float nearly_duplicate(const Source& source, std::uint64_t bits, std::uint64_t d) {
  constexpr float steps[] = {0, 0x1p-23f, 0x1p-14f, 0x1p-11f, 0x1p-8f};
  const std::uint64_t like = source.shared + (source.row % 4) * 0x20003u;
  return normal(random_bits(like, d)) * (1.0f + steps[(source.row >> 8) % 5] * uniform(bits));
}

/// Returns an element of a row that is smaller than earlier ones. Queries are smaller than all rows, so later
/// rows are nearer.
float descending(const Source& source, std::uint64_t bits) {
  if (source.set == Set::queries) return 0x1p-10f * normal(bits);
  return normal(bits) * (64.0f / (64.0f + static_cast<float>(source.number)));
}

/// Returns an element on a grid of bytes; many are 0, as in images. In a row that is off the grid, some
/// columns lie a third of a step beside it.
float on_byte_grid(const Source& source, std::uint64_t bits) {
  constexpr float steps[] = {1.0f, 1.0f, 1.0f, 0x1p-8f, 0x1p5f, 1.0f / 255, 0.1f, 3.0f};
  constexpr int starts[] = {0, 0, -128, -255, 1000};
  const auto j = static_cast<int>(bits % 4 == 0 ? 0 : bits >> 56);
  const int start = starts[source.shared / 8 % std::size(starts)];
  const bool beside = source.row % 97 == 0 && bits % 16 == 1;
  return steps[source.shared % std::size(steps)] * (static_cast<float>(start + j) + (beside ? 0.33f : 0.0f));
}

float element(DataKind kind, const Source& source, std::uint64_t d) {
  const std::uint64_t bits = random_bits(source.own, d);
  switch (kind) {
    case DataKind::uniform:
      return uniform(bits);
    case DataKind::normal:
      return normal(bits);
    case DataKind::grid: {
      constexpr float values[] = {-1.0f, -0.0f, 0.0f, 1.0f};
      return values[bits >> 62];
    }
    case DataKind::equal: {
      const bool differs = source.row % 8 == 7;  // one row in eight of the queries
      return differs ? normal(bits) : normal(random_bits(source.shared, d));
    }
    case DataKind::offset:
      return 10000.0f + normal(bits);
    case DataKind::clusters: {
      const std::uint64_t center = source.shared + (source.row % cluster_count) * 0x10001u;
      return 100.0f * normal(random_bits(center, d)) + 0x1p-10f * normal(bits);
    }
    case DataKind::outliers:
      return source.row % 100 == 0 ? 1000.0f * normal(bits) : normal(bits);
    case DataKind::subnormal: {
      if (source.row % 2 == 0) return 1e-20f * normal(bits);  // the squares are subnormal
      const auto sign = static_cast<std::uint32_t>(bits & 1) << 31;
      return std::bit_cast<float>(sign | static_cast<std::uint32_t>(bits >> 43));  // below 2^-128
    }
    case DataKind::huge: {
      if (source.row % 4 == 0) return 1e18f * normal(bits);  // the squares just fit
      return (bits % 16 == 0 ? 1e37f : 1e30f) * normal(bits);
    }
    case DataKind::integers:
      return static_cast<float>((bits >> 32) % 219);
    case DataKind::near_duplicates:
      return nearly_duplicate(source, bits, d);
    case DataKind::aligned: {
      const float length = 1.0f + uniform(scramble(source.row));
      return random_bits(source.shared, d) % 2 == 0 ? length : -length;
    }
    case DataKind::crowd: {
      const bool inside = source.row % (source.set == Set::train ? 2 : 16) == 0;
      if (!inside) return normal(bits);
      return normal(random_bits(source.shared, d)) * (1.0f + 0x1p-14f * uniform(bits));
    }
    case DataKind::descending:
      return descending(source, bits);
    case DataKind::one_huge:
      return source.set == Set::train && source.number == 3 ? 1e12f * normal(bits) : normal(bits);
    case DataKind::decades: {
      constexpr float tens[] = {1e-6f, 1e-5f, 1e-4f, 1e-3f, 1e-2f, 1e-1f, 1e0f,
                                1e1f,  1e2f,  1e3f,  1e4f,  1e5f,  1e6f};
      return tens[source.row % std::size(tens)] * normal(bits);
    }
    case DataKind::integers_2048:
      return static_cast<float>(2044 + (bits >> 32) % 9);
    case DataKind::integers_16777216:
      return static_cast<float>((1 << 24) - 8 + 2 * ((bits >> 32) % 9));
    case DataKind::byte_grid:
      return on_byte_grid(source, bits);
  }
  return 0.0f;
}

/// Runs body(first, count) over shares of `rows`, on all cores if that pays.
template <class Body>
void in_parallel(std::int64_t rows, std::int64_t dims, const Body& body) {
  const std::int64_t cores = std::max(1u, std::thread::hardware_concurrency());
  const std::int64_t threads = std::clamp<std::int64_t>(rows * dims / 100000, 1, cores);
  const std::int64_t share = (rows + threads - 1) / threads;
  std::vector<std::thread> team;
  for (std::int64_t first = share; first < rows; first += share)
    team.emplace_back([&body, first, count = std::min(share, rows - first)] { body(first, count); });
  body(0, std::min(share, rows));
  for (std::thread& thread : team) thread.join();
}

}  // namespace

std::string_view name(DataKind kind) {
  for (const NamedKind& named : kind_names)
    if (named.kind == kind) return named.name;
  return "?";
}

std::string data_kind_names() {
  return files::joined(kind_names, ", ", &NamedKind::name);
}

DataKind parse_data_kind(std::string_view text) {
  return files::find_named(kind_names, text, &NamedKind::name, "data: there is no kind of data").kind;
}

Rows::Rows(std::int64_t rows, std::int64_t dims)
    : values_(std::make_unique_for_overwrite<float[]>(static_cast<std::size_t>(rows * dims))),
      rows_(rows),
      dims_(dims) {}

void fill_rows(DataKind kind, std::uint64_t seed, Set set, std::int64_t first, MatrixView<float> out) {
  const bool one_row = kind == DataKind::equal && set == Set::train;
  const std::uint64_t shared = scramble(seed);
  const std::uint64_t series = random_bits(shared, set == Set::train ? 1 : 2);
  for (std::int64_t r = 0; r < out.rows(); ++r) {
    const std::uint64_t row = random_bits(series, static_cast<std::uint64_t>(first + r));
    const Source source{row, shared, one_row ? 0 : row >> 8, set, first + r};
    float* values = out.row(r);
    for (std::int64_t d = 0; d < out.cols(); ++d)
      values[d] = element(kind, source, static_cast<std::uint64_t>(d));
  }
}

namespace {

/// Returns a power of two that multiplies all rows of a set for cosine. It makes them much shorter or longer,
/// and changes no bit of their unit rows.
float length_for_cosine(DataKind kind, std::uint64_t seed, Set set) {
  constexpr float lengths[] = {1.0f, 0x1p-4f, 0x1p-20f, 0x1p14f};
  const bool wide = kind == DataKind::subnormal || kind == DataKind::huge || kind == DataKind::one_huge ||
                    kind == DataKind::decades;  // these have numbers of all sizes already
  return wide ? 1.0f : lengths[random_bits(scramble(seed), set == Set::train ? 5 : 6) % 4];
}

}  // namespace

Rows make_rows(DataKind kind, std::uint64_t seed, Set set, std::int64_t rows, std::int64_t dims,
               Metric metric) {
  Rows made(rows, dims);
  const float length = length_for_cosine(kind, seed, set);
  in_parallel(rows, dims, [&](std::int64_t first, std::int64_t count) {
    fill_rows(kind, seed, set, first, {made.row(first), count, dims});
    if (metric != Metric::cosine) return;
    for (std::int64_t r = first; r < first + count; ++r) {
      float* row = made.row(r);
      if (std::all_of(row, row + dims, [](float x) { return x == 0.0f; })) row[0] = 1.0f;
      std::transform(row, row + dims, row, [&](float x) { return x * length; });
    }
  });
  return made;
}

bool admits(Metric metric, DataKind kind) {
  return metric != Metric::negative_dot || kind != DataKind::huge;
}

std::vector<std::int64_t> make_labels(std::uint64_t seed, std::int64_t n, std::int64_t classes) {
  const std::uint64_t series = random_bits(scramble(seed), 3);
  std::vector<std::int64_t> labels(static_cast<std::size_t>(classes > 0 ? n : 0));
  for (std::size_t t = 0; t < labels.size(); ++t) {
    const std::uint64_t c = random_bits(series, t) % static_cast<std::uint64_t>(classes);
    labels[t] = static_cast<std::int64_t>(c * c + 3 * c);
  }
  return labels;
}

}  // namespace kith::workloads
