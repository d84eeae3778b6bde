// Pairs that a filter excludes: mask marks them, and no later step returns them. docs/contract.md, section 3.
#include "common/device.hpp"
#include "common/oracle.hpp"
#include "kith/unstable/stages.hpp"
#include "workloads/random.hpp"

namespace kith::tests {
namespace {

const float masked = std::bit_cast<float>(0x7FFFFFFFu);
constexpr Key masked_code = 0xFFFFFFFFu;

bool is_masked(float value) {
  return std::bit_cast<std::uint32_t>(value) == 0x7FFFFFFFu;
}

/// Returns the filter's words of 32 bits for rows 0 .. rows - 1.
std::vector<std::uint32_t> words_of(const std::vector<bool>& counts) {
  std::vector<std::uint32_t> words((counts.size() + 31) / 32);
  for (std::size_t t = 0; t < counts.size(); ++t)
    if (counts[t]) words[t / 32] += 1u << t % 32;
  return words;
}

/// Returns whether row t counts, by patterns that matter for words: all, none, one, all but one, half,
/// whole words.
bool counts_in(int pattern, std::size_t t, workloads::Random& random) {
  switch (pattern) {
    case 0:
      return true;
    case 1:
      return false;
    case 2:
      return t == 77;
    case 3:
      return t != 77;
    case 4:
      return random.one_in(2);
    default:
      return t / 32 % 3 == 1 || (t / 32 % 3 == 2 && random.one_in(5));
  }
}
constexpr int filter_patterns = 6;

/// Runs one mask step between canaries, with one filter for all queries or one per query.
void check_mask(spi::Device& device, std::size_t m, std::size_t n, std::uint32_t first_row, bool each) {
  CAPTURE_ALL(m, n, first_row, each);
  workloads::Random random(m + n + first_row);
  const std::size_t filters = each ? m : 1, rows = first_row + n;
  std::vector<std::vector<bool>> counts(filters, std::vector<bool>(rows));
  std::vector<std::uint32_t> bits_of_all;
  for (std::size_t f = 0; f < filters; ++f) {
    for (std::size_t t = 0; t < rows; ++t)
      counts[f][t] = counts_in(static_cast<int>((f + n + first_row) % filter_patterns), t, random);
    const std::vector<std::uint32_t> words = words_of(counts[f]);
    bits_of_all.insert(bits_of_all.end(), words.begin(), words.end());
  }
  std::vector<float> values(m * n);
  for (float& value : values) value = random.one_in(9) ? inf : workloads::normal(random.next());
  std::vector<float> expected = values;
  for (std::size_t i = 0; i < expected.size(); ++i)
    if (!counts[each ? i / n : 0][first_row + i % n]) expected[i] = masked;

  const std::size_t words = (rows + 31) / 32;
  const GuardedGrid<std::uint32_t> filter(device, filters, words, 0, bits_of_all);
  const GuardedGrid<float> distances(device, m, n, -7.0f, values);
  REQUIRE(run_step(device, spi::MaskStep{filter.grid(), first_row, distances.grid()}) == "");
  CHECK(difference(distances.inside(), expected) == "");
  CHECK(distances.canaries_live());
  CHECK(filter.unchanged());

  const GuardedGrid<float> from(device, m, n, -7.0f, values), copy(device, m, n, 3.0f);
  REQUIRE(run_step(device, spi::MaskStep{filter.grid(), first_row, copy.grid(), from.grid()}) == "");
  CHECK(difference(copy.inside(), expected) == "");
  CHECK(copy.canaries_live());
  CHECK(from.unchanged());
}

TEST_SUITE_BEGIN("device");

TEST_CASE("mask: strikes out what does not count, and nothing else") {
  const Matrix distances = matrix(3, {1, 2, 3, /**/ 4, inf, -0.0f});
  const auto mask = [&](std::vector<std::uint32_t> words) {
    const auto filters = static_cast<std::int64_t>(words.size());
    return stages::mask(device(), distances, {words.data(), filters, 1});
  };
  CHECK(difference(mask({0b101}), {1, masked, 3, /**/ 4, masked, -0.0f}) == "");
  CHECK(difference(mask({0b010, 0b101}), {masked, 2, masked, /**/ 4, masked, -0.0f}) == "");
  CHECK(difference(mask({0, 0b111}), {masked, masked, masked, /**/ 4, inf, -0.0f}) == "");
  CHECK(difference(mask({0xFFFFFFFFu}), distances.values) == "");
}

TEST_CASE("mask: any rectangle of any tile, a filter for all or one a query") {
  spi::with_device(device(), [](spi::Device& device) {
    for (const std::size_t n : {1u, 31u, 32u, 33u, 100u, 1030u})
      for (const std::uint32_t first_row : {0u, 1u, 31u, 32u, 70u, 3217u})
        for (const std::size_t m : {1u, 3u})
          for (const bool each : {false, true}) check_mask(device, m, n, first_row, each);
    // A row takes several pieces.
    for (const std::uint32_t first_row : {0u, 21u, 8191u}) check_mask(device, 2, 16500, first_row, true);
    check_mask(device, 0, 40, 3, false);
    check_mask(device, 700, 5, 90, true);
  });
}

// ---- How selectors treat masked values -----------------------------------------------------------------

/// Returns random values, some of them masked.
std::vector<float> some_masked(int pattern, std::size_t m, std::size_t n, std::size_t k, std::uint64_t seed) {
  workloads::Random random(seed);
  std::vector<float> values(m * n);
  for (std::size_t i = 0; i < values.size(); ++i) {
    const std::size_t q = i / n, t = i % n;
    values[i] = random.one_in(3) ? static_cast<float>(random.below(5)) : workloads::normal(random.next());
    bool out = false;
    switch ((static_cast<std::size_t>(pattern) + q) % 9) {
      case 0:
        break;  // masks none
      case 1:
        out = t == n / 3;
        break;  // masks one
      case 2:
        out = t + k - 1 < n;
        break;  // masks all but the last k - 1
      case 3:
        out = t + 1 < n;
        break;  // masks all but the last
      case 4:
        out = t > 0;
        break;  // masks all but the first
      case 5:
        out = true;
        break;
      case 6:  // +infinity is an ordinary value, which may be masked too
        values[i] = inf;
        out = !random.one_in(4);
        break;
      case 7:
        out = t < n / 2;
        values[i] = random.one_in(2) ? inf : values[i];
        break;
      default:
        out = !random.one_in(9);
        break;
    }
    if (out) values[i] = masked;
  }
  return values;
}
constexpr int select_patterns = 9;

/// Returns keys of the values that are not masked, ascending, then "no key".
std::vector<Key> selected_of_rest(const std::vector<float>& values, std::size_t n, std::size_t k,
                                  std::size_t parts, std::uint32_t first_row) {
  std::vector<Key> lists;
  const std::size_t width = (n + parts - 1) / parts;
  for (std::size_t row = 0; row < values.size(); row += n)
    for (std::size_t g = 0; g < parts; ++g) {
      std::vector<Candidate> list;
      for (std::size_t t = std::min(n, g * width); t < std::min(n, (g + 1) * width); ++t)
        if (!is_masked(values[row + t]))
          list.emplace_back(values[row + t], first_row + static_cast<std::uint32_t>(t));
      std::sort(list.begin(), list.end(), nearer);
      for (std::size_t j = 0; j < k; ++j) lists.push_back(j < list.size() ? key(list[j]) : no_key);
    }
  return lists;
}

/// Replaces keys of masked pairs by "no key", which means the same.
std::vector<Key> without_masked(std::vector<Key> keys) {
  for (Key& key : keys)
    if (key >> 32 == masked_code) key = no_key;
  return keys;
}

/// Runs one select step between canaries; the cells around the input would win. Returns false if the
/// device refuses it.
bool check_select(spi::Device& device, Selector selector, int pattern, std::size_t n, std::uint32_t k,
                  std::uint32_t parts) {
  CAPTURE_ALL(name(selector), pattern, n, k, parts);
  constexpr std::uint32_t first_row = 40;
  const std::vector<float> values = some_masked(pattern, 2, n, k, n + k + parts);
  const GuardedGrid<float> in(device, 2, n, -inf, values);
  const GuardedGrid<Key> out(device, 2, size(parts) * k, 0xCAFECAFECAFECAFEull);
  const std::string refusal =
      run_step(device, spi::SelectStep{selector, in.grid(), first_row, k, parts, out.grid(), {}});
  if (!refusal.empty()) return false;
  const std::vector<Key> keys = out.inside();
  CHECK(difference(without_masked(keys), selected_of_rest(values, n, k, parts, first_row)) == "");
  for (std::size_t j = 1; j < keys.size(); ++j)
    if (j % k != 0) CHECK(keys[j - 1] <= keys[j]);
  CHECK(out.canaries_live());
  CHECK(in.unchanged());
  return true;
}

TEST_CASE("mask: every selector finds what counts among pairs that do not") {
  spi::with_device(device(), [](spi::Device& device) {
    for (const Selector selector : device.info.selectors) {
      int ran = 0;
      const std::size_t n = 333;
      for (int pattern = 0; pattern < select_patterns; ++pattern)
        for (const std::uint32_t k : {1u, 8u, 33u, 100u, 333u})
          for (const std::uint32_t parts : {1u, 3u}) {
            if (pattern % 2 == 1 && (k == 8 || k == 100))
              continue;  // the pattern before covers the same rows
            ran += check_select(device, selector, pattern, n, k, parts);
          }
      // Selectors that read many values at a time need several rounds here.
      for (const int pattern : {1, 2, 3, 5, 6, 8})
        ran += check_select(device, selector, pattern, 4500, 33, 1);
      ran += check_select(device, selector, 8, 20, 20, 16);
      CAPTURE(std::string(name(selector)));
      CHECK(ran >= 50);
    }
  });
}

TEST_CASE("mask: no masked pair is within any radius") {
  spi::with_device(device(), [](spi::Device& device) {
    constexpr std::size_t m = 11, n = 2100;
    std::vector<float> values = some_masked(0, m, n, 5, 8), threshold(m, inf);
    threshold[8] = 0.5f;
    threshold[10] = -inf;
    const GuardedGrid<float> in(device, m, n, -inf, values), bounds(device, m, 1, inf, threshold);
    const GuardedGrid<std::uint32_t> rows(device, m, n, 0xCAFECAFEu);
    const GuardedGrid<std::uint32_t> counts(device, m, 1, 0xCAFECAFEu, std::vector<std::uint32_t>(m));
    REQUIRE(run_step(device, spi::CollectStep{Proposer::none,
                                              Metric::l1,
                                              {},
                                              {},
                                              in.grid(),
                                              bounds.grid(),
                                              70,
                                              {rows.grid(), counts.grid()},
                                              {}}) == "");
    const std::vector<std::uint32_t> found = counts.inside(), lists = rows.inside();
    for (std::size_t q = 0; q < m; ++q) {
      CAPTURE(q);
      std::vector<std::uint32_t> expected;
      for (std::uint32_t t = 0; t < n; ++t)
        if (!is_masked(values[q * n + t]) && values[q * n + t] <= threshold[q]) expected.push_back(70 + t);
      REQUIRE(found[q] == expected.size());
      const auto list = lists.begin() + static_cast<std::ptrdiff_t>(q * n);
      std::vector<std::uint32_t> listed(list, list + static_cast<std::ptrdiff_t>(found[q]));
      std::sort(listed.begin(), listed.end());
      CHECK(difference(listed, expected) == "");
    }
  });
}

TEST_CASE("mask: a masked k-th best is no bound") {
  // Only one of the best so far counts. Any new candidate is nearer than the masked ones.
  const Key out = masked_code << 32 | 7u;
  const stages::KeyLists best{1, 1, 3, {key({2, 4}), out, out + 1}};
  const stages::Candidates candidates{1, 2, {2}, {8, 9}};
  const auto joined =
      stages::tighten(device(), candidates, std::vector<Key>{key({inf, 8}), key({1, 9})}, best);
  CHECK(joined.best.keys == std::vector<Key>{key({1, 9}), key({2, 4}), key({inf, 8})});
  const stages::Candidates empty{1, 1, {0}, {no_row}};
  CHECK(difference(stages::tighten(device(), empty, std::vector<Key>{no_key}, best).threshold, {inf}) == "");
}

TEST_CASE("mask: select takes what mask made, and no other NaN") {
  const Matrix distances = matrix(4, {3, 1, inf, 2});
  const std::vector<std::uint32_t> words{0b1101};
  const std::vector<float> rest = stages::mask(device(), distances, {words.data(), 1, 1});
  const auto lists = stages::select(device(), {rest.data(), 1, 4}, 4);
  CHECK(without_masked(lists.keys) == std::vector<Key>{key({2, 3}), key({3, 0}), key({inf, 2}), no_key});
  const auto found = stages::collect(device(), {rest.data(), 1, 4}, std::vector<float>{inf}, 4);
  CHECK(found == stages::Candidates{1, 4, {3}, {0, 2, 3, no_row}});
  for (const std::uint32_t other : {0x7FC00000u, 0xFFFFFFFFu, 0x7F800001u}) {
    const Matrix nan = matrix(2, {1, std::bit_cast<float>(other)});
    CHECK(error_of([&] { stages::select(device(), nan, 1); }) ==
          "invalid_argument: select: row 0, column 1 holds NaN; every value must be a number");
  }
}

TEST_CASE("mask: refuses filters of another shape") {
  const Matrix distances{2, 33, std::vector<float>(66, 1.0f)};
  const std::vector<std::uint32_t> words(12, 0xFFFFFFFFu);
  const auto refusal = [&](std::int64_t filters, std::int64_t columns) {
    return error_of([&] { stages::mask(device(), distances, {words.data(), filters, columns}); });
  };
  CHECK(refusal(3, 2) == "invalid_argument: mask: 3 filters for 2 rows; give one, or one a row");
  CHECK(refusal(1, 1) ==
        "invalid_argument: mask: a filter of 1 words for 33 columns; give 2, 32 columns a word");
  CHECK(refusal(2, 3) ==
        "invalid_argument: mask: a filter of 3 words for 33 columns; give 2, 32 columns a word");
  CHECK(refusal(2, 2) == "nothing was thrown");
  CHECK(stages::mask(device(), Matrix{0, 33, {}}, {words.data(), 1, 2}).empty());
}

TEST_SUITE_END();

}  // namespace
}  // namespace kith::tests
