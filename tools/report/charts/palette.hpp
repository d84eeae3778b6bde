// The colours of the pages, and whether they can be read.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace kith::report {

struct Rgb {
  std::uint8_t red = 0, green = 0, blue = 0;
  friend bool operator==(const Rgb&, const Rgb&) = default;
};

constexpr Rgb black{0, 0, 0}, white{255, 255, 255};

/// Relative luminance as WCAG 2 defines it: 0 for black, 1 for white.
double luminance(Rgb colour);

/// Contrast ratio as WCAG 2 defines it, 1 to 21. Text of usual size needs 4.5, a line of a chart 3.
double contrast(Rgb a, Rgb b);

/// `over` with an opacity of 0 to 1 upon `under`, as a browser mixes them.
Rgb mixed(Rgb under, Rgb over, double opacity);

/// Black or white, whichever has more contrast with `background`: 4.58 at least, whatever colour that is.
Rgb text_on(Rgb background);

/// A colour of both themes; `name` is that of its CSS variable, without the dashes.
struct Colour {
  std::string_view name;
  Rgb light, dark;
};

std::span<const Colour> palette();

/// One of them; name is in palette().
const Colour& colour(std::string_view name);

std::string hex(Rgb colour);  ///< `#0b7285`

/// The rules that define the variables of both themes. Paper has the light one.
std::string colour_rules();

/// The class that gives text in a cell a colour that can be read in both themes.
///   fill      the colour of the cell, a name in palette()
///   strength  its opacity upon the card
std::string text_class(std::string_view fill, double strength);

/// The rules of those classes.
extern const char* const text_rules;

}  // namespace kith::report
