// Tests results as files: what was written can be read back, and a file is written whole or not at all.
#include "common/data_files.hpp"
#include "files/output.hpp"

using namespace kith::tests::data_files;

TEST_CASE("files: what is written reads back with the same bits") {
  const Folder folder;
  const Integers index{0, 5, 123456, -1, 7, 2147483647};
  const Floats distance{0.1f, 1e-45f, 3.4028235e38f, inf, 16777216, 1.0f / 3};
  const auto write = [&](const string& file, const auto& values) {
    AtomicFile out(folder / file);
    write_rows(out, {values.data(), 2, 3});
    CHECK_FALSE(fs::exists(folder / file));
    out.commit();
    return folder.read(file);
  };
  const string npy_i8 = write("i.npy", index), npy_f4 = write("d.npy", distance);
  CHECK(npy_i8.size() == 128 + 48);
  CHECK(npy_i8.substr(0, 10) == "\x93NUMPY\1\0\x76\0"s);
  CHECK(npy_i8.substr(10, 60) == "{'descr': '<i8', 'fortran_order': False, 'shape': (2, 3), } ");
  CHECK(npy_i8[127] == '\n');
  CHECK(npy_i8.substr(128) == bytes<std::int64_t>({0, 5, 123456, -1, 7, 2147483647}));
  CHECK(npy_f4.substr(10, 17) == "{'descr': '<f4', ");
  CHECK(npy_f4.substr(128) == bytes<float>({0.1f, 1e-45f, 3.4028235e38f, inf, 16777216, 1.0f / 3}));
  CHECK(write("i.csv", index) == "0,5,123456\n-1,7,2147483647\n");
  CHECK(write("i.tsv", index) == "0\t5\t123456\n-1\t7\t2147483647\n");
  CHECK(write("i.txt", index) == "0 5 123456\n-1 7 2147483647\n");
  CHECK(write("d.csv", distance) == "0.1,1e-45,3.4028235e+38\ninf,16777216,0.33333334\n");
  CHECK(write("i.ivecs", index) == bytes<std::int32_t>({3, 0, 5, 123456, 3, -1, 7, 2147483647}));
  CHECK(write("d.fvecs", distance).substr(20, 8) == bytes<float>({inf, 16777216}));
  CHECK(write("i.ibin", index) ==
        bytes<std::uint32_t>({2, 3}) + bytes<std::int32_t>({0, 5, 123456, -1, 7, 2147483647}));
  CHECK(write("d.fbin", distance) == bytes<std::uint32_t>({2, 3}) + npy_f4.substr(128));
  for (const string& ending : {"npy"s, "csv"s, "fvecs"s, "fbin"s}) {
    AtomicFile pieces(folder / ("p." + ending));
    for (std::int64_t row = 0; row < 2; ++row) write_piece(pieces, {distance.data() + 3 * row, 1, 3}, row, 2);
    pieces.commit();
    CHECK(folder.read("p." + ending) == folder.read("d." + ending));
  }

  const Floats finite{0.1f, 1e-45f, 3.4028235e38f, -0.0f, 16777216, 1.0f / 3};
  for (const string& file : {"f.npy"s, "f.csv"s, "f.tsv"s, "f.txt"s, "f.fvecs"s, "f.fbin"s}) {
    CAPTURE(file);
    write(file, finite);
    const Table back = read_table(folder / file);
    CHECK(back.rows == 2);
    CHECK(std::memcmp(back.values.data(), finite.data(), finite.size() * sizeof(float)) == 0);
  }
  for (const string& file : {"l.npy"s, "l.csv"s, "l.tsv"s, "l.txt"s}) {
    CAPTURE(file);
    const Labels numbers{{3, 0, 9007199254740993}, {}}, text{{1, 0, 2}, {" a", "b \"c\", d", "e"}};
    AtomicFile out(folder / file);
    write_labels(out, numbers.code);
    out.commit();
    CHECK(read_labels(folder / file) == numbers);
    if (file == "l.npy") continue;
    AtomicFile again(folder / file);
    write_labels(again, text.code, text.names);
    again.commit();
    LabelOptions rows;
    rows.rows = 3;
    CHECK(read_labels(folder / file, rows) == text);
  }
}

TEST_CASE("files: outputs appear whole or not at all") {
  const Folder folder;
  {
    AtomicFile out(folder / "o.csv");
    out.write("half");
    CHECK(folder.files() == 1);
    CHECK_FALSE(fs::exists(folder / "o.csv"));
  }
  CHECK(folder.files() == 0);
  folder.write("o.csv", "old");
  fs::permissions(folder / "o.csv", fs::perms::owner_read | fs::perms::owner_write);
  fs::create_symlink("o.csv", folder / "link.csv");
  {
    AtomicFile out(folder / "link.csv");
    out.write(string(1000000, 'x'));
    CHECK(folder.read("o.csv") == "old");
    out.commit();
  }
  CHECK(fs::is_symlink(folder / "link.csv"));
  CHECK(folder.read("o.csv") == string(1000000, 'x'));
  CHECK(fs::status(folder / "o.csv").permissions() == (fs::perms::owner_read | fs::perms::owner_write));
  {
    AtomicFile out(folder / "p.csv");
    CHECK(folder.files() == 3);
    kith::remove_unfinished();
    CHECK(folder.files() == 2);
  }
  {
    AtomicFile null("/dev/null");
    null.write("anything");
    null.commit();
  }
  CHECK(fs::is_character_file("/dev/null"));
  CHECK(folder.error([&] { AtomicFile(folder / "none/o.csv"); }) ==
        "bad_file: none/o.csv: cannot be written: No such file or directory; make the folder first");
  fs::create_directory(folder / "d.csv");
  CHECK(folder.error([&] { AtomicFile(folder / "d.csv"); }) ==
        "bad_file: d.csv: is a folder; name a file in it");
  CHECK(folder.error([&] {
    AtomicFile full("/dev/full");
    full.write("anything");
    full.commit();
  }) == "bad_file: /dev/full: cannot be written: No space left on device; free some space");
}

TEST_CASE("files: outputs that no format can hold") {
  const Folder folder;
  CHECK(folder.error([] { check_output_name("o.fvecs", Content::indices); }) ==
        "invalid_argument: o.fvecs: its name ends in no format in which kith writes indices; there are .npy "
        ".ivecs .ibin .csv .tsv .txt");
  CHECK(folder.error([] { check_output_name("o", Content::distances); }) ==
        "invalid_argument: o: its name ends in no format in which kith writes distances; there are .npy "
        ".fvecs .fbin .csv .tsv .txt");
  CHECK(folder.error([] { check_output_name("o.ivecs", Content::labels); }) ==
        "invalid_argument: o.ivecs: its name ends in no format in which kith writes labels; there are .npy "
        ".csv .tsv .txt");
  CHECK(folder.error([&] {
    AtomicFile out(folder / "o.ivecs");
    const Integers index{2147483648};
    write_rows(out, {index.data(), 1, 1});
  }) == "invalid_argument: o.ivecs: the index 2147483648 does not fit int32, which .ivecs and .ibin hold; "
        "write .npy");
  CHECK(folder.error([&] {
    AtomicFile out(folder / "o.npy");
    write_labels(out, Integers{0}, Strings{"cat"});
  }) == "invalid_argument: o.npy: the labels are text, such as cat, which .npy does not hold here; write "
        ".csv or .txt");
  CHECK(folder.files() == 0);
}
