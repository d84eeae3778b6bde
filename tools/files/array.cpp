// The elements of .npy and idx files, once their header is read.
#include <algorithm>
#include <bit>
#include <cmath>
#include <iterator>
#include <limits>
#include <optional>
#include <utility>

#include "formats.hpp"

namespace kith::files {
namespace {

constexpr std::size_t block_elements = std::size_t{1} << 16;

std::string shape_text(const std::vector<std::uint64_t>& shape) {
  std::string text = "(";
  for (std::size_t axis = 0; axis < shape.size(); ++axis)
    text += (axis ? ", " : "") + std::to_string(shape[axis]);
  return text + (shape.size() == 1 ? ",)" : ")");
}

std::uint64_t product(const std::vector<std::uint64_t>& shape) {
  std::uint64_t count = 1;
  for (std::uint64_t size : shape) count = multiply(count, size);
  return count;
}

/// Refuses shapes without rows or values, and shapes that are larger than the file.
///   bytes  that an element takes in memory
///   parts  the number of parts of the file, of which one is read
std::uint64_t checked_count(const Source& source, const ArrayLayout& layout,
                            std::size_t bytes = sizeof(float), std::int64_t parts = 1) {
  if (layout.shape.empty()) source.fail("holds a single number; a table has rows along its first axis");
  const std::string what = "an array of shape " + shape_text(layout.shape);
  for (std::uint64_t size : layout.shape)
    if (size == 0) source.fail("holds " + what + ": no values; a table has at least one row and one column");
  if (layout.shape.size() > source.limits().axes)
    source.fail("holds an array of " + std::to_string(layout.shape.size()) + " axes, more than the " +
                std::to_string(source.limits().axes) +
                " that a file may have; save it with fewer, a.reshape(len(a), -1), or allow more: --read "
                "max-axes=" +
                std::to_string(layout.shape.size()));
  const std::uint64_t count = product(layout.shape);
  source.require_bytes(multiply(count, size_of(layout.type)), what);
  source.require_memory(multiply(count, bytes) / static_cast<std::uint64_t>(parts));
  return count;
}

/// Elements to make room for at once. A pipe's header may promise what never comes: there memory grows with
/// the data.
std::uint64_t worth_reserving(const Source& source, std::uint64_t count) {
  const std::uint64_t plausible = source.plausible_bytes();
  const bool unknown = plausible == std::numeric_limits<std::uint64_t>::max();
  return std::min<std::uint64_t>(count, unknown ? block_elements : plausible);
}

/// Where the i-th element of the file belongs: its row, and its column among the flattened others.
class Placement {
 public:
  explicit Placement(const ArrayLayout& layout)
      : rows_(layout.shape[0]), fortran_(layout.fortran), cols_(product(layout.shape) / rows_) {
    std::copy_if(layout.shape.begin() + 1, layout.shape.end(), std::back_inserter(axes_),
                 [](std::uint64_t size) { return size > 1; });  // 63 at most, however many others there are
  }

  std::uint64_t row(std::uint64_t i) const { return fortran_ ? i % rows_ : i / cols_; }
  std::uint64_t column(std::uint64_t i) const {
    if (!fortran_) return i % cols_;
    std::uint64_t rest = i / rows_, column = 0, stride = cols_;
    for (const std::uint64_t size : axes_) {  // first axis fastest: peel them in order
      stride /= size;
      column += rest % size * stride;
      rest /= size;
    }
    return column;
  }
  std::uint64_t cols() const { return cols_; }

