#include "lab/peers/fashion_mnist.hpp"

#include <zlib.h>

#include <memory>
#include <stdexcept>

namespace kith::benchmark {
namespace {

struct Close {
  void operator()(gzFile file) const { gzclose(file); }
};

}  // namespace

Rows read_images(const std::string& path) {
  const std::unique_ptr<gzFile_s, Close> file(gzopen(path.c_str(), "rb"));
  if (!file) throw std::runtime_error(path + ": cannot be opened; give its folder with --data");
  const auto read = [&](void* to, std::size_t bytes) {
    if (gzfread(to, 1, bytes, file.get()) != bytes) throw std::runtime_error(path + ": damaged or too short");
  };
  const auto number = [&] {  // big-endian
    unsigned char b[4];
    read(b, sizeof b);
    return static_cast<std::uint32_t>(b[0]) << 24 | static_cast<std::uint32_t>(b[1]) << 16 |
           static_cast<std::uint32_t>(b[2]) << 8 | b[3];
  };
  if (number() != 0x0803) throw std::runtime_error(path + ": no idx file of images");
  Rows rows;
  rows.count = number();
  const std::int64_t height = number(), width = number();
  rows.dims = height * width;
  if (rows.count > 1'000'000 || height > 1000 || width > 1000)
    throw std::runtime_error(path + ": not the size of Fashion-MNIST");
  std::vector<unsigned char> pixels(static_cast<std::size_t>(rows.count * rows.dims));
  read(pixels.data(), pixels.size());
  rows.values.assign(pixels.begin(), pixels.end());
  return rows;
}

}  // namespace kith::benchmark
