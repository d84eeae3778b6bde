// Holds a result as one document: its content is stated once, and each output format is written from it.
//
//   Document document;
//   document.add(Words{"iris.csv: 150 rows\n"});              // the terminal
//   document.add(Fact{"rows", "Rows", 150});                  // JSON, and the head of the page
//   document.add(Section{"Class by class", "Recall: ..."});   // the page: what follows stands in it
//   document.add(Table{...});                                 // where its fields have a title
//   print(text(document)); print(json_text(json(document)));
//   file.write(csv(document)); file.write(page(document));
#pragma once

#include <cstddef>
#include <functional>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "kith/device.hpp"
#include "kith/trace.hpp"

namespace kith::report {

/// Holds a text, a number or a list; null if there is none. JSON has null for NaN, too.
using Value = nlohmann::ordered_json;

/// The kind of a field, which decides how each format writes it.
enum class Kind {
  name,    ///< a text from the user
  whole,   ///< 1234; on the page 1,234
  number,  ///< six digits; on the page four
  score,   ///< four decimals; on the page four digits
  share,   ///< 0.8554; on the page 85.54 %
  bar,     ///< as share; on the page with a bar
  point,   ///< four digits, a whole number without a point; in CSV all digits
  said,    ///< a text; on the page with commas in its numbers
  html,    ///< HTML, only for the page
  figure,  ///< as said, aligned to the right
  mark     ///< a word in some rows of a column without a title
};

/// Describes a field of a table: its title in each format. Formats for which it has no title leave it out.
struct Field {
  Kind kind = Kind::name;
  std::string text = {};  ///< in the terminal
  std::string page = {};
  std::string json = {};
  std::string csv = {};
};

/// Holds a table, which is a list of objects in JSON.
struct Table {
  std::string caption;  ///< HTML without elements, unique on the page
  std::string key;      ///< in JSON
  std::vector<Field> fields;
  std::size_t rows = 0;
  std::function<std::vector<Value>(std::size_t row)> row;  ///< a value for each field
  std::vector<Value> foot = {};                            ///< last row on the page; empty: none
  std::vector<std::size_t> listed = {};                    ///< the rows on the page; empty: all
  std::string folded = {};                                 ///< HTML: the text that folds the table
  const char* line_end = "\r\n";                           ///< the end of a line in the CSV
  bool words = false;                                      ///< cells on the page hold sentences
};

/// Holds a single value. The page shows it in its head.
struct Fact {
  std::string key;   ///< in JSON; empty: not shown
  std::string name;  ///< on the page; empty: not shown
  Value value;
  std::string more = {};   ///< HTML: small print
  std::string shown = {};  ///< HTML: shown on the page instead of the value
};

/// A value that only JSON has, made on demand.
struct Data {
  std::string key;
  std::function<Value()> value;
};

/// Holds lines for the terminal.
struct Words {
  std::string text;
};

/// Begins a section of the page, up to the next one.
struct Section {
  std::string title = {}, note = {};  ///< HTML; without a title no section begins
  std::string id = {};
};

/// Holds HTML for the page, made on demand.
struct Picture {
  std::function<std::string()> html;
  const char* beside = nullptr;  ///< classes of the box that shows the rest of the section beside it
};

/// Pairs of classes, of which the first are listed.
struct Pairs {
  struct Pair {
    std::string from, to;
    Value value;
    double share;  ///< length of the bar under it
  };
  std::string title, none;  ///< titles on the page, with and without pairs
  const char* sign;         ///< between the two classes
  std::vector<Pair> first;
  std::size_t all = 0;
  bool beside = true;     ///< beside a picture; else in two columns
  std::string more = {};  ///< what the terminal says of the others, if it shows them
};
constexpr std::size_t listed_pairs = 10;

/// How a result was computed.
struct How {
  DeviceInfo device;  ///< without a spec: nothing was searched
  Trace trace;
  std::vector<std::pair<std::string, double>> seconds;  ///< seconds of each stage of the run, in order
  std::string command;                                  ///< as typed
};

/// Holds the head of the page.
struct Head {
  std::string title;        ///< HTML without elements: title of the window
  std::string kind;         ///< what was done
  std::string value, unit;  ///< in large letters, and in small ones
  std::string lead;         ///< HTML: a sentence
  double share = -1;        ///< a bar of right answers; below 0: none
  bool alone = true;        ///< false: the parts have heads of their own, and How is left out
  std::string style = {};   ///< rules besides those of the style sheet
};

/// Holds one result.
struct Document {
  using Part = std::variant<Fact, Data, Words, Section, Table, Picture, Pairs>;
  Head head;
  How how;
  std::vector<Part> parts;  ///< the same order in every format

  void add(Part part) { parts.push_back(std::move(part)); }
};

/// Writes the document for people at a terminal.
std::string text(const Document& document);

/// Writes the document for programs, as an object.
Value json(const Document& document);

/// Writes the table that has fields for CSV (RFC 4180).
std::string csv(const Document& document);

/// Writes one self-contained UTF-8 HTML document, light and dark, without scripts.
std::string page(const Document& document);

}  // namespace kith::report
