// NumPy's array files: source/npy_header.hpp has their header.
#include <array>
#include <bit>
#include <optional>

#include "files/formats.hpp"
#include "source/npy_header.hpp"

namespace kith::files {
namespace {

std::string advice_for(const std::string& descr) {
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

std::optional<ElementType> type_of(std::string_view name) {
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

void take_descr(const Source& source, const std::string& descr, ArrayLayout& layout) {
  if (descr == "[")
    source.fail(
        "holds records with fields; save one plain array of numbers, such as a['field'], or write all of it "
        "as text: pandas.DataFrame(a).to_csv('new.csv', index=False)");
  const std::optional<ElementType> type = type_of(descr.size() > 1 ? descr.substr(1) : "");
  if (!type || std::string_view("<>=|").find(descr[0]) == std::string_view::npos)
    source.fail("holds elements of type " + in_quotes(descr) + ", " + advice_for(descr));
  layout.type = *type;
  layout.big_endian = descr[0] == '>' || (descr[0] != '<' && std::endian::native == std::endian::big);
}

}  // namespace

ArrayLayout read_npy_header(Source& source) {
  std::array<char, npy_start_bytes> start{};
  source.read_exactly(start.data(), start.size(), "its header");
  if (std::string_view(start.data(), npy_magic.size()) != npy_magic)
    source.fail("does not begin as .npy files do; save it with numpy.save, or name it by the format it has");
  const std::size_t length_size = npy_length_bytes(start.data());
  if (length_size == 0)
    source.fail("is of .npy version " + std::to_string(int{start[6]}) + "." + std::to_string(int{start[7]}) +
                "; kith reads 1.0, 2.0 and 3.0: save it again with numpy.save");
  std::array<unsigned char, 4> length_bytes{};
  source.read_exactly(length_bytes.data(), length_size, "its header");
  std::size_t length = 0;
  for (std::size_t i = 0; i < 4; ++i) length |= std::size_t{length_bytes[i]} << (8 * i);
  if (length > npy_longest_header)
    source.fail("announces a header of " + std::to_string(length) +
                " bytes, that of numbers has about 128; it is damaged: save it again with numpy.save");
  std::string header(length, '\0');
  source.read_exactly(header.data(), length, "its header");
  const std::optional<NpyHeader> said = parse_npy_header(header);
  if (!said)
    source.fail("has the header " + in_quotes(header) +
                ", which is not of the form {'descr': '<f4', 'fortran_order': False, 'shape': (3, 4)}; save "
                "it again with numpy.save");
  ArrayLayout layout;
  take_descr(source, said->descr, layout);
  layout.fortran = said->fortran;
  layout.shape = said->shape;
  return layout;
}

}  // namespace kith::files
