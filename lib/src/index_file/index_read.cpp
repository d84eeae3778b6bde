// An Index from a file that may be anybody's: nothing is believed before its checksum and its values are
// checked.
#include <algorithm>
#include <cmath>
#include <cstring>
#include <string>
#include <utility>
#include <vector>

#include "base/border.hpp"
#include "base/float_guard.hpp"
#include "base/numbers.hpp"
#include "base/text.hpp"
#include "certified/byte_grid.hpp"
#include "certified/row_sample.hpp"
#include "host/parallel.hpp"
#include "index_file/index_body.hpp"
#include "index_file/index_numbers.hpp"
#include "kith/error.hpp"
#include "metric/chain.hpp"
#include "rows/index_state.hpp"
#include "rows/rows.hpp"

namespace kith {
namespace {

/// Rows of a file on their way to the device, as they come.
class RowsSink {
 public:
  RowsSink(Index::State& index, const IndexLayout& layout, std::uint64_t offset, std::uint32_t threads)
      : index_(index),
        threads_(threads),
        element_(layout.info.element),
        cols_(layout.info.features),
        row_bytes_(row_bytes(element_, cols_)),
        block_(index.device.info().train_block),
        offset_(offset),
        sample_stride_(sample_stride(index.rows)),
        sample_(index.dims) {
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
    index_.centre = sample_.centre(index_.metric);
    if (compares_bits(index_.metric)) return;
    index_.clip_range = sample_.clip_range(index_.centre);
    index_.grid = grid_of_values(sample_.values(), index_.metric, element_);
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
    // Unit rows are there already; dividing them once more would change them.
    const PreparedRows rows = checked(given, unit ? Metric::negative_dot : index_.metric);
    if (unit) check_unit_rows(rows.view);
    index_.largest = std::max(index_.largest, rows.largest);
    // Of bits none: no arithmetic of floats may see them.
    if (!compares_bits(index_.metric)) sample_.add(rows.view, done_, sample_stride_);
    upload(rows.view);
    done_ += count;
  }

  PreparedRows checked(const RowsView& given, Metric metric) const {
    try {
      return prepare_rows("rows", "training", given, metric, threads_, {}, done_);
    } catch (const Error& error) {
      if (error.code() != Errc::invalid_argument) throw;
      refuse_index_file(offset_, std::string(error.what()));
    }
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
        refuse_index_file(offset_, "row " + std::to_string(done_ + r) +
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
  const std::uint32_t threads_;
  const Element element_;
  const std::int64_t cols_, row_bytes_, block_;
  const std::uint64_t offset_;  ///< of the rows in the file
  const std::int64_t sample_stride_;
  std::int64_t most_rows_ = 0, done_ = 0;
  std::vector<unsigned char> carry_;  ///< fewer bytes than a block of the device has
  RowSample sample_;
  spi::Allocation* memory_ = nullptr;  ///< of the last chunk
};

/// Reads one file, section by section as they stand there: the rows come last.
class IndexReader {
 public:
  IndexReader(const IndexFile& file, Device device, const OpenOptions& options)
      : layout_(file.layout()), device_(std::move(device)), options_(options), body_(file, options) {}

  std::shared_ptr<const Index::State> read() {
    const IndexFileSection& rows = layout_.rows();
    for (std::span<const unsigned char> block = body_.next(); !block.empty(); block = body_.next()) {
      keep(features_section, block, features_);
      keep(positions_section, block, numbers_.positions);
      keep(ids_section, block, numbers_.ids);
      keep(removed_section, block, numbers_.removed);
      pass_section(rows, block, body_.offset(), [&](auto bytes) {
        if (!sink_) begin_rows(rows.offset);
        sink_->take(bytes);
      });
    }
    sink_->end();
    const FloatGuard guard;
    if (state_->metric == Metric::negative_dot && layout_.info.largest != 0 &&
        layout_.info.largest < state_->largest)
      refuse_index_file(88, "largest = " + text_of(layout_.info.largest) + ", but the rows reach " +
                                text_of(state_->largest) + "; save the index again");
    return state_;
  }

 private:
  void keep(std::string_view name, std::span<const unsigned char> block, std::vector<unsigned char>& to) {
    if (const IndexFileSection* const section = layout_.find(name))
      pass_section(*section, block, body_.offset(),
                   [&](auto bytes) { to.insert(to.end(), bytes.begin(), bytes.end()); });
  }

  void begin_rows(std::uint64_t offset) {
    state_ = std::make_shared<Index::State>(
        device_, layout_.info.metric, layout_.info.dims,
        ordered_features(features_from(features_, layout_), layout_.info.dims));
    state_->rows = layout_.info.rows;
    state_->element = layout_.info.element;
    take_numbers(layout_, numbers_, *state_);
    state_->first_row = layout_.info.first_row;
    state_->largest_of_shards = layout_.info.largest;
    sink_ = std::make_unique<RowsSink>(*state_, layout_, offset, options_.threads);
  }

  const IndexLayout& layout_;
  Device device_;
  const OpenOptions& options_;
  IndexBody body_;
  std::vector<unsigned char> features_;
  IndexNumbers numbers_;
  std::shared_ptr<Index::State> state_;
  std::unique_ptr<RowsSink> sink_;
};

}  // namespace

Index::Index(std::shared_ptr<const State> state) : state_(std::move(state)) {}

IndexFileRows read_index_rows(const std::string& path, const OpenOptions& options) try {
  return about_index_file(path, [&] {
    const IndexFile file(path);
    const IndexLayout& layout = file.layout();
    IndexBody body(file, options);
    IndexFileRows all{layout.info.element, layout.info.rows, layout.info.features};
    all.data.reserve(static_cast<std::size_t>(layout.rows().bytes));
    std::vector<unsigned char> features;
    const auto append = [](std::vector<unsigned char>& to) {
      return [&to](std::span<const unsigned char> bytes) { to.insert(to.end(), bytes.begin(), bytes.end()); };
    };
    for (std::span<const unsigned char> block = body.next(); !block.empty(); block = body.next()) {
      if (const IndexFileSection* const section = layout.find(features_section))
        pass_section(*section, block, body.offset(), append(features));
      pass_section(layout.rows(), block, body.offset(), append(all.data));
    }
    all.features = features_from(features, layout);
    return all;
  });
} catch (...) {
  rethrow_as_error();
}

Index open_index(const std::string& path, Device device, const OpenOptions& options) try {
  return Index(about_index_file(path, [&] {
    const IndexFile file(path);
    return IndexReader(file, std::move(device), options).read();
  }));
} catch (...) {
  rethrow_as_error();
}

}  // namespace kith
