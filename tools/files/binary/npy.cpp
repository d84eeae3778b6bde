// NumPy's array files, versions 1.0 to 3.0: a magic string, a version, the length of the header, and the
// header, which is a Python dictionary. Source: numpy.lib.format, "Format Version 1.0" and on.
#include <array>
#include <bit>
#include <charconv>
#include <cstring>
#include <optional>

#include "files/formats.hpp"

namespace kith::files {
namespace {

/// The dictionary of a header: {'descr': '<f4', 'fortran_order': False, 'shape': (3, 4), }
class HeaderParser {
 public:
  HeaderParser(const Source& source, std::string_view text) : source_(source), text_(text), rest_(text) {}

  ArrayLayout parse() {
    expect('{');
    while (!accept('}')) {
      const std::string key = parse_string();
      expect(':');
      if (key == "descr" && !has_descr_)
        has_descr_ = true, parse_descr();
      else if (key == "fortran_order" && !has_order_)
        has_order_ = true, layout_.fortran = parse_bool();
      else if (key == "shape" && !has_shape_)
        has_shape_ = true, parse_shape();
      else
        refuse();
      if (!accept(',')) {
        expect('}');
        break;
      }
    }
    skip_spaces();
    if (!rest_.empty() || !has_descr_ || !has_order_ || !has_shape_) refuse();
    return layout_;
  }

 private:
  [[noreturn]] void refuse() const {
    source_.fail(
        "has the header " + in_quotes(text_) +
        ", which is not of the form {'descr': '<f4', 'fortran_order': False, 'shape': (3, 4)}; save it again "
        "with numpy.save");
  }

  void skip_spaces() { rest_.remove_prefix(std::min(rest_.find_first_not_of(" \t\r\n"), rest_.size())); }
  bool accept(char c) {
    skip_spaces();
    if (!rest_.starts_with(c)) return false;
    rest_.remove_prefix(1);
    return true;
  }
  void expect(char c) {
    if (!accept(c)) refuse();
  }

  std::string parse_string() {
    skip_spaces();
    if (rest_.empty() || (rest_[0] != '\'' && rest_[0] != '"')) refuse();
    const std::size_t end = rest_.find(rest_[0], 1);
    if (end == std::string_view::npos) refuse();
    const std::string text(rest_.substr(1, end - 1));
    rest_.remove_prefix(end + 1);
    return text;
  }

  bool parse_bool() {
    skip_spaces();
    const bool value = rest_.starts_with("True");
    if (!value && !rest_.starts_with("False")) refuse();
    rest_.remove_prefix(value ? 4 : 5);
    return value;
  }

  void parse_shape() {
    expect('(');
    bool separated = true;
    while (!accept(')')) {
      if (!separated) refuse();
      skip_spaces();
      std::uint64_t size = 0;
      const auto [end, error] = std::from_chars(rest_.data(), rest_.data() + rest_.size(), size);
      if (error != std::errc()) refuse();
      rest_.remove_prefix(static_cast<std::size_t>(end - rest_.data()));
      if (rest_.starts_with('L')) rest_.remove_prefix(1);  // Python 2 wrote long integers so
      layout_.shape.push_back(size);
      separated = accept(',');
    }
    if (layout_.shape.size() == 1 && !separated) refuse();  // (3) is a number, (3,) a tuple
  }

  void parse_descr() {
    skip_spaces();
    if (rest_.starts_with('['))
      source_.fail(
          "holds records with fields; save one plain array of numbers, such as a['field'], or write all of "
          "it "
          "as text: pandas.DataFrame(a).to_csv('new.csv', index=False)");
    const std::string descr = parse_string();
    const std::optional<ElementType> type = type_of(descr.size() > 1 ? descr.substr(1) : "");
    if (!type || std::string_view("<>=|").find(descr[0]) == std::string_view::npos)
      source_.fail("holds elements of type " + in_quotes(descr) + ", " + advice_for(descr));
    layout_.type = *type;
    layout_.big_endian = descr[0] == '>' || (descr[0] != '<' && std::endian::native == std::endian::big);
  }

  static std::string advice_for(const std::string& descr) {
    switch (descr.size() > 1 ? descr[1] : '?') {
      case 'U':
      case 'S':
        return "which are texts; write them as text: numpy.savetxt('new.csv', a, fmt='%s', delimiter=',')";
      case 'O':
        return "which are Python objects; numbers become an array by a.astype('f8'), texts a file by "
               "numpy.savetxt('new.csv', a, fmt='%s', delimiter=',')";
      case 'c':
        return "which are complex numbers; save real ones of them, such as numpy.abs(a)";
      case 'M':
      case 'm':
        return "which are dates or times; save them as numbers: a.astype('i8')";
      default:
        return "which are no numbers that kith reads; save f2, f4, f8, i1 ... i8, u1 ... u8 or bool";
    }
  }

  static std::optional<ElementType> type_of(std::string_view name) {
    constexpr std::array<std::pair<std::string_view, ElementType>, 12> types{{{"u1", ElementType::u8},
                                                                              {"i1", ElementType::i8},
                                                                              {"b1", ElementType::boolean},
                                                                              {"u2", ElementType::u16},
                                                                              {"i2", ElementType::i16},
                                                                              {"u4", ElementType::u32},
                                                                              {"i4", ElementType::i32},
                                                                              {"u8", ElementType::u64},
                                                                              {"i8", ElementType::i64},
                                                                              {"f2", ElementType::f16},
                                                                              {"f4", ElementType::f32},
                                                                              {"f8", ElementType::f64}}};
    for (const auto& [known, type] : types)
      if (name == known) return type;
    return std::nullopt;
  }

  const Source& source_;
  std::string_view text_, rest_;
  ArrayLayout layout_;
  bool has_descr_ = false, has_order_ = false, has_shape_ = false;
};

}  // namespace

ArrayLayout read_npy_header(Source& source) {
  std::array<char, 8> start{};
  source.read_exactly(start.data(), start.size(), "its header");
  if (std::string_view(start.data(), 6) != "\x93NUMPY")
    source.fail("does not begin as .npy files do; save it with numpy.save, or name it by the format it has");
  const int major = start[6], minor = start[7];
  if (major < 1 || major > 3 || minor != 0)
    source.fail("is of .npy version " + std::to_string(major) + "." + std::to_string(minor) +
                "; kith reads 1.0, 2.0 and 3.0: save it again with numpy.save");
  std::array<unsigned char, 4> length_bytes{};
  source.read_exactly(length_bytes.data(), major == 1 ? 2 : 4, "its header");
  std::size_t length = 0;
  for (std::size_t i = 0; i < 4; ++i) length |= std::size_t{length_bytes[i]} << (8 * i);
  constexpr std::size_t longest = 65536;  // version 1.0 cannot go beyond; arrays of numbers need 128
  if (length > longest)
    source.fail("announces a header of " + std::to_string(length) +
                " bytes, that of numbers has about 128; it is damaged: save it again with numpy.save");
  std::string header(length, '\0');
  source.read_exactly(header.data(), length, "its header");
  return HeaderParser(source, header).parse();
}

}  // namespace kith::files
