// Tests that no small file costs much memory or time: each limit of the readers, and the option that
// raises it.
#include "common/data_files.hpp"

using namespace kith::tests::data_files;

namespace {

ReadOptions with(const Limits& limits) {
  ReadOptions options;
  options.limits = limits;
  return options;
}

string repeated(const string& text, std::size_t times) {
  string all;
  all.reserve(text.size() * times);
  for (std::size_t i = 0; i < times; ++i) all += text;
  return all;
}

/// Compresses a text that is repeated many times, without keeping all of it in memory.
string gzip_of(const string& begin, const string& text, std::size_t times) {
  z_stream stream{};
  REQUIRE(deflateInit2(&stream, 9, Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY) == Z_OK);
  string packed;
  std::array<Bytef, 65536> out{};
  const auto put = [&](const string& some, int flush) {
    std::vector<Bytef> in(some.begin(), some.end());
    stream.next_in = in.data();
    stream.avail_in = static_cast<uInt>(in.size());
    do {
      stream.next_out = out.data();
      stream.avail_out = static_cast<uInt>(out.size());
      deflate(&stream, flush);
      packed.append(reinterpret_cast<const char*>(out.data()), out.size() - stream.avail_out);
    } while (stream.avail_out == 0);
  };
  put(begin, Z_NO_FLUSH);
  for (std::size_t i = 0; i < times; ++i) put(text, Z_NO_FLUSH);
  put("", Z_FINISH);
  deflateEnd(&stream);
  return packed;
}

}  // namespace

TEST_CASE("limits: columns of a .svm file") {
  const Folder folder;
  CHECK(folder.table_error("a.svm", "1 16777216:1 16777217:1\n") ==
        "bad_file: a.svm:1: has the index 16777217, but a file may have 16777216 columns at most; correct "
        "it, or allow more: --read max-columns=16777218");
  CHECK(
      folder.table_error("a.svm", "1 1:1\n1 2147483648:1\n")
          .starts_with("bad_file: a.svm:2: has the index 2147483648, but a file may have 16777216 columns"));
  Limits limits{.svm_columns = 5};
  CHECK(folder.table_error("a.svm", "1 6:1\n", with(limits)).ends_with("--read max-columns=7"));
  CHECK(folder.table("a.svm", "1 5:1\n", with(limits)).cols == 5);
  CHECK(folder.error([&] { read_svm_width(folder.write("a.svm", "1 16777217:1\n")); })
            .starts_with("bad_file: a.svm:1: has the index 16777217"));
}

TEST_CASE("limits: cells of a line") {
  const Folder folder;
  const string why =
      " cells, the most that a line may have; say what separates them (--csv sep=), or allow more: --read "
      "max-columns=";
  CHECK(folder.table_error("a.csv", repeated("1,", 1 << 20) + "1\n") ==
        "bad_file: a.csv:1: has more than 1048576" + why + "2097152");
  CHECK(folder.table_error("a.csv", repeated("\"1\",", 1 << 20) + "1\n") ==
        "bad_file: a.csv:1: has more than 1048576" + why + "2097152");
  Limits limits{.text_columns = 3};
  CHECK(folder.table("a.csv", "1,2,3\n4,5,6\n", with(limits)).cols == 3);
  CHECK(folder.table_error("a.csv", "1,2,3\n4,5,6,7\n", with(limits)) ==
        "bad_file: a.csv:2: has more than 3" + why + "6");
}

TEST_CASE("limits: bytes of a line, and of the lines that a quote holds together") {
  const Folder folder;
  Limits limits{.line = 10};
  CHECK(folder.table("a.csv", "12345,6789\n1,2\n", with(limits)).rows == 2);
  CHECK(folder.table("a.csv", "1,2\n12345,6789", with(limits)).rows == 2);
  for (const char* end : {"\n", "", "\r\n"})
    CHECK(folder.table_error("a.csv", "1,2\n12345,67890" + string(end), with(limits)) ==
          "bad_file: a.csv:2: has more than 10 bytes, the most that a line may have; break it, or allow "
          "more: --read max-line=1M");
  CHECK(folder.table_error("a.svm", "1 1:1 2:2 3:3\n", with(limits))
            .starts_with("bad_file: a.svm:1: has more than 10 bytes"));
  CHECK(folder.table_error("a.csv", "a,b\nx,\"1\n2\n3\n4\n5\n6\"\n", with(limits)) ==
        "bad_file: a.csv:2: a quote opened in cell 2 is not closed within 10 bytes; close it, double quotes "
        "that belong to the text, or say --csv quote=no if all of them do, or allow more: --read max-line="
        "1M");
  CHECK(folder.table("a.csv", "a,b\n1,\"x\n2\n3\"\n", with(limits)).rows == 1);
  CHECK(folder.table_error("a.csv", "1," + string(1 << 26, '1') + "\n2,3\n") ==
        "bad_file: a.csv:1: has more than 67108864 bytes, the most that a line may have; break it, or allow "
        "more: --read max-line=128M");
}

