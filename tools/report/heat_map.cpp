#include <algorithm>
#include <cmath>

#include "report/image.hpp"
#include "report/parts.hpp"
#include "report/text.hpp"

namespace kith::report {
namespace {

constexpr std::size_t numbered_classes = 40;  ///< more than these, and numbers would be too small to read
constexpr std::size_t drawn_classes = 120;    ///< more than these, and a bitmap takes the place of SVG
constexpr std::size_t label_length = 16;      ///< characters of a class name beside the map

/// How strongly a cell is painted. The square root shows mistakes of a few percent.
double strength(const Confusion& confusion, std::size_t truth, std::size_t predicted) {
  const std::int64_t count = confusion.at(truth, predicted);
  if (count == 0) return 0;
  return 0.12 + 0.88 * std::sqrt(static_cast<double>(count) / static_cast<double>(confusion.truth(truth)));
}

struct Layout {
  double cell, font, left, top;
};

Layout layout_of(const std::vector<std::string>& classes) {
  std::size_t longest = 1;
  for (const std::string& name : classes)
    longest = std::max(longest, std::min(label_length, characters(name)));
  const double cell = std::clamp(660.0 / static_cast<double>(classes.size()), 7.0, 104.0);
  const double font = std::clamp(cell * 0.42, 6.0, 15.0);
  const double room = static_cast<double>(longest) * font * 0.62 + 12;
  const bool upright = room > cell;  // names above the columns are turned where they are too wide
  return {cell, font, room + 24, upright ? room + 22 : font + 32};
}

std::string text(double x, double y, const std::string& attributes, const std::string& content) {
  return "<text x=\"" + decimal(x, 1) + "\" y=\"" + decimal(y, 1) + "\" " + attributes + ">" +
         escape(content) + "</text>";
}

std::string cell_title(const Confusion& confusion, const std::vector<std::string>& classes, std::size_t truth,
                       std::size_t predicted) {
  const std::int64_t count = confusion.at(truth, predicted);
  const double share = static_cast<double>(count) / static_cast<double>(confusion.truth(truth));
  return "<title>" + escape(classes[truth]) + (truth == predicted ? " taken for itself: " : " taken for ") +
         (truth == predicted ? "" : escape(classes[predicted]) + ": ") + grouped(count) + " of " +
         grouped(confusion.truth(truth)) + " (" + percent(share, 1) + ")</title>";
}

std::string cell(const Confusion& confusion, const std::vector<std::string>& classes, const Layout& layout,
                 std::size_t truth, std::size_t predicted) {
  const double gap = layout.cell > 16 ? 2 : 1;
  const double x = layout.left + static_cast<double>(predicted) * layout.cell;
  const double y = layout.top + static_cast<double>(truth) * layout.cell;
  const double strong = strength(confusion, truth, predicted);
  std::string svg = "<g><rect x=\"" + decimal(x, 1) + "\" y=\"" + decimal(y, 1) + "\" width=\"" +
                    decimal(layout.cell - gap, 1) + "\" height=\"" + decimal(layout.cell - gap, 1) +
                    "\" rx=\"" + (layout.cell > 30 ? "4" : "1") + "\" ";
  if (strong == 0) return svg + "class=\"none\" fill-opacity=\".45\"/></g>";
  svg += std::string("class=\"") + (truth == predicted ? "good" : "bad") + "\" fill-opacity=\"" +
         decimal(strong, 2) + "\"/>" + cell_title(confusion, classes, truth, predicted);
  if (classes.size() <= numbered_classes) {
    const std::string number = std::to_string(confusion.at(truth, predicted));
    const double fitting = (layout.cell - gap) / (0.62 * static_cast<double>(number.size()) + 0.4);
    svg += text(x + (layout.cell - gap) / 2, y + (layout.cell - gap) / 2,
                "text-anchor=\"middle\" dominant-baseline=\"central\" font-size=\"" +
                    decimal(std::min(layout.font, fitting), 1) + "\"" + (strong > 0.6 ? " class=\"on\"" : ""),
                number);
  }
  return svg + "</g>";
}

std::string names(const std::vector<std::string>& classes, const Layout& layout, double size) {
  const std::string font = "font-size=\"" + decimal(layout.font, 1) + "\" ";
  std::string svg = text(layout.left + size / 2, 14,
                         "text-anchor=\"middle\" class=\"quiet\" font-size=\"13\"", "taken for");
  svg += "<g transform=\"translate(12 " + decimal(layout.top + size / 2, 1) + ") rotate(-90)\">" +
         text(0, 0, "text-anchor=\"middle\" class=\"quiet\" font-size=\"13\"", "true class") + "</g>";
  for (std::size_t c = 0; c < classes.size(); ++c) {
    const double middle = (static_cast<double>(c) + 0.5) * layout.cell - 1;
    const std::string name = shortened(classes[c], label_length);
    svg += text(layout.left - 8, layout.top + middle,
                font + "text-anchor=\"end\" dominant-baseline=\"central\"", name);
    if (layout.top > layout.font + 33)
      svg += "<g transform=\"translate(" + decimal(layout.left + middle, 1) + " " +
             decimal(layout.top - 8, 1) + ") rotate(-90)\">" +
             text(0, 0, font + "dominant-baseline=\"central\"", name) + "</g>";
    else
      svg += text(layout.left + middle, layout.top - 8, font + "text-anchor=\"middle\"", name);
  }
  return svg;
}

/// One pixel a cell, for very many classes.
std::string bitmap(const Confusion& confusion) {
  const std::size_t classes = confusion.classes();
  std::vector<std::uint8_t> pixels;
  pixels.reserve(4 * classes * classes);
  for (std::size_t t = 0; t < classes; ++t)
    for (std::size_t p = 0; p < classes; ++p) {
      const auto alpha = static_cast<std::uint8_t>(255 * strength(confusion, t, p));
      if (t == p)
        pixels.insert(pixels.end(), {0x15, 0xAA, 0xBF, alpha});
      else
        pixels.insert(pixels.end(), {0xF7, 0x67, 0x07, alpha});
    }
  return "<img class=\"map\" alt=\"confusion matrix: rows are true classes, columns what they were taken "
         "for\" src=\"" +
         png_address(pixels, classes, classes, 4) + "\">";
}

}  // namespace

std::string heat_map(const Confusion& confusion, const std::vector<std::string>& classes) {
  if (classes.size() > drawn_classes) return bitmap(confusion);
  const Layout layout = layout_of(classes);
  const double size = layout.cell * static_cast<double>(classes.size());
  const std::string width = decimal(layout.left + size, 0), height = decimal(layout.top + size, 0);
  std::string svg = "<svg viewBox=\"0 0 " + width + " " + height + "\" width=\"" + width + "\" height=\"" +
                    height + "\" role=\"img\" aria-label=\"Confusion matrix\">" +
                    names(classes, layout, size);
  for (std::size_t t = 0; t < classes.size(); ++t)
    for (std::size_t p = 0; p < classes.size(); ++p) svg += cell(confusion, classes, layout, t, p);
  return svg + "</svg>";
}

}  // namespace kith::report
