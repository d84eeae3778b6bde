#include "index_file/rows_sink.hpp"

#include <algorithm>
#include <cfloat>
#include <cmath>
#include <string>
#include <utility>

#include "base/float_guard.hpp"
#include "base/numbers.hpp"
#include "base/text.hpp"
#include "certified/row_sample.hpp"
#include "device/device_set.hpp"
#include "host/parallel.hpp"
#include "kith/error.hpp"
#include "metric/chain.hpp"
#include "rows/prepared/prepared_metric.hpp"
#include "rows/rows.hpp"
#include "search/packed/byte_memory.hpp"
#include "search/packed/half_memory.hpp"
#include "search/packed/packed_store.hpp"
#include "search/stores/resident_store.hpp"

namespace kith {

/// Takes the rows of one device as they are read.
class DeviceRowsSink {
 public:
  ///   rows   number of rows to take
  ///   first  place of the first of these rows in the file
  DeviceRowsSink(const RowSchema& schema, std::int64_t rows, std::int64_t first, const IndexLayout& layout,
                 std::uint64_t offset, std::uint32_t threads)
      : rows_(std::make_shared<ResidentRows>(schema)),
        first_(first),
        threads_(threads),
        element_(layout.info.element),
        cols_(layout.info.features),
        row_bytes_(row_bytes(element_, cols_)),
        block_(schema.device.info().train_block),
        offset_(offset),
        sample_stride_(sample_stride(rows)),
        sample_(schema.dims) {
    rows_->rows = rows;
    const bool packs = !layout.find(groups_section);  // groups are searched together among floats
    const bool bytes = packs && schema.dims == schema.columns && keeps_bytes(schema, rows, 0);
    if (bytes) block_ = spi::quantized_block_rows;
    if (bytes || (packs && keeps_halves(schema, rows, 0))) {  // the file has only the columns that count
      packed_ = packed_memory(schema, rows);
      packed_->claim(0, rows);
    }
    // Memory of 8 MiB is reused; larger blocks are mapped and unmapped each time.
    constexpr std::int64_t most_floats = std::int64_t{1} << 21;
    most_rows_ = std::max<std::int64_t>(1, most_floats / (schema.dims * block_)) * block_;
  }

  /// Takes the next bytes of the rows.
  void take(std::span<const unsigned char> bytes) {
    const FloatGuard guard;  // narrow scope: the caller's progress runs in its own floating-point environment
    const std::size_t block_bytes = size(block_) * size(row_bytes_);
    if (!carry_.empty()) {
      const std::size_t some = std::min(bytes.size(), block_bytes - carry_.size());
      carry(bytes.first(some));
      bytes = bytes.subspan(some);
      if (carry_.size() == block_bytes) land_carry();
    }
    const auto whole = static_cast<std::int64_t>(bytes.size() / block_bytes) * block_;
    for (std::int64_t first = 0; first < whole; first += most_rows_)
      land_rows(bytes.data() + size(first) * size(row_bytes_), std::min(most_rows_, whole - first));
    bytes = bytes.subspan(size(whole) * size(row_bytes_));
    carry(bytes);
  }

  /// Returns the rows, after all were taken.
  std::shared_ptr<const RowStore> end() {
    const FloatGuard guard;
    if (!carry_.empty()) land_carry();
    if (packed_)
      return std::make_shared<const PackedStore>(*rows_, std::move(packed_), rows_->rows, rows_->largest);
    sample_.values(rows_->metric, element_).tell(*rows_);
    return std::make_shared<ResidentStore>(std::move(rows_));
  }

  /// Keeps bytes that do not fill a block yet. It does not use insert(), about which gcc 13 warns.
  void carry(std::span<const unsigned char> bytes) {
    const std::size_t before = carry_.size();
    carry_.resize(before + bytes.size());
    std::copy(bytes.begin(), bytes.end(), carry_.data() + before);
  }

