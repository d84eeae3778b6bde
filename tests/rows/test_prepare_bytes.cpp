// Tests quantized rows of bytes, and bounds for how far they are from the rows: docs/certificate.md,
// section 2.
#include "common/quantized/quantized_rows.hpp"
#include "kith/index.hpp"

namespace kith::tests {
namespace {

/// Returns why the device prepares no quantized rows of a proposer; empty when it does.
std::string refusal_of(const spi::Device& device, Proposer proposer) {
  const spi::Grid<float> grid{nullptr, 0, 1, 1, 1}, row_terms{nullptr, 0, spi::terms_a_row, 1, 1};
  const spi::RowBlocks rows{nullptr, 0, 1, 1, device.info.train_block};
  return device.check({spi::PrepareStep{proposer, rows, grid, {grid, row_terms}}}).refusal;
}

/// Quantized rows of bytes: canaries, the rows, canaries.
struct Bytes {
  using Element = std::int8_t;
  static constexpr Proposer proposer = Proposer::int8;
  static constexpr Element canary = -128;  // no quantized row has it
  static constexpr float most = 127, unit = 1, beyond = 500;
  std::size_t columns;  // padded

  explicit Bytes(std::size_t dims) : columns(dims <= 32 ? 32 : dims <= 64 ? 64 : (dims + 127) / 128 * 128) {}

  std::size_t bytes_a_row() const { return columns; }
  /// Returns the number of dimension d of row r. The order depends on the back end, not on the kind of
  /// device: OpenCL has CPUs, too.
  int at(const std::vector<Element>& all, const DeviceInfo& device, std::size_t r, std::size_t d) const {
    return all[128 * columns + (device.backend == "cpu" ? in_fours(r, d) : in_lines(r, d))];
  }

 private:
  /// Four dimensions of each of 16 rows lie together, then the next four.
  std::size_t in_fours(std::size_t r, std::size_t d) const {
    return r / 16 * 16 * columns + d / 4 * 64 + r % 16 * 4 + d % 4;
  }
  /// The first 128 dimensions of 128 rows lie together, then the next 128. Within them a row is a line of 128
  /// bytes (64 or 32 if there are fewer dimensions), in pieces of 16 bytes whose order changes with every
  /// row, every second or every fourth.
  std::size_t in_lines(std::size_t r, std::size_t d) const {
    const std::size_t line = std::min<std::size_t>(columns, 128), row = r % 128, piece = d % line / 16;
    const std::size_t turn = line == 128 ? row % 8 : line == 64 ? row / 2 % 4 : row / 4 % 2;
    return r / 128 * 128 * columns + d / line * 128 * line + row * line + (piece ^ turn) * 16 + d % 16;
  }
};

/// Quantized rows of half bytes, by GPUs: lines of 64 bytes for up to 128 dimensions, else of 128.
struct HalfBytes {
  using Element = std::uint8_t;
  static constexpr Proposer proposer = Proposer::int4;
  static constexpr Element canary = 0x88;  // no half byte is -8
  static constexpr float most = 7, unit = 16, beyond = 300;
  std::size_t columns, line;  // padded; bytes of a line

  explicit HalfBytes(std::size_t dims)
      : columns(dims <= 128 ? 128 : (dims + 255) / 256 * 256),
        line(std::min<std::size_t>(columns / 2, 128)) {}

