// Writes tables, numbers and cells as text.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "kith/device.hpp"

namespace kith::report {

/// Aligns columns of text under their titles; columns in which every cell looks like a number are aligned to
/// the right. For people: files::shown_in_line() makes the cells safe.
class TextTable {
 public:
  explicit TextTable(std::vector<std::string> titles) { add(std::move(titles)); }
  void add(std::vector<std::string> cells);
  std::string text() const;

 private:
  std::vector<std::vector<std::string>> rows_;
};

std::string format_seconds(double seconds);               ///< `1.234 s`, `56.7 ms`, `8.9 us`
std::string format_bytes(std::uint64_t bytes);            ///< `139.8 GiB`, `512 B`
std::string format_float(float value);                    ///< shortest digits that give the same bits; `inf`
std::string format_double(double value);                  ///< the same for a double
std::string format_number(double value, int decimals);    ///< as printf("%.*f")
std::string format_digits(double value, int digits = 6);  ///< `inf`, and - for NaN

/// Returns a text such as `cuda:0: NVIDIA H200, NVIDIA CUDA, CUDA 12.4`.
std::string device_line(const DeviceInfo& info);

/// Returns kith's version, such as `0.1.0`.
std::string version_number();

/// Writes `text` as a cell of a CSV file: in quotes if necessary (RFC 4180).
std::string csv_cell(const std::string& text);

/// Returns the columns that a terminal needs for UTF-8 `text`, one for each code point.
std::size_t columns(std::string_view text);

}  // namespace kith::report
