// Index files: an opened Index gives the bits of the saved one, on every device
// (docs/contract.md, section 9).
#include "common/data_files.hpp"
#include "common/elements.hpp"
#include "common/proposers.hpp"
#include "common/searches.hpp"
#include "kith/classifier.hpp"
#include "kith/evaluation.hpp"
#include "kith/index_file.hpp"

namespace kith::tests {
namespace {

using data_files::Folder;
using std::string;

/// Saves an Index, opens it on device `on`, and compares all properties. Saving it again must give
/// the same file.
Index reopened(const Index& index, const Device& on) {
  const Folder folder;
  save(index, folder / "a.kidx");
  Index opened = open_index(folder / "a.kidx", on);
  CHECK(opened.metric() == index.metric());
  CHECK(opened.rows() == index.rows());
  CHECK(opened.dims() == index.dims());
  CHECK(opened.first_row() == index.first_row());
  CHECK(opened.features() == index.features());
  CHECK(opened.numbers() == index.numbers());
  CHECK(opened.next_row() == index.next_row());
  CHECK(opened.positions() == index.positions());
  save(opened, folder / "b.kidx");
  CHECK((folder.read("b.kidx") == folder.read("a.kidx")));
  return opened;
}

/// Moves an Index from the device under test to the CPU and back, and compares the answers.
void check_reopened(const Index& index, const RowsView& queries) {
  const std::int64_t k = std::min<std::int64_t>(index.rows(), 40);
  const Neighbors expected = index.search(queries, k);
  const Index host = reopened(index, open_device("cpu"));
  CHECK(difference(host.search(queries, k), expected) == "");
  const Index back = reopened(host, device());
  CHECK(difference(back.search(queries, k), expected) == "");
  CHECK(back.search_keys(queries, k) == index.search_keys(queries, k));
}

/// Returns the bytes of the rows in the file.
string row_bytes_of(const Index& index) {
  const Folder folder;
  save(index, folder / "a.kidx");
  const IndexFileSection rows = index_file_info(folder / "a.kidx").sections.back();
  return folder.read("a.kidx").substr(static_cast<std::size_t>(rows.offset),
                                      static_cast<std::size_t>(rows.bytes));
}

string bytes_of(Stored& stored, std::int64_t rows, std::int64_t bytes) {
  string all;
  for (std::int64_t r = 0; r < rows; ++r)
    all.append(reinterpret_cast<const char*>(stored.row(r)), size(bytes));
  return all;
}

/// Returns all finite numbers of 16 bits, four per row.
Stored every_half(Element element, float (*value_of)(std::uint16_t), std::int64_t& rows) {
  std::vector<std::uint16_t> finite;
  for (std::uint32_t p = 0; p < 0x10000u; ++p)
    if (std::isfinite(value_of(static_cast<std::uint16_t>(p))))
      finite.push_back(static_cast<std::uint16_t>(p));
  rows = static_cast<std::int64_t>(finite.size()) / 4;
  Stored stored(element, rows, 4);
  for (std::int64_t r = 0; r < rows; ++r)
    for (std::int64_t d = 0; d < 4; ++d) stored.put_pattern(r, d, finite[size(r * 4 + d)]);
  return stored;
}

TEST_SUITE_BEGIN("device");

TEST_CASE("index file: every metric on hard rows, from device to device") {
  for_each_hard_search(5, 133, 7, [](Metric metric, const Matrix& queries, const Matrix& train) {
    check_reopened(Index(device(), train, metric), queries.view());
  });
}

TEST_CASE("index file: rows stand in the element they were given in") {
  const Matrix numbers = hard_rows(DataKind::grid, Set::train, 70, 5, Metric::l1);
  Matrix whole{numbers.rows, numbers.cols, {}};
  for (std::size_t i = 0; i < numbers.values.size(); ++i)
    whole.values.push_back(static_cast<float>(i * 7 % 101));
  for (const Element element : number_elements) {
    CAPTURE(string(name(element)));
    Stored stored(whole, element, 3);
    for (const Metric metric : {Metric::squared_l2, Metric::linf, Metric::negative_dot}) {
      const Index index(device(), stored.view(), metric);
      CHECK((row_bytes_of(index) == bytes_of(stored, 70, row_bytes(element, 5))));
      check_reopened(index, whole.view());
    }
    check_reopened(Index(device(), stored.view(), Metric::cosine), whole.view());
  }
}

TEST_CASE("index file: every number of f16 and bf16 comes back, with its sign") {
  for (const Element element : {Element::f16, Element::bf16}) {
    std::int64_t rows = 0;
    Stored stored = every_half(element, element == Element::f16 ? value_of_f16 : value_of_bf16, rows);
    const Index index(device(), stored.view(), Metric::l1);
    const string expected = bytes_of(stored, rows, 8);
    CHECK((row_bytes_of(index) == expected));
    CHECK((row_bytes_of(reopened(index, device())) == expected));
  }
}

TEST_CASE("index file: float32 keeps -0 and subnormal numbers") {
  const Matrix train = matrix(2, {-0.0f, denormal, 0.0f, -denormal, flt_max, -flt_min});
  const Index index(device(), train, Metric::l1);
  const auto* const first = reinterpret_cast<const char*>(train.values.data());
  CHECK((row_bytes_of(reopened(index, device())) == string(first, 24)));
}

TEST_CASE("index file: bits, with any number of columns") {
  for (const std::int64_t cols : {1, 8, 31, 33, 100}) {
    Stored train = random_bits(61, cols, 5, 1), queries = random_bits(4, cols, 6);
    const Index index(device(), train.view(), Metric::hamming);
    check_reopened(index, queries.view());
    string expected = bytes_of(train, 61, row_bytes(Element::bits, cols));
    if (cols % 8 != 0)  // bits behind the last column are written as 0
      for (std::size_t at = size(row_bytes(Element::bits, cols)) - 1; at < expected.size();
           at += size(row_bytes(Element::bits, cols)))
        expected[at] = static_cast<char>(expected[at] & (0xFF << (8 - cols % 8)));
    CHECK((row_bytes_of(index) == expected));
  }
}

TEST_CASE("index file: cosine keeps unit rows, which are not divided once more") {
  const Matrix train = hard_rows(DataKind::uniform, Set::train, 2000, 5, Metric::cosine);
  const Index index(device(), train, Metric::cosine);
  const string rows = row_bytes_of(index);
  Matrix unit{2000, 5, std::vector<float>(2000 * 5)};
  std::memcpy(unit.values.data(), rows.data(), rows.size());
  // Dividing unit rows again changes some of them, so an opened file must not be prepared again.
  CHECK((row_bytes_of(Index(device(), unit, Metric::cosine)) != rows));
  check_reopened(index, hard_rows(DataKind::uniform, Set::queries, 6, 5, Metric::cosine).view());
}

TEST_CASE("index file: of cosine, rows as they were given leave themselves out") {
  const Matrix train = hard_rows(DataKind::uniform, Set::train, 300, 5, Metric::cosine);
  const Index index(device(), train, Metric::cosine);
  const Index opened = reopened(index, device());
  const SearchOptions own{.self = 0};
  CHECK(opened.search(train, 7, own) == index.search(train, 7, own));
  std::vector<std::int64_t> labels;
  for (std::int64_t t = 0; t < train.rows; ++t) labels.push_back(t % 4);
  const MatrixView<const std::int64_t> of_rows(labels.data(), train.rows, 1);
  CHECK(leave_one_out(Classifier(opened, of_rows), train, 7) ==
        leave_one_out(Classifier(index, of_rows), train, 7));
}

TEST_CASE("index file: features, shards and rows that were added") {
  const Matrix train = hard_rows(DataKind::grid, Set::train, 90, 6, Metric::l2);
  const Matrix queries = hard_rows(DataKind::grid, Set::queries, 3, 6, Metric::l2);
  for (const Metric metric : {Metric::l2, Metric::cosine, Metric::negative_dot}) {
    const Matrix one =
        metric == Metric::cosine ? hard_rows(DataKind::uniform, Set::train, 90, 6, metric) : train;
    const Matrix asked =
        metric == Metric::cosine ? hard_rows(DataKind::uniform, Set::queries, 3, 6, metric) : queries;
    const Index part(device(), one.view().slice(0, 33), metric, {{4, 1, 5}, 1000, 1e6f});
    check_reopened(part, asked.view());
    const Index all = part.with(one.view().slice(33, 57));
    check_reopened(all, asked.view());
    const Index opened = reopened(part, device()).with(one.view().slice(33, 57));
    CHECK(difference(opened.search(asked, 90), all.search(asked, 90)) == "");
  }
  // Rows of two element types are written as float32.
  const Matrix small = matrix(1, {1, 2, 3});
  const Index mixed = Index(device(), Stored(small, Element::u8).view(), Metric::l1)
                          .with(Stored(matrix(1, {-4}), Element::i8).view());
  const float same[] = {1, 2, 3, -4};
  CHECK((row_bytes_of(mixed) == string(reinterpret_cast<const char*>(same), sizeof same)));
  check_reopened(mixed, small.view());
}

TEST_CASE("index file: rows that were removed, compacted, or have ids") {
  const Matrix train = hard_rows(DataKind::grid, Set::train, 90, 4, Metric::l2);
  const Matrix queries = hard_rows(DataKind::grid, Set::queries, 5, 4, Metric::l2);
  std::vector<std::int64_t> ids;
  for (std::int64_t r = 0; r < 60; ++r) ids.push_back(3 * r + 1);
  const auto all = train.view(), first = all.slice(0, 60), more = all.slice(60, 30);
  for (const IndexOptions& options :
       {IndexOptions{}, IndexOptions{{}, 7, 0, {}}, IndexOptions{{}, 0, 0, ids}}) {
    const Index whole(device(), first, Metric::l2, options);
    const std::vector<std::int64_t> numbers = whole.numbers(),
                                    some = {numbers[0], numbers[31], numbers[32], numbers[59]};
    const Index removed = whole.without(some), compact = removed.compact(), grown = compact.with(more);
    for (const Index& index :
         {removed, compact, grown, grown.without(std::vector{numbers[1], grown.next_row() - 1})})
      check_reopened(index, queries.view());
    const Index again = reopened(removed, device());
    CHECK(again.next_row() == whole.next_row());
    CHECK(again.with(more).numbers() == removed.with(more).numbers());
    CHECK(again.compact().search(queries, 20) == compact.search(queries, 20));
    CHECK(error_of([&] { again.without(std::vector{numbers[31]}); }) ==
          error_of([&] { removed.without(std::vector{numbers[31]}); }));
  }
}

TEST_CASE("index file: a classifier and a regressor of an index that was opened") {
  const Matrix train = hard_rows(DataKind::grid, Set::train, 50, 3, Metric::l1);
  const Matrix queries = hard_rows(DataKind::grid, Set::queries, 6, 3, Metric::l1);
  std::vector<std::int64_t> labels;
  std::vector<float> weights;
  for (std::int64_t r = 0; r < 50; ++r)
    labels.push_back(r * r % 7 - 2), weights.push_back(static_cast<float>(r % 3));
  const Classifier same(device(), train, labels, Metric::l1, {}, weights);
  const Index opened = reopened(same.index(), device());
  const Classifier classifier(opened, {labels.data(), 50, 1}, weights);
  CHECK(classifier.classes() == same.classes());
  CHECK(classifier.predict(queries, 9) == same.predict(queries, 9));
  CHECK(error_of([&] {
          Classifier(opened, {labels.data(), 49, 1});
        }) == "invalid_argument: classifier: 49 labels for 50 training rows; give one a row");
  // After rows were removed, labels and weights are those of the remaining rows.
  const std::vector<std::int64_t> rows = {0, 13, 49};
  const Classifier fewer = same.without(rows);
  std::vector<std::int64_t> left;
  std::vector<float> left_weights;
  for (const std::int64_t row : fewer.index().numbers())
    left.push_back(labels[size(row)]), left_weights.push_back(weights[size(row)]);
  const Classifier made(reopened(fewer.index(), device()), {left.data(), 47, 1}, left_weights);
  CHECK(made.predict(queries, 9) == fewer.predict(queries, 9));
}

TEST_CASE("index file: proposers and boxes go by an index that was opened as by one that was made") {
  const Matrix train = hard_rows(DataKind::clusters, Set::train, 700, 8, Metric::l2);
  const Matrix queries = hard_rows(DataKind::clusters, Set::queries, 9, 8, Metric::l2);
  const Index index(device(), train, Metric::l2), opened = reopened(index, device());
  for_each_proposer([&](Proposer proposer) {
    CHECK(difference(opened.search(queries, 10, {.proposer = proposer}), index.search(queries, 10)) == "");
  });
  CHECK(opened.plan(9, 10).reason == index.plan(9, 10).reason);
}

TEST_SUITE_END();

TEST_CASE("index file: more than one block of 64 MiB, with rows across their borders") {
  const std::int64_t rows = 2'750'000, cols = 200;  // 25 bytes per row, 66 MiB in all
  const Stored train = random_bits(rows, cols, 3), queries = random_bits(3, cols, 4);
  const Index index(open_device("cpu"), train.view(), Metric::hamming);
  const Folder folder;
  save(index, folder / "a.kidx");
  CHECK(index_file_info(folder / "a.kidx").bytes == 4096 + 25 * rows + 3 * 8);
  for (const std::uint32_t threads : {1u, 3u}) {
    const Index opened = open_index(folder / "a.kidx", open_device("cpu"), {.threads = threads});
    CHECK(difference(opened.search(queries.view(), 20), index.search(queries.view(), 20)) == "");
  }
  string file = folder.read("a.kidx");
  const std::size_t in_second = 4096 + (std::size_t{1} << 26) + 12345;
  file[in_second] = static_cast<char>(file[in_second] ^ 4);
  folder.write("a.kidx", file);
  const string damaged = "bad_file: index file: a.kidx: byte " + std::to_string(4096 + (1 << 26)) +
                         ": the checksum of the " + std::to_string(25 * rows - (1 << 26)) +
                         " bytes from here on does not match; the file is damaged: copy it again";
  CHECK(folder.error([&] { open_index(folder / "a.kidx", open_device("cpu")); }) == damaged);
  CHECK(folder.error([&] { verify_index_file(folder / "a.kidx"); }) == damaged);
}

}  // namespace
}  // namespace kith::tests
