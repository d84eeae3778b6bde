#include "command/input/elements.hpp"

#include <CLI/CLI.hpp>
#include <utility>

#include "command/shared/command.hpp"
#include "command/words/keys.hpp"
#include "files/exact_value.hpp"
#include "kith/parse.hpp"

namespace kith::command {
namespace {

/// Converts each value to the element type.
void store(files::Table& table, Element element) {
  const auto cols = static_cast<std::size_t>(table.cols);
  std::vector<unsigned char> stored;
  stored.reserve(table.values.size() * static_cast<std::size_t>(element_bytes(element)));
  const std::size_t first = table.held ? static_cast<std::size_t>(table.held->first) : 0;
  for (std::size_t i = 0; i < table.values.size(); ++i)
    if (!files::append_exact(element, table.values[i], stored))
      throw Error(Errc::invalid_argument, table.path + ": row " + std::to_string(first + i / cols) + ", " +
                                              table.column_text(static_cast<std::int64_t>(i % cols)) +
                                              " holds " + format_float(table.values[i]) + ", which " +
                                              std::string(name(element)) +
                                              " has not; choose another --read element, or leave it out");
  table.stored = std::move(stored);
  table.values = {};
  table.element = element;
}

void store_bits(files::Table& table) {
  if (table.stored.empty())
    throw Error(Errc::invalid_argument,
                table.path +
                    ": holds no bytes, and --read element=bits takes 8 columns a byte; give .npy of u1 "
                    "(numpy.packbits(x, axis=1)), idx of u8 or .bvecs");
  table.element = Element::bits;
}

}  // namespace

Key element_key(TableFlags& flags) {
  flags.keep_elements = true;
  std::vector<std::string> names;
  for (const Element element : all_elements) names.emplace_back(name(element));
  return {"element", "WHAT",
          "type that rows and queries are stored in, which changes no answer: f32, f16, bf16, u8, i8 (each "
          "refused if it does not hold every value), bits (8 columns per byte, high bit first; with --metric "
          "hamming); else that of the file",
          [&flags, names](const std::string& text) { flags.element = named_one(text, names); }};
}

void check_element_flags(const CLI::App& app, const TableFlags& flags, Metric metric) {
  const std::string where = app.get_name();
  const bool bits = flags.element == name(Element::bits);
  if (compares_bits(metric) && !bits)
    refuse(
        where,
        "--metric hamming compares bits; give --read element=bits, too, and files of bytes, 8 columns each");
  if (bits && !compares_bits(metric))
    refuse(where, "--read element=bits goes with --metric hamming, and " + std::string(name(metric)) +
                      " measures numbers; give --metric hamming");
  if (flags.element.empty()) return;
  for (const char* option : {"--scale", "--prepare centre", "--save-model", "--model"})
    if (is_given(app, option))
      refuse(where, "--read element and " + std::string(option) +
                        " are both given, which needs float32; leave one out");
  if (flags.missing != "refuse")
    refuse(where, "--read element and --prepare missing=" + flags.missing +
                      " are both given, and rows with missing values are float32; leave one out");
  if (bits && app.get_option_no_throw("--features") && app.count("--features") > 0)
    refuse(where,
           "--read element=bits and --features are both given, but hamming compares whole rows; leave "
           "--features out");
}

std::vector<Element> kept_elements(const TableFlags& flags) {
  if (!flags.keep_elements) return {};
  if (flags.element.empty()) return {Element::f16, Element::u8, Element::i8};
  const Element asked = parse<Element>(flags.element);
  return {asked == Element::bits ? Element::u8 : asked};
}

void store_as_asked(const TableFlags& flags, files::Table& table) {
  if (flags.element.empty()) return;
  const Element asked = parse<Element>(flags.element);
  if (asked == Element::bits) return store_bits(table);
  if (!table.stored.empty() || asked == Element::f32) return;
  store(table, asked);
}

std::int64_t table_columns(const std::string& path, std::int64_t cols, bool bits) {
  constexpr std::int64_t bits_a_byte = 8;
  if (!bits) return cols;
  if (cols % bits_a_byte != 0)
    throw Error(Errc::unsupported,
                path + ": its rows have " + std::to_string(cols) +
                    " bits, and files of queries hold whole bytes; search it by the library");
  return cols / bits_a_byte;
}

RowsView rows_view(const files::Table& table) {
  if (table.stored.empty()) return view(table);
  const std::int64_t columns_a_byte = table.element == Element::bits ? 8 : 1;
  const std::int64_t rows = table.held ? table.held->rows : table.rows;
  return {table.stored.data(), table.element, rows, table.cols * columns_a_byte};
}

}  // namespace kith::command
