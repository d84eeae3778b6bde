// Tests rows in a mapped file, which another process may truncate.
#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include "common/device.hpp"
#include "common/elements.hpp"
#include "common/folder.hpp"
#include "kith/index.hpp"
#include "kith/source.hpp"

namespace kith::tests {
namespace {

constexpr std::int64_t n = 5000, dims = 8, k = 3;
constexpr std::size_t row_size = dims * sizeof(float);

std::vector<float> numbers() {
  std::vector<float> values;
  for (std::int64_t i = 0; i < n * dims; ++i) values.push_back(static_cast<float>(i * i * 37 % 1009));
  return values;
}

/// A mapped file with the rows of numbers().
class MappedFile {
 public:
  MappedFile() {
    const std::string path = folder_ / "rows";
    file_ = ::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600);
    const std::vector<float> values = numbers();
    const std::size_t bytes = values.size() * sizeof(float);
    REQUIRE(::write(file_, values.data(), bytes) == static_cast<ssize_t>(bytes));
    mapped_ = ::mmap(nullptr, bytes, PROT_READ, MAP_SHARED, file_, 0);
    REQUIRE(mapped_ != MAP_FAILED);
  }
  ~MappedFile() {
    ::munmap(mapped_, n * row_size);
    ::close(file_);
  }
  MappedFile(const MappedFile&) = delete;
  MappedFile& operator=(const MappedFile&) = delete;

  RowsView rows() const { return {static_cast<const float*>(mapped_), n, dims}; }
  /// Maps the same file `before` bytes after the beginning of a block of other memory. The caller unmaps it.
  void* mapped_behind(std::size_t before) const {
    void* const all =
        ::mmap(nullptr, before + n * row_size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    REQUIRE(all != MAP_FAILED);
    REQUIRE(::mmap(static_cast<char*>(all) + before, n * row_size, PROT_READ, MAP_SHARED | MAP_FIXED, file_,
                   0) != MAP_FAILED);
    return all;
  }
  /// Truncates the file after `rows` rows. Pages behind the last byte can then no longer be read.
  void cut(std::int64_t rows) const { REQUIRE(::ftruncate(file_, static_cast<off_t>(row_size) * rows) == 0); }

 private:
  const test_support::TemporaryFolder folder_;
  int file_ = -1;
  void* mapped_ = nullptr;
};

Index made(const RowsView& rows, Residence residence) {
  IndexOptions options{.residence = residence, .chunk_rows = residence == Residence::stream ? 700 : 0};
  return {device(), memory_source(rows), Metric::l2, options};
}

TEST_CASE("mapped source: the bytes of the file, whatever stands between rows") {
  const MappedFile file;
  const std::vector<float> values = numbers();
  const RowsView every_other{static_cast<const float*>(file.rows().data), n / 2, 3, 2 * dims};
  for (const RowsView& rows : {file.rows(), every_other}) {
    const auto source = memory_source(rows);
    CHECK(!source->in_memory());
    std::vector<float> read(size(rows.rows * rows.cols));
    source->read(0, 7, read.data());
    source->read(7, rows.rows - 7, read.data() + 7 * rows.cols);
    std::vector<float> expected;
    for (std::int64_t r = 0; r < rows.rows; ++r)
      for (std::int64_t c = 0; c < rows.cols; ++c)
        expected.push_back(values[size(r * (rows.cols == 3 ? 2 * dims : dims) + c)]);
    CHECK(read == expected);
    CHECK(source->state() == memory_source({expected.data(), rows.rows, rows.cols})->state());
  }
}

TEST_CASE("mapped source: memory that maps no file stays where it is") {
  const std::vector<float> values = numbers();
  CHECK(memory_source({values.data(), n, dims})->in_memory());
  CHECK(memory_source({values.data(), 0, dims})->in_memory());
  CHECK(memory_source({values.data(), n, 0})->in_memory());
}

TEST_CASE("mapped source: rows that begin in other memory and go on in a file") {
  const MappedFile file;
  const std::size_t page = 1 << 16;  // a whole number of pages of any size
  const std::int64_t before = page / row_size, all = before + n;
  void* const memory = file.mapped_behind(page);
  const auto* const first = static_cast<const float*>(memory);
  const RowsView rows{first, all, dims};
  CHECK(memory_source(rows.slice(0, before))->in_memory());
  const auto source = memory_source(rows);
  CHECK(!source->in_memory());
  std::vector<float> read(size(all * dims)), expected(size(before * dims), 0.0f);
  const std::vector<float> in_file = numbers();
  expected.insert(expected.end(), in_file.begin(), in_file.end());
  source->read(0, all, read.data());
  CHECK(read == expected);
  file.cut(0);
  CHECK(error_of([&] {
          source->read(0, all, read.data());
        }).starts_with("bad_file: source: the mapped file: row " + std::to_string(before) + ": "));
  source->read(0, before, read.data());
  ::munmap(memory, page + n * row_size);
}

TEST_CASE("mapped source: a file that is cut is a bad file, by its row, and no signal") {
  const MappedFile file;
  const auto source = memory_source(file.rows());
  std::vector<float> read(numbers().size());
  source->read(0, n, read.data());
  CHECK(read == numbers());
  file.cut(1024);  // a whole number of pages
  source->read(0, 1024, read.data());
  const std::string why =
      "bad_file: source: the mapped file: row 1024: the file ends here, though it was longer when it was "
      "mapped; let nobody cut it, map it again, and search again";
  CHECK(error_of([&] { source->read(1000, 100, read.data()); }) == why);
  CHECK(error_of([&] { source->state(); }) == why);
}

TEST_SUITE_BEGIN("device");

TEST_CASE("mapped source: answers are those of an index, until the file is cut") {
  const std::vector<float> values = numbers();
  const RowsView queries{values.data() + 100 * dims, 20, dims};
  const Neighbors expected = Index(device(), RowsView{values.data(), n, dims}).search(queries, k);
  for (const Residence residence : {Residence::resident, Residence::stream, Residence::quantized}) {
    if (residence == Residence::quantized && !has(Proposer::int8)) continue;
    CAPTURE(std::string(name(residence)));
    const MappedFile file;
    const Index index = made(file.rows(), residence);
    CHECK(index.search(queries, k) == expected);
    file.cut(0);
    if (residence == Residence::resident)
      CHECK(index.search(queries, k) == expected);
    else
      CHECK(error_of([&] { index.search(queries, k); }).find("bad_file: ") == 0);
    CHECK(error_of([&] { made(file.rows(), residence).search(queries, k); }).find("bad_file: ") == 0);
  }
}

TEST_SUITE_END();

}  // namespace
}  // namespace kith::tests