 private:
  std::uint64_t rows_;
  bool fortran_;
  std::uint64_t cols_;
  std::vector<std::uint64_t> axes_;  ///< after the first, those longer than 1
};

/// Of `all` elements of the file those that are read: `count` from `first` on.
struct Elements {
  std::uint64_t all = 0, first = 0, count = all;
};

/// Read elements a block at a time: `take(bytes, first, count)`, `first` among those that are read.
template <class Take>
void read_blocks(Source& source, const ArrayLayout& layout, const Elements& elements, Take&& take) {
  const std::size_t size = size_of(layout.type);
  const std::uint64_t count = elements.count, behind = elements.all - elements.first - count;
  std::vector<unsigned char> bytes(std::min<std::uint64_t>(count, block_elements) * size);
  if (elements.first > 0) source.skip(elements.first * size);
  for (std::uint64_t first = 0; first < count; first += block_elements) {
    const auto some = static_cast<std::size_t>(std::min<std::uint64_t>(count - first, block_elements));
    source.read_exactly(bytes.data(), some * size, "an array of shape " + shape_text(layout.shape));
    take(bytes.data(), first, some);
  }
  if (behind > 0) source.skip(behind * size);
  source.require_end();
}

/// Of how many parts one is read: as the caller asked, where rows lie one behind the other and each part has
/// one.
std::int64_t parts_of(const ArrayLayout& layout, const ReadOptions& options) {
  const bool scattered = layout.fortran && layout.shape.size() > 1;
  const bool enough = !layout.shape.empty() && static_cast<std::uint64_t>(options.parts) <= layout.shape[0];
  return options.parts > 1 && enough && !scattered ? options.parts : 1;
}

/// The elements that are read; the table says which rows they are.
Elements asked_elements(const ArrayLayout& layout, const ReadOptions& options, std::uint64_t count,
                        Table& table) {
  const std::int64_t parts = parts_of(layout, options);
  if (parts == 1) return {count};
  table.held = part_of(table.rows, options.part, parts);
  const auto cols = static_cast<std::uint64_t>(table.cols);
  return {count, static_cast<std::uint64_t>(table.held->first) * cols,
          static_cast<std::uint64_t>(table.held->rows) * cols};
}

[[noreturn]] void refuse(const Source& source, const Placement& place, std::uint64_t i,
                         const std::string& why) {
  source.fail("row " + std::to_string(place.row(i)) + ", column " + std::to_string(place.column(i)) + " " +
              why);
}

/// Values in the order of the file to rows.
template <class T>
std::vector<T> from_fortran(const std::vector<T>& values, const Placement& place) {
  std::vector<T> rows(values.size());
  for (std::size_t i = 0; i < values.size(); ++i)
    rows[place.row(i) * place.cols() + place.column(i)] = values[i];
  return rows;
}

/// Returns the type in which rows of this type are kept, if the caller wants to keep them so.
std::optional<Element> kept_as(const ArrayLayout& layout, const ReadOptions& options) {
  constexpr std::pair<ElementType, Element> known[] = {
      {ElementType::f16, Element::f16}, {ElementType::u8, Element::u8}, {ElementType::i8, Element::i8}};
  if (options.missing || (layout.fortran && layout.shape.size() > 1)) return std::nullopt;
  for (const auto& [type, element] : known)
    if (type == layout.type &&
        std::find(options.keep.begin(), options.keep.end(), element) != options.keep.end())
      return element;
  return std::nullopt;
}

/// Elements as they are, once each was looked at.
void keep_array(Source& source, const ArrayLayout& layout, const Placement& place, const Elements& elements,
                Table& table) {
  const std::size_t size = size_of(layout.type);
  const bool swap = size > 1 && layout.big_endian != (std::endian::native == std::endian::big);
  std::vector<float> values(std::min<std::uint64_t>(elements.count, block_elements));
  table.stored.reserve(worth_reserving(source, elements.count) * size);
  read_blocks(source, layout, elements,
              [&](const unsigned char* bytes, std::uint64_t first, std::size_t some) {
                const Block block = to_floats(layout.type, layout.big_endian, bytes, some, values.data());
                if (block.bad != Block::none)
                  refuse(source, place, elements.first + first + block.bad, block.why);
                const auto begin = static_cast<std::ptrdiff_t>(table.stored.size());
                table.stored.insert(table.stored.end(), bytes, bytes + some * size);
                for (auto at = table.stored.begin() + begin; swap && at != table.stored.end(); at += 2)
                  std::iter_swap(at, at + 1);
              });
}

void set_shape(const ArrayLayout& layout, const Placement& place, Table& table) {
  table.rows = static_cast<std::int64_t>(layout.shape[0]);
  table.cols = static_cast<std::int64_t>(place.cols());
  if (layout.shape.size() == 3)
    table.image_shape = {static_cast<std::int64_t>(layout.shape[1]),
                         static_cast<std::int64_t>(layout.shape[2])};
}

}  // namespace

void read_array(Source& source, const ArrayLayout& layout, const ReadOptions& options, Table& table) {
  const std::optional<Element> element = kept_as(layout, options);
  const std::uint64_t all = checked_count(source, layout, element ? size_of(layout.type) : sizeof(float),
                                          parts_of(layout, options));
  const Placement place(layout);
  set_shape(layout, place, table);
  table.distance = layout.distance;
  const Elements elements = asked_elements(layout, options, all, table);
  const std::uint64_t count = elements.count;
  if (element) {
    table.element = *element;
    return keep_array(source, layout, place, elements, table);
  }
  DigitsWatch digits;
  WholesWatch wholes;
  const auto look_at_whole = [&](const unsigned char* from, std::uint64_t i, double wide) {
    const auto column = static_cast<std::int64_t>(place.column(i));
    if (std::fabs(wide) < 0x1p53 || wholes.knows(column)) return;
    const std::string text = rounded_element(layout.type, layout.big_endian, from);
    if (!text.empty()) wholes.add({static_cast<std::int64_t>(place.row(i)), column, text, wide});
  };
  std::vector<double> block_doubles(may_round(layout.type) && !options.doubles ? block_elements : 0);
  // Columns are put where they belong as they come, for a second copy may not fit. Not from a pipe.
  const bool fortran = layout.fortran && layout.shape.size() > 1;
  const std::uint64_t plausible = source.plausible_bytes();
  const bool scattered =
      fortran && plausible != std::numeric_limits<std::uint64_t>::max() && count <= plausible;
  std::vector<float> block_values(scattered ? std::min<std::uint64_t>(count, block_elements) : 0);
  if (scattered)
    table.values.resize(count);
  else
    table.values.reserve(worth_reserving(source, count));
  read_blocks(source, layout, elements,
              [&](const unsigned char* bytes, std::uint64_t first, std::size_t some) {
                if (!scattered) table.values.resize(table.values.size() + some);
                float* const to = scattered ? block_values.data() : table.values.data() + first;
                const Block block = to_floats(layout.type, layout.big_endian, bytes, some, to,
                                              options.missing, options.wide, options.if_too_large);
                const std::uint64_t at = elements.first + first;
                if (block.bad != Block::none) refuse(source, place, at + block.bad, block.why);
                for (std::size_t i = 0; scattered && i < some; ++i)
                  table.values[place.row(first + i) * place.cols() + place.column(first + i)] = to[i];
                if (!may_round(layout.type)) return;
                if (options.doubles) table.doubles.resize(table.doubles.size() + some);
                double* const wide = options.doubles ? table.doubles.data() + first : block_doubles.data();
                to_doubles(layout.type, layout.big_endian, bytes, some, wide, options.missing);
                for (std::size_t i = 0; i < some; ++i)
                  if (options.doubles)
                    look_at_whole(bytes + i * size_of(layout.type), at + i, wide[i]);
                  else
                    digits.add(static_cast<std::int64_t>(place.row(at + i)),
                               static_cast<std::int64_t>(place.column(at + i)), wide[i], to[i]);
              });
  if (fortran && !scattered) table.values = from_fortran(table.values, place);
  if (fortran && !table.doubles.empty()) table.doubles = from_fortran(table.doubles, place);
  if (table.held && options.sum_of_parts && may_round(layout.type) && !options.doubles)
    digits.join(options.part, options.parts, table.rows, table.cols, options.sum_of_parts);
  const bool may_be_beyond = size_of(layout.type) == 8 && !floats_of(layout.type);  // 2^53
  if (table.held && options.sum_of_parts && may_be_beyond && options.doubles)
    wholes.join(options.part, options.parts, table.cols, options.sum_of_parts);
  table.rounded_wholes = wholes.rounded();
  table.rounded = digits.rounded();
  table.equal_rows = digits.equal_rows();
}

std::vector<std::int64_t> read_array_labels(Source& source, const ArrayLayout& layout) {
  const std::uint64_t count = checked_count(source, layout);
  if (count != layout.shape[0])
    source.fail("holds an array of shape " + shape_text(layout.shape) + "; labels are one a row: shape (" +
                std::to_string(layout.shape[0]) + ",)");
  std::vector<std::int64_t> labels;
  labels.reserve(worth_reserving(source, count));
  read_blocks(
      source, layout, {count}, [&](const unsigned char* bytes, std::uint64_t first, std::size_t some) {
        labels.resize(labels.size() + some);
        const Block block = to_labels(layout.type, layout.big_endian, bytes, some, labels.data() + first);
        if (block.bad != Block::none)
          source.fail("row " + std::to_string(first + block.bad) + " " + block.why);
      });
  return labels;
}

void read_array_values(Source& source, const ArrayLayout& layout, Values& values) {
  const std::uint64_t count = checked_count(source, layout);
  const Placement place(layout);
  values.values.reserve(worth_reserving(source, count));
  read_blocks(source, layout, {count},
              [&](const unsigned char* bytes, std::uint64_t first, std::size_t some) {
                values.values.resize(values.values.size() + some);
                const Block block =
                    to_doubles(layout.type, layout.big_endian, bytes, some, values.values.data() + first);
                if (block.bad != Block::none) refuse(source, place, first + block.bad, block.why);
              });
  if (layout.fortran && layout.shape.size() > 1) values.values = from_fortran(values.values, place);
  values.floats = floats_of(layout.type);
  values.rows = static_cast<std::int64_t>(layout.shape[0]);
  values.cols = static_cast<std::int64_t>(place.cols());
}

}  // namespace kith::files
