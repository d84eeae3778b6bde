// Writes what all pages share: the frame, tables, and the parts of their heads.
#include <filesystem>

#include "report/parts.hpp"
#include "report/text.hpp"

namespace kith::report {
namespace {

std::string last_part(const std::string& path) {
  const std::string name = std::filesystem::path(path).filename().string();
  return name.empty() ? path : name;
}

}  // namespace

std::string file_name(const std::string& path) {
  return name_html(last_part(path));
}

std::string file_title(const std::string& path) {
  return name_text(last_part(path));
}

std::string fact(const std::string& name, const std::string& value, const std::string& more) {
  return "<div><dt>" + name + "</dt><dd>" + value + (more.empty() ? "" : "<small>" + more + "</small>") +
         "</dd></div>";
}

std::string scrolling(const std::string& label, const std::string& html, const std::string& more_class) {
  return "<div class=\"scroll" + (more_class.empty() ? "" : " " + more_class) +
         "\" role=\"region\" tabindex=\"0\" aria-label=\"" + label + "\">" + html + "</div>";
}

std::string table(const std::string& caption, const std::vector<Column>& head, const std::string& rows,
                  const std::string& foot, const std::string& look) {
  const std::string kind = look.empty() && head.size() > 9 ? "dense" : look;
  std::string html = (kind.empty() ? "<table><caption>" : "<table class=\"" + kind + "\"><caption>") +
                     caption + "</caption><thead><tr>";
  for (const Column& column : head)
    html += column.title.empty() ? "<td></td>"
                                 : std::string("<th scope=\"col\"") +
                                       (column.number ? " class=\"n\">" : ">") + column.title + "</th>";
  html += "</tr></thead><tbody>" + rows + "</tbody>" + (foot.empty() ? "" : "<tfoot>" + foot + "</tfoot>");
  return scrolling(caption, html + "</table>");
}

std::string row_name(const std::string& html) {
  return "<th scope=\"row\" class=\"name\">" + html + "</th>";
}

std::string number_cell(const std::string& text) {
  return "<td class=\"n\">" + text + "</td>";
}

std::string html_document(const std::string& title, const std::string& body, const std::string& last,
                          const std::string& more_style) {
  return "<!DOCTYPE html>\n<html lang=\"en\"><head><meta charset=\"utf-8\"><meta name=\"viewport\" "
         "content=\"width=device-width, initial-scale=1\"><title>kith: " +
         title + "</title><style>" + style_sheet() + more_style + "</style></head><body><main>\n" + body +
         "</main>\n<footer><section>" + last + "</section><p>" + written_by() +
         "</p></footer></body></html>\n";
}

}  // namespace kith::report
