#include "output.hpp"

#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <bit>
#include <charconv>
#include <cstring>
#include <limits>
#include <utility>

#include "kith/error.hpp"
#include "number.hpp"

namespace kith::files {
namespace {

constexpr std::size_t buffer_bytes = std::size_t{1} << 18;

// Names of temporaries, for a signal handler: a slot belongs to one AtomicFile from the change of `used`
// to true until that to false; `name` is null while there is nothing to remove.
struct Slot {
  std::atomic<bool> used{false};
  std::atomic<const char*> name{nullptr};
};
std::array<Slot, 16> slots;
static_assert(std::atomic<const char*>::is_always_lock_free);

int take_slot(const char* name) {
  for (std::size_t i = 0; i < slots.size(); ++i)
    if (!slots[i].used.exchange(true)) {
      slots[i].name = name;
      return static_cast<int>(i);
    }
  return -1;
}

std::filesystem::path resolved(const std::filesystem::path& path) {
  std::error_code error;
  const std::filesystem::path target = std::filesystem::weakly_canonical(path, error);
  return error ? path : target;
}

std::string advice(int error) {
  switch (error) {
    case ENOENT:
      return "make the folder first";
    case EACCES:
    case EPERM:
    case EROFS:
      return "choose a folder that you may write to";
    case ENOSPC:
    case EDQUOT:
      return "free some space";
    default:
      return "choose another place";
  }
}

}  // namespace

void AtomicFile::fail(std::string_view what, int error) const {
  throw Error(Errc::bad_file,
              path_.string() + ": " + std::string(what) + ": " + std::strerror(error) + "; " + advice(error));
}

AtomicFile::AtomicFile(const std::filesystem::path& path) : path_(path), target_(resolved(path)) {
  struct stat old {};
  const bool exists = ::stat(path.c_str(), &old) == 0;
  if (exists && S_ISDIR(old.st_mode))
    throw Error(Errc::bad_file, path.string() + ": is a folder; name a file in it");
  buffer_.reserve(buffer_bytes);
  if (exists && !S_ISREG(old.st_mode)) {
    fd_ = ::open(path.c_str(), O_WRONLY | O_CLOEXEC);
    if (fd_ < 0) fail("cannot be written", errno);
    return;
  }
  for (int attempt = 0; fd_ < 0; ++attempt) {
    temporary_ = target_;
    temporary_ += ".partial-" + std::to_string(::getpid()) + "-" + std::to_string(attempt);
    fd_ = ::open(temporary_.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    if (fd_ < 0 && (errno != EEXIST || attempt == 100)) fail("cannot be written", errno);
  }
  slot_ = take_slot(temporary_.c_str());
  if (exists) (void)::fchmod(fd_, old.st_mode & 07777);  // where that is not allowed, the usual mode stays
}

AtomicFile::~AtomicFile() {
  if (fd_ >= 0) ::close(fd_);
  if (!temporary_.empty()) ::unlink(temporary_.c_str());
  if (slot_ >= 0) {
    Slot& slot = slots[static_cast<std::size_t>(slot_)];
    slot.name = nullptr;
    slot.used = false;
  }
}

void AtomicFile::flush() {
  for (std::size_t done = 0; done < buffer_.size();) {
    const ssize_t wrote = ::write(fd_, buffer_.data() + done, buffer_.size() - done);
    if (wrote < 0 && errno == EINTR) continue;
    if (wrote < 0) fail("cannot be written", errno);
    done += static_cast<std::size_t>(wrote);
  }
  buffer_.clear();
}

void AtomicFile::write(const void* bytes, std::size_t size) {
  const char* from = static_cast<const char*>(bytes);
  while (size > 0) {
    const std::size_t some = std::min(size, buffer_bytes - buffer_.size());
    buffer_.append(from, some);
    from += some;
    size -= some;
    if (buffer_.size() == buffer_bytes) flush();
  }
}

void AtomicFile::commit() {
  flush();
  if (!temporary_.empty() && ::fsync(fd_) != 0) fail("cannot be written", errno);
  const int fd = std::exchange(fd_, -1);
  if (::close(fd) != 0) fail("cannot be written", errno);
  if (temporary_.empty()) return;
  if (::rename(temporary_.c_str(), target_.c_str()) != 0) fail("cannot be put in its place", errno);
  if (slot_ >= 0) slots[static_cast<std::size_t>(slot_)].name = nullptr;
  temporary_.clear();
}

void remove_unfinished() noexcept {
  for (Slot& slot : slots)
    if (const char* name = slot.name.exchange(nullptr)) ::unlink(name);
}

namespace {

enum class OutputFormat { npy, vecs, csv, tsv, txt };

OutputFormat output_format(const std::filesystem::path& path, Content content) {
  const std::string ending = path.extension().string();
  if (ending == ".npy") return OutputFormat::npy;
  if (ending == ".csv") return OutputFormat::csv;
  if (ending == ".tsv") return OutputFormat::tsv;
  if (ending == ".txt") return OutputFormat::txt;
  if (content == Content::indices && ending == ".ivecs") return OutputFormat::vecs;
  if (content == Content::distances && ending == ".fvecs") return OutputFormat::vecs;
  constexpr std::array whats = {"indices", "distances", "labels", "values"};
  constexpr std::array vecs = {" .ivecs", " .fvecs", "", ""};
  const auto at = static_cast<std::size_t>(content);
  throw Error(Errc::invalid_argument, path.string() + ": its name ends in no format in which kith writes " +
                                          whats[at] + "; there are .npy" + vecs[at] + " .csv .tsv .txt");
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

template <class T>
void append_number(std::string& to, T value) {
  std::array<char, 32> text{};
  const auto end = std::to_chars(text.data(), text.data() + text.size(), value).ptr;
  to.append(text.data(), end);
}

std::int32_t narrow(const AtomicFile& file, std::int64_t index) {
  if (index > std::numeric_limits<std::int32_t>::max())
    throw Error(Errc::invalid_argument, file.path().string() + ": the index " + std::to_string(index) +
                                            " does not fit .ivecs, which holds int32; write .npy");
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
    else if (format == OutputFormat::vecs)
      append_little_endian(line, narrow(file, row[c]));
    else {
      if (c > 0) line += separator_of(format);
      append_number(line, row[c]);
    }
  }
  if (format != OutputFormat::npy && format != OutputFormat::vecs) line += '\n';
  file.write(line);
}

/// Rows first ... of `rows`.
template <class T>
void write_some(AtomicFile& file, MatrixView<const T> some, OutputFormat format, std::string_view descr,
                std::int64_t first, std::int64_t rows) {
  if (format == OutputFormat::npy && first == 0)
    write_npy_header(file, descr, "(" + std::to_string(rows) + ", " + std::to_string(some.cols()) + ")");
  std::string line;
  for (std::int64_t r = 0; r < some.rows(); ++r)
    write_row(file, std::span<const T>(some.row(r), static_cast<std::size_t>(some.cols())), format, line);
}

template <class T>
void write_matrix(AtomicFile& file, MatrixView<const T> rows, OutputFormat format, std::string_view descr) {
  write_some(file, rows, format, descr, 0, rows.rows());
}

template <class T>
void write_ragged(AtomicFile& file, std::span<const std::int64_t> first, std::span<const T> all,
                  OutputFormat format) {
  if (format == OutputFormat::npy)
    throw Error(Errc::invalid_argument,
                file.path().string() +
                    ": rows are of different lengths, which .npy does not hold; write .csv, .tsv or .txt");
  std::string line;
  for (std::size_t q = 0; q + 1 < first.size(); ++q)
    write_row(
        file,
        all.subspan(static_cast<std::size_t>(first[q]), static_cast<std::size_t>(first[q + 1] - first[q])),
        format, line);
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

}  // namespace

void check_output_name(const std::filesystem::path& path, Content content) {
  output_format(path, content);
}

void write_rows(AtomicFile& file, MatrixView<const std::int64_t> indices) {
  write_matrix(file, indices, output_format(file.path(), Content::indices), "<i8");
}

void write_rows(AtomicFile& file, MatrixView<const float> distances) {
  write_matrix(file, distances, output_format(file.path(), Content::distances), "<f4");
}

void write_piece(AtomicFile& file, MatrixView<const float> distances, std::int64_t first, std::int64_t rows) {
  write_some(file, distances, output_format(file.path(), Content::distances), "<f4", first, rows);
}

void write_rows(AtomicFile& file, MatrixView<const double> values) {
  write_matrix(file, values, output_format(file.path(), Content::values), "<f8");
}

void write_lists(AtomicFile& file, std::span<const std::int64_t> first,
                 std::span<const std::int64_t> indices) {
  write_ragged(file, first, indices, output_format(file.path(), Content::indices));
}

void write_lists(AtomicFile& file, std::span<const std::int64_t> first, std::span<const float> distances) {
  write_ragged(file, first, distances, output_format(file.path(), Content::distances));
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

void write_labels(AtomicFile& file, std::span<const LabelColumn> columns) {
  const OutputFormat format = output_format(file.path(), Content::labels);
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
      if (!line.empty()) line += separator_of(format);
      line += column.names.empty()
                  ? std::to_string(label)
                  : cell(column.names[static_cast<std::size_t>(label)], separator_of(format));
    }
    file.write(format == OutputFormat::npy ? line : line + "\n");
  }
}

}  // namespace kith::files
