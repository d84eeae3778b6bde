#include "source/npy_header.hpp"

#include <algorithm>
#include <charconv>

namespace kith {
namespace {

/// Each function returns whether the text continues as it expects, and moves past that.
class NpyParser {
 public:
  explicit NpyParser(std::string_view text) : rest_(text) {}

  std::optional<NpyHeader> parse() {
    if (!accept('{')) return std::nullopt;
    while (!accept('}')) {
      if (!parse_entry()) return std::nullopt;
      if (is_record_) return header_;
      if (accept(',')) continue;
      if (!accept('}')) return std::nullopt;
      break;
    }
    skip_spaces();
    if (!rest_.empty() || !has_descr_ || !has_order_ || !has_shape_) return std::nullopt;
    return header_;
  }

 private:
  bool parse_entry() {
    std::string key;
    if (!parse_string(key) || !accept(':')) return false;
    if (key == "descr" && !has_descr_) return has_descr_ = true, parse_descr();
    if (key == "fortran_order" && !has_order_) return has_order_ = true, parse_bool();
    if (key == "shape" && !has_shape_) return has_shape_ = true, parse_shape();
    return false;
  }

  void skip_spaces() { rest_.remove_prefix(std::min(rest_.find_first_not_of(" \t\r\n"), rest_.size())); }
  bool accept(char c) {
    skip_spaces();
    if (!rest_.starts_with(c)) return false;
    rest_.remove_prefix(1);
    return true;
  }

  bool parse_string(std::string& text) {
    skip_spaces();
    if (rest_.empty() || (rest_[0] != '\'' && rest_[0] != '"')) return false;
    const std::size_t end = rest_.find(rest_[0], 1);
    if (end == std::string_view::npos) return false;
    text = rest_.substr(1, end - 1);
    rest_.remove_prefix(end + 1);
    return true;
  }

  bool parse_bool() {
    skip_spaces();
    header_.fortran = rest_.starts_with("True");
    if (!header_.fortran && !rest_.starts_with("False")) return false;
    rest_.remove_prefix(header_.fortran ? 4 : 5);
    return true;
  }

  bool parse_shape() {
    if (!accept('(')) return false;
    bool separated = true;
    while (!accept(')')) {
      if (!separated) return false;
      skip_spaces();
      std::uint64_t size = 0;
      const auto [end, error] = std::from_chars(rest_.data(), rest_.data() + rest_.size(), size);
      if (error != std::errc()) return false;
      rest_.remove_prefix(static_cast<std::size_t>(end - rest_.data()));
      if (rest_.starts_with('L')) rest_.remove_prefix(1);  // Python 2 wrote an L after long integers
      header_.shape.push_back(size);
      separated = accept(',');
    }
    return header_.shape.size() != 1 || separated;  // (3) is a number, and (3,) a tuple
  }

  bool parse_descr() {
    skip_spaces();
    is_record_ = rest_.starts_with('[');
    if (is_record_) header_.descr = "[";
    return is_record_ || parse_string(header_.descr);
  }

  std::string_view rest_;
  NpyHeader header_;
  bool has_descr_ = false, has_order_ = false, has_shape_ = false, is_record_ = false;
};

}  // namespace

std::size_t npy_length_bytes(const char* start) {
  const auto major = static_cast<unsigned char>(start[npy_magic.size()]),
             minor = static_cast<unsigned char>(start[npy_magic.size() + 1]);
  if (major < 1 || major > 3 || minor != 0) return 0;
  return major == 1 ? 2 : 4;
}

std::optional<NpyHeader> parse_npy_header(std::string_view text) {
  return NpyParser(text).parse();
}

}  // namespace kith
