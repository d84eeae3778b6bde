#include "table.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <new>
#include <optional>

#include "files/columns/dictionary.hpp"
#include "files/printed.hpp"
#include "files/text/layout.hpp"
#include "formats.hpp"

namespace kith::files {
namespace {

std::string lower(std::string text) {
  std::transform(text.begin(), text.end(), text.begin(),
                 [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c; });
  return text;
}

/// Call `body`; what the memory cannot hold leaves as Error.
template <class Body>
auto with_memory(const std::string& name, Body&& body) {
  try {
    return body();
  } catch (const std::bad_alloc&) {
    throw Error(Errc::out_of_memory, name + ": no memory left while reading; take fewer rows or columns");
  } catch (const std::length_error&) {
    throw Error(Errc::out_of_memory, name + ": no memory left while reading; take fewer rows or columns");
  }
}

/// Refuse options that mean something in files with columns of text only.
void refuse_text_options(const std::string& name, Format format, const ReadOptions& options) {
  if (format != Format::svm && !options.label_column.empty() && !options.label_optional)
    throw Error(Errc::invalid_argument,
                name + ": has no label column " + in_quotes(options.label_column) +
                    ", being no text; give the labels as a file of their own: --labels");
  if (!options.more_label_columns.empty() && !options.label_optional)
    throw Error(Errc::invalid_argument, name + ": has no label column " +
                                            in_quotes(options.more_label_columns[0]) +
                                            ", being no text; several label columns need .csv, .tsv or .txt");
  if (format != Format::svm && !options.target_columns.empty() && !options.label_optional)
    throw Error(Errc::invalid_argument,
                name + ": has no target column " + in_quotes(options.target_columns[0]) +
                    ", being no text; give the values as a file of their own: --values");
  if (!options.group_column.empty())
    throw Error(Errc::invalid_argument, name + ": has no group column " + in_quotes(options.group_column) +
                                            ", being no text; write the rows as .csv");
  if (!options.like && !options.categorical.empty())
    throw Error(Errc::invalid_argument, name + ": has no categorical column " +
                                            in_quotes(options.categorical[0]) +
                                            ", being no text; leave that option out");
  if (options.like && !options.like->categories.empty())
    throw Error(Errc::invalid_argument, name + ": cannot hold the text of " +
                                            options.like->column_text(options.like->categories[0].column) +
                                            " of " + options.like->path +
                                            "; give the queries as .csv, .tsv or .txt");
}

/// The format of a file; a name of an array is refused where there are none.
Format format_for(const std::string& name, const FileOptions& options) {
  const Format format = format_of(name, options.format);
  if (!options.array.empty() && !has_arrays(format))
    throw Error(Errc::invalid_argument, name + ": has no array called " + in_quotes(options.array) +
                                            ", being no .npz or HDF5 file; leave that option out");
  return format;
}

void read_rows(Source& source, Format format, const ReadOptions& options, Table& table) {
  table.text = is_text(format);
  if (table.text) return read_delimited(source, format, options, table);
  refuse_text_options(source.name(), format, options);
  if (format == Format::svm) return read_svm(source, options, table);
  if (const auto layout = read_array_header(source, format, options)) {
    ReadOptions own = options;
    if (has_arrays(format) || source.disk_bytes() == 0) own.parts = 1;  // packed, or from a pipe
    return read_array(source, *layout, own, table);
  }
  read_vecs(source, format, options, table);
}

/// The places below `cols` that are not in `absent`.
std::vector<std::int64_t> others(std::int64_t cols, const std::vector<std::int64_t>& absent) {
  std::vector<std::int64_t> left;
  for (std::int64_t c = 0; c < cols; ++c)
    if (!std::binary_search(absent.begin(), absent.end(), c)) left.push_back(c);
  return left;
}

void keep_columns(Table& table, const std::vector<std::int64_t>& columns) {
  const auto kept = static_cast<std::int64_t>(columns.size());
  if (kept == table.cols) return;
  keep_values(table, columns);
  table.unread = table.left_out = others(table.cols, columns);
  table.image_shape.clear();
  table.cols = kept;
}

/// Of a file that was read as a whole: the columns that count, or those of the training rows.
void choose_columns(const ReadOptions& options, Table& table) {
  if (options.choose)
    if (const std::vector<std::int64_t> chosen = options.choose(table); !chosen.empty())
      keep_columns(table, chosen);
  if (!options.like || options.like->unread.empty()) return;
  const std::vector<std::int64_t>& unread = options.like->unread;
  const auto all = options.like->cols + static_cast<std::int64_t>(unread.size());
  if (table.cols == all) keep_columns(table, others(all, unread));
}

/// Of each row of `cols` parts these, in their place.
template <class T>
void keep_parts(std::vector<T>& values, std::int64_t cols, std::size_t bytes,
                const std::vector<std::int64_t>& columns) {
  if (values.empty()) return;
  T* to = values.data();
  for (const T* row = to; row < values.data() + values.size(); row += static_cast<std::size_t>(cols) * bytes)
    for (const std::int64_t column : columns)
      to = std::copy_n(row + static_cast<std::size_t>(column) * bytes, bytes, to);
  values.resize(static_cast<std::size_t>(to - values.data()));
  values.shrink_to_fit();
}

Labels read_binary_labels(Source& source, Format format, const LabelOptions& options) {
  const Labels* const known = options.known;
  const std::optional<ArrayLayout> layout = read_array_header(source, format, options);
  std::vector<std::int64_t> codes =
      layout ? read_array_labels(source, *layout) : read_vecs_labels(source, format);
  const bool plain = !known && std::none_of(codes.begin(), codes.end(), [](auto code) { return code < 0; });
  if (plain) return {std::move(codes), {}};
  LabelReader labels(known);
  for (std::size_t r = 0; r < codes.size(); ++r)
    if (const std::string why = labels.add(codes[r]); !why.empty())
      source.fail("row " + std::to_string(r) + " " + why);
  return labels.finish();
}

/// Keeps what is told about these columns, which are numbered anew.
template <class Told>
void keep_told(std::vector<Told>& all, const std::vector<std::int64_t>& columns) {
  std::vector<Told> kept;
  for (const Told& one : all) {
    const auto at = std::lower_bound(columns.begin(), columns.end(), one.column);
    if (at == columns.end() || *at != one.column) continue;
    kept.push_back(one);
    kept.back().column = at - columns.begin();
  }
  all = std::move(kept);
}

}  // namespace

void keep_values(Table& table, const std::vector<std::int64_t>& columns) {
  keep_parts(table.values, table.cols, 1, columns);
  keep_parts(table.doubles, table.cols, 1, columns);
  keep_parts(table.stored, table.cols, static_cast<std::size_t>(row_bytes(table.element, 1)), columns);
  keep_told(table.rounded, columns);
  keep_told(table.rounded_wholes, columns);
}

// Where it is one column more, that may be the answer.
void refuse_width(const Table& table, const Table& like) {
  std::string extra, more;
  std::size_t extras = 0;  // columns whose names the training rows do not have
  for (const std::string& name : table.column_names)
    if (like.header && !name.empty() &&
        std::find(like.column_names.begin(), like.column_names.end(), name) == like.column_names.end())
      extra += (extras++ > 0 ? "," : "") + printable(name);
  const bool by_one = table.text && table.cols == like.cols + 1;
  if (by_one && table.header && is_index_name(table.column_names[0]) && like.header &&
      !is_index_name(like.column_names[0]))
    more = "; column 1 has no name and may be the index of pandas: leave it out, as to_csv(index=False) does";
  else if (by_one)
    more = "; a column with the true answers is named by --label " + (extras == 1 ? extra : "COLUMN") +
           " (or --target)";
  if (extras > 0) more += "; what else they have is left out, with --model or --index by --drop " + extra;
  throw Error(Errc::invalid_argument, table.path + ": has " +
                                          count_of(static_cast<std::uint64_t>(table.cols), "column") +
                                          " but " + like.path + " has " + std::to_string(like.cols) +
                                          "; queries need the columns of the training rows" + more);
}

RowRange part_of(std::int64_t rows, std::int64_t part, std::int64_t parts) {
  const std::int64_t each = rows / parts, more = rows % parts;  // the first `more` parts have one row more
  return {part * each + std::min(part, more), each + (part < more ? 1 : 0)};
}

bool is_gzip_name(const std::string& name) {
  return lower(name).ends_with(".gz");
}

bool is_text(Format format) {
  return format == Format::csv || format == Format::tsv || format == Format::txt;
}

bool has_arrays(Format format) {
  return format == Format::npz || format == Format::hdf5;
}

bool is_bin(Format format) {
  return format >= Format::fbin && format <= Format::ibin;
}

std::optional<ArrayLayout> read_array_header(Source& source, Format format, const FileOptions& options) {
  if (format == Format::npz) return read_npz_header(source, options);
  if (format == Format::hdf5) return read_hdf5_header(source, options);
  if (format == Format::npy) return read_npy_header(source);
  if (format == Format::idx) return read_idx_header(source);
  if (is_bin(format)) return read_bin_header(source, format);
  return std::nullopt;
}

std::string ending_of(const std::string& name) {
  std::string base = lower(std::filesystem::path(name).filename().string());
  if (base.ends_with(".gz")) base.erase(base.size() - 3);
  return base.substr(std::min(base.rfind('.'), base.size()));
}

Format format_named(const std::string& name) {
  constexpr std::array<std::pair<std::string_view, Format>, 16> formats{{{"csv", Format::csv},
                                                                         {"tsv", Format::tsv},
                                                                         {"txt", Format::txt},
                                                                         {"npy", Format::npy},
                                                                         {"idx", Format::idx},
                                                                         {"fvecs", Format::fvecs},
                                                                         {"ivecs", Format::ivecs},
                                                                         {"bvecs", Format::bvecs},
                                                                         {"svm", Format::svm},
                                                                         {"fbin", Format::fbin},
                                                                         {"u8bin", Format::u8bin},
                                                                         {"i8bin", Format::i8bin},
                                                                         {"f16bin", Format::f16bin},
                                                                         {"ibin", Format::ibin},
                                                                         {"npz", Format::npz},
                                                                         {"hdf5", Format::hdf5}}};
  std::string known;
  for (const auto& [text, format] : formats) {
    if (name == text) return format;
    known += (known.empty() ? "" : ", ") + std::string(text);
  }
  throw Error(Errc::invalid_argument,
              "format: there is none called " + in_quotes(name) + "; choose one of " + known);
}

Format format_of(const std::string& name, const std::string& given) {
  std::string base = lower(std::filesystem::path(name).filename().string());
  if (base.ends_with(".gz")) base.erase(base.size() - 3);
  constexpr std::array<std::pair<std::string_view, Format>, 22> endings{
      {{".npy", Format::npy},     {".csv", Format::csv},       {".data", Format::csv},
       {".tsv", Format::tsv},     {".txt", Format::txt},       {"-ubyte", Format::idx},
       {".idx", Format::idx},     {".fvecs", Format::fvecs},   {".ivecs", Format::ivecs},
       {".bvecs", Format::bvecs}, {".fbin", Format::fbin},     {".u8bin", Format::u8bin},
       {".i8bin", Format::i8bin}, {".f16bin", Format::f16bin}, {".ibin", Format::ibin},
       {".npz", Format::npz},     {".hdf5", Format::hdf5},     {".h5", Format::hdf5},
       {".hdf", Format::hdf5},    {".svm", Format::svm},       {".libsvm", Format::svm},
       {".svmlight", Format::svm}}};
  std::string known;
  for (const auto& [ending, format] : endings) {
    if (base.ends_with(ending)) return format;
    known += (known.empty() ? "" : " ") + std::string(ending);
  }
  if (!given.empty()) return format_named(given);
  if (is_stdin(name) || name == "stdin" || name.starts_with("/dev/fd/") || name.starts_with("/proc/self/fd/"))
    throw Error(Errc::bad_file,
                name + ": has no name that says its format; give it, as in --read format=csv");
  const std::string advice = conversion_advice(ending_of(name));
  throw Error(
      Errc::bad_file,
      name + ": its name ends in no format that kith reads; " +
          (advice.empty() ? "there are " + known + ", and .gz behind each; or say it, as in --read format=csv"
                          : advice));
}

Table read_table(const std::filesystem::path& path, const ReadOptions& options) {
  const std::string name = shown_name(path);
  return with_memory(name, [&] {
    Source source(path, options);
    const Format format = format_for(name, options);
    Table table;
    table.path = name;
    read_rows(source, format, options, table);
    if (!table.text && table.element != Element::bits) choose_columns(options, table);
    if (options.like && table.cols != options.like->cols) refuse_width(table, *options.like);
    return table;
  });
}

Labels read_labels(const std::filesystem::path& path, const LabelOptions& options) {
  const std::string name = shown_name(path);
  return with_memory(name, [&] {
    Source source(path, options);
    const Format format = format_for(name, options);
    if (is_text(format)) return read_delimited_labels(source, format, options);
    if (format == Format::svm) return read_svm_labels(source, options.known);
    if (!options.column.empty())
      throw Error(Errc::invalid_argument, name + ": has no label column " + in_quotes(options.column) +
                                              ", being no text; leave that option out");
    return read_binary_labels(source, format, options);
  });
}

Values read_values(const std::filesystem::path& path, const ValueOptions& options) {
  const std::string name = shown_name(path);
  return with_memory(name, [&] {
    Source source(path, options);
    const Format format = format_for(name, options);
    Values values;
    if (!options.columns.empty() && !is_text(format))
      throw Error(Errc::invalid_argument, name + ": has no column " + in_quotes(options.columns[0]) +
                                              ", being no text; leave that option out");
    if (is_text(format))
      read_delimited_values(source, format, options, values);
    else if (format == Format::svm)
      read_svm_values(source, values);
    else if (const auto layout = read_array_header(source, format, options))
      read_array_values(source, *layout, values);
    else
      read_vecs_values(source, format, values);
    return values;
  });
}

namespace {

/// By its name, or as given; none: who reads it says what is wrong.
std::optional<Format> known_format(const std::filesystem::path& path, const std::string& given) {
  try {
    return format_of(path.string(), given);
  } catch (const Error&) {
    return std::nullopt;
  }
}

}  // namespace

bool is_svm(const std::filesystem::path& path, const std::string& given) {
  return known_format(path, given) == Format::svm;
}

bool is_text(const std::filesystem::path& path, const std::string& given) {
  const std::optional<Format> format = known_format(path, given);
  return format && is_text(*format);
}

SvmWidth read_svm_width(const std::filesystem::path& path, const FileOptions& options) {
  return with_memory(shown_name(path), [&] {
    Source source(path, options);
    return read_svm_width(source);
  });
}

std::string Labels::text(std::int64_t label) const {
  return names.empty() ? std::to_string(label) : names.at(static_cast<std::size_t>(label));
}

std::string Table::column_text(std::int64_t column) const {
  std::int64_t number = column + (text ? 1 : 0);
  for (std::int64_t absent : left_out) number += absent < number + (text ? 0 : 1);
  if (!text) return "column " + std::to_string(number);
  const std::string name = header ? column_names[static_cast<std::size_t>(column)] : "";
  return "column " + std::to_string(number) + (name.empty() ? "" : " (" + printable(name) + ")");
}

namespace {

/// Returns the column that loses most, or null where nothing is lost.
const RoundedColumn* worst_rounded(const Table& table) {
  const auto rank = [](const RoundedColumn& column) {
    return column.spread > 0 ? column.step / column.spread : 0;
  };
  const auto worst = std::max_element(table.rounded.begin(), table.rounded.end(),
                                      [&](const auto& a, const auto& b) { return rank(a) < rank(b); });
  if (worst == table.rounded.end() || !(worst->is_coarse() || table.equal_rows)) return nullptr;
  return &*worst;
}

}  // namespace

std::string lost_digits(const Table& table) {
  const RoundedColumn* const worst = worst_rounded(table);
  if (!worst) return {};
  const auto others = std::count_if(table.rounded.begin(), table.rounded.end(),
                                    [](const RoundedColumn& column) { return column.is_coarse(); });
  std::string text = table.path + ": " + table.column_text(worst->column) + ": float32 keeps its values to " +
                     printed("%.15g", worst->step) + ", and they span " +
                     printed(worst->spread < 1e4 ? "%.4g" : "%.0f", worst->spread) + ": " +
                     printed("%.15g", worst->value) + " becomes " + printed("%.15g", worst->kept) + ", " +
                     printed("%.3g", std::fabs(worst->value - worst->kept)) + " off";
  if (others > 1)
    text += "; so it is with " + count_of(static_cast<std::uint64_t>(others - 1), "other column");
  if (table.equal_rows)
    text += "; rows " + std::to_string(table.equal_rows->a) + " and " + std::to_string(table.equal_rows->b) +
            ", which differ, become equal";
  return text;
}

std::string advice_on_row_numbers(const Table& table) {
  const RoundedColumn* const worst = worst_rounded(table);
  return worst && !worst->is_finer_centred() ? "; --drop leaves out a column that only numbers the rows" : "";
}

std::string describe_lost_digits(const Table& table, bool may_centre, const std::string& instead) {
  const std::string lost = lost_digits(table), drop = advice_on_row_numbers(table);
  if (!lost.empty() && !may_centre && !instead.empty()) return lost + "; " + instead + drop;
  if (lost.empty() || !drop.empty()) return lost + drop;
  return lost + (may_centre ? "; --prepare centre=yes subtracts each column's mean first, in double precision"
                            : "; subtract each column's mean in double precision first, from queries too");
}

}  // namespace kith::files