TEST_CASE("limits: axes of arrays, and what axes of length 1 cost") {
  const Folder folder;
  const auto axes = [](std::size_t ones) { return "(2, " + repeated("1, ", ones) + "3)"; };
  const string six = bytes<float>({1, 2, 3, 4, 5, 6});
  CHECK(folder.table("a.npy", npy("<f4", axes(30), six)).values == Floats{1, 2, 3, 4, 5, 6});
  CHECK(folder.table_error("a.npy", npy("<f4", axes(31), six)) ==
        "bad_file: a.npy: holds an array of 33 axes, more than the 32 that a file may have; save it with "
        "fewer, a.reshape(len(a), -1), or allow more: --read max-axes=33");
  Limits limits{.axes = 15002};
  CHECK(folder.table("a.npy", npy("<f4", axes(15000), six, true), with(limits)).values ==
        Floats{1, 3, 5, 2, 4, 6});
  limits.axes = 1;
  CHECK(folder.table_error("a.idx", idx(8, {1, 2}, "\1\2"), with(limits))
            .starts_with("bad_file: a.idx: holds an array of 2 axes, more than the 1 that"));
  // A reader that went through all axes for each value would take minutes.
  limits.axes = 15002;
  const string many = npy("<f4", "(1, " + repeated("1, ", 15000) + "4000000)", string(16000000, '\0'), true);
  CHECK(folder.table("a.npy", many, with(limits)).cols == 4000000);
}

TEST_CASE("limits: values that a small file stands for") {
  const Folder folder;
  const string rows = repeated("1 16777216:1\n", 5);  // 65 bytes, 320 MiB of values
  CHECK(folder.table_error("a.svm", rows) ==
        "bad_file: a.svm: its values need 335544320 bytes as float32, too much for a file of 65 bytes, of "
        "which each stands for 1024 bytes of values at most; if it is not damaged, allow more: --read "
        "max-growth="
        "10324442");
  Limits limits{.growth = 10, .free_growth = 1000};
  CHECK(folder.table("a.svm", "1 25:1\n1 25:1\n", with(limits)).cols == 25);
  CHECK(folder.table_error("a.svm", "1 250:1\n1 25:1\n", with(limits)).ends_with("--read max-growth=268"));
  limits.growth = 268;
  CHECK(folder.table("a.svm", "1 250:1\n1 25:1\n", with(limits)).cols == 250);
}

TEST_CASE("limits: what a .gz unpacks to") {
  const Folder folder;
  const string mib(1 << 20, '\0');
  const string rows = gzip_of(npy("|u1", "(83886080,)", ""), mib, 80);
  CHECK(rows.size() < 100000);
  const string error = folder.table_error("a.npy.gz", rows);
  CHECK(error.starts_with("bad_file: a.npy.gz: unpacks to more than 6"));
  CHECK(error.find(" bytes, too much for a file of " + std::to_string(rows.size()) +
                   " bytes, of which each stands for 1024 bytes of values at most; if it is not damaged, "
                   "allow more: --read max-growth=") != string::npos);
  CHECK(folder.labels_error("a.npy.gz", rows) == error);
  Limits limits{.growth = 10, .free_growth = 1000};
  const string text = gzip_of("", "0\n", 2000);
  CHECK(
      folder.table_error("a.csv.gz", text, with(limits)).starts_with("bad_file: a.csv.gz: unpacks to more"));
  limits.growth = 1000;
  CHECK(folder.table("a.csv.gz", text, with(limits)).rows == 2000);
}
