// Tests quantized rows of bytes, and bounds for how far they are from the rows: docs/certificate.md,
// section 2.
#include "common/quantized_rows.hpp"
#include "kith/index.hpp"

namespace kith::tests {
namespace {

/// Returns why the device prepares no quantized rows of bytes; empty when it does.
std::string refusal_of_bytes(const spi::Device& device) {
  const spi::Grid<float> grid{nullptr, 0, 1, 1, 1}, row_terms{nullptr, 0, spi::terms_a_row, 1, 1};
  const spi::RowBlocks rows{nullptr, 0, 1, 1, device.info.train_block};
  return device.check({spi::PrepareStep{Proposer::int8, rows, grid, {grid, row_terms}}}).refusal;
}

/// Holds memory of quantized rows of bytes: canaries, the rows, canaries.
struct Bytes {
  static constexpr std::int8_t canary = -128;  // no quantized row has it
  std::size_t rows, columns;                   // padded
  GuardedMemory<std::int8_t> memory;

  Bytes(spi::Device& device, std::size_t count, std::size_t dims)
      : rows((count + 127) / 128 * 128),
        columns(dims <= 32   ? 32
                : dims <= 64 ? 64
                             : (dims + 127) / 128 * 128),
        memory(device, std::vector<std::int8_t>((rows + 2 * 128) * columns, canary)) {}

  /// Returns where dimension d of row r is stored. The order depends on the back end, not on the kind of
  /// device: OpenCL has CPUs, too.
  std::size_t place_of(const DeviceInfo& device, std::size_t r, std::size_t d) const {
    return 128 * columns + (device.backend == "cpu" ? in_fours(r, d) : in_lines(r, d));
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

/// Returns the byte that represents x - c.
int byte_of(float x, float c, float scale) {
  const float scaled = (x - c) * scale;
  return static_cast<int>(std::nearbyint(std::clamp(scaled, -127.0f, 127.0f)));
}

/// Checks quantized rows: their values, row terms, padding, and the memory around them.
void check_bytes(spi::Device& device, const Matrix& rows, const std::vector<float>& centre,
                 std::uint32_t first, float scale) {
  CAPTURE_ALL(rows.rows, rows.cols, first, scale);
  const GuardedQuantizedRows guarded_rows(device, rows, centre, device.info.train_block, first, rows);
  const Bytes bytes(device, size(rows.rows), size(rows.cols));
  const RowCopy copy(device, rows, first % 2);
  const spi::Grid<float> grid{bytes.memory.memory(), 128, size(rows.rows), size(rows.cols), 0};
  REQUIRE(run_step(device, spi::PrepareStep{Proposer::int8,
                                            guarded_rows.rows.rows(),
                                            guarded_rows.centre.grid(),
                                            {grid, guarded_rows.row_terms.grid()},
                                            scale,
                                            false,
                                            copy.grid()}) == "");
  const std::vector<std::int8_t> now = bytes.memory.read();
  const auto byte = [&](std::size_t r, std::size_t d) { return int{now[bytes.place_of(device.info, r, d)]}; };
  std::size_t wrong = 0, padding = 0, around = 0;
  for (std::size_t r = 0; r < bytes.rows; ++r)
    for (std::size_t d = 0; d < bytes.columns; ++d)
      if (r >= size(rows.rows) || d >= centre.size())
        padding += byte(r, d) != 0;
      else
        wrong += byte(r, d) != byte_of(rows.row(static_cast<std::int64_t>(r))[d], centre[d], scale);
  for (std::size_t i = 0; i < 128 * bytes.columns; ++i)
    around += (now[i] != Bytes::canary) + (now[now.size() - 1 - i] != Bytes::canary);
  CHECK(wrong == 0);
  CHECK(padding == 0);
  CHECK(around == 0);
  check_row_terms(
      guarded_rows, rows, centre, [&](std::size_t r, std::size_t d) { return byte(r, d) / Real{scale}; },
      [](const RowTerms& right) { return (right.norm + right.quantized_norm) * 0x1p-50L; });
  CHECK(copy.is_right());
}

TEST_SUITE_BEGIN("device");

TEST_CASE("prepare: quantized rows of bytes, padded with zeros, and bounds for them that hold and are near") {
  spi::with_device(device(), [](spi::Device& device) {
    const auto& listed = device.info.proposers;
    const std::string refusal = refusal_of_bytes(device);
    if (std::find(listed.begin(), listed.end(), Proposer::int8) != listed.end()) REQUIRE(refusal == "");
    if (!refusal.empty()) return;
    for (const DataKind kind : workloads::all_data_kinds)
      for (const std::int64_t dims : {1, 15, 32, 33, 64, 100, 257, 784}) {
        CAPTURE(std::string(workloads::name(kind)));
        const Matrix rows =
            within_range(hard_rows(kind, Set::train, dims == 64 ? 300 : 33, dims, Metric::l2));
        for (const std::vector<float>& centre : {std::vector<float>(size(dims)), mean_of(rows)}) {
          float largest = 0x1p-50f;  // searches use no larger scale
          for (std::size_t i = 0; i < rows.values.size(); ++i)
            largest = std::max(largest, std::fabs(rows.values[i] - centre[i % size(dims)]));
          check_bytes(device, rows, centre, 3, 127 / largest);
          check_bytes(device, rows, centre, 32, 500 / largest);  // some are beyond 127
        }
      }
  });
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
