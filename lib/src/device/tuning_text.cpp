// Writes and reads the text of a tuning file: a header, one line per entry, and a checksum.
#include <array>
#include <charconv>
#include <cmath>
#include <cstdio>

#include "base/border.hpp"
#include "base/checksum.hpp"
#include "base/text.hpp"
#include "kith/error.hpp"
#include "kith/parse.hpp"
#include "kith/spi.hpp"
#include "kith/unstable/tuning.hpp"
#include "kith/version.hpp"

namespace kith {
namespace {

constexpr std::string_view first_line = "kith tuning 1";  // the number is the version of the format
constexpr std::size_t header_lines = 6;
constexpr std::size_t most_entries = 4096;

std::string this_library() {
  return std::to_string(KITH_VERSION_MAJOR) + "." + std::to_string(KITH_VERSION_MINOR) + "." +
         std::to_string(KITH_VERSION_PATCH) + ", plug-in interface " + std::to_string(spi::plugin_abi);
}

/// Returns a checksum in hexadecimal. It only detects damage; whether a file is trusted depends on its owner.
std::string checksum_of(std::string_view text) {
  Checksum sum;
  sum.add(text.data(), text.size());
  std::array<char, 17> hex{};
  std::snprintf(hex.data(), hex.size(), "%016llx", static_cast<unsigned long long>(sum.value()));
  return hex.data();
}

/// Writes the shortest text that reads back as the same number, in any locale.
std::string number(double value) {
  std::array<char, 32> text{};
  return {text.data(), std::to_chars(text.data(), text.data() + text.size(), value).ptr};
}

/// Puts a driver's text on one line.
std::string one_line(std::string text) {
  for (char& c : text)
    if (static_cast<unsigned char>(c) < ' ') c = ' ';
  return text;
}

std::string entry_line(const TuningEntry& e) {
  const Problem& p = e.problem;
  return "metric=" + std::string(name(p.metric)) + " n=" + std::to_string(p.n) + " m=" + std::to_string(p.m) +
         " dims=" + std::to_string(p.dims) + " k=" + std::to_string(p.k) +
         " way=" + (e.fused ? "fused" : std::string(name(e.selector))) +
         " proposer=" + std::string(name(e.proposer)) + " lists=" + std::to_string(e.lists) +
         " query_tile=" + std::to_string(e.query_tile) + " train_tile=" + std::to_string(e.train_tile) +
         " seconds=" + number(e.seconds) + " built_in_seconds=" + number(e.built_in_seconds);
}

[[noreturn]] void fail(std::size_t line, const std::string& why) {
  throw Error(Errc::bad_file, "line " + std::to_string(line) + ": " + why);
}

/// Takes the words of an entry in order.
class Words {
 public:
  Words(std::string_view text, std::size_t line) : rest_(text), line_(line) {}

  std::string_view take(std::string_view key) {
    const std::size_t end = std::min(rest_.find(' '), rest_.size());
    const std::string_view word = rest_.substr(0, end);
    if (!word.starts_with(key) || word.size() <= key.size() || word[key.size()] != '=')
      fail(line_, std::string(key) + "= is missing");
    rest_.remove_prefix(std::min(end + 1, rest_.size()));
    return word.substr(key.size() + 1);
  }

  std::int64_t whole(std::string_view key) {
    const std::string_view text = take(key);
    std::int64_t value = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (error != std::errc() || end != text.data() + text.size() || value < 1)
      fail(line_, std::string(key) + "=" + escaped(text) + " is no whole number of at least 1");
    return value;
  }

  double seconds(std::string_view key) {
    const std::string_view text = take(key);
    double value = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (error != std::errc() || end != text.data() + text.size() || !std::isfinite(value) || value <= 0)
      fail(line_, std::string(key) + "=" + escaped(text) + " is no number above 0");
    return value;
  }

  /// Parses the value of `key` by `parse`; refuses an unknown name, and reports its line.
  template <class Parse>
  auto named(std::string_view key, const Parse& parse) {
    const std::string_view text = take(key);
    try {
      return parse(text);
    } catch (const Error&) {
      fail(line_, std::string(key) + "=" + escaped(text) + " is unknown");
    }
  }

