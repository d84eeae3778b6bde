#include "index_file/rows_sink.hpp"

#include <algorithm>
#include <cmath>
#include <string>
#include <utility>

#include "base/float_guard.hpp"
#include "base/numbers.hpp"
#include "certified/row_sample.hpp"
#include "device/device_set.hpp"
#include "host/parallel.hpp"
#include "kith/error.hpp"
#include "metric/chain.hpp"
#include "rows/rows.hpp"
#include "search/bytes/byte_rows.hpp"
#include "search/bytes/byte_windows.hpp"
#include "search/halves/half_rows.hpp"
#include "search/halves/half_windows.hpp"

namespace kith {

/// Rows of one device, as they come.
class PartSink {
 public:
  ///   first  place of its first row among all of the file
  PartSink(Index::State& index, std::int64_t first, const IndexLayout& layout, std::uint64_t offset,
           std::uint32_t threads)
      : index_(index),
        first_(first),
        threads_(threads),
        element_(layout.info.element),
        cols_(layout.info.features),
        row_bytes_(row_bytes(element_, cols_)),
        block_(index.device.info().train_block),
        offset_(offset),
        sample_stride_(sample_stride(index.rows)),
        sample_(index.dims) {
    if (index.dims == index.columns && keeps_bytes(index, 0)) {  // of chosen columns the file has no others
      bytes_ = std::make_shared<ByteStore>(index, index.rows);
      bytes_->claim(0, index.rows);
      block_ = spi::quantized_block_rows;
    } else if (keeps_halves(index, 0)) {
      halves_ = std::make_shared<HalfStore>(index, index.rows);
      halves_->claim(0, index.rows);
    }
    // Memory of 8 MiB is used again; larger pieces come from the system and go back to it each time.
    constexpr std::int64_t most_floats = std::int64_t{1} << 21;
    most_rows_ = std::max<std::int64_t>(1, most_floats / (index.dims * block_)) * block_;
  }

