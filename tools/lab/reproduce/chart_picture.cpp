// Draws a chart as a separate SVG file.
#include "lab/reproduce/experiment_page.hpp"
#include "report/charts/palette.hpp"
#include "report/charts/plot.hpp"
#include "report/text.hpp"

namespace kith::report {
namespace {

constexpr double margin = 20, paper_width = Plot::width + 2 * margin;
constexpr double title_size = 17, label_size = 14, note_size = 12;

const char* const picture_style = R"css(
svg { font-family: system-ui, -apple-system, "Segoe UI", Roboto, "Noto Sans", "DejaVu Sans", sans-serif; }
svg .paper { fill: var(--card); stroke: var(--line); stroke-width: 1; }
svg text { fill: var(--ink); }
svg text.quiet { fill: var(--quiet); }
svg .strong { font-weight: 600; }
)css";

/// Puts the colours of the light theme into `rules`, for programs that draw SVG but know no variables.
std::string in_light(std::string rules) {
  const std::string start = "var(--";
  for (std::size_t at = 0; (at = rules.find(start, at)) != std::string::npos;) {
    const std::size_t name = at + start.size(), end = rules.find(')', name);
    rules.replace(at, end + 1 - at, hex(colour(rules.substr(name, end - name)).light));
  }
  return rules;
}

std::string style_of_picture() {
  return in_light(std::string(picture_style) + plot_style);
}

/// Estimates the width of a character by its first byte, in units of the font size. It is that of DejaVu
/// Sans, which is wider than the other fonts of picture_style, or slightly more.
double character_width(char c) {
  const std::string_view narrow = "iljtfrI .,:;'|!()[]/-", wide = "mwMW%@&+=<>~^#";
  if (narrow.find(c) != std::string_view::npos) return 0.42;
  if (wide.find(c) != std::string_view::npos || static_cast<unsigned char>(c) >= 0x80) return 1;
  return c >= 'A' && c <= 'Z' ? 0.8 : 0.64;
}

/// Cuts `text` into lines no wider than `most`, at spaces, or inside of words that are too long.
std::vector<std::string> wrapped_lines(const std::string& text, double size, double most) {
  std::vector<std::string> lines(1);
  double used = 0, word = 0;  // width of the last line, and of its last word
  std::size_t word_start = 0;
  for (const char c : text) {
    const bool continues = (static_cast<unsigned char>(c) & 0xC0) == 0x80;
    const double more = continues ? 0 : size * character_width(c);
    if (used + more > most && c != ' ') {
      const bool whole_word = word_start > 0;
      std::string rest = whole_word ? lines.back().substr(word_start) : "";
      lines.back().resize(whole_word ? word_start - 1 : lines.back().size());
      lines.push_back(std::move(rest));
      used = word = whole_word ? word : 0;
      word_start = 0;
    }
    lines.back() += c;
    used += more;
    word += more;
    if (c != ' ') continue;
    word_start = lines.back().size();
    word = 0;
  }
  return lines;
}

/// Writes the drawing from the top down.
class Drawing {
 public:
  /// Draws lines of text. The base of the first is `above` below the last drawing, and lines are `size` *
  /// 1.3 apart.
  void text(const std::string& content, double x, double size, double above, const char* look) {
    const double wide = look == std::string_view("strong") ? 1.12 : 1;  // bold letters are wider
    for (const std::string& line :
         wrapped_lines(grouped_numbers(content), size * wide, paper_width - margin - x)) {
      y_ += above;
      above = 1.3 * size;
      body_ += "<text x=\"" + decimal(x, 1) + "\" y=\"" + decimal(y_, 1) + "\" font-size=\"" +
               decimal(size, 0) + "\" class=\"" + look + "\">" + escape(line) + "</text>\n";
    }
  }

  /// Draws marks whose upper left corner is at `x`, `above` below the last drawing.
  void marks(const std::string& svg, double x, double above) {
    body_ +=
        "<g transform=\"translate(" + decimal(x, 1) + " " + decimal(y_ + above, 1) + ")\">" + svg + "</g>\n";
  }

  void skip(double height) { y_ += height; }

  std::string document(const std::string& title) const {
    const std::string w = decimal(paper_width, 0), h = decimal(y_ + margin, 0);
    return "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 " + w + " " + h + "\" width=\"" + w +
           "\" height=\"" + h + "\" role=\"group\">\n<title>" + escape(grouped_numbers(title)) +
           "</title>\n<style>" + style_of_picture() +
           "</style>\n<rect class=\"paper\" x=\"0.5\" y=\"0.5\" width=\"" + decimal(paper_width - 1, 0) +
           "\" height=\"" + decimal(y_ + margin - 1, 0) + "\" rx=\"8\"/>\n" + body_ + "</svg>\n";
  }

 private:
  std::string body_;
  double y_ = 0;  ///< the base of the last line, or the bottom of what was skipped
};

void add_legend(Drawing& drawing, const std::vector<Plot::Entry>& entries) {
  constexpr double sample = margin + 24, label = sample + 56;
  for (const Plot::Entry& entry : entries) {
    const bool drawn = entry.number > 0;
    if (drawn) drawing.marks(line_sample(entry.series), sample, 12);
    constexpr double below_last = 24;
    drawing.text(drawn ? std::to_string(entry.number) : "–", margin, label_size, below_last, "strong");
    drawing.text(entry.label + (drawn ? "" : ": no points"), label, label_size, 0, drawn ? "" : "quiet");
    if (!entry.note.empty()) drawing.text(entry.note, label, note_size, 16, "quiet");
  }
}

}  // namespace

std::string chart_picture(const Result& result, const Chart& chart) {
  const Plot plot = plot_of(chart);
  Drawing drawing;
  drawing.text(chart.title, margin, title_size, margin + 14, "strong");
  drawing.text("Experiment " + result.name + (result.quick ? ", in quick sizes, not those of the paper" : ""),
               margin, note_size, 19, "quiet");
  drawing.marks(plot.marks, margin, 12);
  drawing.skip(12 + Plot::height);
  add_legend(drawing, plot.legend);
  double above = 30;
  for (const std::string& device : result.devices) {
    drawing.text(device, margin, note_size, above, "quiet");
    above = 1.3 * note_size;
  }
  return drawing.document(chart.title);
}

}  // namespace kith::report
