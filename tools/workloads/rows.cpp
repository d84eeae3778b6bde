#include "rows.hpp"

#include <algorithm>
#include <bit>
#include <thread>

#include "kith/error.hpp"
#include "random.hpp"

namespace kith::workloads {
namespace {

struct NamedKind {
  DataKind kind;
  std::string_view name;
};
constexpr NamedKind kind_names[] = {
    {DataKind::uniform, "uniform"},   {DataKind::normal, "normal"},       {DataKind::grid, "grid"},
    {DataKind::equal, "equal"},       {DataKind::offset, "offset"},       {DataKind::clusters, "clusters"},
    {DataKind::outliers, "outliers"}, {DataKind::subnormal, "subnormal"}, {DataKind::huge, "huge"},
    {DataKind::integers, "integers"},
};

constexpr std::uint64_t cluster_count = 16;

/// The numbers a row is made from: its own, and those it shares with other rows.
struct Source {
  std::uint64_t own;     ///< series of this row's elements
  std::uint64_t shared;  ///< series common to both sets
  std::uint64_t row;     ///< 64 bits of the row itself
};

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
  }
  return 0.0f;
}

/// Run body(first, count) over shares of `rows`, on all cores where that pays.
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
  std::string list;
  for (const NamedKind& named : kind_names) list += (list.empty() ? "" : ", ") + std::string(named.name);
  return list;
}

DataKind parse_data_kind(std::string_view text) {
  for (const NamedKind& named : kind_names)
    if (named.name == text) return named.kind;
  throw Error(Errc::invalid_argument, "data: there is no kind of data called \"" + std::string(text) +
                                          "\"; choose one of " + data_kind_names());
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
    const Source source{row, shared, one_row ? 0 : row >> 8};
    float* values = out.row(r);
    for (std::int64_t d = 0; d < out.cols(); ++d)
      values[d] = element(kind, source, static_cast<std::uint64_t>(d));
  }
}

Rows make_rows(DataKind kind, std::uint64_t seed, Set set, std::int64_t rows, std::int64_t dims,
               Metric metric) {
  Rows made(rows, dims);
  in_parallel(rows, dims, [&](std::int64_t first, std::int64_t count) {
    fill_rows(kind, seed, set, first, {made.row(first), count, dims});
    if (metric != Metric::cosine) return;
    for (std::int64_t r = first; r < first + count; ++r) {
      float* row = made.row(r);
      if (std::all_of(row, row + dims, [](float x) { return x == 0.0f; })) row[0] = 1.0f;
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
