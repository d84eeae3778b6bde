// Vectors as in the TEXMEX collections (SIFT, GIST): for each row its length as a little-endian i32, then
// its elements. Source: Jegou, Douze, Amsaleg, Datasets for approximate nearest neighbor search.
#include <algorithm>
#include <array>

#include "files/formats.hpp"

namespace kith::files {
namespace {

ElementType type_of(Format format) {
  if (format == Format::fvecs) return ElementType::f32;
  return format == Format::ivecs ? ElementType::i32 : ElementType::u8;
}

/// Rows of one length; `take(bytes, row, first, count)` gets them in pieces.
class VecsReader {
 public:
  VecsReader(Source& source, Format format) : source_(source), size_(size_of(type_of(format))) {}

  template <class Take>
  void read(Take&& take) {
    std::vector<unsigned char> bytes;
    while (next_row()) {
      for (std::uint64_t first = 0; first < dims_; first += piece) {
        const auto some = static_cast<std::size_t>(std::min<std::uint64_t>(dims_ - first, piece));
        bytes.resize(some * size_);
        source_.read_exactly(bytes.data(), bytes.size(), "row " + std::to_string(rows_));
        take(bytes.data(), rows_, first, some);
      }
      ++rows_;
    }
  }
  std::int64_t rows() const { return static_cast<std::int64_t>(rows_); }
  std::int64_t dims() const { return static_cast<std::int64_t>(dims_); }

 private:
  static constexpr std::size_t piece = std::size_t{1} << 16;

  /// Reads the length of a row. Returns false if the file ended before it.
  bool next_row() {
    std::array<unsigned char, 4> bytes{};
    const std::size_t got = source_.read(bytes.data(), bytes.size());
    if (got == 0) {
      if (rows_ == 0) source_.fail("is empty; a file of data has at least one row");
      return false;
    }
    const std::string row = "row " + std::to_string(rows_);
    if (got < bytes.size())
      source_.fail("ends within the length of " + row + "; it is truncated: copy or download it again");
    std::uint32_t dims = 0;
    for (std::size_t i = 0; i < 4; ++i) dims |= std::uint32_t{bytes[i]} << (8 * i);
    if (rows_ > 0 && dims != dims_)
      source_.fail(row + " has " + std::to_string(static_cast<std::int32_t>(dims)) +
                   (dims == 1 ? " element" : " elements") + " but the rows before have " +
                   std::to_string(dims_) + "; every row needs as many");
    if (dims == 0 || dims > 0x7fffffff)
      source_.fail(row + " announces " + std::to_string(static_cast<std::int32_t>(dims)) +
                   " elements; a row has at least 1: is its name that of its format?");
    dims_ = dims;
    if (rows_ == 0) source_.require_bytes(multiply(dims, size_), "a row of " + count_of(dims, "element"));
    return true;
  }

  Source& source_;
  std::size_t size_;
  std::uint64_t rows_ = 0, dims_ = 0;
};

}  // namespace

void read_vecs(Source& source, Format format, const ReadOptions& options, Table& table) {
  VecsReader reader(source, format);
  DigitsWatch digits;
  const bool keeps_bytes =
      format == Format::bvecs && !options.missing &&
      std::find(options.keep.begin(), options.keep.end(), Element::u8) != options.keep.end();
  if (keeps_bytes) table.element = Element::u8;
  reader.read([&](const unsigned char* bytes, std::uint64_t row, std::uint64_t first, std::size_t some) {
    if (keeps_bytes) {
      if (table.stored.size() + some > table.stored.capacity())
        source.require_room(table.stored.size() + some);
      table.stored.insert(table.stored.end(), bytes, bytes + some);
      return;
    }
    const std::size_t before = table.values.size();
    if (before + some > table.values.capacity()) source.require_room(multiply(before + some, sizeof(float)));
    table.values.resize(before + some);
    const Block block =
        to_floats(type_of(format), false, bytes, some, table.values.data() + before, options.missing);
    if (block.bad != Block::none)
      source.fail("row " + std::to_string(row) + ", column " + std::to_string(first + block.bad) + " " +
                  block.why);
    if (!may_round(type_of(format))) return;
    std::vector<double> wide(some);
    to_doubles(type_of(format), false, bytes, some, wide.data(), options.missing);
    if (options.doubles) {
      table.doubles.insert(table.doubles.end(), wide.begin(), wide.end());
      return;
    }
    for (std::size_t i = 0; i < some; ++i)
      digits.add(static_cast<std::int64_t>(row), static_cast<std::int64_t>(first + i), wide[i],
                 table.values[before + i]);
  });
  table.rows = reader.rows();
  table.cols = reader.dims();
  table.rounded = digits.rounded();
  table.equal_rows = digits.equal_rows();
}

std::vector<std::int64_t> read_vecs_labels(Source& source, Format format) {
  VecsReader reader(source, format);
  std::vector<std::int64_t> labels;
  reader.read([&](const unsigned char* bytes, std::uint64_t row, std::uint64_t, std::size_t some) {
    if (reader.dims() != 1)
      source.fail("has rows of " + count_of(static_cast<std::uint64_t>(reader.dims()), "element") +
                  "; labels are one a row");
    labels.resize(labels.size() + some);
    const Block block = to_labels(type_of(format), false, bytes, some, &labels.back());
    if (block.bad != Block::none) source.fail("row " + std::to_string(row) + " " + block.why);
  });
  return labels;
}

void read_vecs_values(Source& source, Format format, Values& values) {
  VecsReader reader(source, format);
  reader.read([&](const unsigned char* bytes, std::uint64_t row, std::uint64_t first, std::size_t some) {
    const std::size_t before = values.values.size();
    if (before + some > values.values.capacity()) source.require_room(multiply(before + some, sizeof(float)));
    values.values.resize(before + some);
    const Block block = to_doubles(type_of(format), false, bytes, some, values.values.data() + before);
    if (block.bad != Block::none)
      source.fail("row " + std::to_string(row) + ", column " + std::to_string(first + block.bad) + " " +
                  block.why);
  });
  values.floats = floats_of(type_of(format));
  values.rows = reader.rows();
  values.cols = reader.dims();
}

}  // namespace kith::files
