// finish: turns keys into the distances and row numbers that the caller gets.
#include <algorithm>
#include <vector>

#include "cpu/steps/steps.hpp"
#include "host/parallel.hpp"
#include "metric/chain.hpp"

namespace kith::cpu {
namespace {

/// Selects the keys of the answers of query q.
///   kept  [k]  out
void keep(const spi::FinishStep& step, std::size_t q, std::vector<Key>& kept) {
  const Key* const list = elements(step.keys) + q * step.keys.stride;
  const std::uint32_t* const places = step.places.cols > 0 ? elements(step.places) : nullptr;
  const std::int64_t own = step.own < 0 ? -1 : step.own + static_cast<std::int64_t>(q);
  std::size_t count = 0;
  for (std::size_t j = 0; j < step.keys.cols && count < kept.size(); ++j) {
    const auto value = static_cast<std::uint32_t>(list[j] >> 32);
    const std::uint32_t row = row_of(list[j]);
    const std::uint32_t place = value == no_value || !places ? row : places[row];
    if (value == no_value)
      kept[count++] = no_key;
    else if (place != own)
      kept[count++] = Key{value} << 32 | place;
  }
  std::fill(kept.begin() + static_cast<std::ptrdiff_t>(count), kept.end(), no_key);
}

}  // namespace

spi::Support check(const spi::FinishStep&, const Resources&) {
  return {};
}

void run(const spi::FinishStep& step, const Resources& with) {
  const std::size_t k = step.distance.cols;
  const std::int64_t* const numbers = step.numbers.cols > 0 ? elements(step.numbers) : nullptr;
  std::vector<std::vector<Key>> kept(with.team, std::vector<Key>(k));
  run_team(step.distance.rows, step.distance.rows * k, with.team, [&](std::size_t q, std::size_t thread) {
    keep(step, q, kept[thread]);
    std::int64_t* const rows = elements(step.rows) + q * step.rows.stride;
    finish(ShownBy(step.metric), kept[thread], elements(step.distance) + q * step.distance.stride, rows);
    for (std::size_t j = 0; numbers && j < k; ++j)
      if (rows[j] >= 0) rows[j] = numbers[rows[j]];
  });
}

}  // namespace kith::cpu
