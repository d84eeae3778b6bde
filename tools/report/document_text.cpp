// Writes a document as text, JSON and CSV.
#include <algorithm>
#include <cmath>

#include "files/shown.hpp"
#include "report/document.hpp"
#include "report/plain.hpp"

namespace kith::report {
namespace {

/// Writes four digits; a whole number without a point.
std::string short_number(double value) {
  if (!std::isfinite(value)) return "-";
  const bool whole = value == std::round(value) && std::fabs(value) < 1e15;
  return whole ? format_number(value, 0) : format_digits(value, 4);
}

std::string text_of(const Value& value, Kind kind) {
  if (value.is_null()) return "-";
  if (value.is_string()) return value.get<std::string>();
  if (kind == Kind::whole) return value.dump();
  const auto number = value.get<double>();
  if (kind == Kind::point) return short_number(number);
  if (kind == Kind::share || kind == Kind::bar) return format_number(number, 4);
  return kind == Kind::score && std::isfinite(number) ? format_number(number, 4) : format_digits(number);
}

std::string csv_of(const Value& value, Kind kind) {
  if (value.is_string()) return csv_cell(value.get<std::string>());
  if (kind == Kind::share) return format_double(value.get<double>());
  if (value.is_null() || (value.is_number_float() && !std::isfinite(value.get<double>()))) return "";
  if (kind == Kind::point) return format_double(value.get<double>());
  return value.dump();
}

std::string table_text(const Table& table) {
  std::vector<std::string> head;
  std::vector<std::size_t> shown;
  for (std::size_t f = 0; f < table.fields.size(); ++f) {
    if (table.fields[f].text.empty() && table.fields[f].kind != Kind::mark) continue;
    head.push_back(table.fields[f].text);
    shown.push_back(f);
  }
  if (shown.empty()) return "";
  TextTable lines(head);
  for (std::size_t row = 0; row < table.rows; ++row) {
    const std::vector<Value> values = table.row(row);
    std::vector<std::string> cells;
    for (const std::size_t f : shown) cells.push_back(text_of(values[f], table.fields[f].kind));
    lines.add(std::move(cells));
  }
  return lines.text();
}

std::string pairs_text(const Pairs& pairs) {
  if (pairs.more.empty()) return "";
  std::string text;
  for (const Pairs::Pair& pair : pairs.first)
    text += "  " + files::shown_in_line(pair.from) + " -> " + files::shown_in_line(pair.to) + ": " +
            pair.value.dump() + "\n";
  if (pairs.all > pairs.first.size())
    text += "  and " + std::to_string(pairs.all - pairs.first.size()) + " " + pairs.more + "\n";
  return text;
}

Value table_json(const Table& table) {
  Value list = Value::array();
  for (std::size_t row = 0; row < table.rows; ++row) {
    std::vector<Value> values = table.row(row);
    Value object = Value::object();
    for (std::size_t f = 0; f < values.size(); ++f)
      if (!table.fields[f].json.empty()) object[table.fields[f].json] = std::move(values[f]);
    list.push_back(std::move(object));
  }
  return list;
}

bool in_csv(const Field& field) {
  return !field.csv.empty();
}

std::string table_csv(const Table& table) {
  std::string lines;
  for (const Field& field : table.fields)
    if (in_csv(field)) lines += (lines.empty() ? "" : ",") + field.csv;
  lines += table.line_end;
  for (std::size_t row = 0; row < table.rows; ++row) {
    const std::vector<Value> values = table.row(row);
    bool first = true;
    for (std::size_t f = 0; f < values.size(); ++f) {
      if (!in_csv(table.fields[f])) continue;
      lines += (first ? "" : ",") + csv_of(values[f], table.fields[f].kind);
      first = false;
    }
    lines += table.line_end;
  }
  return lines;
}

}  // namespace

std::string text(const Document& document) {
  std::string all;
  for (const Document::Part& part : document.parts) {
    if (const auto* words = std::get_if<Words>(&part)) all += words->text;
    if (const auto* table = std::get_if<Table>(&part)) all += table_text(*table);
    if (const auto* pairs = std::get_if<Pairs>(&part)) all += pairs_text(*pairs);
  }
  return all;
}

Value json(const Document& document) {
  Value all = Value::object();
  for (const Document::Part& part : document.parts) {
    const auto* fact = std::get_if<Fact>(&part);
    if (fact && !fact->key.empty()) all[fact->key] = fact->value;
    if (const auto* data = std::get_if<Data>(&part)) all[data->key] = data->value();
    const auto* table = std::get_if<Table>(&part);
    if (table && !table->key.empty()) all[table->key] = table_json(*table);
  }
  return all;
}

std::string csv(const Document& document) {
  for (const Document::Part& part : document.parts) {
    const auto* table = std::get_if<Table>(&part);
    if (table && std::any_of(table->fields.begin(), table->fields.end(), in_csv)) return table_csv(*table);
  }
  return "";
}

}  // namespace kith::report
