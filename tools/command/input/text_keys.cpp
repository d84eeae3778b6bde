// --csv and --read: how text files are read, which format files have, and how large their parts may be.

#include <algorithm>
#include <array>
#include <string_view>
#include <utility>

#include "command/input/tables.hpp"
#include "command/words/keys.hpp"
#include "files/source.hpp"
#include "files/text/layout.hpp"
#include "files/text/number.hpp"
#include "kith/names.hpp"

namespace kith::command {
namespace {

/// Parses one of a few words.
template <class T, std::size_t count>
T one_of(const std::string& text, const std::array<std::pair<std::string_view, T>, count>& words) {
  std::string all;
  for (const auto& [word, value] : words) {
    if (plain_name(text) == word) return value;
    all += (all.empty() ? "" : " or ") + std::string(word);
  }
  throw Error(Errc::invalid_argument, "word: there is no " + files::in_quotes(text) + "; say " + all);
}

std::vector<Key> csv_keys(TableFlags& flags) {
  files::FileOptions& reading = flags.reading;
  return {
      {"sep", "SIGN",
       "what separates cells: a sign such as ;, or comma, semicolon, tab, pipe, space, colon; else the one "
       "sign that cuts every line into as many cells",
       [&](const std::string& text) { reading.separator = separator_named(text); }},
      {"decimal", "SIGN", "the decimal sign, comma or point; else point",
       [&](const std::string& text) { reading.decimal = decimal_named(text); }},
      {"header", "yes|no",
       "whether the first line names the columns; else it does where a name stands over a number, and does "
       "not where it holds numbers",
       [&](const std::string& text) {
         using enum files::Header;
         reading.header = one_of<files::Header, 2>(text, {{{"yes", yes}, {"no", no}}});
       }},
      {"encoding", "NAME", "utf-8, latin-1, windows-1252, utf-16, utf-16le, utf-16be; else utf-8",
       [&](const std::string& text) { reading.encoding = encoding_named(text); }},
      {"quote", "yes|no",
       "whether a cell that begins with \" ends with the next one, over lines, too; else so, but not over "
       "lines in files of blanks or tabs",
       [&](const std::string& text) {
         using enum files::Quotes;
         reading.quotes = one_of<files::Quotes, 2>(text, {{{"yes", yes}, {"no", no}}});
       }},
      {"skip", "N",
       "lines above the table, which are left out; 0: the first line is one of it, whatever it holds",
       [&](const std::string& text) { reading.skip = whole_number(text, 0, 1'000'000); }},
      {"labels", "text|numbers",
       "how labels are read: as text, so that 007 and 7 differ; else as numbers where the first one is a "
       "number",
       [&](const std::string& text) {
         reading.labels_are_text = one_of<bool, 2>(text, {{{"text", true}, {"numbers", false}}});
       }},
      {"base", "0|1", "the index of the first column of .svm files; else 0 where the index 0 occurs, and 1",
       [&](const std::string& text) { flags.svm_base = whole_number(text, 0, 1); }}};
}

std::vector<Key> read_keys(TableFlags& flags) {
  files::Limits& limits = flags.reading.limits;
  const auto at_most = [](std::uint64_t& limit) {
    return [&limit](const std::string& text) {
      limit = static_cast<std::uint64_t>(whole_number(text, 1, UINT32_MAX));
    };
  };
  return {{"format", "WHAT",
           "format of stdin (-) and of files whose names do not tell it: csv, tsv, txt, npy, idx, fvecs, "
           "ivecs, bvecs, svm, fbin, u8bin, i8bin, f16bin, ibin, npz, hdf5; .gz is recognised",
           [&](const std::string& text) {
             flags.format =
                 named_one(text, {"csv", "tsv", "txt", "npy", "idx", "fvecs", "ivecs", "bvecs", "svm", "fbin",
                                  "u8bin", "i8bin", "f16bin", "ibin", "npz", "hdf5"});
           }},
          {"max-columns", "N",
           "columns of a text file; else " + std::to_string(limits.text_columns) + ", and " +
               std::to_string(limits.svm_columns) + " of a .svm file",
           [&](const std::string& text) {
             limits.text_columns = limits.svm_columns =
                 static_cast<std::uint64_t>(whole_number(text, 1, UINT32_MAX));
           }},
          {"max-line", "SIZE",
           "bytes of a line of a text file, or such as 512M, 4G; else " + format_bytes(limits.line),
           [&](const std::string& text) { limits.line = parse_bytes(text); }},
          {"max-axes", "N", "axes of a .npy or idx file; else " + std::to_string(limits.axes),
           at_most(limits.axes)},
          {"max-growth", "N",
           "bytes of values for each byte of a .gz or .svm file; else " + std::to_string(limits.growth) +
               ", and " + format_bytes(limits.free_growth) + " in any case",
           at_most(limits.growth)}};
}

}  // namespace

char separator_named(const std::string& text) {
  for (const auto& [name, separator] : files::separator_names)
    if (plain_name(text) == name) return separator;
  if (text == "\\t") return '\t';
  constexpr std::string_view impossible = "\"\r\n.+-_'";
  const auto c = static_cast<unsigned char>(text.size() == 1 ? text[0] : 0);
  if (c == 0 || c >= 0x7F || files::is_letter(text[0]) || files::is_digit(text[0]) ||
      impossible.find(text[0]) != std::string_view::npos)
    throw Error(Errc::invalid_argument, "separator_named: " + files::in_quotes(text) +
                                            " separates no cells; give one sign, such as \";\", or one of "
                                            "comma, semicolon, tab, pipe, space, colon");
  return text[0];
}

char decimal_named(const std::string& text) {
  if (text == "," || plain_name(text) == "comma") return ',';
  if (text == "." || plain_name(text) == "point") return '.';
  throw Error(Errc::invalid_argument,
              "decimal_named: " + files::in_quotes(text) + " is no decimal sign; give comma or point");
}

files::Encoding encoding_named(const std::string& name) {
  std::string plain;
  for (char c : plain_name(name))
    if (c != '_' && c != ' ') plain += c;
  using enum files::Encoding;
  constexpr std::array<std::pair<std::string_view, files::Encoding>, 8> names{{{"utf8", utf8},
                                                                               {"latin1", latin1},
                                                                               {"iso88591", latin1},
                                                                               {"windows1252", windows1252},
                                                                               {"cp1252", windows1252},
                                                                               {"utf16", utf16},
                                                                               {"utf16le", utf16le},
                                                                               {"utf16be", utf16be}}};
  for (const auto& [known, encoding] : names)
    if (plain == known) return encoding;
  throw Error(Errc::invalid_argument,
              "encoding_named: there is no " + files::in_quotes(name) +
                  "; choose one of utf-8, latin-1, windows-1252, utf-16, utf-16le, utf-16be, or convert the "
                  "file: iconv -f ENCODING -t UTF-8 FILE > NEW");
}

Topic csv_topic(TableFlags& flags) {
  return {"--csv",
          "How text files are read",
          csv_keys(flags),
          {"kith search --train rows.csv --csv 'sep=;,decimal=,' --leave-one-out",
           "kith classify --train flowers.csv --csv header=no --label-column -1 --leave-one-out",
           "kith search --train words.txt --csv quote=no,header=no --label-column 1 --leave-one-out"}};
}

Topic read_topic(TableFlags& flags) {
  return {"--read",
          "What files are, and how large their parts may be",
          read_keys(flags),
          {"kith search --train wide.csv --read max-columns=2000000,max-line=512M --leave-one-out",
           "kith search --train codes.npy --queries asked.npy --read element=bits --metric hamming"}};
}

}  // namespace kith::command
