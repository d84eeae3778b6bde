// Data files written by hand, for the tests of tools/files.
#pragma once

#include <zlib.h>

#include <filesystem>

#include "common/folder.hpp"
#include "common/test.hpp"
#include "files/table.hpp"
#include "kith/error.hpp"

namespace kith::tests::data_files {

namespace fs = std::filesystem;
using namespace kith::files;
using namespace std::string_literals;
using std::string;
using Floats = std::vector<float>;
using Integers = std::vector<std::int64_t>;
using Strings = std::vector<string>;

inline constexpr float inf = std::numeric_limits<float>::infinity();

/// A temporary folder whose files can be read as tables and labels.
class Folder : public test_support::TemporaryFolder {
 public:
  Table table(const string& file, const string& content, const ReadOptions& options = {}) const {
    return read_table(write(file, content), options);
  }
  Labels labels(const string& file, const string& content, const LabelOptions& options = {}) const {
    return read_labels(write(file, content), options);
  }

  /// Returns the error that `body` throws, as "code: message" without this folder's name.
  string error(const std::function<void()>& body) const {
    try {
      body();
    } catch (const kith::Error& error) {
      string text = string(name(error.code())) + ": " + error.what();
      const string prefix = path() + "/";
      for (std::size_t at = text.find(prefix); at != string::npos; at = text.find(prefix))
        text.erase(at, prefix.size());
      return text;
    }
    return "no error";
  }
  string table_error(const string& file, const string& content, const ReadOptions& options = {}) const {
    return error([&] { table(file, content, options); });
  }
  string labels_error(const string& file, const string& content, const LabelOptions& options = {}) const {
    return error([&] { labels(file, content, options); });
  }
};

/// Holds a table, and the notes that reading it printed.
struct Told {
  Table table;
  string notes;  ///< one per line, without the folder's name
};

inline Told told(const Folder& folder, const string& file, const string& content, ReadOptions options = {}) {
  Told result;
  options.note = [&](const string& text) { result.notes += text.substr(text.find(file)) + "\n"; };
  result.table = folder.table(file, content, options);
  return result;
}

inline string gzip(const string& plain) {
  z_stream stream{};
  REQUIRE(deflateInit2(&stream, 6, Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY) == Z_OK);
  string packed(deflateBound(&stream, plain.size()), '\0');
  std::vector<Bytef> in(plain.begin(), plain.end());
  stream.next_in = in.data();
  stream.avail_in = static_cast<uInt>(in.size());
  stream.next_out = reinterpret_cast<Bytef*>(packed.data());
  stream.avail_out = static_cast<uInt>(packed.size());
  REQUIRE(deflate(&stream, Z_FINISH) == Z_STREAM_END);
  packed.resize(stream.total_out);
  deflateEnd(&stream);
  return packed;
}

template <class T>
string bytes(std::initializer_list<T> values, bool big_endian = false) {
  string text;
  for (const T value : values) {
    auto element = std::bit_cast<std::array<char, sizeof(T)>>(value);
    if (big_endian != (std::endian::native == std::endian::big)) std::reverse(element.begin(), element.end());
    text.append(element.data(), element.size());
  }
  return text;
}

inline string npy_header(const string& dictionary, char major = 1) {
  string text = "\x93NUMPY"s + major + '\0';
  text += bytes<std::uint16_t>({static_cast<std::uint16_t>(dictionary.size())});
  if (major > 1) text += "\0\0"s;
  return text + dictionary;
}

inline string npy(const string& descr, const string& shape, const string& data, bool fortran = false,
                  char major = 1) {
  return npy_header("{'descr': '" + descr + "', 'fortran_order': " + (fortran ? "True" : "False") +
                        ", 'shape': " + shape + ", }   \n",
                    major) +
         data;
}

inline string idx(char type, std::initializer_list<std::uint32_t> shape, const string& data) {
  return "\0\0"s + type + static_cast<char>(shape.size()) + bytes(shape, true) + data;
}

inline string fvecs(std::initializer_list<std::initializer_list<float>> rows) {
  string text;
  for (const auto& row : rows) text += bytes({static_cast<std::int32_t>(row.size())}) + bytes(row);
  return text;
}

inline ReadOptions label_column(const string& column) {
  ReadOptions options;
  options.label_column = column;
  return options;
}

inline ReadOptions with_header(Header header) {
  ReadOptions options;
  options.header = header;
  return options;
}

}  // namespace kith::tests::data_files
