// Embeds pictures in the page.
#pragma once

#include <cstdint>
#include <span>
#include <string>

namespace kith::report {

/// Returns a PNG file (ISO/IEC 15948) as a `data:` address.
///   pixels  [height, width, channels]  1 channel: grey; 4: red, green, blue, alpha
std::string png_address(std::span<const std::uint8_t> pixels, std::size_t height, std::size_t width,
                        std::size_t channels);

}  // namespace kith::report