  std::size_t bytes_a_row() const { return columns / 2; }
  /// Returns the half byte of dimension d of row r. A piece of 16 bytes has 32 dimensions: of 16 in 8 bytes,
  /// the first 8 are lower halves.
  int at(const std::vector<Element>& all, const DeviceInfo&, std::size_t r, std::size_t d) const {
    const std::size_t row = r % 128, piece = d % (2 * line) / 32, turn = line == 128 ? row % 8 : row / 2 % 4;
    const std::size_t byte = (r / 128 + 1) * 128 * bytes_a_row() + d / 2 / line * 128 * line + row * line +
                             (piece ^ turn) * 16 + d % 32 / 16 * 8 + d % 8;
    const int half = d % 16 < 8 ? all[byte] & 15 : all[byte] >> 4;
    return half < 8 ? half : half - 16;
  }
};

/// Checks quantized rows: their values, row terms, padding, and the memory around them.
template <class Form>
void check_rows(spi::Device& device, const Matrix& rows, const std::vector<float>& centre,
                std::uint32_t first, float scale) {
  CAPTURE_ALL(rows.rows, rows.cols, first, scale);
  const GuardedQuantizedRows guarded_rows(device, rows, centre, device.info.train_block, first, rows);
  const Form form(size(rows.cols));
  const std::size_t padded = (size(rows.rows) + 127) / 128 * 128, around_rows = 128 * form.bytes_a_row();
  const GuardedMemory<typename Form::Element> memory(
      device,
      std::vector<typename Form::Element>(padded * form.bytes_a_row() + 2 * around_rows, Form::canary));
  const RowCopy copy(device, rows, first % 2);
  const spi::Grid<float> grid{memory.memory(), 128, size(rows.rows), size(rows.cols), 0};
  REQUIRE(run_step(device, spi::PrepareStep{Form::proposer,
                                            guarded_rows.rows.rows(),
                                            guarded_rows.centre.grid(),
                                            {grid, guarded_rows.row_terms.grid()},
                                            scale,
                                            false,
                                            copy.grid()}) == "");
  const auto now = memory.read();
  const auto at = [&](std::size_t r, std::size_t d) { return form.at(now, device.info, r, d); };
  std::size_t wrong = 0, padding = 0, around = 0;
  for (std::size_t r = 0; r < padded; ++r)
    for (std::size_t d = 0; d < form.columns; ++d) {
      if (r >= size(rows.rows) || d >= centre.size()) {
        padding += at(r, d) != 0;
        continue;
      }
      const float scaled = (rows.row(static_cast<std::int64_t>(r))[d] - centre[d]) * (scale / Form::unit);
      wrong += at(r, d) != static_cast<int>(std::nearbyint(std::clamp(scaled, -Form::most, Form::most)));
    }
  for (std::size_t i = 0; i < around_rows; ++i)
    around += (now[i] != Form::canary) + (now[now.size() - 1 - i] != Form::canary);
  CHECK(wrong == 0);
  CHECK(padding == 0);
  CHECK(around == 0);
  check_row_terms(
      guarded_rows, rows, centre,
      [&](std::size_t r, std::size_t d) { return Real{Form::unit} * at(r, d) / Real{scale}; },
      [](const RowTerms& right) { return (right.norm + right.quantized_norm) * 0x1p-50L; });
  CHECK(copy.is_right());
}

template <class Form>
void check_all(std::initializer_list<std::int64_t> columns) {
  spi::with_device(device(), [&](spi::Device& device) {
    const auto& listed = device.info.proposers;
    const std::string refusal = refusal_of(device, Form::proposer);
    if (std::find(listed.begin(), listed.end(), Form::proposer) != listed.end()) REQUIRE(refusal == "");
    if (!refusal.empty()) return;
    for (const DataKind kind : workloads::all_data_kinds)
      for (const std::int64_t dims : columns) {
        CAPTURE(std::string(workloads::name(kind)));
        const Matrix rows =
            within_range(hard_rows(kind, Set::train, dims == 64 ? 300 : 33, dims, Metric::l2));
        for (const std::vector<float>& centre : {std::vector<float>(size(dims)), mean_of(rows)}) {
          float largest = 0x1p-50f;  // searches use no larger scale
          for (std::size_t i = 0; i < rows.values.size(); ++i)
            largest = std::max(largest, std::fabs(rows.values[i] - centre[i % size(dims)]));
          check_rows<Form>(device, rows, centre, 3, Form::most * Form::unit / largest);
          check_rows<Form>(device, rows, centre, 32,
                           Form::beyond / largest);  // some are beyond the largest number
        }
      }
  });
}

TEST_SUITE_BEGIN("device");

TEST_CASE("prepare: quantized rows of bytes, padded with zeros, and bounds for them that hold and are near") {
  check_all<Bytes>({1, 15, 32, 33, 64, 100, 257, 784});
}

TEST_CASE(
    "prepare: quantized rows of half bytes, padded with zeros, and bounds for them that hold and are near") {
  check_all<HalfBytes>({1, 15, 33, 64, 100, 128, 129, 257, 784});
}

TEST_CASE("prepare: a scale for bytes from most of the rows, and one row far from all others") {
  if (const auto& listed = device().info().proposers;
      std::find(listed.begin(), listed.end(), Proposer::int8) == listed.end())
    return;
  const std::int64_t n = 20000, m = 9, dims = 40;
  Matrix train = hard_rows(DataKind::normal, Set::train, n, dims, Metric::l2);
  train.values[7 * size(dims) + 3] = 1e6f;
  const Matrix queries = hard_rows(DataKind::normal, Set::queries, m, dims, Metric::l2);
  const Index index(device(), train);
  Trace trace;
  const Neighbors found = index.search(queries, 5, {.proposer = Proposer::int8}, &trace);
  CHECK(found == index.search(queries, 5, {.proposer = Proposer::none}));
  CHECK(trace.fallbacks == 0);
  CHECK(trace.collected < m * n / 10);
}

TEST_SUITE_END();

}  // namespace
}  // namespace kith::tests
