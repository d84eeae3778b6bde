// Tests that rows of binary files keep their element type.
#include "common/data_files.hpp"

using namespace kith::tests::data_files;
using kith::Element;

namespace {

ReadOptions keeping(std::initializer_list<Element> elements) {
  ReadOptions options;
  options.keep = elements;
  return options;
}

std::vector<unsigned char> octets(const string& text) {
  return {text.begin(), text.end()};
}

}  // namespace

TEST_CASE("files: bytes and halves are kept where they are wanted, and nothing else is") {
  const Folder folder;
  const ReadOptions all = keeping({Element::f16, Element::u8, Element::i8});
  const string u1 = bytes<std::uint8_t>({1, 2, 255, 4, 5, 6});
  const auto check = [&](const Table& table, Element element, const string& expected) {
    CHECK(table.rows == 2);
    CHECK(table.cols == 3);
    CHECK(table.values.empty());
    CHECK(table.element == element);
    CHECK(table.stored == octets(expected));
  };
  check(folder.table("t.npy", npy("|u1", "(2, 3)", u1), all), Element::u8, u1);
  check(folder.table("t.npy.gz", gzip(npy("|u1", "(2, 3)", u1)), all), Element::u8, u1);
  check(folder.table("t.npy", npy("|i1", "(2, 3)", u1), all), Element::i8, u1);
  check(folder.table("t.idx", idx(8, {2, 3}, u1), all), Element::u8, u1);
  check(folder.table("t.idx", idx(9, {2, 3}, u1), all), Element::i8, u1);
  check(folder.table("t.bvecs", "\3\0\0\0"s + u1.substr(0, 3) + "\3\0\0\0"s + u1.substr(3), all), Element::u8,
        u1);
  const std::initializer_list<std::uint16_t> halves{0x3c00, 0x8001, 0x7bff, 0x8000, 0x4500, 0x4600};
  const string little = bytes<std::uint16_t>(halves);
  check(folder.table("t.npy", npy("<f2", "(2, 3)", little), all), Element::f16, little);
  check(folder.table("t.npy", npy(">f2", "(2, 3)", bytes<std::uint16_t>(halves, true)), all), Element::f16,
        little);
  CHECK(folder.table("t.npy", npy("|u1", "(1, 2, 3)", u1), all).image_shape == Integers{2, 3});

  const auto widened = [&](const string& content, const ReadOptions& options) {
    const Table table = folder.table("t.npy", content, options);
    CHECK(table.stored.empty());
    CHECK(table.values.size() == 6);
  };
  widened(npy("|u1", "(2, 3)", u1), keeping({}));
  widened(npy("|u1", "(2, 3)", u1), keeping({Element::i8}));
  widened(npy("|u1", "(2, 3)", u1, true), all);  // Fortran order: columns first
  widened(npy("|b1", "(2, 3)", "\1\0\1\0\1\0"s), all);
  ReadOptions missing = all;
  missing.missing = true;
  widened(npy("<f2", "(2, 3)", little), missing);
}

TEST_CASE("files: what is no number is refused in halves that are kept, too") {
  const Folder folder;
  const string content = npy("<f2", "(2, 2)", bytes<std::uint16_t>({0x3c00, 0x3c00, 0x3c00, 0x7e00}));
  CHECK(folder.table_error("t.npy", content, keeping({Element::f16})) ==
        folder.table_error("t.npy", content));
  CHECK(folder.table_error("t.npy", content, keeping({Element::f16})).find("row 1, column 1 holds NaN") !=
        string::npos);
  const string cut = npy("|u1", "(2, 3)", "abcde");
  CHECK(folder.table_error("t.npy", cut, keeping({Element::u8})) == folder.table_error("t.npy", cut));
}
