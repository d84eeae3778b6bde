// Data files as rows of numbers: what the kith command reads. Formats go by the file's name:
//
//   .npy                   NumPy 1.0-3.0: f2 f4 f8, i1-i8, u1-u8, bool; either byte order; C or Fortran
//   .csv .data .tsv .txt   text, a row a line; commas, tabs, or runs of spaces between cells
//   -ubyte .idx            MNIST's format: u8 i8 i16 i32 f32 f64
//   .fvecs .ivecs .bvecs   vectors as in the TEXMEX collections: every row says its length
//   .fbin .u8bin .i8bin .f16bin .ibin   rows and columns as two u32, then the rows: big-ann-benchmarks
//   .npz                   arrays by name, as numpy.savez and numpy.savez_compressed write them
//   .hdf5 .h5 .hdf         the same as ann-benchmarks writes them, where kith was built with HDF5
//   .svm .libsvm           a label, then index:value pairs, 1-based; what is absent is 0
//
// each also with .gz behind it. Axes after the first are flattened; one axis alone is a column.
//
// In text, a column is numbers or it is categories: its first row decides, and a cell of the other kind
// further down is refused. Cells may be in quotes, which hold separators, line ends and doubled quotes;
// blank lines are skipped; an empty cell is refused.
//
// Where a message or a number from the caller names a place: lines and columns of text count from 1, as in
// an editor; rows and columns of binary files count from 0, as in kith's results.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

#include "files/columns/rounded_wholes.hpp"
#include "files/digits.hpp"
#include "files/text/encoding.hpp"
#include "files/text/number.hpp"
#include "kith/rows_view.hpp"
#include "limits.hpp"

namespace kith::files {

/// Class labels of rows.
struct Labels {
  std::vector<std::int64_t> code;  ///< [rows] the number in the file, or a position in names
  /// Where labels are text, or one of them is negative: ascending, numbers as numbers; then, where the labels
  /// were read with known ones, those that are not among these, ascending too. Else empty.
  std::vector<std::string> names;

  /// A code as the file wrote it.
  std::string text(std::int64_t code) const;
  bool operator==(const Labels&) const = default;
};

/// The dictionary of a text column: a cell becomes the position of its text, 0, 1, 2, ...
struct Categories {
  std::int64_t column = 0;         ///< position in the table's columns, from 0
  std::vector<std::string> names;  ///< distinct, ascending by bytes, so the order of rows does not matter

  bool operator==(const Categories&) const = default;
};

/// Rows first, first + 1, ..., first + rows - 1 of a file.
struct RowRange {
  std::int64_t first = 0, rows = 0;

  bool operator==(const RowRange&) const = default;
};

/// The part that is `part` of `parts`, counted from 0, of as nearly the same size as they can be.
RowRange part_of(std::int64_t rows, std::int64_t part, std::int64_t parts);

/// Rows of numbers: finite, or NaN where ReadOptions::missing lets them be.
struct Table {
  std::string path;                       ///< as given, for messages
  std::int64_t rows = 0;                  ///< > 0
  std::int64_t cols = 0;                  ///< > 0; the label column is not among them
  std::vector<float> values;              ///< [rows, cols], row-major; empty where `stored` is not
  std::vector<double> doubles;            ///< [rows, cols] likewise, where ReadOptions::doubles wants them
  std::vector<unsigned char> stored;      ///< [rows, cols] of `element`, the machine's order of bytes
  std::optional<RowRange> held;           ///< the rows of `values` and `stored`, where they are not all
  Element element = Element::f32;         ///< of `stored`; bits: 8 columns in each byte, which `cols` counts
  bool text = false;                      ///< .csv, .tsv, .txt and the like
  std::int64_t label_column = -1;         ///< in the file, from 0; -1: none
  std::vector<std::string> answer_names;  ///< of label columns, then of targets, where there was a header
  std::vector<std::int64_t> left_out;     ///< columns of the file that are not among cols, from 0, ascending
  /// Places, from 0, ascending, among the columns that are no answers, of those that are left out of cols;
  /// and their names where there was a header. Queries may have these columns, whatever they hold, or not.
  std::vector<std::int64_t> unread;
  std::vector<std::string> unread_names;
  bool header = false;                       ///< text files: the first line was taken as names
  std::vector<std::string> column_names;     ///< [cols] where there was a header; else empty
  std::string distance;                      ///< what an HDF5 file calls its distance: angular, euclidean
  std::vector<std::int64_t> image_shape;     ///< {height, width} where each row is an image (3-D idx or npy)
  std::vector<Categories> categories;        ///< one a text column, ascending by column
  std::vector<RoundedColumn> rounded;        ///< ascending by column; empty where there are doubles
  std::optional<EqualRows> equal_rows;       ///< that were not before they were rounded
  std::vector<RoundedWhole> rounded_wholes;  ///< ascending by column; empty where there are no doubles
  Labels labels;                             ///< [rows] where there was a label column; else empty
  std::vector<Labels> more_labels;  ///< of more_label_columns, each [rows]; empty where they are absent
  Labels groups;                    ///< [rows] of group_column; else empty
  std::string group_name;           ///< of group_column, where there was a header
  std::int64_t first_index = -1;    ///< .svm files: the index of the first column, 0 or 1
  std::vector<double> targets;      ///< [rows, target_columns]; empty where they are absent