  /// The next bytes of the rows.
  void take(std::span<const unsigned char> bytes) {
    const FloatGuard guard;  // not around all: the caller's progress runs in an environment of its own
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

  /// What proposers need of the rows, once all are there.
  void end() {
    const FloatGuard guard;
    if (!carry_.empty()) land_carry();
    if (bytes_) {
      index_.parted =
          std::make_shared<const ByteRows>(index_, std::move(bytes_), index_.rows, index_.largest);
      return;
    }
    if (halves_) {
      index_.parted =
          std::make_shared<const HalfRows>(index_, std::move(halves_), index_.rows, index_.largest);
      return;
    }
    sample_.values(index_.metric, element_).tell(index_);
  }

  /// Keep what is no whole block yet. (gcc 13 warns of what insert() does.)
  void carry(std::span<const unsigned char> bytes) {
    const std::size_t before = carry_.size();
    carry_.resize(before + bytes.size());
    std::copy(bytes.begin(), bytes.end(), carry_.data() + before);
  }

 private:
  void land_carry() {
    land_rows(carry_.data(), static_cast<std::int64_t>(carry_.size()) / row_bytes_);
    carry_.clear();
  }

  void land_rows(const unsigned char* from, std::int64_t count) {
    const bool unit = prepare_of(index_.metric) == Prepare::unit_rows;
    const RowsView given(from, element_, count, cols_);
    if (bytes_ || halves_) {
      index_.largest = std::max(index_.largest, bytes_ ? put_bytes(given) : put_halves(given));
      done_ += count;
      return;
    }
    // Unit rows are there already; dividing them once more would change them.
    const PreparedRows rows = checked(given, unit ? Metric::negative_dot : index_.metric);
    if (unit) check_unit_rows(rows.view);
    index_.largest = std::max(index_.largest, rows.largest);
    // Of bits none: no arithmetic of floats may see them.
    if (!compares_bits(index_.metric)) sample_.add(rows.view, done_, sample_stride_);
    upload(rows.view);
    done_ += count;
  }

  /// What take() returns. What it refuses is the file's.
  template <class Take>
  auto or_refused(const Take& take) const {
    try {
      return take();
    } catch (const Error& error) {
      if (error.code() != Errc::invalid_argument) throw;
      refuse_index_file(offset_, std::string(error.what()));
    }
  }

  /// The next rows where they stay as they are. Returns max |element|.
  float put_bytes(const RowsView& given) {
    const std::vector<std::int64_t> as_they_come;
    return put_in_bytes(*bytes_, index_, done_, {"training", given, as_they_come});
  }
  float put_halves(const RowsView& given) {
    return or_refused([&] {
      return put_in_halves(*halves_, index_.device, done_, given,
                           {"rows", "training", index_.metric, {}, first_ + done_});
    });
  }

  PreparedRows checked(const RowsView& given, Metric metric) const {
    return or_refused(
        [&] { return prepare_rows("rows", "training", given, metric, threads_, {}, first_ + done_); });
  }

  /// What make_unit_rows() makes has a norm within 2^-22 of 1: each element is rounded by at most a part of
  /// 2^-24, and the rest of the arithmetic is in double precision.
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

  /// Rows done_, done_ + 1, ... to where they lie on the device.
  void upload(MatrixView<const float> rows) {
    const std::int64_t chunk_rows = rows_a_chunk(index_.device.info(), index_.dims);
    for (std::int64_t first = 0; first < rows.rows();) {
      const std::int64_t here = done_ + first, chunk = here / chunk_rows, begin = chunk * chunk_rows;
      if (chunk == static_cast<std::int64_t>(index_.chunks.size())) add_chunk(begin, chunk_rows);
      const std::int64_t count = std::min(rows.rows() - first, begin + chunk_rows - here);
      upload_rows(*index_.device.state(), *memory_, rows.slice(first, count),
                  static_cast<std::uint32_t>(block_), threads_, here - begin);
      first += count;
    }
  }

  void add_chunk(std::int64_t begin, std::int64_t most) {
    const std::int64_t count = std::min(most, index_.rows - begin);
    const auto memory = std::make_shared<DeviceMemory>(
        index_.device.state(), packed_bytes(count, index_.dims, static_cast<std::uint32_t>(block_)));
    memory_ = memory->get();
    index_.chunks.push_back({{memory, memory_}, begin, count});
  }

  Index::State& index_;
  const std::int64_t first_;
  const std::uint32_t threads_;
  const Element element_;
  const std::int64_t cols_, row_bytes_;
  std::int64_t block_;
  const std::uint64_t offset_;  ///< of the rows in the file
  const std::int64_t sample_stride_;
  std::int64_t most_rows_ = 0, done_ = 0;
  std::vector<unsigned char> carry_;  ///< fewer bytes than a block of the device has
  RowSample sample_;
  std::shared_ptr<ByteStore> bytes_;   ///< where rows stay as bytes
  std::shared_ptr<HalfStore> halves_;  ///< where they stay as halves
  spi::Allocation* memory_ = nullptr;  ///< of the last chunk
};

namespace {

/// Which rows go where; a single device takes all.
SetLayout layout_of_rows(const Index::State& index, const OpenOptions& options) {
  if (is_set(index.device)) return set_layout(index, {options.placement, options.shares}, index.rows);
  return {Placement::split, {1.0}, {{0, index.rows}}};
}

/// A State without its rows: of a member of a set, or of the single device.
std::shared_ptr<Index::State> part_to_fill(const Index::State& index, std::size_t member, Stretch places) {
  if (is_set(index.device)) return empty_part(index, member, places);
  auto part = std::make_shared<Index::State>(index.device, index.metric, index.columns, index.features);
  part->rows = index.rows;
  part->element = index.element;
  return part;
}

}  // namespace

RowsSink::RowsSink(const Index::State& index, const IndexLayout& layout, std::uint64_t offset,
                   std::int64_t first, const OpenOptions& options)
    : row_bytes_(row_bytes(layout.info.element, layout.info.features)),
      layout_(layout_of_rows(index, options)) {
  for (std::size_t member = 0; member < layout_.rows.size(); ++member) {
    const Stretch places = layout_.rows[member];
    if (places.count == 0) continue;
    states_.push_back(part_to_fill(index, member, places));
    parts_.push_back({member, places, states_.back()});
    sinks_.push_back(
        std::make_unique<PartSink>(*states_.back(), first + places.first, layout, offset, options.threads));
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

void RowsSink::end(Index::State& index) {
  for (std::size_t i = 0; i < parts_.size(); ++i) {
    sinks_[i]->end();
    index.largest = std::max(index.largest, states_[i]->largest);
  }
  if (is_set(index.device)) {
    index.parted = rows_on_set(index, std::move(layout_), std::move(parts_));
    return;
  }
  index.parted = std::move(states_.front()->parted);
  index.chunks = std::move(states_.front()->chunks);
  index.centre = std::move(states_.front()->centre);
  index.clip_range = states_.front()->clip_range;
  index.grid = states_.front()->grid;
  index.spread = states_.front()->spread;
}

}  // namespace kith
