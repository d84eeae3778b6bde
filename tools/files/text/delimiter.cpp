#include "files/text/delimiter.hpp"

#include <algorithm>
#include <array>
#include <limits>
#include <utility>

#include "files/text/decorated.hpp"
#include "files/text/number.hpp"
#include "kith/names.hpp"

namespace kith::files {
namespace {

constexpr std::size_t most_records = 500;
constexpr std::size_t most_cells = std::size_t{1} << 20;  // of them; of one record more, if need be

/// Records without looking into them: lines, joined where a quote is open.
std::vector<std::string_view> raw_records(std::string_view head, Quotes quotes) {
  const char line_end = head.find('\n') == std::string_view::npos ? '\r' : '\n';
  std::vector<std::string_view> records;
  for (std::size_t begin = 0; begin < head.size() && records.size() < most_records;) {
    std::size_t end = begin;
    bool quoted = false;
    for (; end < head.size() && (quoted || head[end] != line_end); ++end)
      quoted ^= quotes != Quotes::no && head[end] == '"';
    if (quoted) {  // never closed: a sign of inches, perhaps
      end = std::min(head.find(line_end, begin), head.size());
    }
    std::string_view record = head.substr(begin, end - begin);
    if (record.ends_with('\r')) record.remove_suffix(1);
    if (record.find_first_not_of(" \t") != std::string_view::npos) records.push_back(record);
    begin = end + 1;
  }
  return records;
}

/// Cells of a record, those that quotes hold together counted once.
std::size_t count_cells(std::string_view record, char delimiter, Quotes quotes) {
  const bool ignore_quotes = quotes == Quotes::no || std::count(record.begin(), record.end(), '"') % 2 != 0;
  std::size_t cells = 1;
  bool quoted = false, in_cell = false;
  if (delimiter == ' ') cells = 0;
  for (char c : record) {
    quoted ^= c == '"' && !ignore_quotes;
    const bool blank = !quoted && (c == ' ' || c == '\t');
    if (delimiter == ' ')
      cells += !blank && !in_cell;
    else if (!quoted && c == delimiter)
      ++cells;
    in_cell = !blank;
  }
  return cells;
}

/// A delimiter on trial.
struct Candidate {
  char delimiter = ',';
  std::size_t least = 0, most = 0;  ///< cells of a record
  std::vector<Record> sample;       ///< read where it is asked for
  std::size_t numeric = 0;          ///< columns whose cells below the first line are numbers
  bool commas = false;              ///< some of them with decimal commas
  bool text_commas = false;         ///< other columns hold commas

  bool fits() const { return least == most && least > 1; }
  bool all_numeric() const { return numeric == most; }
};

void measure(Source& source, const TextHead& head, Candidate& candidate) {
  if (!candidate.sample.empty()) return;
  candidate.sample = read_sample(source, head, candidate.delimiter).records;
  if (candidate.sample.empty()) return;
  for (std::size_t c = 0; c < candidate.sample[0].size(); ++c) {
    const ColumnKind kind = kind_of_column(candidate.sample, c, candidate.delimiter);
    candidate.numeric += kind.numeric;
    candidate.commas |= kind.numeric && kind.commas;
    candidate.text_commas |= !kind.numeric && kind.commas;
  }
}

/// Chooses among delimiters for one file.
class DelimiterGuess {
 public:
  DelimiterGuess(Source& source, const TextHead& head, char own, char like)
      : source_(source), head_(head), like_(like), own_(count(own)) {
    for (char delimiter : {',', ';', '\t', '|'})
      if (delimiter != own && head.text.find(delimiter) != std::string_view::npos)
        others_.push_back(count(delimiter));
    if (own != ' ') blanks_ = count(' ');
  }

  char guess() {
    std::vector<Candidate*> fitting;
    for (Candidate& other : others_)
      if (other.fits()) fitting.push_back(&other);
    if (own_.fits()) return beside_own(fitting);
    if (own_.least > 1) return beside_ragged(fitting);
    if (fitting.empty())
      for (Candidate& other : others_)
        if (other.least > 1) fitting.push_back(&other);
    if (!fitting.empty()) return numbers_between_blanks_beside(fitting) ? ' ' : best_of(fitting);
    return own_.most == 1 && mostly_numbers_between_blanks() ? ' ' : own_.delimiter;
  }

