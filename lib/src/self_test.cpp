#include "self_test.hpp"

#include <algorithm>
#include <cstdio>
#include <exception>
#include <memory>
#include <vector>

#include "chain.hpp"
#include "kith/key.hpp"
#include "plan_rules.hpp"

namespace kith {
namespace {

constexpr std::uint32_t n = 61, m = 5, dims = 7, k = 9, groups = 3;
constexpr std::size_t pairs = std::size_t{m} * n, keys = std::size_t{m} * k, width = std::size_t{groups} * k;
constexpr Metric metric = Metric::squared_l2;

/// Rows that go wrong in the usual ways: squares that are subnormal, sums that a multiply followed
/// by an add rounds differently, overflow, ties. No two of those ways in one row.
std::vector<float> hard_rows(std::uint32_t rows, std::uint32_t salt) {
  std::vector<float> values(static_cast<std::size_t>(rows) * dims);
  std::uint32_t state = 12345u + salt;
  for (std::size_t i = 0; i < values.size(); ++i) {
    state = state * 1664525u + 1013904223u;
    const float unit = static_cast<float>(state >> 8) * 0x1p-24f;
    switch (i / dims % 5) {
      case 0:
        values[i] = unit;
        break;  // fma against mul and add
      case 1:
        values[i] = unit * 0x1p-70f;
        break;  // subnormal squares
      case 2:
        values[i] = static_cast<float>(state >> 30);
        break;  // ties
      case 3:
        values[i] = 1.0e4f + unit;
        break;  // cancellation
      default:
        values[i] = i % 2 ? 3.0e20f : -unit;
        break;  // overflow to infinity
    }
  }
  return values;
}

std::vector<float> pack(const std::vector<float>& rows, std::uint32_t count, std::uint32_t block) {
  const std::size_t padded = (count + block - 1) / block * static_cast<std::size_t>(block);
  std::vector<float> packed(padded * dims);
  for (std::size_t r = 0; r < count; ++r)
    for (std::size_t d = 0; d < dims; ++d)
      packed[((r / block) * dims + d) * block + r % block] = rows[r * dims + d];
  return packed;
}

/// A block of device memory with values in it.
template <class T>
std::unique_ptr<spi::Allocation> put(spi::Device& device, const std::vector<T>& values) {
  auto memory = device.allocate(values.size() * sizeof(T));
  device.write(*memory, 0, values.data(), values.size() * sizeof(T));
  return memory;
}

/// Run one step with its scratch, and read `count` elements of what it wrote.
template <class T, class Work>
std::vector<T> result_of(spi::Device& device, Work work, spi::Allocation& out, std::size_t count) {
  const spi::Support support = device.check({work});
  if (!support.refusal.empty()) throw std::runtime_error(support.refusal);
  std::unique_ptr<spi::Allocation> scratch;
  if constexpr (requires { work.scratch; }) {
    if (support.scratch_bytes) scratch = device.allocate(support.scratch_bytes);
    work.scratch = {scratch.get(), support.scratch_bytes};
  }
  device.enqueue({work});
  std::vector<T> values(count);
  device.read(out, 0, values.data(), count * sizeof(T));
  return values;
}

std::string bits(float value) {
  char text[48];
  std::snprintf(text, sizeof text, "%.9g (0x%08x)", static_cast<double>(value),
                std::bit_cast<std::uint32_t>(value));
  return text;
}

struct Reference {
  std::vector<float> queries = hard_rows(m, 7), train = hard_rows(n, 0);
  std::vector<float> values;  ///< [m, n]
  std::vector<Key> lists;     ///< [m, groups, k]
  std::vector<Key> nearest;   ///< [m, k]

  Reference() {
    const std::uint32_t part = (n + groups - 1) / groups;
    for (std::uint32_t q = 0; q < m; ++q) {
      std::vector<Key> all;
      for (std::uint32_t t = 0; t < n; ++t) {
        const std::span<const float> query(queries.data() + std::size_t{q} * dims, dims),
            row(train.data() + std::size_t{t} * dims, dims);
        values.push_back(chain(metric, query, row));
        all.push_back(make_key(values.back(), t));
      }
      for (std::uint32_t g = 0; g < groups; ++g) {
        std::vector<Key> list(all.begin() + std::min(n, g * part), all.begin() + std::min(n, (g + 1) * part));
        std::sort(list.begin(), list.end());
        list.resize(k, no_key);
        lists.insert(lists.end(), list.begin(), list.end());
      }
      std::sort(all.begin(), all.end());
      nearest.insert(nearest.end(), all.begin(), all.begin() + k);
    }
  }
};

std::string compare(const Reference& reference, const std::vector<float>& values) {
  for (std::size_t i = 0; i < values.size(); ++i)
    if (std::bit_cast<std::uint32_t>(values[i]) != std::bit_cast<std::uint32_t>(reference.values[i]))
      return "distance of test query " + std::to_string(i / n) + " and row " + std::to_string(i % n) +
             " came out as " + bits(values[i]) + " instead of " + bits(reference.values[i]);
  return {};
}

std::string run_steps(spi::Device& device) {
  const Reference reference;
  const DeviceInfo& info = device.info;
  const auto queries = put(device, pack(reference.queries, m, info.query_block));
  const auto train = put(device, pack(reference.train, n, info.train_block));
  const spi::RowBlocks query_rows{queries.get(), 0, m, dims, info.query_block};
  const spi::RowBlocks train_rows{train.get(), 0, n, dims, info.train_block};
  const auto values = put(device, std::vector<float>(pairs));
  const auto lists = put(device, std::vector<Key>(m * width));
  const auto nearest = put(device, std::vector<Key>(keys));
  const spi::Grid<float> value_grid{values.get(), 0, m, n, n};
  const spi::Grid<Key> list_grid{lists.get(), 0, m, width, width}, nearest_grid{nearest.get(), 0, m, k, k};

  std::string why = compare(
      reference, result_of<float>(device, spi::DistanceStep{metric, query_rows, train_rows, value_grid},
                                  *values, pairs));
  if (!why.empty()) return why;

  PlanOptions unfused;
  unfused.fused = false;
  const Selector selector = make_plan(info, {metric, n, m, dims, k}, unfused).selector;
  const auto selected = result_of<Key>(
      device, spi::SelectStep{selector, value_grid, 0, k, groups, list_grid, {}}, *lists, m * width);
  if (selected != reference.lists)
    return "selector " + std::string(name(selector)) + " selected other rows in a test";
  const auto merged =
      result_of<Key>(device, spi::MergeStep{groups, k, list_grid, nearest_grid, {}}, *nearest, keys);
  if (merged != reference.nearest) return "merge returned other rows in a test";
  if (info.fused_max_k < k) return {};
  const auto fused =
      result_of<Key>(device, spi::NearestStep{metric, query_rows, train_rows, 0, k, groups, list_grid, {}},
                     *lists, m * width);
  if (fused != reference.lists) return "the fused search returned other rows in a test";
  return {};
}

}  // namespace

std::string self_test(spi::Device& device) {
  try {
    return run_steps(device);
  } catch (const std::exception& error) {
    return std::string("the self-test could not run: ") + error.what();
  } catch (...) {
    return "the self-test ended with an unknown exception";
  }
}

}  // namespace kith
