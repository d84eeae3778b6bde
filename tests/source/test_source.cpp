// Tests sources: rows that are read in ranges from memory and from files.
#include <unistd.h>

#include <atomic>
#include <filesystem>
#include <thread>

#include "common/device.hpp"
#include "common/elements.hpp"
#include "common/folder.hpp"
#include "kith/index_file.hpp"
#include "kith/parse.hpp"
#include "kith/source.hpp"

namespace kith::tests {
namespace {

using std::string;
using test_support::TemporaryFolder;

template <class T>
string bytes_of(std::initializer_list<T> values) {
  string bytes;
  for (const T value : values) bytes.append(reinterpret_cast<const char*>(&value), sizeof value);
  return bytes;
}

/// Returns the bytes of an .npy file of version 1.0.
string npy(const string& descr, const string& order, const string& shape, const string& data) {
  string dictionary =
      "{'descr': '" + descr + "', 'fortran_order': " + order + ", 'shape': " + shape + ", }\n";
  return string("\x93NUMPY\x01\x00", 8) +
         bytes_of<std::uint16_t>({static_cast<std::uint16_t>(dictionary.size())}) + dictionary + data;
}

string bin(std::uint32_t rows, std::uint32_t cols, const string& data) {
  return bytes_of<std::uint32_t>({rows, cols}) + data;
}

/// Returns all bytes of a source, read in two ranges.
string all_of(const Source& source) {
  const RowsInfo info = source.info();
  const std::size_t row = size(row_bytes(info.element, info.cols));
  string bytes(row * size(info.rows), '\0');
  const std::int64_t half = info.rows / 2;
  if (half > 0) source.read(0, half, bytes.data());
  source.read(half, info.rows - half, bytes.data() + row * size(half));
  return bytes;
}

class SourceFiles {
 public:
  string all(const string& file, const string& content) const {
    return all_of(*file_source(folder_.write(file, content)));
  }
  RowsInfo info(const string& file, const string& content) const {
    return file_source(folder_.write(file, content))->info();
  }
  /// Returns the message with which a file of this content is refused. The folder's path is cut out, since it
  /// is another one in each run.
  string refusal(const string& file, const string& content) const {
    return shown(error_of([&] { file_source(folder_.write(file, content)); }));
  }
  string shown(string text) const {
    const string prefix = folder_.path() + "/";
    for (std::size_t at = text.find(prefix); at != string::npos; at = text.find(prefix))
      text.erase(at, prefix.size());
    return text;
  }
  const TemporaryFolder& folder() const { return folder_; }