 private:
  std::string_view rest_;
  std::size_t line_;
};

TuningEntry parse_entry(std::string_view text, std::size_t line) {
  Words words(text, line);
  TuningEntry e;
  e.problem.metric = words.named("metric", parse<Metric>);
  e.problem.n = words.whole("n");
  e.problem.m = words.whole("m");
  e.problem.dims = words.whole("dims");
  e.problem.k = words.whole("k");
  const auto way = words.named("way", [&](std::string_view way_text) {
    e.fused = way_text == "fused";
    return e.fused ? Selector::threshold : parse<Selector>(way_text);
  });
  if (way == Selector::automatic) fail(line, "way=automatic is no way");
  e.selector = way;
  e.proposer = words.named("proposer", parse<Proposer>);
  if (e.proposer == Proposer::automatic) fail(line, "proposer=automatic is no proposer");
  e.lists = words.whole("lists");
  e.query_tile = words.whole("query_tile");
  e.train_tile = words.whole("train_tile");
  e.seconds = words.seconds("seconds");
  e.built_in_seconds = words.seconds("built_in_seconds");
  if (e.problem.k > e.problem.n)
    fail(line, "k=" + std::to_string(e.problem.k) + " is larger than n=" + std::to_string(e.problem.n));
  if (entry_line(e) != text) fail(line, "it is not written as kith writes it");
  return e;
}

std::vector<std::string_view> lines_of(std::string_view text) {
  std::vector<std::string_view> lines;
  while (!text.empty()) {
    const std::size_t end = text.find('\n');
    if (end == std::string_view::npos) fail(lines.size() + 1, "it has no end; the file is truncated");
    lines.push_back(text.substr(0, end));
    text.remove_prefix(end + 1);
  }
  return lines;
}

/// Returns the text after `key` in a line of the header.
std::string header(const std::vector<std::string_view>& lines, std::size_t at, std::string_view key) {
  if (!lines[at].starts_with(key)) fail(at + 1, "\"" + std::string(key) + "\" is missing");
  return std::string(lines[at].substr(key.size()));
}

std::uint32_t header_number(const std::vector<std::string_view>& lines, std::size_t at,
                            std::string_view key) {
  const std::string text = header(lines, at, key);
  std::uint32_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size())
    fail(at + 1, "\"" + escaped(text) + "\" is no whole number");
  return value;
}

}  // namespace

Tuning empty_tuning(const DeviceInfo& device) try {
  return {this_library(),          device.backend,       one_line(device.name),
          one_line(device.driver), device.compute_units, {}};
} catch (...) {
  rethrow_as_error();
}

DeviceInfo without_tuning(const DeviceInfo& device) try {
  DeviceInfo plain = device;
  plain.tuning = nullptr;
  return plain;
} catch (...) {
  rethrow_as_error();
}

std::string tuning_text(const Tuning& tuning) try {
  std::string text = std::string(first_line) + "\nkith " + one_line(tuning.kith) + "\nbackend " +
                     one_line(tuning.backend) + "\ndevice " + one_line(tuning.name) + "\ndriver " +
                     one_line(tuning.driver) + "\ncompute units " + std::to_string(tuning.compute_units) +
                     "\n";
  for (const TuningEntry& entry : tuning.entries) text += entry_line(entry) + "\n";
  return text + "checksum " + checksum_of(text) + "\n";
} catch (...) {
  rethrow_as_error();
}

Tuning parse_tuning(std::string_view text) try {
  if (text.empty()) fail(1, "the file is empty");
  const std::string_view format = text.substr(0, text.find('\n'));
  if (format != first_line)
    fail(1, format.starts_with("kith tuning ") ? "its format is not one that this kith reads"
                                               : "it is no tuning file of kith");
  const std::vector<std::string_view> lines = lines_of(text);
  if (lines.size() <= header_lines || !lines.back().starts_with("checksum "))
    fail(lines.size(), "there is no checksum; the file is truncated");
  const std::string_view summed = text.substr(0, text.size() - lines.back().size() - 1);
  if (lines.back() != "checksum " + checksum_of(summed))
    fail(lines.size(), "the checksum does not match; the file is damaged");
  Tuning tuning;
  tuning.kith = header(lines, 1, "kith ");
  tuning.backend = header(lines, 2, "backend ");
  tuning.name = header(lines, 3, "device ");
  tuning.driver = header(lines, 4, "driver ");
  tuning.compute_units = header_number(lines, 5, "compute units ");
  if (lines.size() - header_lines - 1 > most_entries)
    fail(header_lines + most_entries + 1, "there are more than " + std::to_string(most_entries) + " entries");
  for (std::size_t i = header_lines; i + 1 < lines.size(); ++i)
    tuning.entries.push_back(parse_entry(lines[i], i + 1));
  if (tuning_text(tuning) != text) fail(1, "its header is not written as kith writes it");
  return tuning;
} catch (...) {
  rethrow_as_error();
}

}  // namespace kith
