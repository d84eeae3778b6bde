// Results as files, which appear whole or not at all.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "kith/matrix_view.hpp"
#include "kith/unfinished.hpp"

namespace kith::files {

struct ClosedPipe {};

/// `-`, and the other names of stdout: /dev/stdout, /dev/fd/1, /proc/self/fd/1.
bool is_stdout(std::string_view path);

/// A file being written. It is a temporary beside its place until commit() renames it there; without
/// commit(), or with kith::remove_unfinished(), it disappears. A path that is no ordinary file, such as
/// /dev/null or a pipe, is written directly, and so is stdout.
class AtomicFile {
 public:
  /// Create the temporary.
  ///   format  that of a path whose ending says none: csv, tsv, txt, npy, ivecs, fvecs, ibin, fbin; empty:
  ///           csv for what is
  ///           no ordinary file
  ///   patience  how long a pipe may be without a reader
  /// Throws bad_file: the folder is missing or cannot be written, or `path` is a folder, or a pipe that is
  /// not read.
  explicit AtomicFile(const std::filesystem::path& path, std::string format = {},
                      std::chrono::milliseconds patience = std::chrono::seconds(30));
  ~AtomicFile();
  AtomicFile(const AtomicFile&) = delete;
  AtomicFile& operator=(const AtomicFile&) = delete;

  const std::filesystem::path& path() const { return path_; }
  const std::string& format() const { return format_; }
  /// Throws bad_file: disk full, and the like; ClosedPipe: the reader closed the pipe.
  void write(const void* bytes, std::size_t size);
  void write(std::string_view text) { write(text.data(), text.size()); }

  /// Flush to the disk and rename to path(). Throws bad_file: disk full, and the like.
  void commit();

 private:
  int open_stream(bool is_pipe, std::chrono::milliseconds patience) const;
  void flush();
  [[noreturn]] void fail(std::string_view what, int error) const;

  std::filesystem::path path_;  ///< as given
  std::string format_;
  std::filesystem::path target_;     ///< links followed
  std::filesystem::path temporary_;  ///< empty when written directly
  std::string buffer_;
  Unfinished unfinished_;  ///< the temporary
  int fd_ = -1;
};

enum class Content { indices, distances, labels, values };

/// Refuse a name that says no format for this content, before any work is done; `format` as for AtomicFile.
///   indices    [m, k]  .npy (int64) .ivecs .ibin .csv .tsv .txt
///   distances  [m, k]  .npy (float32) .fvecs .fbin .csv .tsv .txt
///   labels     [m], [m, outputs]  .npy (int64) .csv .tsv .txt
///   values     [m, cols]          .npy (float64) .csv .tsv .txt
/// Throws invalid_argument.
void check_output_name(const std::filesystem::path& path, Content content, const std::string& format = {});

/// Whether that is a format that holds float32 alone: .fvecs, .fbin.
bool is_single(const std::filesystem::path& path, const std::string& format);

/// Whether that is a format whose rows are of one length: .npy, .ibin, .fbin.
bool has_equal_rows(const std::filesystem::path& path, const std::string& format);

/// Names of columns: the first line of .csv and .tsv; of no effect in other formats. Empty: no such line.
using ColumnNames = std::span<const std::string>;

/// Write a whole file in the format its name says; the caller commits. Text: a line a row, numbers as short
/// as gives the same bits back, infinity as `inf`; .csv with commas, .tsv with tabs, .txt with spaces. Throws
/// invalid_argument: no such format, or an index beyond int32 in .ivecs or .ibin.
void write_rows(AtomicFile& file, MatrixView<const std::int64_t> indices, ColumnNames names = {});
void write_rows(AtomicFile& file, MatrixView<const float> distances, ColumnNames names = {});
void write_rows(AtomicFile& file, MatrixView<const double> values, ColumnNames names = {});

/// Ground truth as big-ann-benchmarks reads it, whatever the name: queries and k, the rows, and unless
/// `distances` is empty, these, too. Throws invalid_argument: a row beyond int32.
void write_ground_truth(AtomicFile& file, MatrixView<const std::int64_t> rows,
                        MatrixView<const float> distances);

/// A piece of the distances, rows first, first + 1, ... of `rows` in all; the pieces one after the other.
void write_piece(AtomicFile& file, MatrixView<const float> distances, std::int64_t first, std::int64_t rows,
                 ColumnNames names = {});
void write_piece(AtomicFile& file, MatrixView<const double> distances, std::int64_t first, std::int64_t rows,
                 ColumnNames names = {});

/// The same for rows of different lengths, without a header: row q is first[q] ... first[q + 1] - 1.
/// Throws invalid_argument: has_equal_rows().
void write_lists(AtomicFile& file, std::span<const std::int64_t> first,
                 std::span<const std::int64_t> indices);
void write_lists(AtomicFile& file, std::span<const std::int64_t> first, std::span<const float> distances);
void write_lists(AtomicFile& file, std::span<const std::int64_t> first, std::span<const double> values);

/// The same for labels, one a line; `names` as in Labels. Text labels cannot be written as .npy.
void write_labels(AtomicFile& file, std::span<const std::int64_t> code,
                  std::span<const std::string> names = {});

/// Several labels a row, a column each, all of one length. Text labels cannot be written as .npy.
struct LabelColumn {
  std::span<const std::int64_t> code;
  std::span<const std::string> names;
};
void write_labels(AtomicFile& file, std::span<const LabelColumn> columns, ColumnNames names = {});

}  // namespace kith::files