  /// `column 3 (petal width)`: how text messages name a column; `column` from 0.
  std::string column_text(std::int64_t column) const;
};

/// Whether the first line of a text file names the columns. names: it does where it holds a name, and numbers
/// are a row, whatever stands below them.
enum class Header { automatic, yes, no, names };

/// Whether a cell of text that begins with a quote goes on to the next quote. automatic: yes, but in files of
/// blanks or tabs a quote that is not closed in its line is refused, since it may be a text like any other.
enum class Quotes { automatic, yes, no };

/// How a file is read, whatever is in it: rows, labels or values.
struct FileOptions {
  /// The format of `-` (stdin), and of files whose name says none: csv, tsv, txt, npy, idx, fvecs, ivecs,
  /// bvecs, svm, fbin, u8bin, i8bin, f16bin, ibin, npz, hdf5. Empty: the name must say it.
  std::string format;

  /// .npz and HDF5: the name of an array. Empty: the one called `usual_array`; where none is, the first, of
  /// HDF5 the only one.
  /// Files that have no arrays by name: invalid_argument.
  std::string array;
  std::string usual_array;

  /// Text files. automatic: the first line is a header where one of its cells is a name while the cell below
  /// is a number, where it holds a name that is asked for, or where it repeats the names of `like`; it is a
  /// row where it holds numbers. All else is refused. docs/contract.md, section 9, has the rules.
  Header header = Header::automatic;

  /// Text files: what separates cells; ' ': any run of spaces and tabs; 0: the one sign that cuts every line
  /// into as many cells.
  char separator = 0;
  char decimal = '.';                 ///< text files: or ','
  Quotes quotes = Quotes::automatic;  ///< of text files
  std::int64_t skip = -1;             ///< text files: lines above the table, which are left out; -1: not said
  bool labels_are_text = false;       ///< of text files: 007 and 7 are two labels
  Encoding encoding = Encoding::utf8;  ///< of text files
  Limits limits;                       ///< what goes beyond is bad_file

  std::function<void(const std::string&)> note;  ///< told what changes the answer unasked, one line each
  std::stop_token stop;                  ///< asked to stop: Error interrupted, within a few milliseconds
  std::function<void(double)> progress;  ///< told, now and then, which part of the file has been read
};

/// The indices of a .svm file.
struct SvmWidth {
  std::int64_t largest = -1;  ///< -1: there are none
  bool zero = false;          ///< whether one of them is 0
};

struct ReadOptions : FileOptions {
  ReadOptions() = default;
  explicit ReadOptions(const FileOptions& file) : FileOptions(file) {}

  /// Text files: the column with the labels: a name of the header, or a number from 1, or from the end:
  /// -1 is the last. A name wins over a number. Empty: no column is a label.
  /// .svm files: "1" or "label", the first item of each line.
  /// Other formats have no such column: invalid_argument.
  std::string label_column;

  /// Text files: further columns with labels, beside label_column; none twice.
  std::vector<std::string> more_label_columns;

  /// Text files: columns with numbers that are to be predicted; they are no values, and read as float64.
  /// .svm files: as label_column.
  std::vector<std::string> target_columns;

  /// Text files: the column that names the group of each row, called as label_column; it is no value, and
  /// queries have it as their training rows do. Empty: there are no groups.
  std::string group_column;

  /// Columns of labels and targets may be absent, all of them: queries in the training file's layout, with or
  /// without labels.
  bool label_optional = false;

  /// The training table, when queries are read: gives dims (to .svm), dictionaries, the label names, the
  /// layout. Queries whose columns differ in number or name are refused (invalid_argument).
  const Table* like = nullptr;

  /// A category that is not in the dictionary of `like` becomes 0 instead of an error.
  bool unseen_is_zero = false;

  /// A missing value, an empty cell, NA, NaN, ? or the like, becomes NaN instead of an error.
  bool missing = false;

  /// Numbers are kept as they are read, too, in Table::doubles, where float32 may not hold them: those of
  /// text, float64, integers of 32 and 64 bits. Only Table::rounded_wholes tells what was rounded then.
  bool doubles = false;

  /// With doubles: a number beyond float32 is no error, and an infinity in Table::values.
  bool wide = false;

  /// What a message about a number beyond float32 advises.
  std::string if_too_large{scale_down};

  /// What is kept as it is in Table::stored, of f16, u8 and i8, where a binary file has it row by row.
  std::vector<Element> keep;

