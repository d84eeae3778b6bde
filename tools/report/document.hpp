// A result as one document: what it says stands here once, and each form is written from it.
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

/// A text, a number, a list; null where there is none. JSON has null for what is no number, too.
using Value = nlohmann::ordered_json;

/// What a field holds, and by that how each form writes it.
enum class Kind {
  name,    ///< a text that somebody else gave
  whole,   ///< 1234; on the page 1,234
  number,  ///< six digits; on the page four
  score,   ///< four decimals; on the page four digits
  share,   ///< 0.8554; on the page 85.54 %
  bar,     ///< the same, on the page with a bar
  point,   ///< four digits, a whole number whole; in CSV all digits
  said,    ///< a text, on the page with commas in its numbers
  html,    ///< HTML, for the page alone
  figure,  ///< the same as said, on the right
  mark     ///< a word in some rows of a column without a title
};

/// A field of a table: what it is called in each form. It is left out where it has no name.
struct Field {
  Kind kind = Kind::name;
  std::string text = {};  ///< in the terminal
  std::string page = {};
  std::string json = {};
  std::string csv = {};
};

/// In JSON a list of objects.
struct Table {
  std::string caption;  ///< HTML without elements, as no other on the page
  std::string key;      ///< in JSON
  std::vector<Field> fields;
  std::size_t rows = 0;
  std::function<std::vector<Value>(std::size_t row)> row;  ///< a value for each field
  std::vector<Value> foot = {};                            ///< of the page; empty: none
  std::vector<std::size_t> listed = {};                    ///< the rows that the page has; empty: all
  std::string folded = {};                                 ///< HTML: what the page says where it folds it
  const char* line_end = "\r\n";                           ///< of the CSV
  bool words = false;                                      ///< the page has sentences in its cells
};

/// One value. On the page it stands in the head.
struct Fact {
  std::string key;   ///< in JSON; empty: not there
  std::string name;  ///< on the page; empty: not there
  Value value;
  std::string more = {};   ///< HTML: small print
  std::string shown = {};  ///< HTML: what the page has in place of the value
};

/// A value that JSON alone has, made when it is asked for.
struct Data {
  std::string key;
  std::function<Value()> value;
};

/// Lines of the terminal.
struct Words {
  std::string text;
};

/// A part of the page, up to the next one.
struct Section {
  std::string title = {}, note = {};  ///< HTML; no title: none begins
  std::string id = {};
};

/// HTML of the page, made when it is asked for.
struct Picture {
  std::function<std::string()> html;
  const char* beside = nullptr;  ///< classes of the box in which the rest of the section stands beside it
};

/// Pairs of classes, of which the first are listed.
struct Pairs {
  struct Pair {
    std::string from, to;
    Value value;
    double share;  ///< of the bar under it
  };
  std::string title, none;  ///< of the page, and its title where there are none
  const char* sign;         ///< between the two
  std::vector<Pair> first;
  std::size_t all = 0;
  bool beside = true;     ///< a picture; else in two columns
  std::string more = {};  ///< where the terminal has them, too: what it says of the others
};
constexpr std::size_t listed_pairs = 10;

/// How something was done.
struct How {
  DeviceInfo device;  ///< without a spec: nothing was searched
  Trace trace;
  std::vector<std::pair<std::string, double>> seconds;  ///< of each stage of the run, in order
  std::string command;                                  ///< what was typed
};

/// What the page begins with.
struct Head {
  std::string title;        ///< HTML without elements: of the window
  std::string kind;         ///< what was done
  std::string value, unit;  ///< in large letters, and small ones
  std::string lead;         ///< HTML: a sentence
  double share = -1;        ///< a bar of what is right; below 0: none
  bool alone = true;        ///< no: the parts have heads of their own, and nothing is said of how it was done
  std::string style = {};   ///< rules beside those of the style sheet
};

/// One result.
struct Document {
  using Part = std::variant<Fact, Data, Words, Section, Table, Picture, Pairs>;
  Head head;
  How how;
  std::vector<Part> parts;  ///< in the order of every form

  void add(Part part) { parts.push_back(std::move(part)); }
};

/// For people at a terminal.
std::string text(const Document& document);

/// For programs: an object.
Value json(const Document& document);

/// The table that has fields for it, after RFC 4180.
std::string csv(const Document& document);

/// One self-contained UTF-8 HTML document, light and dark, without scripts.
std::string page(const Document& document);

}  // namespace kith::report
