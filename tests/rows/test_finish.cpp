// Tests the step finish, which makes distances of keys, drops rows from lists and replaces places by numbers:
// docs/contract.md, section 3.
#include "common/device.hpp"
#include "common/elements.hpp"
#include "common/oracle.hpp"

namespace kith::tests {
namespace {

constexpr float not_written = 77.0f;
constexpr std::uint32_t rows = 5000;  ///< rows in keys are below it; `places` maps them to larger ones

/// Returns lists of different lengths: query q has `width` - q % 4 keys, then masked ones.
std::vector<Key> lists(std::size_t q_count, std::size_t width) {
  std::vector<Key> keys;
  std::uint32_t state = 1;
  for (std::size_t q = 0; q < q_count; ++q)
    for (std::size_t j = 0; j < width; ++j) {
      state = state * 1664525u + 1013904223u;
      const bool none = j + q % 4 >= width;
      keys.push_back(none ? (j % 2 == 0 ? no_key : Key{no_value} << 32 | 7)
                          : make_key(static_cast<float>(j), state % rows));
    }
  return keys;
}

/// Returns what spi::FinishStep promises of a list.
std::vector<Key> left_of(const std::vector<Key>& list, const std::vector<std::uint32_t>& places,
                         std::int64_t own, std::size_t k) {
  std::vector<Key> left;
  for (const Key key : list) {
    if (key >> 32 == no_value) break;
    const std::uint32_t place = places.empty() ? row_of(key) : places[row_of(key)];
    if (place != own) left.push_back(key >> 32 << 32 | place);
  }
  left.resize(k, no_key);
  return left;
}

struct Case {
  std::size_t k, width;
  bool has_places, has_numbers, leaves_own;
};

void check_case(const Case& of) {
  constexpr std::size_t q_count = 23;
  const std::vector<Key> keys = lists(q_count, of.width);
  std::vector<std::uint32_t> places(of.has_places ? rows : 0);
  for (std::uint32_t i = 0; i < places.size(); ++i) places[i] = 3 * i + 2;
  std::vector<std::int64_t> numbers(of.has_numbers ? 3 * rows : 0);
  for (std::size_t i = 0; i < numbers.size(); ++i)
    numbers[i] = (std::int64_t{1} << 40) + static_cast<std::int64_t>(i) * 5;
  // Each query's own row is one that its list contains, or none.
  const auto place_of = [&](Key key) { return places.empty() ? row_of(key) : places[row_of(key)]; };
  spi::with_device(device(), [&](spi::Device& on) {
    for (std::size_t asked = 0; asked < (of.leaves_own ? q_count : 1); asked += 5) {
      const Key at = keys[asked * of.width + asked % (of.width > 4 ? of.width - 4 : 1)];
      const std::int64_t own = of.leaves_own && at != no_key && at >> 32 != no_value
                                   ? std::int64_t{place_of(at)} - static_cast<std::int64_t>(asked)
                                   : -1;
      const GuardedGrid<Key> in(on, q_count, of.width, make_key(-1, 1), keys);
      const GuardedGrid<float> distance(on, q_count, of.k, not_written);
      const GuardedGrid<std::int64_t> found(on, q_count, of.k, 77);
      const GuardedMemory<std::uint32_t> by_row(on, places.empty() ? std::vector<std::uint32_t>{0} : places);
      const GuardedMemory<std::int64_t> by_place(on,
                                                 numbers.empty() ? std::vector<std::int64_t>{0} : numbers);
      spi::FinishStep step{Metric::l1, in.grid(), distance.grid(), found.grid()};
      if (of.has_places) step.places = {by_row.memory(), 0, 1, places.size(), places.size()};
      if (of.has_numbers) step.numbers = {by_place.memory(), 0, 1, numbers.size(), numbers.size()};
      step.own = own < 0 ? -1 : own;
      if (!run_step(on, step).empty()) return;
      std::vector<float> right;
      std::vector<std::int64_t> right_rows;
      for (std::size_t q = 0; q < q_count; ++q) {
        const auto begin = keys.begin() + static_cast<std::ptrdiff_t>(q * of.width);
        const std::int64_t leaves = own < 0 ? -1 : own + static_cast<std::int64_t>(q);
        const std::vector<Key> list(begin, begin + static_cast<std::ptrdiff_t>(of.width));
        for (const Key key : left_of(list, places, leaves, of.k)) {
          right.push_back(value_of(key));
          right_rows.push_back(key == no_key ? -1 : numbers.empty() ? row_of(key) : numbers[row_of(key)]);
        }
      }
      CHECK(bits(distance.inside()) == bits(right));
      CHECK(found.inside() == right_rows);
      check_canaries(distance, found);
      check_unchanged(in, by_row, by_place);
    }
  });
}

/// Returns values whose roots are nearly halfway between two floats, and others.
std::vector<float> hard_squares() {
  std::vector<float> values = {0, denormal, 3 * denormal, flt_min, 1, 2, 3, 4, 0x1.fffffep+1f, flt_max, inf};
  for (const int odd : {0, 1})
    for (std::uint32_t fraction = 0; fraction < 1u << 23; ++fraction) {
      const double p = std::ldexp(static_cast<double>(fraction | 1u << 23), 23 + odd);
      const double part = std::sqrt(p) - std::floor(std::sqrt(p));
      if (std::fabs(part - 0.5) > 2e-5) continue;
      for (const int exponent : {-146, -106, -46, 6})  // even, so the roots stay nearly halfway
        values.push_back(static_cast<float>(std::ldexp(p, exponent)));
    }
  return values;
}

TEST_SUITE_BEGIN("device");

TEST_CASE("finish: a row leaves the list of the query that it is, and rows get their numbers") {
  for (const std::size_t k : {1u, 4u, 17u, 300u})
    for (const std::size_t more : {0u, 1u, 3u})
      for (int way = 0; way < 8; ++way) {
        CAPTURE_ALL(k, more, way);
        check_case({k, k + more, (way & 1) != 0, (way & 2) != 0, (way & 4) != 0});
      }
}

TEST_CASE("finish: a list that is shorter than the answer ends in none") {
  for (const std::size_t width : {1u, 5u, 260u}) check_case({width + 40, width, true, true, true});
}

TEST_CASE("finish: distances and rows are those of the host, roots to the last bit") {
  std::vector<float> values = hard_squares();
  CHECK(values.size() > 1000);
  std::uint64_t state = 9;
  for (int i = 0; i < 20000; ++i) {
    state = state * 6364136223846793005u + 1442695040888963407u;
    values.push_back(
        std::bit_cast<float>(static_cast<std::uint32_t>(state >> 33) % std::bit_cast<std::uint32_t>(inf)));
  }
  constexpr std::size_t k = 7, width = 9;
  values.resize(values.size() / k * k);
  const std::size_t q = values.size() / k;
  for (const Metric metric : all_metrics) {
    CAPTURE(std::string(name(metric)));
    const bool negative = may_be_negative(metric);
    std::vector<Key> keys(q * width, make_key(5, 5));
    std::vector<float> distance;
    std::vector<std::int64_t> numbers;
    for (std::size_t i = 0; i < values.size(); ++i) {
      const float value = negative && i % 3 == 0 ? -values[i] : values[i];
      const auto row = static_cast<std::uint32_t>(i * 2654435761u % no_row);
      Key key = make_key(value, row);
      if (i % 50 == 49) key = i % 100 == 49 ? no_key : Key{no_value} << 32 | row;
      keys[i / k * width + i % k] = key;
      const float raw = i % 50 == 49 ? inf : value + 0.0f;
      distance.push_back(metric == Metric::l2 ? std::sqrt(raw) : metric == Metric::cosine ? raw / 2 : raw);
      numbers.push_back(i % 50 == 49 ? -1 : std::int64_t{row});
    }
    spi::with_device(device(), [&](spi::Device& on) {
      const GuardedGrid<Key> in(on, q, width, make_key(-1, 1), keys);
      const GuardedGrid<float> out(on, q, k, not_written);
      const GuardedGrid<std::int64_t> found(on, q, k, 77);
      const std::string refusal = run_step(on, spi::FinishStep{metric, in.grid(), out.grid(), found.grid()});
      if (!refusal.empty()) return;
      CHECK(bits(out.inside()) == bits(distance));
      CHECK(found.inside() == numbers);
      check_canaries(out, found);
      check_unchanged(in);
    });
  }
}

TEST_SUITE_END();

}  // namespace
}  // namespace kith::tests
