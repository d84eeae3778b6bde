// Fuzzes readers of tables: every format, also inside a .gz and through a pipe.
#include <unistd.h>
#include <zlib.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <limits>
#include <optional>

#include "../tools/files/zip_file.hpp"
#include "fuzz.hpp"

namespace kith::fuzz {
namespace {

std::vector<std::string> column_list(const std::string& column) {
  return column.empty() ? std::vector<std::string>{} : std::vector<std::string>{column};
}

files::ReadOptions table_options(FuzzedDataProvider& input, const std::string& format) {
  files::ReadOptions options(file_options(input, format));
  options.label_column = pick(input, {"", "-1", "kind", "1"});
  options.more_label_columns = column_list(pick(input, {"", "2", "", "size"}));
  options.target_columns = column_list(pick(input, {"", "2", "", "-2"}));
  options.label_optional = pick(input);
  options.missing = pick(input);
  options.first_index = pick(input, {-1, 0, 1, -1});
  options.categorical = column_list(pick(input, {"", "1", "", "size"}));
  options.features_chosen = pick(input);
  return options;
}

/// Returns whether a file needs a moderate amount of memory. A .svm file needs rows times its largest index,
/// however few numbers it holds, and that is no fault of the reader. Other formats need memory in
/// proportion to the file.
bool is_moderate(const std::string& path, std::string_view content, const files::FileOptions& options) {
  constexpr std::int64_t most = std::int64_t{1} << 18;
  files::SvmWidth width;
  if (!files::is_svm(path, options.format)) return true;
  if (!attempt(path + ":", true, [&] { width = files::read_svm_width(path, options); })) return true;
  const auto rows =
      std::count(content.begin(), content.end(), '\n') + std::count(content.begin(), content.end(), '\r') + 1;
  return width.largest < most / rows;
}

/// Reads and checks a table. Returns nothing if the file is refused.
std::optional<files::Table> read(const std::string& path, const files::ReadOptions& options) {
  std::optional<files::Table> table;
  attempt(path + ":", true, [&] { table = files::read_table(path, options); });
  if (table && planted() == "infinity") table->values[0] = std::numeric_limits<float>::infinity();
  if (table) check_table(*table, options);
  return table;
}

void read_format(FuzzedDataProvider& input, const std::string& file) {
  const files::ReadOptions options = table_options(input, {});
  const std::string content = input.ConsumeRemainingBytesAsString();
  const std::string path = write_file(file, content);
  if (is_moderate(path, content, options)) read(path, options);
}

std::string gzip(const std::string& plain) {
  z_stream stream{};
  constexpr int gzip_window = 15 + 16;
  require(deflateInit2(&stream, 1, Z_DEFLATED, gzip_window, 8, Z_DEFAULT_STRATEGY) == Z_OK, "zlib");
  std::string packed(deflateBound(&stream, plain.size()), '\0');
  std::string from = plain;
  stream.next_in = reinterpret_cast<Bytef*>(from.data());
  stream.avail_in = static_cast<uInt>(from.size());
  stream.next_out = reinterpret_cast<Bytef*>(packed.data());
  stream.avail_out = static_cast<uInt>(packed.size());
  require(deflate(&stream, Z_FINISH) == Z_STREAM_END, "zlib");
  packed.resize(stream.total_out);
  deflateEnd(&stream);
  return packed;
}

bool same_bits(const std::vector<float>& a, const std::vector<float>& b) {
  return a.size() == b.size() && (a.empty() || std::memcmp(a.data(), b.data(), a.size() * sizeof a[0]) == 0);
}

/// Checks that both tables are equal, or both were refused.
void require_same(const std::optional<files::Table>& a, const std::optional<files::Table>& b) {
  require(a.has_value() == b.has_value(),
          "one content is read from a file and refused otherwise, or not read");
  if (!a) return;
  require(a->rows == b->rows && a->cols == b->cols && same_bits(a->values, b->values) &&
              a->labels == b->labels && a->more_labels == b->more_labels && a->targets == b->targets &&
              a->column_names == b->column_names && a->categories == b->categories,
          "one content gives two tables");
}

/// Reads the content through a pipe, named by its descriptor.
std::optional<files::Table> read_piped(const std::string& content, const files::ReadOptions& options) {
  std::array<int, 2> ends{};
  require(pipe(ends.data()) == 0, "no pipe can be made");
  const bool whole = write(ends[1], content.data(), content.size()) == static_cast<ssize_t>(content.size());
  require(whole, "a pipe does not hold the input");
  close(ends[1]);
  const std::optional<files::Table> table = read("/dev/fd/" + std::to_string(ends[0]), options);
  close(ends[0]);
  return table;
}

/// Reads any bytes as a .gz; or reads a content packed, piped and plain, which must give the same.
void read_gzip(FuzzedDataProvider& input) {
  const std::string format = pick(input, {"csv", "tsv", "txt", "npy", "idx", "fvecs", "bvecs", "svm"});
  const bool packed = pick(input);
  const files::ReadOptions options = table_options(input, format);
  const std::string content = input.ConsumeRemainingBytesAsString();
  constexpr std::size_t most = 32768;  // a pipe holds twice as much
  if (content.size() > most) return;
  if (packed) {
    const std::string path = write_file("input.gz", content);
    if (format != "svm") read(path, options);
    return;
  }
  if (content.starts_with("\x1f\x8b\x08")) return;  // would be taken for a .gz
  const std::string path = write_file("input", content), in_gzip = write_file("packed.gz", gzip(content));
  if (!is_moderate(path, content, options)) return;
  const std::optional<files::Table> plain = read(path, options);
  require_same(plain, read(in_gzip, options));
  require_same(plain, read_piped(content, options));
}

/// Reads any bytes as a .npz; or a content as its only array, which must equal a .npy file of it.
void read_npz(FuzzedDataProvider& input) {
  files::ReadOptions options = table_options(input, {});
  const bool packed = pick(input), in_wide = pick(input), deflated = pick(input);
  const std::string content = input.ConsumeRemainingBytesAsString();
  if (!packed) {
    options.array = in_wide ? "a" : "";
    options.usual_array = deflated ? "b" : "";
    read(write_file("input.npz", content), options);
    return;
  }
  // Such content would be read differently in a file of its own.
  if (content.empty() || content.starts_with("\x1f\x8b\x08")) return;
  const std::string path =
      write_file("input.npz", test_support::zip({{"a.npy", content, deflated}}, in_wide));
  const std::optional<files::Table> inside = read(path, options);
  require_same(read(write_file("input.npy", content), options), inside);
}

constexpr Reader readers[] = {
    {"csv", [](FuzzedDataProvider& input) { read_format(input, "input.csv"); }},
    {"tsv", [](FuzzedDataProvider& input) { read_format(input, "input.tsv"); }},
    {"txt", [](FuzzedDataProvider& input) { read_format(input, "input.txt"); }},
    {"npy", [](FuzzedDataProvider& input) { read_format(input, "input.npy"); }},
    {"idx", [](FuzzedDataProvider& input) { read_format(input, "input-ubyte"); }},
    {"fvecs", [](FuzzedDataProvider& input) { read_format(input, "input.fvecs"); }},
    {"ivecs", [](FuzzedDataProvider& input) { read_format(input, "input.ivecs"); }},
    {"bvecs", [](FuzzedDataProvider& input) { read_format(input, "input.bvecs"); }},
    {"svm", [](FuzzedDataProvider& input) { read_format(input, "input.svm"); }},
    {"fbin", [](FuzzedDataProvider& input) { read_format(input, "input.fbin"); }},
    {"u8bin", [](FuzzedDataProvider& input) { read_format(input, "input.u8bin"); }},
    {"i8bin", [](FuzzedDataProvider& input) { read_format(input, "input.i8bin"); }},
    {"f16bin", [](FuzzedDataProvider& input) { read_format(input, "input.f16bin"); }},
    {"ibin", [](FuzzedDataProvider& input) { read_format(input, "input.ibin"); }},
    {"npz", read_npz},
    {"hdf5", [](FuzzedDataProvider& input) { read_format(input, "input.hdf5"); }},
    {"gz", read_gzip}};

}  // namespace

std::span<const Reader> file_readers() {
  return readers;
}

}  // namespace kith::fuzz
