// Tests files of unknown length that are read from beginning to end, and formats that the file's name does
// not tell.
#include <sys/resource.h>
#include <sys/stat.h>

#include <thread>

#include "common/data_files.hpp"
#include "common/sanitizers.hpp"

using namespace kith::tests::data_files;

namespace {

/// A named pipe into which a thread writes.
class Pipe {
 public:
  Pipe(const Folder& folder, const string& name, const string& content) : path_(folder / name) {
    REQUIRE(mkfifo(path_.c_str(), 0600) == 0);
    writer_ = std::jthread([path = path_, content] { std::ofstream(path, std::ios::binary) << content; });
  }
  ~Pipe() {
    writer_.join();
    fs::remove(path_);
  }
  const string& path() const { return path_; }

 private:
  string path_;
  std::jthread writer_;
};

/// Lets the process have only `bytes` more memory than now, until it is destroyed.
class MemoryLimit {
 public:
  explicit MemoryLimit(std::uint64_t bytes) {
    REQUIRE(getrlimit(RLIMIT_AS, &before_) == 0);
    std::uint64_t pages = 0;
    std::ifstream("/proc/self/statm") >> pages;
    const rlimit limit{pages * static_cast<std::uint64_t>(sysconf(_SC_PAGESIZE)) + bytes, before_.rlim_max};
    REQUIRE(setrlimit(RLIMIT_AS, &limit) == 0);
  }
  ~MemoryLimit() { setrlimit(RLIMIT_AS, &before_); }
  MemoryLimit(const MemoryLimit&) = delete;
  MemoryLimit& operator=(const MemoryLimit&) = delete;

 private:
  rlimit before_{};
};

ReadOptions by_format(const string& format) {
  ReadOptions options;
  options.format = format;
  return options;
}

const Floats four{1, 2, 3, 4};

}  // namespace

TEST_CASE("files: every format comes through a pipe, plain or gzip") {
  const Folder folder;
  const string floats = bytes<float>({1, 2, 3, 4});
  const std::vector<std::pair<string, string>> files = {
      {"csv", "1,2\n3,4\n"},
      {"tsv", "1\t2\n3\t4\n"},
      {"txt", "1 2\n3 4\n"},
      {"npy", npy("<f4", "(2, 2)", floats)},
      {"idx", idx(8, {2, 2}, "\1\2\3\4")},
      {"fvecs", fvecs({{1, 2}, {3, 4}})},
      {"ivecs", bytes<std::int32_t>({2, 1, 2, 2, 3, 4})},
      {"bvecs", bytes<std::int32_t>({2}) + "\1\2" + bytes<std::int32_t>({2}) + "\3\4"},
      {"fbin", bytes<std::uint32_t>({2, 2}) + bytes<float>({1, 2, 3, 4})},
      {"u8bin", bytes<std::uint32_t>({2, 2}) + "\1\2\3\4"},
      {"svm", "1 1:1 2:2\n1 1:3 2:4\n"}};
  for (const auto& file : files)
    for (const bool packed : {false, true}) {
      const string &format = file.first, &content = file.second;
      CAPTURE_ALL(format, packed);
      const string data = packed ? gzip(content) : content;
      const Pipe pipe(folder, "pipe", data);
      const Table table = read_table(pipe.path(), by_format(format));
      CHECK(table.rows == 2);
      CHECK(table.values == four);
      CHECK(read_table(folder.write("file", data), by_format(format)).values == four);
    }
  CHECK(folder.table("named.csv", gzip("1,2\n3,4\n")).values == four);
  CHECK(folder.table("named.csv", "1,2\n3,4\n", by_format("npy")).values == four);  // the name decides
  const Pipe named(folder, "named.npy", npy("<f4", "(2, 2)", bytes<float>({1, 3, 2, 4}), true));
  CHECK(read_table(named.path()).values == four);  // in Fortran order
}

TEST_CASE("files: what is wrong with a pipe is found where it ends") {
  const Folder folder;
  const auto error = [&](const string& format, const string& content) {
    const Pipe pipe(folder, "pipe", content);
    return folder.error([&] { read_table(pipe.path(), by_format(format)); });
  };
  CHECK(error("csv", "") == "bad_file: pipe: is empty; a file of data has at least one row");
  CHECK(error("npy", npy("<f4", "(3, 2)", bytes<float>({1, 2, 3, 4}))) ==
        "bad_file: pipe: ends after 89 bytes, within an array of shape (3, 2); it is truncated: copy or "
        "download it again");
  CHECK(error("npy", npy("<f4", "(1, 2)", bytes<float>({1, 2, 3, 4})))
            .starts_with("bad_file: pipe: goes on after"));
  CHECK(error("csv", gzip("1,2\n3,4\n").substr(0, 20)).find("within its compressed data") != string::npos);
}

TEST_CASE("files: the header of a pipe takes no memory for what never comes") {
  if (kith::tests::sanitized()) return;  // AddressSanitizer takes terabytes of addresses
  const Folder folder;
  const auto error = [&](const string& descr, const std::function<void(const string&)>& read) {
    const Pipe pipe(folder, "pipe.npy", npy(descr, "(285212672,)", bytes<float>({1, 2})));
    const MemoryLimit limit(std::uint64_t{1} << 30);
    return folder.error([&] { read(pipe.path()); });
  };
  const string truncated =
      "bad_file: pipe.npy: ends after 87 bytes, within an array of shape (285212672,); it is truncated: copy "
      "or download it again";
  CHECK(error("<f4", [](const string& path) { read_table(path); }) == truncated);
  CHECK(error("<i4", [](const string& path) { read_labels(path); }) == truncated);
  CHECK(error("<f4", [](const string& path) { read_values(path); }) == truncated);
}

TEST_CASE("files: a name that says no format, and a format that there is not") {
  const Folder folder;
  CHECK(folder.table_error("data", "1,2\n").ends_with("; or say it, as in --read format=csv"));
  CHECK(folder.table_error("data", "1,2\n", by_format("xls")) ==
        "invalid_argument: format: there is none called \"xls\"; choose one of csv, tsv, txt, npy, idx, "
        "fvecs, ivecs, bvecs, svm, fbin, u8bin, i8bin, f16bin, ibin, npz, hdf5");
}

TEST_CASE("files: columns first are put in place as they come") {
  const Folder folder;
  string data;
  Floats expected(300 * 500);  // more than a block
  for (int c = 0; c < 500; ++c)
    for (int r = 0; r < 300; ++r) {
      const auto value = static_cast<float>(r * 500 + c);
      data += bytes<float>({value});
      expected[static_cast<std::size_t>(r * 500 + c)] = value;
    }
  CHECK(folder.table("a.npy", npy("<f4", "(300, 500)", data, true)).values == expected);
}

TEST_CASE("files: reading tells which part is read") {
  const Folder folder;
  ReadOptions options;
  std::vector<double> told;
  options.progress = [&](double part) { told.push_back(part); };
  folder.table("a.csv", "1,2\n3,4\n", options);
  REQUIRE(!told.empty());
  CHECK(std::is_sorted(told.begin(), told.end()));
  CHECK(told.back() == 1);
}