 private:
  /// Returns what take() returns. An error that it throws becomes bad_file.
  template <class Take>
  auto or_refused(const Take& take) const {
    try {
      return take();
    } catch (const Error& error) {
      if (error.code() != Errc::invalid_argument) throw;
      refuse_index_file(offset_, std::string(error.what()));
    }
  }

  void land_carry() {
    land_rows(carry_.data(), static_cast<std::int64_t>(carry_.size()) / row_bytes_);
    carry_.clear();
  }

  void land_rows(const unsigned char* from, std::int64_t count) {
    const bool unit = prepare_of(rows_->metric) == Prepare::unit_rows;
    const RowsView given(from, element_, count, cols_);
    if (packed_) {
      const Landing how{"rows", "training", rows_->metric, {}, first_ + done_};
      rows_->largest = std::max(rows_->largest, or_refused([&] { return packed_->put(done_, given, how); }));
      done_ += count;
      return;
    }
    // The file has unit rows already; dividing them again would change them.
    const PreparedRows rows = checked(given, unit ? Metric::negative_dot : rows_->metric);
    if (unit) check_unit_rows(rows.view);
    if (rows_->box) check_box(rows.view);
    if (rows_->shown.metric == Metric::canberra) check_magnitudes(rows.view);
    rows_->largest = std::max(rows_->largest, rows.largest);
    // Bits are not sampled, since they must not be computed with as floats.
    if (!compares_bits(rows_->metric)) sample_.add(rows.view, done_, sample_stride_);
    upload(rows.view);
    done_ += count;
  }

  PreparedRows checked(const RowsView& given, Metric metric) const {
    return or_refused(
        [&] { return prepare_rows("rows", "training", given, metric, threads_, {}, first_ + done_); });
  }

  /// Checks the norms of unit rows. Those that make_unit_rows() makes are within 2^-22 of 1: each element is
  /// rounded by a relative error of at most 2^-24, and the rest is computed in double precision.
  void check_unit_rows(MatrixView<const float> rows) const {
    std::vector<unsigned char> bad(size(rows.rows()));
    parallel_for(rows.rows(), rows.rows() * rows.cols(), threads_, [&](std::int64_t r) {
      double sum = 0;
      for (std::int64_t d = 0; d < rows.cols(); ++d)
        sum += static_cast<double>(rows(r, d)) * static_cast<double>(rows(r, d));
      bad[size(r)] = !(std::fabs(sum - 1) <= 0x1p-22);
    });
    for (std::int64_t r = 0; r < rows.rows(); ++r)
      if (bad[size(r)])
        refuse_index_file(offset_, "row " + std::to_string(first_ + done_ + r) +
                                       " is no unit row, as those of cosine are; save the index again");
  }

  /// Checks that values are in the periodic box.
  void check_box(MatrixView<const float> rows) const {
    for (std::int64_t r = 0; r < rows.rows(); ++r)
      for (std::int64_t d = 0; d < rows.cols(); ++d) {
        if (rows_->box->holds(d, rows(r, d))) continue;
        refuse_index_file(offset_, "row " + std::to_string(first_ + done_ + r) + " holds " +
                                       text_of(rows(r, d)) + ", outside of the box; save the index again");
      }
  }

  /// Checks that sums of two values do not overflow.
  void check_magnitudes(MatrixView<const float> rows) const {
    const double most = largest_prepared(rows_->shown.metric, FLT_MAX);
    for (std::int64_t r = 0; r < rows.rows(); ++r)
      for (std::int64_t d = 0; d < rows.cols(); ++d)
        if (std::fabs(static_cast<double>(rows(r, d))) > most)
          refuse_index_file(offset_, "row " + std::to_string(first_ + done_ + r) + " holds " +
                                         text_of(rows(r, d)) +
                                         ", beyond half of the largest number; save the index again");
  }