 private:
  Candidate count(char delimiter) const {
    Candidate candidate;
    candidate.delimiter = delimiter;
    candidate.least = std::numeric_limits<std::size_t>::max();
    for (std::string_view record : raw_records(head_.text, head_.quotes)) {
      const std::size_t cells = count_cells(record, delimiter, head_.quotes);
      candidate.least = std::min(candidate.least, cells);
      candidate.most = std::max(candidate.most, cells);
    }
    return candidate;
  }

  /// The ending's delimiter fits: another must have good reasons.
  char beside_own(std::vector<Candidate*> fitting) {
    if (fitting.empty()) return own_.delimiter;
    measure(source_, head_, own_);
    for (Candidate* other : fitting) measure(source_, head_, *other);
    for (const Candidate* other : fitting)
      if (own_.delimiter == ' ' && other->delimiter == '\t' && has_cells_without_value(*other)) return '\t';
    if (own_.all_numeric()) return own_.delimiter;
    std::erase_if(fitting, [&](const Candidate* other) {
      return other->delimiter == '\t' && !own_cells_hold_tabs() && own_.delimiter != ' ';
    });
    for (const Candidate* other : fitting) {
      const bool holds_decimals = own_.delimiter == ',' && other->commas && !other->text_commas;
      const bool blanks_in_cells =
          own_.delimiter == ' ' && other->delimiter == '\t' && other->most < own_.most;
      if (other->all_numeric() || holds_decimals || blanks_in_cells) return other->delimiter;
    }
    std::erase_if(fitting, [&](const Candidate* other) {
      return other->numeric < own_.numeric || (own_.delimiter == ' ' && other->delimiter == '\t');
    });
    if (fitting.empty()) return own_.delimiter;
    fitting.insert(fitting.begin(), &own_);
    return best_of(fitting);
  }

  /// The ending's delimiter is in every record, but not as often in each.
  char beside_ragged(const std::vector<Candidate*>& fitting) {
    for (Candidate* other : fitting) {
      measure(source_, head_, *other);
      if (other->numeric > 0) return other->delimiter;
    }
    return own_.delimiter;
  }

  /// The one that makes the most columns of numbers; of several the training file's, or a refusal.
  char best_of(std::vector<Candidate*> candidates) {
    if (candidates.size() == 1) return candidates[0]->delimiter;
    for (Candidate* candidate : candidates) measure(source_, head_, *candidate);
    const auto rank = [](const Candidate* c) { return std::pair(c->all_numeric(), c->numeric); };
    std::stable_sort(candidates.begin(), candidates.end(),
                     [&](const Candidate* a, const Candidate* b) { return rank(a) > rank(b); });
    std::erase_if(candidates, [&](const Candidate* c) { return rank(c) < rank(candidates[0]); });
    if (candidates.size() == 1) return candidates[0]->delimiter;
    std::string list;
    for (const Candidate* candidate : candidates) {
      if (candidate->delimiter == like_) return like_;
      list += (list.empty() ? "" : " or by ") + delimiter_text(candidate->delimiter) + " (" +
              count_of(candidate->most, "cell") + " a line)";
    }
    source_.fail("its cells may be separated by " + list + "; say which by --delimiter");
  }

  /// Whether some cells are empty, in columns that have others: runs of tabs are not there to align.
  bool has_cells_without_value(const Candidate& candidate) const {
    std::vector<bool> filled(candidate.most);
    bool any_empty = false;
    for (const Record& record : candidate.sample)
      for (std::size_t c = 0; c < record.size(); ++c) {
        any_empty |= record[c].empty();
        if (!record[c].empty()) filled[c] = true;
      }
    return any_empty && std::find(filled.begin(), filled.end(), false) == filled.end();
  }

  bool own_cells_hold_tabs() const {
    for (const Record& record : own_.sample)
      for (const std::string& cell : record)
        if (cell.find('\t') != std::string::npos) return true;
    return false;
  }

  /// A single column by the ending, but a table of numbers between blanks.
  bool mostly_numbers_between_blanks() {
    if (!blanks_.fits()) return false;
    measure(source_, head_, blanks_);
    return 2 * blanks_.numeric > blanks_.most;
  }

