// Tests the step land, and an Index whose rows were landed: docs/contract.md, section 3.
#include "common/device.hpp"
#include "common/elements.hpp"
#include "common/oracle.hpp"
#include "kith/index.hpp"

namespace kith::tests {
namespace {

constexpr std::uint32_t infinity_bits = 0x7F800000u, magnitude_bits = 0x7FFFFFFFu;
constexpr float canary = 77.0f;

/// Describes what a step lands, and where.
struct Landing {
  RowsView rows;
  std::vector<std::uint32_t> columns;  ///< empty: all
  std::uint32_t block = 1, blocks_before = 0, first_row = 0;
  std::vector<std::uint32_t> chosen = {};  ///< rows; empty: all
  spi::FloatGrid grid = {};

  std::uint32_t dims() const {
    const std::int64_t words = (rows.cols + 31) / 32;
    if (!columns.empty()) return static_cast<std::uint32_t>(columns.size());
    return static_cast<std::uint32_t>(rows.element == Element::bits ? words : rows.cols);
  }
  std::size_t block_floats() const { return std::size_t{block} * dims(); }
  std::size_t count() const { return chosen.empty() ? size(rows.rows) : chosen.size(); }
  std::size_t blocks() const { return (count() + block - 1) / block; }
};

/// Holds the blocks that a step wrote, and what it found.
struct Landed {
  std::vector<float> blocks;
  std::uint32_t largest = 0, bad = no_row, off = 0;
};

/// Runs the step. Returns why the device refuses, or an empty string if it ran.
std::string land(const Landing& what, Landed& got) {
  std::string refusal;
  spi::with_device(device(), [&](spi::Device& on) {
    const RowsView& rows = what.rows;
    const auto* const bytes = static_cast<const unsigned char*>(rows.data);
    const std::size_t end = size(rows.offset_bytes + rows.rows * rows.stride_bytes);
    const GuardedMemory<unsigned char> raw(on, std::vector<unsigned char>(bytes, bytes + end));
    const GuardedMemory<std::uint32_t> columns(
        on, what.columns.empty() ? std::vector<std::uint32_t>{0} : what.columns);
    const std::size_t before = what.blocks_before * what.block_floats(),
                      inside = what.blocks() * what.block_floats();
    const GuardedMemory<float> out(on, std::vector<float>(before + inside + what.block_floats(), canary));
    const GuardedMemory<std::uint32_t> found(on, {5, 0, no_row, 0, 5});
    const std::size_t chosen = what.columns.size();
    const auto count = static_cast<std::uint32_t>(what.count());
    const GuardedMemory<std::uint32_t> numbers(
        on, what.chosen.empty() ? std::vector<std::uint32_t>{0} : what.chosen);
    refusal = run_step(
        on, spi::LandStep{{raw.memory(), rows.element, size(rows.offset_bytes), size(rows.stride_bytes),
                           count, static_cast<std::uint32_t>(rows.cols)},
                          {columns.memory(), 0, 1, chosen, chosen},
                          {out.memory(), what.blocks_before * what.block, count, what.dims(), what.block},
                          {found.memory(), 1, 1, spi::land_findings, spi::land_findings},
                          what.first_row,
                          {numbers.memory(), 0, 1, what.chosen.size(), what.chosen.size()},
                          what.grid});
    if (!refusal.empty()) return;
    check_unchanged(raw, columns, numbers);
    const std::vector<float> all = out.read();
    const auto first = all.begin() + static_cast<std::ptrdiff_t>(before),
               last = first + static_cast<std::ptrdiff_t>(inside);
    const bool others_stay = std::all_of(all.begin(), first, [](float v) { return v == canary; }) &&
                             std::all_of(last, all.end(), [](float v) { return v == canary; });
    CHECK(others_stay);
    const std::vector<std::uint32_t> seen = found.read();
    CHECK(seen[0] == 5);
    CHECK(seen[4] == 5);
    got = {{first, last}, seen[1], seen[2], seen[3]};
  });
  return refusal;
}

/// Returns a value of a row as it is landed.
float landed_value(const RowsView& rows, std::int64_t r, std::uint32_t d) {
  if (rows.element != Element::bits) return value_in(rows, r, d);
  std::uint32_t word = 0;
  for (std::int64_t c = d * 32; c < std::min<std::int64_t>(rows.cols, d * 32 + 32); ++c)
    if (bit_of(rows.row(r), c)) word |= 0x80u >> c % 8 << c % 32 / 8 * 8;
  return std::bit_cast<float>(word);
}

/// Returns whether a value is off the grid, if there is one: it is none of its 256 points, which are floats.
bool is_off(const spi::FloatGrid& grid, float value) {
  for (int i = spi::least_on_grid; i <= spi::most_on_grid; ++i)
    if (grid.centre + static_cast<float>(i) * grid.step == value) return false;
  return grid.step != 0;
}

/// Computes what the step must write, from docs/contract.md.
Landed expected(const Landing& what) {
  Landed right{std::vector<float>(what.blocks() * what.block_floats(), 0.0f)};
  const std::uint32_t dims = what.dims(), block = what.block;
  for (std::size_t to = 0; to < what.count(); ++to)
    for (std::uint32_t d = 0; d < dims; ++d) {
      const std::int64_t r = what.chosen.empty() ? static_cast<std::int64_t>(to) : what.chosen[to];
      const float value = landed_value(what.rows, r, what.columns.empty() ? d : what.columns[d]);
      const std::size_t at = (to / block * dims + d) * block + to % block;
      right.blocks[at] = value;
      const std::uint32_t magnitude = std::bit_cast<std::uint32_t>(value) & magnitude_bits;
      if (what.rows.element == Element::bits) continue;
      right.largest = std::max(right.largest, magnitude);
      if (is_off(what.grid, value)) right.off = 1;
      if (magnitude >= infinity_bits)
        right.bad = std::min(right.bad, what.first_row + static_cast<std::uint32_t>(r));
    }
  return right;
}

/// Checks the step's results. Returns false if the device lacks the step.
bool check_landing(const Landing& what) {
  Landed got;
  const std::string refusal = land(what, got);
  if (!refusal.empty()) {
    CHECK(refusal == "it takes no memory of callers");
    return false;
  }
  const Landed right = expected(what);
  CHECK(bits(got.blocks) == bits(right.blocks));
  CHECK(got.largest == right.largest);
  CHECK(got.bad == right.bad);
  CHECK(got.off == right.off);
  return true;
}

std::vector<std::uint32_t> blocks_of_device() {
  const DeviceInfo& info = device().info();
  if (info.train_block == info.query_block) return {info.train_block};
  return {info.train_block, info.query_block};
}

/// Returns numbers of each element, small ones and large ones.
Stored stored_numbers(Element element, std::int64_t rows, std::int64_t cols, std::int64_t gap,
                      std::int64_t offset) {
  if (element == Element::bits) return random_bits(rows, cols, 11, gap);
  Stored stored(element, rows, cols, gap, offset);
  std::uint64_t state = 3;
  for (std::int64_t r = 0; r < rows; ++r)
    for (std::int64_t d = 0; d < cols; ++d) {
      state = state * 6364136223846793005u + 1442695040888963407u;
      const auto pattern = static_cast<std::uint32_t>(state >> 32);
      if (element_bytes(element) == 1) stored.put_pattern(r, d, static_cast<std::uint8_t>(pattern));
      if (element == Element::f16) stored.put_pattern(r, d, static_cast<std::uint16_t>(pattern & 0xFBFFu));
      if (element == Element::bf16) stored.put_pattern(r, d, static_cast<std::uint16_t>(pattern & 0xFF7Fu));
      if (element == Element::f32) stored.put_pattern(r, d, pattern & 0xFF7FFFFFu);
    }
  return stored;
}

TEST_SUITE_BEGIN("device");

TEST_CASE("land: all 65,536 values of f16 and of bf16 are the float32 that they equal") {
  for (const Element element : {Element::f16, Element::bf16}) {
    CAPTURE(std::string(name(element)));
    const auto value_of = element == Element::f16 ? value_of_f16 : value_of_bf16;
    constexpr std::int64_t cols = 64, rows = 1024;
    Stored stored(element, rows, cols);
    std::vector<float> values;
    for (std::uint32_t p = 0; p < 0x10000u; ++p) {
      stored.put_pattern(p / cols, p % cols, static_cast<std::uint16_t>(p));
      values.push_back(value_of(static_cast<std::uint16_t>(p)));
    }
    for (const std::uint32_t block : blocks_of_device()) {
      Landed got;
      if (!land({stored.view(), {}, block, 0, 0}, got).empty()) return;
      std::size_t wrong = 0;
      for (std::size_t p = 0; p < values.size(); ++p) {
        const float is = got.blocks[(p / cols / block * cols + p % cols) * block + p / cols % block];
        const bool same = std::isnan(values[p])
                              ? std::isnan(is)
                              : std::bit_cast<std::uint32_t>(is) == std::bit_cast<std::uint32_t>(values[p]);
        wrong += same ? 0 : 1;
      }
      CHECK(wrong == 0);
      const std::uint32_t first_infinity = element == Element::f16 ? 0x7C00u : 0x7F80u;
      CHECK(got.bad == first_infinity / cols);
    }
  }
}

TEST_CASE("land: every element, with gaps at odd addresses, in blocks and the ends of blocks") {
  for (const Element element : all_elements)
    for (const std::uint32_t block : blocks_of_device())
      for (const std::int64_t rows : {1, 31, 32, 33, 131})
        for (const std::int64_t cols : {1, 2, 3, 4, 7, 33, 300})
          for (const std::int64_t odd : {0, 4, 3}) {
            if (odd != 0 && cols == 300) continue;
            CAPTURE_ALL(name(element), block, rows, cols, odd);
            const Stored stored = stored_numbers(element, rows, cols, odd, odd);
            if (!check_landing({stored.view(), {}, block, odd == 3 ? 2u : 0u, 1000})) return;
          }
}

TEST_CASE("land: columns that are chosen; the others may hold anything") {
  for (const Element element : number_elements)
    for (const std::uint32_t block : blocks_of_device()) {
      Stored stored = stored_numbers(element, 40, 50, 1, 1);
      if (element == Element::f32) stored.put_pattern(3, 10, 0x7FC00000u);
      if (!check_landing({stored.view(), {0, 3, 4, 11, 12, 13, 49}, block, 0, 0})) return;
    }
}

TEST_CASE("land: the first row with a NaN or an infinity is found, wherever it stands") {
  for (const std::uint32_t block : blocks_of_device())
    for (const std::int64_t cols : {1, 2, 3, 6, 41})
      for (const std::int64_t row : {0, 1, 15, 16, 18, 31, 32, 33, 65})
        for (const std::int64_t column : {0, 1, 2, 31, 32, 40}) {
          if (column >= cols) continue;
          Stored stored = stored_numbers(Element::f32, 67, cols, 0, 0);
          stored.put_pattern(row, column, 0xFF800000u);
          stored.put_pattern(66, cols - 1, 0x7FC00001u);
          CAPTURE_ALL(cols, row, column);
          if (!check_landing({stored.view(), {}, block, 1, 7})) return;
        }
}

TEST_CASE("land: what is found joins what was found before") {
  Stored stored = stored_numbers(Element::u8, 3, 3, 0, 0);
  spi::with_device(device(), [&](spi::Device& on) {
    const std::uint32_t block = on.info.train_block;
    const GuardedMemory<unsigned char> raw(on, std::vector<unsigned char>(stored.row(0), stored.row(0) + 9));
    const GuardedMemory<float> out(on, std::vector<float>(std::size_t{3} * block, canary));
    const std::vector<std::uint32_t> before = {std::bit_cast<std::uint32_t>(300.0f), 2, 1};
    const GuardedMemory<std::uint32_t> found(on, before);
    const spi::LandStep step{{raw.memory(), Element::u8, 0, 3, 3, 3},
                             {},
                             {out.memory(), 0, 3, 3, block},
                             {found.memory(), 0, 1, spi::land_findings, spi::land_findings},
                             0,
                             {},
                             {128, 1, 1}};
    if (run_step(on, step).empty()) CHECK(found.read() == before);
  });
}

TEST_CASE("land: one value off a grid is found, wherever it stands, and none where all are on it") {
  const spi::FloatGrid signs = {0, 1, 1}, far = {1000, 0.25f, 4}, bytes = {128, 1, 1};
  for (const std::uint32_t block : blocks_of_device())
    for (const spi::FloatGrid& grid : {signs, far, bytes})
      for (const std::int64_t cols : {1, 3, 6, 41}) {
        Stored stored(Element::f32, 67, cols);
        const auto put = [&](std::int64_t r, std::int64_t c, float value) {
          stored.put_pattern(r, c, std::bit_cast<std::uint32_t>(value));
        };
        const auto point = [&](std::int64_t i) {
          return grid.centre + static_cast<float>(i % 256 - 128) * grid.step;
        };
        for (std::int64_t i = 0; i < 67 * cols; ++i) put(i / cols, i % cols, point(i * 37));
        CAPTURE_ALL(block, grid.centre, cols);
        if (!check_landing({stored.view(), {}, block, 1, 7, {}, grid})) return;
        for (const std::int64_t r : {0, 15, 32, 66})
          for (const float off : {point(127) + grid.step, point(0) - grid.step, point(0) + grid.step / 2,
                                  denormal, -denormal, flt_max, inf, std::nanf("")}) {
            put(r, cols - 1, off);
            CAPTURE_ALL(r, off);
            check_landing({stored.view(), {}, block, 0, 0, {}, grid});
            if (cols > 1)
              check_landing({stored.view(), {0}, block, 0, 0, {}, grid});  // the others do not count
            check_landing({stored.view(), {}, block, 0, 0, {1, 32, 33}, grid});
            put(r, cols - 1, point(3));
          }
      }
}

TEST_CASE("land: bytes and halves are compared to a grid as the floats that they are") {
  const spi::FloatGrid bytes = {128, 1, 1}, signs = {0, 1, 1};
  for (const Element element : {Element::u8, Element::i8, Element::f16, Element::bf16})
    for (const spi::FloatGrid& grid : {bytes, signs}) {
      const Stored stored = stored_numbers(element, 67, 35, 1, 1);
      if (!check_landing({stored.view(), {}, blocks_of_device()[0], 1, 7, {}, grid})) return;
    }
}

TEST_CASE("land: rows that are chosen stand in the order in which they are named") {
  for (const Element element : {Element::f32, Element::f16, Element::u8, Element::bits})
    for (const std::uint32_t block : blocks_of_device()) {
      Stored stored = stored_numbers(element, 70, 37, 3, 1);
      if (element == Element::f32) stored.put_pattern(50, 3, 0x7F800000u);
      Landing what{stored.view(), {}, block, 1, 1000};
      for (std::uint32_t i = 0; i < 45; ++i) what.chosen.push_back((i * 37 + 11) % 70);
      what.chosen.push_back(50);
      check_landing(what);
      if (element == Element::bits) continue;
      what.columns = {1, 5, 36};
      check_landing(what);
    }
}

TEST_CASE("land: a NaN or infinity at every place is named as the host names it") {
  constexpr std::int64_t rows = 35, cols = 34;
  for (std::int64_t r = 0; r < rows; ++r)
    for (std::int64_t d = 0; d < cols; d += r % 7 == 0 ? 1 : 5) {
      Stored stored = stored_numbers(Element::f32, rows, cols, 0, 0);
      const bool is_nan = (r + d) % 2 == 0;
      stored.put_pattern(r, d, is_nan ? 0xFFC01234u : 0x7F800000u);
      stored.put_pattern(rows - 1, cols - 1, 0x7F800000u);
      const bool last = r == rows - 1 && d == cols - 1;
      const std::string right = "invalid_argument: index: training row " + std::to_string(r) + ", column " +
                                std::to_string(d) + " holds " + (is_nan && !last ? "NaN" : "an infinity") +
                                "; make every value finite, or leave the row out";
      const std::string said = error_of([&] { Index(device(), stored.view(), Metric::l1); });
      if (said != right) CHECK(said == right);
    }
  const Index index(device(), matrix(3, {1, 2, 3}), Metric::l1, {.features = {0, 2}});
  CHECK(error_of([&] {
          index.with(matrix(3, {1, inf, 2, 1, 1, -inf}));
        }) ==
        "invalid_argument: index: added row 1, column 2 holds an infinity; make every value finite, or leave "
        "the row out");
}

TEST_CASE("land: an Index of landed rows answers as one that the host made") {
  const Device cpu = open_device("cpu");
  for (const Element element : all_elements)
    for (const Metric metric : {Metric::squared_l2, Metric::l1, Metric::cosine, Metric::hamming}) {
      if ((element == Element::bits) != (metric == Metric::hamming)) continue;
      const Matrix numbers = hard_rows(DataKind::integers, Set::train, 300, 40, Metric::squared_l2);
      Matrix positive = numbers;
      for (float& value : positive.values) value = 1 + std::fabs(std::fmod(value, 100.0f));
      const Stored train =
          element == Element::bits ? random_bits(300, 40, 5, 1) : Stored(positive, element, 3, 1);
      const RowsView queries = train.view().slice(20, 15);
      CAPTURE_ALL(name(element), name(metric));
      const std::vector<std::int64_t> none, some = {0, 5, 7, 39};
      for (const auto& features : {none, some}) {
        if (element == Element::bits && !features.empty()) continue;
        const IndexOptions options{.features = features};
        const Index here(device(), train.view(), metric, options), there(cpu, train.view(), metric, options);
        CHECK(here.search(queries, 5) == there.search(queries, 5));
        const Index grown = here.with(train.view().slice(0, 33)),
                    known = there.with(train.view().slice(0, 33));
        CHECK(grown.search(queries, 5) == known.search(queries, 5));
        CHECK(grown.compact().search(queries, 3) == known.search(queries, 3));
      }
    }
}

TEST_CASE("land: rows of more than 32 MiB are all there, and a NaN behind these is named") {
  const std::int64_t rows = 70001, cols = 128;
  Matrix train = hard_rows(DataKind::integers, Set::train, rows, cols, Metric::squared_l2);
  const Matrix queries = hard_rows(DataKind::integers, Set::queries, 3, cols, Metric::squared_l2);
  CHECK(Index(device(), train, Metric::squared_l2).search(queries, 9) ==
        neighbors(Metric::squared_l2, queries, train, 9));
  train.values[size(rows - 2) * size(cols) + 5] = std::nanf("");
  CHECK(error_of([&] { Index(device(), train, Metric::squared_l2); }) ==
        "invalid_argument: index: training row 69999, column 5 holds NaN; make every value finite, or leave "
        "the row out");
}

TEST_SUITE_END();

}  // namespace
}  // namespace kith::tests
