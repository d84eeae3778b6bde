// Tests damaged compressed files: either everything that was packed is read, or nothing. Rows are never
// lost silently.
#include "common/data_files.hpp"

using namespace kith::tests::data_files;

namespace {

/// Returns a file for each way to read: by lines, by rows, as one array.
std::vector<std::pair<string, string>> plain_files() {
  string text, sparse;
  for (int row = 0; row < 40; ++row) {
    text += std::to_string(row * row % 17) + "," + std::to_string(row) + ".5\n";
    sparse += std::to_string(row % 3) + " 1:" + std::to_string(row) + " 2:0.5\n";
  }
  const string floats = bytes<float>({1, 2, 3, 4, 5, 6});
  return {{"f.csv.gz", text},
          {"f.svm.gz", sparse},
          {"f.npy.gz", npy("<f4", "(3, 2)", floats)},
          {"f.idx.gz", idx(8, {2, 3}, "\1\2\3\4\5\6")},
          {"f.fvecs.gz", fvecs({{1, 2}, {3, 4}})}};
}

/// Returns the values in a file with these bytes; nothing if it is refused.
std::optional<Floats> values_of(const Folder& folder, const string& file, const string& content) {
  try {
    return folder.table(file, content).values;
  } catch (const kith::Error& error) {
    CHECK(error.code() == kith::Errc::bad_file);
    return std::nullopt;
  }
}

constexpr std::size_t trailer_bytes = 8;  // a checksum, and the length of the data

}  // namespace

TEST_CASE("files: a damaged .gz is refused, whichever bit of it has changed, or holds what it held") {
  const Folder folder;
  for (const auto& packed : plain_files()) {
    const string &file = packed.first, &content = packed.second;
    CAPTURE(file);
    const string whole = gzip(content);
    const std::optional<Floats> right = values_of(folder, file, whole);
    REQUIRE(right);
    std::size_t harmless = 0;
    for (std::size_t at = 0; at < whole.size(); ++at)
      for (int bit = 0; bit < 8; ++bit) {
        string damaged = whole;
        damaged[at] = static_cast<char>(damaged[at] ^ (1 << bit));
        const std::optional<Floats> found = values_of(folder, file, damaged);
        if (!found) continue;
        ++harmless;
        if (*found != *right) FAIL("bit " << bit << " of byte " << at << ": other values");
        if (at + trailer_bytes >= whole.size()) FAIL("bit " << bit << " of byte " << at << " is not checked");
      }
    // Six of the header's ten bytes say when and where it was packed, so changing them does no harm.
    CHECK(harmless >= 6 * 8);
    CHECK(harmless < 10 * 8);
  }
}

TEST_CASE("files: a .gz that was cut anywhere is refused") {
  const Folder folder;
  for (const auto& packed : plain_files()) {
    const string &file = packed.first, &content = packed.second;
    CAPTURE(file);
    const string whole = gzip(content);
    for (std::size_t size = 0; size < whole.size(); ++size)
      if (values_of(folder, file, whole.substr(0, size))) FAIL("cut to " << size << " bytes it is read");
  }
}

TEST_CASE("files: what follows a .gz is zeros, or another one, or it is refused") {
  const Folder folder;
  const string first = gzip("1,2\n"), second = gzip("3,4\n");
  CHECK(values_of(folder, "f.csv.gz", first + string(1000, '\0')) == Floats{1, 2});
  CHECK(values_of(folder, "f.csv.gz", first + second) == Floats{1, 2, 3, 4});
  CHECK_FALSE(values_of(folder, "f.csv.gz", first + "\n"));
  CHECK_FALSE(values_of(folder, "f.csv.gz", first + string(1000, '\0') + "x"));
  CHECK_FALSE(values_of(folder, "f.csv.gz", first + second.substr(0, second.size() - 1)));
  CHECK(folder.table_error("f.csv.gz", first + "3,4\n")
            .starts_with("bad_file: f.csv.gz: is no gzip file, or a damaged one (incorrect header check "
                         "after 4 bytes); "));
}

TEST_CASE("files: descriptors are closed, whether a file is read, refused, or stopped") {
  const auto open_files = [] {
    return std::distance(fs::directory_iterator("/proc/self/fd"), fs::directory_iterator());
  };
  const Folder folder;
  const string packed = gzip("1,2\n3,4\n");
  std::stop_source stopped;
  stopped.request_stop();
  ReadOptions options;
  options.stop = stopped.get_token();
  const auto before = open_files();
  for (int round = 0; round < 20; ++round) {
    CHECK(values_of(folder, "f.csv", "1,2\n"));
    CHECK(values_of(folder, "f.csv.gz", packed));
    CHECK_FALSE(values_of(folder, "f.csv", "1,x\n2\n"));
    CHECK_FALSE(values_of(folder, "f.csv.gz", packed.substr(0, 12)));
    CHECK_FALSE(values_of(folder, "f.csv", ""));
    CHECK(folder.table_error("f.csv", "1,2\n", options).starts_with("interrupted: "));
    CHECK(folder.labels("f.txt", "1\n2\n").code.size() == 2);
  }
  CHECK(open_files() == before);
}
