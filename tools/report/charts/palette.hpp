// Declares the colours of the pages, and checks of their contrast.
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

/// Returns the relative luminance as WCAG 2 defines it: 0 for black, 1 for white.
double luminance(Rgb colour);

/// Returns the contrast ratio as WCAG 2 defines it, 1 to 21. Text of usual size needs 4.5, a line of a
/// chart 3.
double contrast(Rgb a, Rgb b);

/// Mixes `over`, with an opacity of 0 to 1, onto `under`, as browsers do.
Rgb mixed(Rgb under, Rgb over, double opacity);

/// Returns black or white, whichever has more contrast with `background`: always at least 4.58.
Rgb text_on(Rgb background);

/// Holds a colour in both themes; `name` is that of its CSS variable, without the dashes.
struct Colour {
  std::string_view name;
  Rgb light, dark;
};

std::span<const Colour> palette();

/// Returns a colour of palette() by its name, which must exist.
const Colour& colour(std::string_view name);

std::string hex(Rgb colour);  ///< `#0b7285`

/// Returns the CSS rules that define the variables of both themes. Paper uses the light one.
std::string colour_rules();

/// Returns the class that makes text in a cell readable in both themes.
///   fill      the colour of the cell, a name in palette()
///   strength  its opacity upon the card
std::string text_class(std::string_view fill, double strength);

/// Holds the CSS rules of those classes.
extern const char* const text_rules;

}  // namespace kith::report
