// The readers behind read_table() and read_labels(): one file a format.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "files/binary/elements.hpp"
#include "source.hpp"
#include "table.hpp"

namespace kith::files {

enum class Format {
  npy,
  csv,
  tsv,
  txt,
  idx,
  fvecs,
  ivecs,
  bvecs,
  svm,
  fbin,
  u8bin,
  i8bin,
  f16bin,
  ibin,
  npz,
  hdf5
};

/// By the file's name, `.gz` aside, letters of any case; else `given`, as FileOptions::format.
/// Throws bad_file: an ending that is none of ours, and nothing given. invalid_argument: no such format.
Format format_of(const std::string& name, const std::string& given = {});
Format format_named(const std::string& name);
std::string ending_of(const std::string& name);  ///< `.csv`: of a name that has one, .gz aside
/// How a file that kith does not read becomes one that it does, by the ending of its name: one line of Python
/// or a command. Empty: nothing is known of it.
std::string conversion_advice(const std::string& ending);

/// Two numbers, rows and columns, and then the rows: .fbin, .u8bin, .i8bin, .f16bin, .ibin.
bool is_bin(Format format);
bool is_text(Format format);  ///< lines with columns: csv, tsv, txt
bool is_gzip_name(const std::string& name);

/// What the header of an array says of the elements after it.
struct ArrayLayout {
  ElementType type = ElementType::u8;
  bool big_endian = false;
  bool fortran = false;              ///< the first axis varies fastest
  std::vector<std::uint64_t> shape;  ///< every axis > 0
  std::string distance;              ///< what the file calls its distance; empty: it does not say
};
ArrayLayout read_npy_header(Source& source);
ArrayLayout read_idx_header(Source& source);
ArrayLayout read_bin_header(Source& source, Format format);
/// Of the array that `options` choose.
ArrayLayout read_npz_header(Source& source, const FileOptions& options);
ArrayLayout read_hdf5_header(Source& source, const FileOptions& options);
bool has_arrays(Format format);  ///< by name: npz, hdf5

/// Throws invalid_argument: queries have another number of columns than the training rows.
[[noreturn]] void refuse_width(const Table& table, const Table& like);

/// The place in `names` of the array that `options` choose.
/// Throws invalid_argument: there is none of that name, or several. Tells where the first of several is
/// taken.
std::size_t chosen_array(const Source& source, const std::vector<std::string>& names,
                         const FileOptions& options);
/// Of those formats that have one before all elements. Nothing is read, and nothing returned, of others.
std::optional<ArrayLayout> read_array_header(Source& source, Format format, const FileOptions& options);

/// The rest of the file as rows along the first axis: floats or what is kept as it is, or labels (one a row).
void read_array(Source& source, const ArrayLayout& layout, const ReadOptions& options, Table& table);
std::vector<std::int64_t> read_array_labels(Source& source, const ArrayLayout& layout);
void read_array_values(Source& source, const ArrayLayout& layout, Values& values);

/// .fvecs, .ivecs, .bvecs: `dims` as a little-endian i32, then that many f32, i32 or u8; for every row.
void read_vecs(Source& source, Format format, const ReadOptions& options, Table& table);
std::vector<std::int64_t> read_vecs_labels(Source& source, Format format);
void read_vecs_values(Source& source, Format format, Values& values);

void read_svm(Source& source, const ReadOptions& options, Table& table);
SvmWidth read_svm_width(Source& source);
void read_svm_values(Source& source, Values& values);
Labels read_svm_labels(Source& source, const Labels* known);

/// .csv, .tsv, .txt
void read_delimited(Source& source, Format format, const ReadOptions& options, Table& table);
Labels read_delimited_labels(Source& source, Format format, const LabelOptions& options);
void read_delimited_values(Source& source, Format format, const ValueOptions& options, Values& values);

}  // namespace kith::files