  /// .svm files: the index of the first column, 0 or 1. -1: as `like`; else 0 where one of the indices is 0.
  std::int64_t first_index = -1;

  /// .svm files: what else is read as this file is; the table gets as many columns as it needs.
  SvmWidth also = {};

  /// It becomes one category more, the number of names: 0 in every column of a one-hot code.
  bool unseen_is_new = false;

  /// Of the rows those of part_of() alone are read and checked, and Table::held says which: where they lie
  /// one behind the other in an ordinary file, .npy, idx, or .fbin and its kind, and each part has one.
  /// Others are read as a whole.
  std::int64_t part = 0, parts = 1;
  /// For DigitsWatch::join() of these parts, so that what is told about digits is told of all rows. Empty: of
  /// this part.
  SumOfParts sum_of_parts;

  /// Of a table with all its columns, and without rows yet, the places of those that count, ascending; empty:
  /// all. Others are not read, whatever they hold. Not asked of rows of bits.
  std::function<std::vector<std::int64_t>(const Table&)> choose;

  /// Whether the columns that count were named, so that nothing is told about those that look like numbers
  /// of rows.
  bool features_chosen = false;

  /// Text files: a row without its label or target becomes a row of NaN instead of an error.
  bool missing_answers = false;

  /// Columns whose cells are categories even where they look like numbers: names or numbers, as above.
  /// Text files; of no effect where `like` says it.
  std::vector<std::string> categorical;
};

/// Read a whole file.
/// Throws bad_file:         missing, unreadable, empty, truncated, ragged, not a number, NaN, infinite,
///                          beyond float32, an unseen category: where, what, and what to do.
///        invalid_argument: `options` do not fit the file.
///        out_of_memory:    the rows do not fit in memory.
Table read_table(const std::filesystem::path& path, const ReadOptions& options = {});

/// Take all but these columns, by their places, ascending, out of the values of a table, which still has its
/// former width, and out of what was rounded.
void keep_values(Table& table, const std::vector<std::int64_t>& columns);

struct LabelOptions : FileOptions {
  LabelOptions() = default;
  explicit LabelOptions(const FileOptions& file) : FileOptions(file) {}

  /// As ReadOptions::label_column; needed where a file has several columns, unless it has two and the first
  /// is the index of pandas, which has no name.
  std::string column;
  bool column_optional = false;   ///< of no effect where the file has no such name, or one column
  std::int64_t rows = 0;          ///< how many labels there should be; 0: any number. One more, and the
                                  ///< first line is text or 0, is a header
  const Labels* known = nullptr;  ///< labels of the training rows, whose codes the same labels get; others
                                  ///< get codes after theirs
};

/// Read labels: one a row; whole numbers or text.
/// Throws as read_table() does.
Labels read_labels(const std::filesystem::path& path, const LabelOptions& options = {});

/// Numbers as float64: what a regression learns, weights, costs.
struct Values {
  std::int64_t rows = 0, cols = 0;
  std::vector<double> values;             ///< [rows, cols], finite
  std::vector<std::string> column_names;  ///< [cols] where there was a header; else empty
  std::optional<Element> floats;          ///< f16, f32 or f64, where a binary file holds these
};

struct ValueOptions : FileOptions {
  ValueOptions() = default;
  ValueOptions(const FileOptions& file) : FileOptions(file) {}

  std::vector<std::string> columns;  ///< of text files, as ReadOptions::target_columns; empty: all but an
                                     ///< index of pandas, a first column without a name
  std::int64_t rows = 0;  ///< how many there should be; 0: any number. One more after 0, 1, ... is a header
};

/// Read a whole .npy, idx, .fbin (and its kind), text or .svm file (of which the first item of each line).
/// Integers beyond 2^53 are rounded to nearest. Throws as read_table() does.
Values read_values(const std::filesystem::path& path, const ValueOptions& options = {});

/// Whether read_table() takes this for a .svm file, or for text with columns.
///   given  FileOptions::format
bool is_svm(const std::filesystem::path& path, const std::string& given);
bool is_text(const std::filesystem::path& path, const std::string& given);

/// The indices of a whole .svm file. Throws as read_table() does.
SvmWidth read_svm_width(const std::filesystem::path& path, const FileOptions& options = {});

/// What is lost where float32 does not tell values or rows apart: `train.csv: column 2 (y): float32 keeps its
/// values to 0.5, ...`, with the value that loses most. Empty: nothing is.
std::string lost_digits(const Table& table);

/// The same, and what to do about it.
///   may_centre  the caller has an option that subtracts means
///   instead     what the caller advises if it has not
std::string describe_lost_digits(const Table& table, bool may_centre = true, const std::string& instead = {});

/// What else may be done about a column of which lost_digits() tells: nothing, where subtracting its mean
/// keeps its digits; else to leave it out.
std::string advice_on_row_numbers(const Table& table);

}  // namespace kith::files
