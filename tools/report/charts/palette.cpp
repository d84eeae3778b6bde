#include "report/charts/palette.hpp"

#include <algorithm>
#include <array>
#include <cmath>

#include "files/printed.hpp"

namespace kith::report {
namespace {

constexpr Rgb rgb(std::uint32_t value) {
  return {static_cast<std::uint8_t>(value >> 16), static_cast<std::uint8_t>(value >> 8 & 0xFF),
          static_cast<std::uint8_t>(value & 0xFF)};
}

// Colour-blind people can tell good from bad, too: one is dark blue-green, the other orange. s0 to s7 are the
// colours of Okabe and Ito (2008), some a little darker, without their yellow, which is too pale on white; in
// the dark theme they are brighter.
constexpr std::array all_colours = {
    Colour{"page", rgb(0xf5f4f0), rgb(0x121417)}, Colour{"card", rgb(0xffffff), rgb(0x1b1e23)},
    Colour{"ink", rgb(0x1c1f24), rgb(0xe9eaec)},  Colour{"quiet", rgb(0x5f656f), rgb(0x9aa0ab)},
    Colour{"line", rgb(0xe3e1da), rgb(0x2d3138)}, Colour{"good", rgb(0x0b7285), rgb(0x3bc9db)},
    Colour{"bad", rgb(0xc0410b), rgb(0xff922b)},  Colour{"track", rgb(0xeceae4), rgb(0x272b31)},
    Colour{"code", rgb(0xf5f4f0), rgb(0x121417)}, Colour{"shade", rgb(0xb9b7af), rgb(0x4a505a)},
    Colour{"s0", rgb(0x0072b2), rgb(0x4aa8e0)},   Colour{"s1", rgb(0xd55e00), rgb(0xff8a3d)},
    Colour{"s2", rgb(0x009e73), rgb(0x2fc79b)},   Colour{"s3", rgb(0xb0538a), rgb(0xe08cc0)},
    Colour{"s4", rgb(0xc07f00), rgb(0xf0b53c)},   Colour{"s5", rgb(0x2f8fd0), rgb(0x8fd0f7)},
    Colour{"s6", rgb(0x5c5f66), rgb(0xb5b9c2)},   Colour{"s7", rgb(0x7a5195), rgb(0xb794e0)}};

double linear(std::uint8_t value) {
  const double share = value / 255.0;
  return share <= 0.04045 ? share / 12.92 : std::pow((share + 0.055) / 1.055, 2.4);
}

}  // namespace

double luminance(Rgb colour) {
  return 0.2126 * linear(colour.red) + 0.7152 * linear(colour.green) + 0.0722 * linear(colour.blue);
}

double contrast(Rgb a, Rgb b) {
  const auto [less, more] = std::minmax({luminance(a), luminance(b)});
  return (more + 0.05) / (less + 0.05);
}

Rgb mixed(Rgb under, Rgb over, double opacity) {
  const auto mix = [&](std::uint8_t below, std::uint8_t above) {
    return static_cast<std::uint8_t>(std::lround(below + opacity * (above - below)));
  };
  return {mix(under.red, over.red), mix(under.green, over.green), mix(under.blue, over.blue)};
}

Rgb text_on(Rgb background) {
  return contrast(black, background) >= contrast(white, background) ? black : white;
}

std::span<const Colour> palette() {
  return all_colours;
}

const Colour& colour(std::string_view name) {
  return *std::find_if(all_colours.begin(), all_colours.end(),
                       [&](const Colour& c) { return c.name == name; });
}

std::string hex(Rgb colour) {
  return files::printed("#%02x%02x%02x", colour.red, colour.green, colour.blue);
}

std::string colour_rules() {
  std::string light, dark;
  for (const Colour& c : all_colours) {
    const std::string start = " --" + std::string(c.name) + ": ";
    light += start + hex(c.light) + ";";
    dark += start + hex(c.dark) + ";";
  }
  return ":root { color-scheme: light dark;" + light +
         " }\n@media screen and (prefers-color-scheme: dark) { :root {" + dark +
         " } }\n@media print { :root { color-scheme: light; --page: #fff; --code: #fff; } }\n";
}

std::string text_class(std::string_view fill, double strength) {
  const Colour &over = colour(fill), &card = colour("card");
  const auto letter = [&](Rgb under, Rgb above) {
    return text_on(mixed(under, above, strength)) == black ? "b" : "w";
  };
  return std::string(letter(card.light, over.light)) + letter(card.dark, over.dark);
}

const char* const text_rules = R"css(
svg .bb, svg .bw { fill: #000; } svg .wb, svg .ww { fill: #fff; }
@media screen and (prefers-color-scheme: dark) { svg .bb, svg .wb { fill: #000; } svg .bw, svg .ww { fill: #fff; } }
)css";

}  // namespace kith::report
