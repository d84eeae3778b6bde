// Tests text files in Latin-1, Windows-1252 and UTF-16, and bytes that are not text.
#include "common/data_files.hpp"

using namespace kith::tests::data_files;

TEST_CASE("files: text in other encodings is read by name, else refused with its place") {
  const Folder folder;
  ReadOptions options = label_column("s");
  const Strings names{"Brot", "K\xC3\xA4se"};
  const string latin = "a,s\n1,K\xE4se\n2,Brot\n";
  CHECK(folder.table_error("l.csv", latin, options) ==
        "bad_file: l.csv:2: its byte 4, 0xE4, is not UTF-8; say --csv encoding=latin-1 or "
        "encoding=windows-1252, or save it as UTF-8 text");
  CHECK(folder.labels_error("l.svm", "1 1:2\n1 1:3 # K\xE4se\n")
            .starts_with("bad_file: l.svm:2: its byte 10, 0xE4, is not UTF-8; "));
  for (const string& bytes :
       {"\xC0\x80"s, "\xE0\x80\x80"s, "\xED\xA0\x80"s, "\xF4\x90\x80\x80"s, "\xF8"s, "\xE2\x82"s})
    CHECK(folder.table_error("l.csv", "a,s\n1,x" + bytes + "\n")
              .starts_with("bad_file: l.csv:2: its byte 4, 0x"));
  CHECK(folder.table("l.csv", "a,s\n1,\xF0\x9F\x98\x80\xEF\xBF\xBF\n2,x\n2,x\n").rows == 3);
  options.encoding = Encoding::latin1;
  CHECK(folder.table("l.csv", latin, options).labels.names == names);
  CHECK(folder.table("l.csv.gz", gzip(latin), options).labels.names == names);
  LabelOptions label_options;
  label_options.encoding = Encoding::windows1252;
  label_options.header = Header::no;
  CHECK(folder.labels("l.txt", "K\xE4se\nBrot\nK\xE4se\nBrot\n\x80\n", label_options).names ==
        Strings{"Brot", "K\xC3\xA4se", "\xE2\x82\xAC"});
  CHECK(folder.labels_error("l.txt", "a\n\x81\n", label_options) ==
        "bad_file: l.txt: holds no character of windows-1252 at byte 2; say another --csv encoding=");
  CHECK(folder.table_error("l.csv", "\xEF\xBB\xBF" + latin, options) ==
        "bad_file: l.csv: begins with the byte order mark of UTF-8; leave --csv encoding= out");

  const auto wide = [](const std::u16string& text, bool big_endian) {
    string bytes;
    for (const char16_t c : text) {
      const char high = static_cast<char>(c >> 8), low = static_cast<char>(c & 255);
      bytes += {big_endian ? high : low, big_endian ? low : high};
    }
    return bytes;
  };
  std::u16string text = u"a,s\n1,K\u00E4se\n2,Brot\n";
  CHECK(folder.table_error("u.csv", wide(u"\uFEFF" + text, false)) ==
        "bad_file: u.csv: begins with the byte order mark of UTF-16; say --csv encoding=utf-16");
  CHECK(folder.table_error("u.csv", wide(text, true)) ==
        "bad_file: u.csv:1: holds a zero byte, so it is no plain text; save it as UTF-8 text, or say --csv "
        "encoding=utf-16be");
  for (const bool big_endian : {false, true}) {
    options.encoding = Encoding::utf16;
    CHECK(folder.table("u.csv", wide(u"\uFEFF" + text, big_endian), options).labels.names == names);
    options.encoding = big_endian ? Encoding::utf16be : Encoding::utf16le;
    CHECK(folder.table("u.csv", wide(u"\uFEFF" + text, big_endian), options).labels.names == names);
    CHECK(folder.table("u.csv", wide(text, big_endian), options).labels.names == names);
  }
  options.encoding = Encoding::utf16;
  CHECK(folder.table_error("u.csv", wide(text, false), options) ==
        "bad_file: u.csv: begins with no byte order mark; say --csv encoding=utf-16le or encoding=utf-16be");
  CHECK(folder.table_error("u.csv", wide(u"\uFEFF" + text, false) + "x", options) ==
        "bad_file: u.csv: ends within a character of UTF-16; it is truncated: copy or download it again, or "
        "say another --csv encoding=");
  string halves = wide(u"\uFEFF" + text, false);
  halves[20] = '\0', halves[21] = '\xDC';
  CHECK(folder.table_error("u.csv", halves, options) ==
        "bad_file: u.csv: holds half a character of UTF-16 at byte 20; correct it, or say another --csv "
        "encoding=");
  // The file has surrogate pairs, and is read in many pieces.
  text = u"a,s\n";
  for (int i = 0; i < 40000; ++i) text += i % 2 ? u"1,\U0001F600\n" : u"2,Brot\n";
  const Table table = folder.table("u.csv", wide(u"\uFEFF" + text, true), options);
  CHECK(table.rows == 40000);
  CHECK(table.labels.names == Strings{"Brot", "\xF0\x9F\x98\x80"});
}

TEST_CASE("files: the width of a .svm file is read in its encoding") {
  const Folder folder;
  FileOptions options;
  options.encoding = Encoding::utf16;
  string text = "\xFF\xFE";
  for (const char c : "1 0:2 7:3\n"s) text += string{c, '\0'};
  const SvmWidth width = read_svm_width(folder.write("q.svm", text), options);
  CHECK(width.largest == 7);
  CHECK(width.zero);
}
