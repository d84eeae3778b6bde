// Index files that are damaged, foreign or forged: docs/contract.md, section 9.
#include <sys/stat.h>

#include <cmath>
#include <filesystem>
#include <stop_token>

#include "base/xxh64.hpp"
#include "common/data_files.hpp"
#include "common/device.hpp"
#include "common/sanitizers.hpp"
#include "kith/index_file.hpp"

namespace kith::tests {
namespace {

using data_files::Folder;
using std::string;

constexpr std::size_t head_bytes = 4096, entry_bytes = 64, table_at = 120;

/// Writes the bytes of a file to a folder.
class KidxFiles {
 public:
  string saved(const Index& index) const {
    save(index, folder_ / "a.kidx");
    return folder_.read("a.kidx");
  }
  string refusal(const string& file) const {
    folder_.write("a.kidx", file);
    return folder_.error([&] { open_index(folder_ / "a.kidx", open_device("cpu")); });
  }
  /// Returns the refusal without the part that all refusals share.
  string why(const string& file) const {
    const string start = "bad_file: index file: a.kidx: ", error = refusal(file);
    return error.starts_with(start) ? error.substr(start.size()) : error;
  }
  const Folder& folder() const { return folder_; }

 private:
  Folder folder_;
};

Index small_index(Metric metric = Metric::l1, const IndexOptions& options = {}) {
  return Index(open_device("cpu"), matrix(3, {0, 1, 5, /**/ 2, 0.5f, 7, /**/ 0, -3, 5, /**/ 1, 4, 7}), metric,
               options);
}

template <class T>
string with_number(string file, std::size_t at, T value) {
  std::memcpy(file.data() + at, &value, sizeof value);
  return file;
}

/// Corrects all three checksums of a file whose body is at most one MiB.
string summed(string file) {
  file = with_number(file, head_bytes - 8, Xxh64::of(file.data(), head_bytes - 8));
  const std::uint64_t piece = Xxh64::of(file.data() + head_bytes, file.size() - 16 - head_bytes);
  file = with_number(file, file.size() - 16, Xxh64::of(&piece, sizeof piece));
  return with_number(file, file.size() - 8, Xxh64::of(file.data() + file.size() - 16, 8));
}

string with_text(string file, std::size_t at, const string& text) {
  return file.replace(at, 8, (text + string(8, '\0')).substr(0, 8));
}

TEST_CASE("xxh64: what others have for the same bytes") {
  CHECK(Xxh64::of("", 0) == 0xEF46DB3751D8E999u);
  CHECK(Xxh64::of("a", 1) == 0xD24EC4F1A98C6E5Bu);
  CHECK(Xxh64::of("abc", 3) == 0x44BC2CF5AD770999u);
  const string long_one = "Nobody inspects the spammish repetition";  // an example of xxHash's specification
  CHECK(Xxh64::of(long_one.data(), long_one.size()) == 0xFBCEA83C8A378BF1u);
}

TEST_CASE("periodic: index files whose values are outside of the box, or whose box is none, are refused") {
  for (const Arithmetic arithmetic : {Arithmetic::f32, Arithmetic::f64}) {
    const KidxFiles files;
    IndexOptions in_box{.box = {10, 0, 8}};
    in_box.arithmetic = arithmetic;
    const string good = files.saved(small_index(Metric::l1, in_box));
    REQUIRE(files.refusal(good) == "no error");
    const IndexFileInfo info = index_file_info(files.folder() / "a.kidx");
    REQUIRE(info.sections[0].name == "box");
    const auto with_value = [&](double value) {
      return summed(arithmetic == Arithmetic::f64
                        ? with_number(good, info.rows_offset, value)
                        : with_number(good, info.rows_offset, static_cast<float>(value)));
    };
    CHECK(files.refusal(with_value(9.5)) == "no error");
    for (const double outside : {10.0, 11.0, -1.0})
      CHECK(files.why(with_value(outside)).find(", outside of the box; save the index again") !=
            string::npos);
    for (const double length : {-1.0, HUGE_VAL, 1e-60})
      CHECK(files.why(summed(with_number(good, info.sections[0].offset, length)))
                .find("long in column 0; give a length above 0") != string::npos);
  }
}

TEST_CASE("index file: values beyond the limit of canberra, and columns of gower that are of neither kind") {
  const KidxFiles files;
  for (const Arithmetic arithmetic : {Arithmetic::f32, Arithmetic::f64}) {
    IndexOptions options;
    options.arithmetic = arithmetic;
    const string good = files.saved(small_index(Metric::canberra, options));
    const std::size_t at = index_file_info(files.folder() / "a.kidx").rows_offset;
    const string bad =
        arithmetic == Arithmetic::f64 ? with_number(good, at, -1e308) : with_number(good, at, 2e38f);
    CHECK(files.refusal(good) == "no error");
    CHECK(files.why(summed(bad)).find(", beyond half of the largest number; save the index again") !=
          string::npos);
  }
  const string of_gower = files.saved(small_index(Metric::gower, {.categorical = {1}}));
  const IndexFileInfo info = index_file_info(files.folder() / "a.kidx");
  REQUIRE(info.sections[0].name == "categorical");
  CHECK(files.why(summed(with_number(of_gower, info.sections[0].offset + 8, 2.0)))
            .find("categorical of column 1 is 2; give 1 for categories, or 0 for numbers") != string::npos);
}

TEST_CASE("groups: index files whose borders are none are refused") {
  const KidxFiles files;
  const string good = files.saved(small_index(Metric::l1, {.groups = {0, 1, 4}}));
  REQUIRE(files.refusal(good) == "no error");
  const IndexFileInfo info = index_file_info(files.folder() / "a.kidx");
  REQUIRE(info.sections[0].name == "groups");
  const std::size_t at = info.sections[0].offset;
  CHECK(files.why(summed(with_number(good, at, std::int64_t{2}))) ==
        "byte 4096: index: groups of rows begin at 2; give borders that ascend from 0 to 4");
  CHECK(files.why(summed(with_number(good, at + 8, std::int64_t{5}))) ==
        "byte 4096: index: groups of rows have border 2 at 4 behind 5; give borders that ascend");
  CHECK(files.why(summed(with_number(good, at + 16, std::int64_t{3}))) ==
        "byte 4096: index: groups of rows end at 3; give borders that ascend from 0 to 4");
  CHECK(
      files.why(summed(with_number(good, table_at + 32, std::int64_t{23}))) ==
      "byte 4096: section groups has 23 bytes of i64, which are no borders of groups; save the index again");
}

TEST_CASE("index file: every byte that changes and every length that is not right is refused") {
  const KidxFiles files;
  const string good = files.saved(small_index(Metric::l1, {{0, 2}, 0, 0}));
  REQUIRE(files.refusal(good) == "no error");
  // Between head and end there are only rows and padding, so not every byte is tried.
  const std::size_t step = sanitized() ? 37 : 5;
  for (std::size_t at = 0; at < good.size(); at += at < 400 || at + 200 > good.size() ? 1 : step) {
    CAPTURE(at);
    string flipped = good;
    flipped[at] = static_cast<char>(flipped[at] ^ (at % 2 ? 1 : 0xFF));
    CHECK(files.refusal(flipped).starts_with("bad_file: index file: a.kidx: byte "));
  }
  for (std::size_t length = 0; length < good.size(); length += length < 200 ? 1 : 37) {
    CAPTURE(length);
    CHECK(files.refusal(good.substr(0, length)).starts_with("bad_file: index file: a.kidx: byte "));
  }
  for (const string& more : {string(1, '\0'), string("\n"), good})
    CHECK(files.why(good + more) == "byte " + std::to_string(good.size()) +
                                        ": the file should end here, but has " +
                                        std::to_string(good.size() + more.size()) + " bytes; copy it again");
}

TEST_CASE("index file: with right checksums a changed byte is refused, or means what it says") {
  const KidxFiles files;
  std::size_t accepted = 0, refused = 0;
  for (const Metric metric : {Metric::l1, Metric::cosine}) {
    const string good = files.saved(small_index(metric, {{0, 2}, 5, 0}));
    REQUIRE(summed(good) == good);
    for (std::size_t at = 0; at + 16 < good.size(); at += at < 400 || at + 80 > good.size() ? 1 : 61)
      for (const int change : {1, 0x80, 0xFF}) {
        CAPTURE(at);
        string made_up = good;
        made_up[at] = static_cast<char>(made_up[at] ^ change);
        const string error = files.refusal(summed(made_up));
        (error == "no error" ? accepted : refused) += 1;
        if (error != "no error") {
          CHECK(error.starts_with("bad_file: index file: a.kidx: byte "));
          continue;
        }
        const string again = files.saved(open_index(files.folder() / "a.kidx", open_device("cpu")));
        // Two changes do not show in a file saved again: the flag "needed", which matters only to readers
        // that do not know the section, and bytes between sections, which matter to no one.
        const bool needed = at == table_at + 40 || at == table_at + entry_bytes + 40;
        const bool between = at >= head_bytes && at + 16 + 32 <= good.size();
        if (!needed && !between) CHECK((again == summed(made_up)));
      }
  }
  CHECK(accepted > 50);
  CHECK(refused > 1000);
}

TEST_CASE("index file: files that are none, word for word") {
  const KidxFiles files;
  const Folder& folder = files.folder();
  const string good = files.saved(small_index());
  for (const string& other : {string(), string("PK\3\4"), string("kith"), string(5000, '\0')})
    CHECK(files.why(other) == "byte 0: this is no index of kith; name a file that kith wrote as .kidx");
  CHECK(files.why(good.substr(0, 50)) ==
        "byte 50: the file ends here, within its head of 4096 bytes; copy it again");
  CHECK(files.why(good.substr(0, 4100)) == "byte 4100: the file ends here, but " +
                                               std::to_string(good.size()) +
                                               " bytes were written; copy it again");
  CHECK(files.why(summed(with_number(good, 16, std::uint64_t{2}))) ==
        "byte 16: the format is version 2, but this kith reads version 1; use the kith that wrote it");
  CHECK(files.why(summed(with_number(good, 8, std::uint64_t{0x0807060504030201u}))) ==
        "byte 8: the file has the byte order of another kind of machine; save the index on this kind");
  CHECK(files.why(with_number(good, 40, std::int64_t{5})) ==
        "byte 4088: the checksum of the head does not match; the file is damaged: copy it again");
  CHECK(files.why(with_number(good, head_bytes + 4, 9.0f)) ==
        "byte 4096: the checksum of the 48 bytes from here on does not match; the file is damaged: copy it "
        "again");
  CHECK(folder.error([&] { open_index(folder / "none.kidx", open_device("cpu")); }) ==
        "bad_file: index file: none.kidx: it cannot be read: No such file or directory; name a file that "
        "kith wrote as .kidx");
  REQUIRE(mkfifo((folder / "pipe").c_str(), 0600) == 0);
  for (const string& path : {string("/dev"), folder / "pipe"})
    CHECK(folder.error([&] { index_file_info(path); })
              .ends_with(": it is no ordinary file; name a file that kith wrote as .kidx"));
  CHECK(
      folder.error([&] { save(small_index(), folder / "no/a.kidx"); }) ==
      "bad_file: index file: no/a.kidx: cannot be written: No such file or directory; make the folder first");
}

TEST_CASE("index file: values that no index has, word for word") {
  const KidxFiles files;
  const string good = files.saved(small_index()), unit = files.saved(small_index(Metric::cosine));
  CHECK(files.why(summed(with_number(good, head_bytes + 4 * 7, std::nanf("")))) ==
        "byte 4096: rows: training row 2, column 1 holds NaN; make every value finite, or leave the row out");
  CHECK(files.why(summed(with_number(unit, head_bytes + 4 * 4, 0.5f))) ==
        "byte 4096: row 1 is no unit row, as those of cosine are; save the index again");
  const string six = with_number(with_number(good, 72, std::int64_t{6}), 80, std::int64_t{6});
  CHECK(files.why(summed(with_number(six, 40, std::int64_t{6}))) ==
        "byte 4096: the rows take 48 bytes, but 6 of 12 bytes each are told; save the index again");
  CHECK(files.why(summed(with_number(good, 80, std::int64_t{3}))) ==
        "byte 40: 4 rows of 4 that were given, and the next is number 3; save the index again");
  CHECK(files.why(summed(with_number(good, 64, std::int64_t{1}))) ==
        "byte 120: section removed is missing, which the head needs of it; save the index again");
  CHECK(files.why(summed(with_number(good, 40, std::int64_t{0}))) ==
        "byte 40: 0 rows, but an index holds 1 to 4294967294; save the index again");
  CHECK(files.why(summed(with_number(good, 48, INT64_MAX / 2)))
            .starts_with("byte 4096: the rows take 48 bytes"));
  CHECK(files.why(summed(with_number(good, 32, UINT64_MAX - 100))).starts_with("byte 24: a file of "));
  CHECK(files.why(summed(with_text(good, table_at + 16, "f16"))) ==
        "byte 4096: the rows take 48 bytes, but 4 of 6 bytes each are told; save the index again");
  CHECK(files.why(summed(with_text(good, table_at + 16, "f64"))) ==
        "byte 4096: the rows take 48 bytes, but 4 of 24 bytes each are told; save the index again");
  CHECK(files.why(summed(with_text(good, table_at + 16, "i16"))) ==
        "byte 4096: rows of i16 do not go with l1; save the index again");
  CHECK(files.why(summed(with_text(good, 96, "cosine"))) ==
        "byte 120: an index of cosine has its rows in the section unit_rows alone; save the index again");
  CHECK(files.why(summed(with_text(good, 96, "l1\x1b"))).starts_with("byte 96: \"l1\\x1b\" is no name"));
}

TEST_CASE("index file: unit rows are within 2^-22 of 1, and no others are taken") {
  const KidxFiles files;
  const string unit = files.saved(small_index(Metric::cosine));
  const auto with_row = [&](float first, float second) {
    const std::size_t row = head_bytes + 12;
    const string file = with_number(with_number(unit, row, first), row + 4, second);
    return files.why(summed(with_number(file, row + 8, 0.0f)));
  };
  const string refused = "byte 4096: row 1 is no unit row, as those of cosine are; save the index again";
  CHECK(with_row(1, 0x1p-12f) == "no error");  // squared norm 1 + 2^-24
  CHECK(with_row(1, 0x1p-11f) == "no error");  // squared norm 1 + 2^-22
  CHECK(with_row(1, 0x1p-11f + 0x1p-12f) == refused);
  CHECK(with_row(1 - 0x1p-21f, 0) == refused);
  CHECK(with_row(1, 0x1p-5f) == refused);
}

TEST_CASE("index file: ids that are there twice or in no order, and rows that are all removed") {
  const KidxFiles files;
  IndexOptions options{.ids = {3, 5, 8, 13}};
  const string named = files.saved(small_index(Metric::l1, options));
  for (const std::int64_t id : {std::int64_t{3}, std::int64_t{2}, std::int64_t{-1}}) {
    CAPTURE(id);
    CHECK(files.why(summed(with_number(named, head_bytes + 8, id))) ==
          "byte 4104: ids has " + std::to_string(id) +
              ", which does not ascend, or is not below 14; save the index again");
  }
  CHECK(files.refusal(summed(with_number(named, head_bytes + 8, std::int64_t{4}))) == "no error");
  CHECK(files.why(summed(with_number(named, head_bytes + 24, std::int64_t{14})))
            .starts_with("byte 4120: ids has 14, "));
  const std::int64_t gone[] = {0, 1, 2};
  const string three = files.saved(small_index().without(gone));
  REQUIRE(files.refusal(three) == "no error");
  const auto removed = [&](std::int64_t count, std::uint32_t bits) {
    return files.why(summed(with_number(with_number(three, 64, count), head_bytes, bits)));
  };
  CHECK(removed(4, 0xF) == "byte 40: 4 of 4 rows are removed; save the index again");
  CHECK(removed(2, 0x5) == "no error");
  CHECK(removed(3, 0x5).starts_with("byte 4096: section removed has 2 rows of 4, and the head counts 3"));
  CHECK(removed(3, 0x13).starts_with("byte 4096: section removed has 3 rows of 4, and the head counts 3"));
}

TEST_CASE("index file: sections that a newer kith wrote") {
  const KidxFiles files;
  const string good = files.saved(small_index());
  // Adds a second, empty section after the rows, so that the body grows to a whole page.
  string longer = good.substr(0, good.size() - 16);
  longer.resize(2 * head_bytes, '\0');
  longer += string(16, '\0');
  longer = with_number(longer, 24, std::uint64_t{longer.size()});
  longer = with_number(longer, 32, std::uint64_t{head_bytes});
  longer = with_number(longer, table_at - 8, std::uint64_t{2});
  const std::size_t entry = table_at + entry_bytes;
  longer = with_text(with_text(longer, entry, "colours"), entry + 16, "u8");
  longer = with_number(longer, entry + 24, std::uint64_t{2 * head_bytes});
  CHECK(files.refusal(summed(longer)) == "no error");
  CHECK(files.why(summed(with_number(longer, entry + 40, std::uint64_t{1}))) ==
        "byte 120: section colours is needed, and this kith does not know it; a newer one wrote the file: "
        "use that");
  string filled = longer.substr(0, 2 * head_bytes) + "a colour" + string(16, '\0');  // a section with bytes
  filled = with_number(filled, 24, std::uint64_t{filled.size()});
  filled = with_number(filled, 32, std::uint64_t{head_bytes + 8});
  filled = with_number(filled, entry + 32, std::uint64_t{8});
  CHECK(files.refusal(summed(filled)) == "no error");
  CHECK(files.why(summed(with_number(filled, entry + 40, std::uint64_t{1})))
            .starts_with("byte 120: section colours is needed, and this kith does not know it"));
  CHECK(files.why(summed(with_text(longer, entry, "rows"))) ==
        "byte 120: section rows is there twice; save the index again");
  CHECK(files.why(summed(with_number(longer, entry + 32, std::uint64_t{1})))
            .starts_with("byte 120: section colours has 1 bytes from byte 8192, but what is between"));
  CHECK(files.why(summed(with_number(good, 3000, std::uint64_t{1}))) ==
        "byte 3000: this byte is 1, and means nothing to this kith; a newer one wrote the file: use that");
}

TEST_CASE("index file: parameters of metrics that no index has") {
  const KidxFiles files;
  constexpr std::size_t metric_at = 96;
  const auto of_metric = [](string file, string metric) {
    metric.resize(16);
    return summed(file.replace(metric_at, metric.size(), metric));
  };
  const string weighted = files.saved(small_index(Metric::l2, {.column_weights = {1, 2, 3}}));
  CHECK(files.why(summed(with_number(weighted, head_bytes + 8, -1.0))) ==
        "byte 4096: index: column_weights of column 1 is -1; give a finite number, 0 or more");
  CHECK(files.why(of_metric(weighted, "linf")) ==
        "byte 4096: section column_weights is not what an index by linf has of 3 columns; save the index "
        "again");
  CHECK(files.why(of_metric(files.saved(small_index(Metric::l2)), "seuclidean")) ==
        "byte 120: the sections are not what an index by seuclidean has of 3 columns; save the index again");
  const string matrix =
      files.saved(small_index(Metric::mahalanobis, {.covariance = {1, 0, 0, 0, 1, 0, 0, 0, 1}}));
  CHECK(
      files.why(summed(with_number(matrix, head_bytes + 8, 0.5)))
          .starts_with("byte 4096: index: covariance[0, 1] is 0.5 and [1, 0] is 0, but the matrix must be"));
  CHECK(files.why(summed(with_number(matrix, head_bytes + 64, 0.0)))
            .starts_with("byte 4096: index: covariance is not positive definite"));
}

TEST_CASE("index file: centres that no index has") {
  const KidxFiles files;
  IndexOptions options{.centre = {1, 2, 3}};
  const string good = files.saved(small_index(Metric::l1, options));
  CHECK(files.refusal(good) == "no error");
  CHECK(files.why(summed(with_number(good, head_bytes + 8, std::nan("")))) ==
        "byte 4104: the centre has nan, which is not finite; save the index again");
  CHECK(files.why(summed(with_number(good, table_at + 32, std::uint64_t{16}))) ==
        "byte 4096: section centre has 16 bytes of f64, which are no centre of 3 columns of f32 by l1; save "
        "the index again");
  CHECK(files.why(summed(with_text(good, table_at + 16, "i64")))
            .starts_with("byte 4096: section centre has 24 bytes of i64, which are no centre"));
  CHECK(files.why(summed(with_text(with_text(good, 96, "negative"), 104, "_dot"))) ==
        "byte 4096: section centre has 24 bytes of f64, which are no centre of 3 columns of f32 by "
        "negative_dot; save the index again");
  // An older reader meets a section that it does not know.
  CHECK(files.why(summed(with_text(good, table_at, "colour"))) ==
        "byte 120: section colour is needed, and this kith does not know it; a newer one wrote the file: use "
        "that");
}

TEST_CASE("index file: one that becomes shorter while it is read, and a stop") {
  const KidxFiles files;
  const Folder& folder = files.folder();
  const string path = folder / "a.kidx";
  save(small_index(), path);
  OpenOptions options;
  options.progress = [&](double) { std::filesystem::resize_file(path, 4100); };
  CHECK(folder.error([&] { open_index(path, open_device("cpu"), options); }) ==
        "bad_file: index file: a.kidx: byte 4100: the file ends here, though it was longer a moment ago; "
        "read it again");
  save(small_index(), path);
  std::stop_source stop;
  stop.request_stop();
  CHECK(folder.error([&] { open_index(path, open_device("cpu"), {.stop = stop.get_token()}); }) ==
        "interrupted: index file: stopped at byte 4096, as was asked; no index is made");
  const string before = folder.read("a.kidx");
  CHECK(folder.error([&] { save(small_index(Metric::l2), path, {.stop = stop.get_token()}); }) ==
        "interrupted: index file: a.kidx: stopped while it was saved, as asked; no index file is written: "
        "save it again");
  CHECK(folder.read("a.kidx") == before);
  std::vector<double> told;
  open_index(path, open_device("cpu"), {.progress = [&](double part) { told.push_back(part); }});
  CHECK(told == std::vector<double>{0, 1});
}

}  // namespace
}  // namespace kith::tests