  /// Cells of the others that hold several numbers with blanks between them.
  bool numbers_between_blanks_beside(const std::vector<Candidate*>& others) {
    if (!blanks_.fits()) return false;
    measure(source_, head_, blanks_);
    return std::all_of(others.begin(), others.end(), [&](Candidate* other) {
      measure(source_, head_, *other);
      return other->most < blanks_.most && other->numeric < blanks_.numeric;
    });
  }

  Source& source_;
  TextHead head_;
  char like_;
  Candidate own_, blanks_;
  std::vector<Candidate> others_;
};

}  // namespace

Sample read_sample(Source& source, const TextHead& head, char delimiter) {
  Sample sample;
  RecordReader reader(LineReader(source, head.text), delimiter);
  reader.set_quotes(head.quotes);
  try {
    std::size_t all = 0;
    for (std::vector<std::string_view> cells;
         sample.records.size() < most_records && all < most_cells && reader.next(cells);
         all += cells.size()) {
      sample.records.emplace_back(cells.begin(), cells.end());
      sample.lines.push_back(reader.line());
    }
  } catch (const Error& error) {  // the end of the sample may cut a cell; the reader comes to all else again
    if (error.code() != Errc::bad_file) throw;
  }
  return sample;
}

ColumnKind kind_of_column(const std::vector<Record>& sample, std::size_t column, char delimiter) {
  ColumnKind kind;
  bool point_numbers = true, comma_numbers = true, any = false;
  for (std::size_t r = sample.size() > 1 ? 1 : 0; r < sample.size(); ++r) {
    if (column >= sample[r].size()) continue;
    const std::string& cell = sample[r][column];
    kind.commas |= cell.find(',') != std::string::npos;
    if (is_missing_marker(cell)) continue;
    any = true;
    const bool plain = parse_number(cell).kind != Number::not_a_number;
    point_numbers &= plain;
    kind.points |= plain && cell.find('.') != std::string::npos;
    comma_numbers &= parse_number(cell, ',').kind != Number::not_a_number;
    kind.decimal_comma |= is_decimal_comma(cell);
  }
  kind.points &= point_numbers;
  kind.decimal_comma &= comma_numbers;
  kind.numeric = any && (point_numbers || (comma_numbers && delimiter != ','));
  return kind;
}

char guess_delimiter(Source& source, const TextHead& head, char own, char like) {
  return DelimiterGuess(source, head, own, like).guess();
}

char delimiter_of(Format format) {
  if (format == Format::csv) return ',';
  return format == Format::tsv ? '\t' : ' ';
}

std::string delimiter_text(char delimiter) {
  if (delimiter == '\t') return "tabs";
  if (delimiter == ' ') return "spaces";
  return in_quotes({&delimiter, 1});
}

char delimiter_named(const std::string& text) {
  constexpr std::array<std::pair<std::string_view, char>, 8> names{{{"comma", ','},
                                                                    {"semicolon", ';'},
                                                                    {"tab", '\t'},
                                                                    {"\\t", '\t'},
                                                                    {"pipe", '|'},
                                                                    {"space", ' '},
                                                                    {"blank", ' '},
                                                                    {"colon", ':'}}};
  for (const auto& [name, delimiter] : names)
    if (plain_name(text) == name) return delimiter;
  constexpr std::string_view impossible = "\"\r\n.+-_'0123456789";
  const auto c = static_cast<unsigned char>(text.size() == 1 ? text[0] : 0);
  const bool letter = (c | 0x20) >= 'a' && (c | 0x20) <= 'z';
  if (c == 0 || c >= 0x7F || letter || impossible.find(text[0]) != std::string_view::npos)
    throw Error(Errc::invalid_argument,
                "delimiter_named: " + in_quotes(text) +
                    " separates no cells; give one sign, such as \";\", or one of comma, "
                    "semicolon, tab, pipe, space, colon");
  return text[0];
}

char decimal_named(const std::string& text) {
  if (text == "," || plain_name(text) == "comma") return ',';
  if (text == "." || plain_name(text) == "point" || plain_name(text) == "dot") return '.';
  throw Error(Errc::invalid_argument,
              "decimal_named: " + in_quotes(text) + " is no decimal sign; give comma or point");
}

}  // namespace kith::files
