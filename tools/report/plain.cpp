#include "report/plain.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>

#include "files/printed.hpp"
#include "files/shown.hpp"
#include "kith/version.hpp"

namespace kith::report {
namespace {

using files::printed;

bool looks_like_a_number(const std::string& cell) {
  return cell.empty() || cell == "-" || (cell[0] >= '0' && cell[0] <= '9') ||
         ((cell[0] == '-' || cell[0] == '+') && cell.size() > 1);
}

}  // namespace

std::size_t columns(std::string_view text) {
  return static_cast<std::size_t>(
      std::count_if(text.begin(), text.end(), [](char c) { return (c & 0xC0) != 0x80; }));
}

void TextTable::add(std::vector<std::string> cells) {
  for (std::string& cell : cells) cell = files::shown_in_line(cell);
  rows_.push_back(std::move(cells));
}

std::string TextTable::text() const {
  std::vector<std::size_t> width;
  std::vector<bool> right;
  for (std::size_t r = 0; r < rows_.size(); ++r) {
    width.resize(std::max(width.size(), rows_[r].size()), 0);
    right.resize(width.size(), true);
    for (std::size_t c = 0; c < rows_[r].size(); ++c) {
      width[c] = std::max(width[c], columns(rows_[r][c]));
      if (r > 0 && !looks_like_a_number(rows_[r][c])) right[c] = false;
    }
  }
  std::string result;
  for (const auto& row : rows_) {
    std::string line;
    for (std::size_t c = 0; c < row.size(); ++c) {
      const std::string space(width[c] - columns(row[c]), ' ');
      line += (c ? "  " : "") + (right[c] ? space + row[c] : row[c] + space);
    }
    line.erase(line.find_last_not_of(' ') + 1);
    result += line + "\n";
  }
  return result;
}

std::string format_float(float value) {
  std::array<char, 32> text{};
  return {text.data(), std::to_chars(text.data(), text.data() + text.size(), value).ptr};
}

std::string format_double(double value) {
  std::array<char, 32> text{};
  return {text.data(), std::to_chars(text.data(), text.data() + text.size(), value).ptr};
}

std::string format_digits(double value, int digits) {
  return std::isnan(value) ? "-" : printed("%.*g", digits, value);
}

std::string device_line(const DeviceInfo& info) {
  return info.spec + ": " + info.name + ", " + info.platform +
         (info.driver.empty() ? "" : ", " + info.driver);
}

std::string version_number() {
  return printed("%d.%d.%d", KITH_VERSION_MAJOR, KITH_VERSION_MINOR, KITH_VERSION_PATCH);
}

std::string csv_cell(const std::string& text) {
  if (text.find_first_of(",\"\r\n") == std::string::npos) return text;
  std::string quoted = "\"";
  for (char c : text) quoted += c == '"' ? std::string("\"\"") : std::string(1, c);
  return quoted + "\"";
}

std::string format_number(double value, int decimals) {
  return printed("%.*f", decimals, value);
}

std::string format_seconds(double seconds) {
  if (seconds >= 100) return printed("%.0f s", seconds);
  if (seconds >= 1) return printed("%.2f s", seconds);
  if (seconds >= 1e-3) return printed("%.3g ms", seconds * 1e3);
  return printed("%.3g us", seconds * 1e6);
}

std::string format_bytes(std::uint64_t bytes) {
  constexpr std::array units = {"KiB", "MiB", "GiB", "TiB"};
  if (bytes < 1024) return std::to_string(bytes) + " B";
  double value = static_cast<double>(bytes) / 1024;
  std::size_t unit = 0;
  while (value >= 1024 && unit + 1 < units.size()) value /= 1024, ++unit;
  return printed("%.1f %s", value, units[unit]);
}

}  // namespace kith::report
