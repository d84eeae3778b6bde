#include "report/charts/image.hpp"

#include <zlib.h>

#include <new>
#include <string_view>

namespace kith::report {
namespace {

void append_u32(std::string& to, std::uint64_t value) {
  for (int shift = 24; shift >= 0; shift -= 8) to += static_cast<char>(value >> shift & 0xFF);
}

void append_chunk(std::string& png, std::string_view type, std::string_view data) {
  append_u32(png, data.size());
  const std::string body = std::string(type) + std::string(data);
  png += body;
  append_u32(png, crc32(0, reinterpret_cast<const Bytef*>(body.data()), static_cast<uInt>(body.size())));
}

std::string deflated(std::string_view data) {
  uLongf size = compressBound(data.size());
  std::string result(size, '\0');
  if (compress2(reinterpret_cast<Bytef*>(result.data()), &size, reinterpret_cast<const Bytef*>(data.data()),
                data.size(), 9) != Z_OK)
    throw std::bad_alloc();  // the only way compress2 can fail here
  result.resize(size);
  return result;
}

std::string base64(std::string_view data) {
  constexpr std::string_view digits = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::string text;
  for (std::size_t i = 0; i < data.size(); i += 3) {
    std::uint32_t group = 0;
    for (std::size_t j = 0; j < 3; ++j)
      group = group << 8 | (i + j < data.size() ? static_cast<unsigned char>(data[i + j]) : 0u);
    for (std::size_t j = 0; j < 4; ++j)
      text += i + j > data.size() ? '=' : digits[group >> (18 - 6 * j) & 63];
  }
  return text;
}

}  // namespace

std::string png_address(std::span<const std::uint8_t> pixels, std::size_t height, std::size_t width,
                        std::size_t channels) {
  std::string header;
  append_u32(header, width);
  append_u32(header, height);
  header += '\x08';                         // bits a channel
  header += channels == 4 ? '\x06' : '\0';  // truecolour with alpha, or greyscale
  header.append(3, '\0');                   // deflate, adaptive filters, not interlaced
  std::string rows;
  const std::size_t bytes = width * channels;
  for (std::size_t y = 0; y < height; ++y) {
    rows += '\0';  // filter: none
    rows.append(reinterpret_cast<const char*>(pixels.data()) + y * bytes, bytes);
  }
  std::string png = "\x89PNG\r\n\x1A\n";
  append_chunk(png, "IHDR", header);
  append_chunk(png, "IDAT", deflated(rows));
  append_chunk(png, "IEND", "");
  return "data:image/png;base64," + base64(png);
}

}  // namespace kith::report