 private:
  TemporaryFolder folder_;
};

const string three = bytes_of<float>({1, 2, 3, 4, 5, 6});

}  // namespace

TEST_CASE("source: rows in memory are those of the view, whatever stands between them") {
  const Matrix rows = matrix(2, {1, 2, 3, 4, 5, 6});
  const Stored apart(rows, Element::u8, 3, 1);
  const auto source = memory_source(apart.view());
  CHECK(source->info() == RowsInfo{3, 2, Element::u8});
  CHECK(all_of(*source) == string("\1\2\3\4\5\6"));
  CHECK(source->in_memory().has_value());
  CHECK(error_of([] {
          memory_source(RowsView(nullptr, Element::u8, 1, 1));
        }).starts_with("invalid_argument: source: the training rows are [1, 1] but have no address"));
}

TEST_CASE("source: every byte of rows in memory is digested, and none between them") {
  const Matrix rows = matrix(3, {1, 2, 3, 4, 5, 6});
  for (const Element element : number_elements) {
    CAPTURE(string(name(element)));
    const std::int64_t bytes = row_bytes(element, 3), stride = bytes + 2;
    string memory;
    const auto state = [&] {
      RowsView view(memory.data(), element, 2, 3);
      view.stride_bytes = stride;
      return memory_source(view)->state();
    };
    const Stored apart(rows, element);
    for (const std::int64_t row : {0, 1}) {
      const auto* const from = reinterpret_cast<const char*>(apart.view().row(row));
      memory += string(from, size(bytes)) + "\1\2";
    }
    const std::uint64_t before = state();
    for (std::size_t at = 0; at < memory.size(); ++at) {
      CAPTURE(at);
      memory[at] = static_cast<char>(memory[at] ^ 1);
      const bool between = at % size(stride) >= size(bytes);
      CHECK((state() == before) == between);
      memory[at] = static_cast<char>(memory[at] ^ 1);
    }
    CHECK(memory_source(apart.view())->state() == before);
  }
}

TEST_CASE("source: files of each kind") {
  const SourceFiles files;
  CHECK(files.info("a.npy", npy("<f4", "False", "(3, 2)", three)) == RowsInfo{3, 2, Element::f32});
  CHECK(files.all("a.npy", npy("<f4", "False", "(3, 2)", three)) == three);
  CHECK(files.info("b.npy", npy("|u1", "False", "(2, 3, 1)", "abcdef")) == RowsInfo{2, 3, Element::u8});
  CHECK(files.info("d.npy", npy("<f8", "False", "(1, 3)", three)) == RowsInfo{1, 3, Element::f64});
  CHECK(files.all("d.npy", npy("<f8", "False", "(1, 3)", three)) == three);
  CHECK(files.info("e.npy", npy("<i4", "False", "(2, 3)", three)) == RowsInfo{2, 3, Element::i32});
  CHECK(files.info("f.npy", npy("<u4", "False", "(2, 3)", three)) == RowsInfo{2, 3, Element::u32});
  CHECK(files.info("g.npy", npy("<i8", "False", "(3,)", three)) == RowsInfo{3, 1, Element::i64});
  CHECK(files.info("c.npy", npy("<f2", "True", "(3,)", "abcdef")) == RowsInfo{3, 1, Element::f16});
  CHECK(files.all("d.fbin", bin(3, 2, three)) == three);
  CHECK(files.info("e.i8bin", bin(2, 3, "abcdef")) == RowsInfo{2, 3, Element::i8});
  CHECK(files.all("e.u8bin", bin(2, 3, "abcdef")) == "abcdef");
  CHECK(files.info("f.f16bin", bin(1, 3, "abcdef")) == RowsInfo{1, 3, Element::f16});
  const string bytes = files.folder().write("g.u8bin", bin(2, 3, "abcdef"));
  CHECK(file_source(bytes, Element::bits)->info() == RowsInfo{2, 24, Element::bits});
  for (const char* name : {"a.npy", "x/b.fbin", "c.f16bin", "d.u8bin", "e.i8bin", "f.kidx"})
    CHECK(is_source_file(name));
  for (const char* name : {"a.csv", "b.npy.gz", "c.fvecs", "npy", ""}) CHECK_FALSE(is_source_file(name));
}

TEST_CASE("source: an index file gives the rows that it was made of") {
  const SourceFiles files;
  const Matrix rows = matrix(2, {1, 2, 3, 4, 5, 6});
  const Device cpu = open_device("cpu");
  const string path = files.folder() / "a.kidx";
  save(Index(cpu, rows, Metric::l2), path);
  CHECK(file_source(path)->info() == RowsInfo{3, 2, Element::f32});
  CHECK(all_of(*file_source(path)) == three);
  const auto refused = [&](const Index& index) {
    save(index, path);
    return files.shown(error_of([&] { file_source(path); }));
  };
  CHECK(refused(Index(cpu, rows, Metric::cosine)) ==
        "unsupported: source: a.kidx: an index of cosine holds unit rows, which are not the rows that were "
        "given; give these");
  CHECK(refused(Index(cpu, rows, Metric::l2, {{1}}))
            .starts_with("unsupported: source: a.kidx: it holds 1 of 2"));
  const std::int64_t gone[] = {1};
  CHECK(refused(Index(cpu, rows, Metric::l2).without(gone))
            .starts_with("unsupported: source: a.kidx: its rows"));
}

TEST_CASE("source: what is refused, and why") {
  const SourceFiles files;
  const string of = "bad_file: source: ";
  CHECK(files.refusal("a.npy", npy("<f4", "False", "(3, 2)", three + "x")) ==
        of + "a.npy: its head says [3, 2] of f32, which take " +
            std::to_string(24 + npy("<f4", "False", "(3, 2)", "").size()) + " bytes, but it has " +
            std::to_string(25 + npy("<f4", "False", "(3, 2)", "").size()) + "; copy it again");
  CHECK(files.refusal("a.fbin", bin(3, 3, three)) ==
        of + "a.fbin: its head says [3, 3] of f32, which take 44 bytes, but it has 32; copy it again");
  CHECK(files.refusal("a.fbin", "1234567") ==
        of + "a.fbin: byte 7: the file ends within its head; copy it again");
  CHECK(files.refusal("a.fbin", bin(0, 3, "")) ==
        of + "a.fbin: it holds no rows; a file of rows has at least one value");
  CHECK(files.refusal("a.u8bin", bin(0xFFFFFFFF, 0xFFFFFFFF, ""))
            .starts_with(of + "a.u8bin: its head says 4294967295 rows"));
  CHECK(files.refusal("a.npy", "hello, world") ==
        of + "a.npy: it does not begin as .npy files of version 1.0, 2.0 or 3.0 do; save it with numpy.save");
  CHECK(files.refusal("a.npy", npy("<f4", "False", "(3, 2", three)) ==
        of + "a.npy: its header is not that of an array; save it again with numpy.save");
  CHECK(files.refusal("a.npy", npy("<c8", "False", "(3, 1)", three))
            .starts_with("unsupported: source: a.npy: it holds elements of type '<c8'"));
  CHECK(files.refusal("a.npy", npy(">f4", "False", "(3, 2)", three))
            .starts_with("unsupported: source: a.npy: it holds elements of type '>f4'"));
  CHECK(files.refusal("a.npy", npy("<f4", "True", "(3, 2)", three))
            .starts_with("unsupported: source: a.npy: its columns lie"));
  CHECK(files.refusal("a.npy", npy("<f4", "False", "()", "1234"))
            .starts_with("unsupported: source: a.npy: it holds a single number"));
  CHECK(files.refusal("a.csv", "1,2") ==
        "unsupported: source: a.csv: rows are read by ranges from .npy, .fbin, .f16bin, .u8bin, .i8bin and "
        ".kidx; write it as one of these");
  CHECK(files.shown(error_of([&] { file_source(files.folder() / "none.npy"); })) ==
        of + "none.npy: it cannot be read: No such file or directory; name a file of rows");
  CHECK(files.shown(error_of([&] { file_source(files.folder().path() + "/."); })).starts_with(of));
  const string floats = files.folder().write("f.fbin", bin(3, 2, three));
  CHECK(files.shown(error_of([&] { file_source(floats, Element::bits); })) ==
        "invalid_argument: source: f.fbin: it holds f32, and bits are read from bytes (u8); leave the "
        "element out");
  CHECK(files.shown(error_of([&] { file_source(floats, Element::u8); })) ==
        "invalid_argument: source: f.fbin: it holds f32, not u8; leave the element out");
}

TEST_CASE("source: a file that changes under way is a bad file, by name and place") {
  const SourceFiles files;
  const string path = files.folder().write("a.fbin", bin(3, 2, three));
  const auto source = file_source(path);
  std::vector<float> rows(6);
  source->read(0, 3, rows.data());
  CHECK(rows == std::vector<float>{1, 2, 3, 4, 5, 6});
  std::filesystem::resize_file(path, 8 + 12);
  CHECK(files.shown(error_of([&] { source->read(0, 3, rows.data()); })) ==
        "bad_file: source: a.fbin: row 1, byte 20: the file ends here, though it was longer when it was "
        "opened; let nobody write to it, and search again");
  CHECK(files.shown(error_of([&] { source->read(0, 1, rows.data()); })) ==
        "bad_file: source: a.fbin: rows 0 to 0: the file has changed since it was opened, or was renamed or "
        "replaced; let nobody write to it, open it again, and search again");
  files.folder().write("a.fbin", bin(3, 2, three));
  std::filesystem::last_write_time(path,
                                   std::filesystem::file_time_type::clock::now() + std::chrono::seconds(5));
  CHECK(error_of([&] { source->read(0, 1, rows.data()); }).starts_with("bad_file: "));
}

TEST_CASE(
    "source: a file that changes is known by its change, though size and time of writing are put back") {
  const SourceFiles files;
  const string path = files.folder().write("a.fbin", bin(3, 2, three));
  const auto written = std::filesystem::last_write_time(path);
  const auto source = file_source(path);
  const std::uint64_t state = source->state();
  CHECK(file_source(path)->state() == state);
  {
    std::fstream file(path, std::ios::in | std::ios::out | std::ios::binary);
    file.seekp(8) << "changed!";
  }
  std::filesystem::last_write_time(path, written);
  std::vector<float> rows(6);
  CHECK(files.shown(error_of([&] { source->read(0, 1, rows.data()); }))
            .starts_with("bad_file: source: a.fbin: rows 0 to 0: the file has changed since it was opened"));
  CHECK(file_source(path)->state() != state);
}

TEST_CASE("source: an index file that is replaced while it is opened is one file or the other, or refused") {
  const SourceFiles files;
  const Matrix wide = hard_rows(DataKind::uniform, Set::train, 3000, 8, Metric::l2),
               narrow = hard_rows(DataKind::uniform, Set::train, 12000, 2, Metric::l2);
  const string path = files.folder() / "a.kidx", other = files.folder() / "b.kidx",
               aside = files.folder() / "c.kidx";
  save(Index(open_device("cpu"), wide, Metric::l2), path);
  save(Index(open_device("cpu"), narrow, Metric::l2), other);
  std::atomic<bool> done = false;
  std::thread swapping([&] {
    while (!done) {
      std::filesystem::copy_file(path, aside, std::filesystem::copy_options::overwrite_existing);
      std::filesystem::rename(other, path);
      std::filesystem::rename(aside, other);
    }
  });
  int opened = 0;
  for (int i = 0; i < 3000; ++i) {
    std::vector<float> row(8);
    try {
      const auto source = file_source(path);
      const std::int64_t cols = source->info().cols;
      REQUIRE((cols == 8 || cols == 2));
      source->read(7, 1, row.data());
      const Matrix& right = cols == 8 ? wide : narrow;
      row.resize(size(cols));
      CHECK(row == std::vector<float>(right.row(7).begin(), right.row(7).end()));
      ++opened;
    } catch (const Error& error) {
      CHECK(error.code() == Errc::bad_file);
    }
  }
  done = true;
  swapping.join();
  CHECK(opened > 0);
}

TEST_CASE("source: a block of an index file is compared with its checksum when it is first read") {
  const SourceFiles files;
  const Matrix train = hard_rows(DataKind::uniform, Set::train, 1000, 6, Metric::l2);
  const string path = files.folder() / "a.kidx";
  save(Index(open_device("cpu"), train, Metric::l2), path);
  string bytes = test_support::text_of_file(path);
  const auto offset = static_cast<std::size_t>(index_file_info(path).rows_offset);
  CHECK(all_of(*file_source(path)) == bytes.substr(offset, size(train.rows * train.cols) * sizeof(float)));
  bytes[offset + 3] ^= 1;
  files.folder().write("a.kidx", bytes);
  const auto source = file_source(path);
  std::vector<float> row(6);
  for (const std::int64_t at : {0, 999, 0})  // one wrong bit spoils every row of the block
    CHECK(files.shown(error_of([&] { source->read(at, 1, row.data()); }))
              .starts_with("bad_file: source: a.kidx: byte 4096: the checksum of the 24000 bytes"));
  for (const Residence residence : {Residence::stream, Residence::resident}) {
    IndexOptions options{.residence = residence};
    CHECK(error_of([&] {
            Index(open_device("cpu"), file_source(path), Metric::l2, options)
                .search(train.view().slice(0, 2), 3);
          }).starts_with("bad_file: source: "));
  }
  bytes[bytes.size() - 12] ^= 1;
  CHECK(files.refusal("a.kidx", bytes).find("the checksum of the checksums does not match") != string::npos);
}

TEST_CASE("source: residences have names") {
  CHECK(parse<Residence>("Stream") == Residence::stream);
  CHECK(error_of([] { parse<Residence>("streem"); }) ==
        "invalid_argument: residence: there is none called \"streem\"; did you mean stream?");
}

}  // namespace kith::tests
