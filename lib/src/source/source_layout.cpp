// Reads the heads of files whose rows are read by ranges.
#include <array>
#include <bit>
#include <limits>
#include <optional>
#include <utility>

#include "base/text.hpp"
#include "base/whole_file.hpp"
#include "index_file/index_blocks.hpp"
#include "kith/error.hpp"
#include "source/npy_header.hpp"
#include "source/source_file.hpp"

namespace kith {
namespace {

constexpr std::string_view index_ending = ".kidx", npy_ending = ".npy";
constexpr std::pair<std::string_view, Element> bin_endings[] = {
    {".fbin", Element::f32}, {".f16bin", Element::f16}, {".u8bin", Element::u8}, {".i8bin", Element::i8}};
constexpr std::size_t bin_head_bytes = 8;

[[noreturn]] void refuse_file(const std::string& why) {
  throw Error(Errc::bad_file, why);
}
[[noreturn]] void refuse_kind(const std::string& why) {
  throw Error(Errc::unsupported, why);
}

/// Reads exactly these bytes.
void read_head_bytes(int fd, std::uint64_t first, void* to, std::size_t bytes) {
  const std::size_t got = read_at(fd, static_cast<off_t>(first), to, bytes);
  if (got < bytes)
    refuse_file("byte " + std::to_string(first + got) + ": the file ends within its head; copy it again");
}

std::string shape_text(const RowsInfo& rows) {
  return "[" + std::to_string(rows.rows) + ", " + std::to_string(rows.cols) + "] of " +
         std::string(name(rows.element));
}

/// Checks that rows fill the file from `offset` to its end, and returns their layout.
SourceLayout checked_layout(std::uint64_t rows, std::uint64_t cols, Element element, std::uint64_t offset,
                            std::uint64_t bytes) {
  constexpr std::uint64_t most = std::numeric_limits<std::int64_t>::max();
  if (rows == 0 || cols == 0) refuse_file("it holds no rows; a file of rows has at least one value");
  const auto bytes_a_value = static_cast<std::uint64_t>(element_bytes(element));
  if (cols > most / bytes_a_value || rows > most / (cols * bytes_a_value))
    refuse_file("its head says " + std::to_string(rows) + " rows of " + std::to_string(cols) +
                " columns, more than any file holds; it is damaged: copy it again");
  SourceLayout layout{{static_cast<std::int64_t>(rows), static_cast<std::int64_t>(cols), element}, offset};
  if (const std::uint64_t expected = offset + rows * cols * bytes_a_value; bytes != expected)
    refuse_file("its head says " + shape_text(layout.rows) + ", which take " + std::to_string(expected) +
                " bytes, but it has " + std::to_string(bytes) + "; copy it again");
  return layout;
}

std::uint64_t little_endian(const unsigned char* from, std::size_t bytes) {
  std::uint64_t value = 0;
  for (std::size_t i = 0; i < bytes; ++i) value |= std::uint64_t{from[i]} << (8 * i);
  return value;
}

Element element_of(const std::string& descr) {
  constexpr std::pair<std::string_view, Element> known[] = {
      {"f4", Element::f32}, {"f8", Element::f64}, {"f2", Element::f16}, {"u1", Element::u8},
      {"i1", Element::i8},  {"i4", Element::i32}, {"u4", Element::u32}, {"i8", Element::i64}};
  const char own_order = std::endian::native == std::endian::little ? '<' : '>';
  for (const auto& [type, element] : known)
    if (descr.size() == 3 && descr.substr(1) == type &&
        (descr[0] == own_order || descr[0] == '=' || (descr[0] == '|' && element_bytes(element) == 1)))
      return element;
  refuse_kind("it holds elements of type '" + escaped(descr) +
              "', and rows are read by ranges as f4, f8, f2, u1, i1, i4, u4 or i8 of this machine's byte "
              "order; save it as "
              "one of these, as in numpy.save('new.npy', a.astype('f8'))");
}

SourceLayout npy_layout(int fd, std::uint64_t bytes) {
  std::array<char, npy_start_bytes> start{};
  read_head_bytes(fd, 0, start.data(), start.size());
  const std::size_t length_bytes = npy_length_bytes(start.data());
  if (std::string_view(start.data(), npy_magic.size()) != npy_magic || length_bytes == 0)
    refuse_file("it does not begin as .npy files of version 1.0, 2.0 or 3.0 do; save it with numpy.save");
  std::array<unsigned char, 4> length{};
  read_head_bytes(fd, start.size(), length.data(), length_bytes);
  const std::uint64_t head_bytes = little_endian(length.data(), length_bytes);
  if (head_bytes > npy_longest_header)
    refuse_file("it announces a header of " + std::to_string(head_bytes) +
                " bytes, that of numbers has about 128; it is damaged: save it again with numpy.save");
  std::string text(static_cast<std::size_t>(head_bytes), '\0');
  read_head_bytes(fd, start.size() + length_bytes, text.data(), text.size());
  const std::optional<NpyHeader> head = parse_npy_header(text);
  if (!head) refuse_file("its header is not that of an array; save it again with numpy.save");
  const Element element = element_of(head->descr);
  if (head->fortran && head->shape.size() > 1)
    refuse_kind(
        "its columns lie one behind the other (Fortran order), so that no range of rows can be read; "
        "save it by rows: numpy.save('new.npy', numpy.ascontiguousarray(a))");
  if (head->shape.empty()) refuse_kind("it holds a single number; rows lie along the first axis of an array");
  std::uint64_t cols = 1;
  for (std::size_t axis = 1; axis < head->shape.size(); ++axis) {
    const std::uint64_t size = head->shape[axis];
    if (size > 0 && cols > std::numeric_limits<std::uint64_t>::max() / size)
      refuse_file("its shape is larger than any file; it is damaged: save it again with numpy.save");
    cols *= size;
  }
  return checked_layout(head->shape[0], cols, element, start.size() + length_bytes + head_bytes, bytes);
}

SourceLayout bin_layout(int fd, Element element, std::uint64_t bytes) {
  std::array<unsigned char, bin_head_bytes> head{};
  read_head_bytes(fd, 0, head.data(), head.size());
  return checked_layout(little_endian(head.data(), 4), little_endian(head.data() + 4, 4), element,
                        head.size(), bytes);
}

/// Reads by the descriptor, since another file may meanwhile have taken the path.
SourceLayout index_layout(int fd) {
  const IndexLayout layout = layout_in(fd);
  const IndexFileInfo& info = layout.info;
  if (info.metric == Metric::cosine)
    refuse_kind("an index of cosine holds unit rows, which are not the rows that were given; give these");
  if (info.removed > 0 || info.positions != info.rows || info.next_row != info.rows || info.first_row != 0)
    refuse_kind(
        "its rows have numbers of their own, or some were removed, and a source has rows 0, 1, ...; "
        "open it as an index, with residence resident");
  if (info.features != info.dims)
    refuse_kind("it holds " + std::to_string(info.features) + " of " + std::to_string(info.dims) +
                " columns, those that count; open it as an index, with residence resident");
  return {{info.rows, info.dims, info.element}, info.rows_offset, layout};
}

}  // namespace

bool is_source_file(std::string_view path) {
  for (const auto& [ending, element] : bin_endings)
    if (path.ends_with(ending)) return true;
  return path.ends_with(npy_ending) || path.ends_with(index_ending);
}

SourceLayout source_layout(const std::string& path, int fd, std::uint64_t bytes) {
  if (path.ends_with(npy_ending)) return npy_layout(fd, bytes);
  if (path.ends_with(index_ending)) return index_layout(fd);
  for (const auto& [ending, element] : bin_endings)
    if (path.ends_with(ending)) return bin_layout(fd, element, bytes);
  refuse_kind(
      "rows are read by ranges from .npy, .fbin, .f16bin, .u8bin, .i8bin and .kidx; write it as one "
      "of these");
}

}  // namespace kith