  /// Uploads rows done_, done_ + 1, ... to their places on the device.
  void upload(MatrixView<const float> rows) {
    const std::int64_t chunk_rows = rows_a_chunk(rows_->device.info(), rows_->dims);
    for (std::int64_t first = 0; first < rows.rows();) {
      const std::int64_t here = done_ + first, chunk = here / chunk_rows, begin = chunk * chunk_rows;
      if (chunk == static_cast<std::int64_t>(rows_->chunks.size())) add_chunk(begin, chunk_rows);
      const std::int64_t count = std::min(rows.rows() - first, begin + chunk_rows - here);
      upload_rows(*rows_->device.state(), *memory_, rows.slice(first, count),
                  static_cast<std::uint32_t>(block_), threads_, here - begin);
      first += count;
    }
  }

  void add_chunk(std::int64_t begin, std::int64_t most) {
    const std::int64_t count = std::min(most, rows_->rows - begin);
    const auto memory = std::make_shared<DeviceMemory>(
        rows_->device.state(), packed_bytes(count, rows_->dims, static_cast<std::uint32_t>(block_)));
    memory_ = memory->get();
    rows_->chunks.push_back({{memory, memory_}, begin, count});
  }

  std::shared_ptr<ResidentRows> rows_;
  const std::int64_t first_;
  const std::uint32_t threads_;
  const Element element_;
  const std::int64_t cols_, row_bytes_;
  std::int64_t block_;
  const std::uint64_t offset_;  ///< place of the rows in the file
  const std::int64_t sample_stride_;
  std::int64_t most_rows_ = 0, done_ = 0;
  std::vector<unsigned char> carry_;  ///< an incomplete block of the device
  RowSample sample_;
  std::shared_ptr<PackedMemory> packed_;  ///< memory of rows that stay as they are
  spi::Allocation* memory_ = nullptr;     ///< memory of the last chunk
};

namespace {

/// Returns which member gets which rows; a single device gets all.
SetLayout layout_of_rows(const RowSchema& schema, std::int64_t rows, const OpenOptions& options) {
  if (is_set(schema.device)) return set_layout(schema, options.placement, options.shares, rows);
  return {Placement::split, {1.0}, {{0, rows}}};
}

}  // namespace

RowsSink::RowsSink(const RowSchema& schema, const IndexPart& part, const IndexLayout& layout,
                   std::uint64_t offset, const OpenOptions& options)
    : schema_(schema),
      rows_(part.rows),
      row_bytes_(row_bytes(layout.info.element, layout.info.features)),
      layout_(layout_of_rows(schema, part.rows, options)) {
  for (std::size_t member = 0; member < layout_.rows.size(); ++member) {
    const RowRange places = layout_.rows[member];
    if (places.count == 0) continue;
    parts_.push_back({member, places, nullptr});
    sinks_.push_back(std::make_unique<DeviceRowsSink>(
        is_set(schema.device) ? schema_of_member(schema, member) : schema, places.count,
        part.first + places.first, layout, offset, options.threads));
  }
}

RowsSink::~RowsSink() = default;

void RowsSink::take(std::span<const unsigned char> bytes) {
  const auto here = static_cast<std::int64_t>(bytes.size());
  for (std::size_t i = 0; i < parts_.size(); ++i) {
    const std::int64_t begin = std::max(taken_, parts_[i].places.first * row_bytes_),
                       end = std::min(taken_ + here,
                                      (parts_[i].places.first + parts_[i].places.count) * row_bytes_);
    if (begin < end) sinks_[i]->take(bytes.subspan(size(begin - taken_), size(end - begin)));
  }
  taken_ += here;
}

std::shared_ptr<const RowStore> RowsSink::end() {
  for (std::size_t i = 0; i < parts_.size(); ++i) parts_[i].rows = sinks_[i]->end();
  if (!is_set(schema_.device)) return parts_.front().rows;
  return std::make_shared<SetStore>(schema_, std::move(layout_), std::move(parts_), rows_);
}

}  // namespace kith
