#include "output.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <charconv>
#include <limits>

#include "files/text/number.hpp"
#include "kith/error.hpp"

namespace kith::files {
namespace {

enum class OutputFormat { npy, vecs, bin, csv, tsv, txt };

/// How a name ends, or what stands for an ending: the format that was given, or .csv where none is
/// expected.
std::string ending_of(const std::filesystem::path& path, const std::string& format) {
  const std::string ending = path.extension().string();
  constexpr std::array known = {".npy", ".csv", ".tsv", ".txt", ".ivecs", ".fvecs", ".ibin", ".fbin"};
  if (std::find(known.begin(), known.end(), ending) != known.end()) return ending;
  if (!format.empty()) return "." + format;
  std::error_code error;
  const bool file = !std::filesystem::exists(path, error) || std::filesystem::is_regular_file(path, error);
  return file && !is_stdout(path.native()) ? ending : ".csv";
}

OutputFormat output_format(const std::filesystem::path& path, Content content, const std::string& format) {
  const std::string ending = ending_of(path, format);
  if (ending == ".npy") return OutputFormat::npy;
  if (ending == ".csv") return OutputFormat::csv;
  if (ending == ".tsv") return OutputFormat::tsv;
  if (ending == ".txt") return OutputFormat::txt;
  if (content == Content::indices && ending == ".ivecs") return OutputFormat::vecs;
  if (content == Content::distances && ending == ".fvecs") return OutputFormat::vecs;
  if (content == Content::indices && ending == ".ibin") return OutputFormat::bin;
  if (content == Content::distances && ending == ".fbin") return OutputFormat::bin;
  constexpr std::array whats = {"indices", "distances", "labels", "values"};
  constexpr std::array binary = {" .ivecs .ibin", " .fvecs .fbin", "", ""};
  const auto at = static_cast<std::size_t>(content);
  throw Error(Errc::invalid_argument, path.string() + ": its name ends in no format in which kith writes " +
                                          whats[at] + "; there are .npy" + binary[at] + " .csv .tsv .txt");
}

OutputFormat output_format(const AtomicFile& file, Content content) {
  return output_format(file.path(), content, file.format());
}

char separator_of(OutputFormat format) {
  if (format == OutputFormat::csv) return ',';
  return format == OutputFormat::tsv ? '\t' : ' ';
}

template <class T>
void append_little_endian(std::string& to, T value) {
  auto bytes = std::bit_cast<std::array<char, sizeof(T)>>(value);
  if constexpr (std::endian::native == std::endian::big) std::reverse(bytes.begin(), bytes.end());
  to.append(bytes.data(), bytes.size());
}

/// Version 1.0: magic, length, dictionary, spaces up to a multiple of 64 bytes, a line end.
void write_npy_header(AtomicFile& file, std::string_view descr, const std::string& shape) {
  std::string header =
      "{'descr': '" + std::string(descr) + "', 'fortran_order': False, 'shape': " + shape + ", }";
  constexpr std::size_t before = 10, alignment = 64;
  header.append(alignment - 1 - (before + header.size()) % alignment, ' ');
  header += '\n';
  std::string start("\x93NUMPY\x01\x00", 8);
  append_little_endian(start, static_cast<std::uint16_t>(header.size()));
  file.write(start);
  file.write(header);
}

/// Writes the numbers of rows and columns, as in files of big-ann-benchmarks.
void write_bin_header(AtomicFile& file, std::int64_t rows, std::int64_t cols) {
  if (std::max(rows, cols) > std::numeric_limits<std::uint32_t>::max())
    throw Error(Errc::invalid_argument,
                file.path().string() + ": " + std::to_string(rows) + " rows of " + std::to_string(cols) +
                    " do not fit uint32, in which .ibin and .fbin hold them; write .npy");
  std::string header;
  append_little_endian(header, static_cast<std::uint32_t>(rows));
  append_little_endian(header, static_cast<std::uint32_t>(cols));
  file.write(header);
}

/// Lines with separators; else elements, one behind the other.
bool is_lines(OutputFormat format) {
  return format == OutputFormat::csv || format == OutputFormat::tsv || format == OutputFormat::txt;
}

bool has_header(OutputFormat format) {
  return format == OutputFormat::csv || format == OutputFormat::tsv;
}

template <class T>
void append_number(std::string& to, T value) {
  std::array<char, 32> text{};
  const auto end = std::to_chars(text.data(), text.data() + text.size(), value).ptr;
  to.append(text.data(), end);
}

std::int32_t narrow(const AtomicFile& file, std::int64_t index) {
  if (index > std::numeric_limits<std::int32_t>::max())
    throw Error(Errc::invalid_argument, file.path().string() + ": the index " + std::to_string(index) +
                                            " does not fit int32, which .ivecs and .ibin hold; write .npy");
  return static_cast<std::int32_t>(index);
}
template <class T>
T narrow(const AtomicFile&, T number) {
  return number;
}

/// A row after the header, if there is one.
template <class T>
void write_row(AtomicFile& file, std::span<const T> row, OutputFormat format, std::string& line) {
  line.clear();
  if (format == OutputFormat::vecs) append_little_endian(line, static_cast<std::int32_t>(row.size()));
  for (std::size_t c = 0; c < row.size(); ++c) {
    if (format == OutputFormat::npy)
      append_little_endian(line, row[c]);
    else if (!is_lines(format))
      append_little_endian(line, narrow(file, row[c]));
    else {
      if (c > 0) line += separator_of(format);
      append_number(line, row[c]);
    }
  }
  if (is_lines(format)) line += '\n';
  file.write(line);
}

/// A cell as every reader of .csv takes it: in quotes where it must be.
std::string cell(std::string_view text, char separator) {
  const bool plain = text.find_first_of("\"\r\n") == std::string_view::npos &&
                     text.find(separator) == std::string_view::npos && !text.empty() && text.front() != ' ' &&
                     text.back() != ' ' && text.front() != '\t' && text.back() != '\t';
  if (plain) return std::string(text);
  std::string result = "\"";
  for (char c : text) result += c == '"' ? std::string("\"\"") : std::string(1, c);
  return result + "\"";
}

void write_header(AtomicFile& file, OutputFormat format, ColumnNames names) {
  if (names.empty() || !has_header(format)) return;
  std::string line;
  for (const std::string& name : names)
    line += (line.empty() ? "" : std::string(1, separator_of(format))) + cell(name, separator_of(format));
  file.write(line + "\n");
}

/// Rows first ... of `rows`.
template <class T>
void write_some(AtomicFile& file, MatrixView<const T> some, OutputFormat format, std::string_view descr,
                std::int64_t first, std::int64_t rows, ColumnNames names) {
  if (first == 0) write_header(file, format, names);
  if (format == OutputFormat::npy && first == 0)
    write_npy_header(file, descr, "(" + std::to_string(rows) + ", " + std::to_string(some.cols()) + ")");
  if (format == OutputFormat::bin && first == 0) write_bin_header(file, rows, some.cols());
  std::string line;
  for (std::int64_t r = 0; r < some.rows(); ++r)
    write_row(file, std::span<const T>(some.row(r), static_cast<std::size_t>(some.cols())), format, line);
}

template <class T>
void write_matrix(AtomicFile& file, MatrixView<const T> rows, OutputFormat format, std::string_view descr,
                  ColumnNames names) {
  write_some(file, rows, format, descr, 0, rows.rows(), names);
}

template <class T>
void write_ragged(AtomicFile& file, std::span<const std::int64_t> first, std::span<const T> all,
                  OutputFormat format) {
  if (format == OutputFormat::npy || format == OutputFormat::bin)
    throw Error(Errc::invalid_argument,
                file.path().string() + ": rows are of different lengths, which " +
                    (format == OutputFormat::npy ? ".npy does" : ".ibin and .fbin do") +
                    " not hold; write .csv, .tsv or .txt");
  std::string line;
  for (std::size_t q = 0; q + 1 < first.size(); ++q)
    write_row(
        file,
        all.subspan(static_cast<std::size_t>(first[q]), static_cast<std::size_t>(first[q + 1] - first[q])),
        format, line);
}

}  // namespace

bool is_single(const std::filesystem::path& path, const std::string& format) {
  const std::string ending = ending_of(path, format);
  return ending == ".fvecs" || ending == ".fbin";
}

bool has_equal_rows(const std::filesystem::path& path, const std::string& format) {
  const std::string ending = ending_of(path, format);
  return ending == ".npy" || ending == ".ibin" || ending == ".fbin";
}

void check_output_name(const std::filesystem::path& path, Content content, const std::string& format) {
  output_format(path, content, format);
}

void write_rows(AtomicFile& file, MatrixView<const std::int64_t> indices, ColumnNames names) {
  write_matrix(file, indices, output_format(file, Content::indices), "<i8", names);
}

void write_rows(AtomicFile& file, MatrixView<const float> distances, ColumnNames names) {
  write_matrix(file, distances, output_format(file, Content::distances), "<f4", names);
}

void write_ground_truth(AtomicFile& file, MatrixView<const std::int64_t> rows,
                        MatrixView<const float> distances) {
  write_matrix(file, rows, OutputFormat::bin, {}, {});
  std::string line;
  for (std::int64_t r = 0; r < distances.rows(); ++r)
    write_row(file, std::span<const float>(distances.row(r), static_cast<std::size_t>(distances.cols())),
              OutputFormat::bin, line);
}

void write_piece(AtomicFile& file, MatrixView<const float> distances, std::int64_t first, std::int64_t rows,
                 ColumnNames names) {
  write_some(file, distances, output_format(file, Content::distances), "<f4", first, rows, names);
}

void write_piece(AtomicFile& file, MatrixView<const double> distances, std::int64_t first, std::int64_t rows,
                 ColumnNames names) {
  write_some(file, distances, output_format(file, Content::values), "<f8", first, rows, names);
}

void write_rows(AtomicFile& file, MatrixView<const double> values, ColumnNames names) {
  write_matrix(file, values, output_format(file, Content::values), "<f8", names);
}

void write_lists(AtomicFile& file, std::span<const std::int64_t> first,
                 std::span<const std::int64_t> indices) {
  write_ragged(file, first, indices, output_format(file, Content::indices));
}

void write_lists(AtomicFile& file, std::span<const std::int64_t> first, std::span<const float> distances) {
  write_ragged(file, first, distances, output_format(file, Content::distances));
}

void write_lists(AtomicFile& file, std::span<const std::int64_t> first, std::span<const double> values) {
  write_ragged(file, first, values, output_format(file, Content::values));
}

void write_labels(AtomicFile& file, std::span<const std::int64_t> code, std::span<const std::string> names) {
  const LabelColumn column{code, names};
  write_labels(file, std::span(&column, 1));
}

namespace {

/// A label that .npy can hold. Labels with names are numbers where one of them is below 0.
std::int64_t number_of(const AtomicFile& file, const LabelColumn& column, std::int64_t label) {
  if (column.names.empty()) return label;
  const std::string& name = column.names[static_cast<std::size_t>(label)];
  std::int64_t number = 0;
  if (!parse_whole(name, number))
    throw Error(Errc::invalid_argument, file.path().string() + ": the labels are text, such as " + name +
                                            ", which .npy does not hold here; write .csv or .txt");
  return number;
}

}  // namespace

void write_labels(AtomicFile& file, std::span<const LabelColumn> columns, ColumnNames names) {
  const OutputFormat format = output_format(file, Content::labels);
  write_header(file, format, names);
  const std::size_t rows = columns[0].code.size();
  if (format == OutputFormat::npy) {
    write_npy_header(file, "<i8",
                     "(" + std::to_string(rows) + "," +
                         (columns.size() == 1 ? "" : " " + std::to_string(columns.size())) + ")");
  }
  std::string line;
  for (std::size_t r = 0; r < rows; ++r) {
    line.clear();
    for (const LabelColumn& column : columns) {
      const std::int64_t label = column.code[r];
      if (format == OutputFormat::npy) {
        append_little_endian(line, number_of(file, column, label));
        continue;
      }
      if (&column != columns.data()) line += separator_of(format);
      line += column.names.empty()
                  ? std::to_string(label)
                  : cell(column.names[static_cast<std::size_t>(label)], separator_of(format));
    }
    file.write(format == OutputFormat::npy ? line : line + "\n");
  }
}

}  // namespace kith::files
