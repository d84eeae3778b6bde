// Builds .zip files byte by byte, for tests of .npz files and for fuzzing.
#pragma once

#include <zlib.h>

#include <cstdint>
#include <string>
#include <vector>

namespace test_support {

struct ZipMember {
  std::string name, content;
  bool deflated = false;
};

inline std::string deflated(std::string plain) {
  z_stream stream{};
  constexpr int raw_window = -15;
  if (deflateInit2(&stream, 6, Z_DEFLATED, raw_window, 8, Z_DEFAULT_STRATEGY) != Z_OK) return {};
  std::string packed(deflateBound(&stream, plain.size()), '\0');
  stream.next_in = reinterpret_cast<Bytef*>(plain.data());
  stream.avail_in = static_cast<uInt>(plain.size());
  stream.next_out = reinterpret_cast<Bytef*>(packed.data());
  stream.avail_out = static_cast<uInt>(packed.size());
  deflate(&stream, Z_FINISH);
  packed.resize(stream.total_out);
  deflateEnd(&stream);
  return packed;
}

inline std::uint64_t crc_of(const std::string& content) {
  return crc32_z(0, reinterpret_cast<const Bytef*>(content.data()), content.size());
}

/// Returns the lowest `bytes` bytes of a number, lowest first.
inline std::string number(std::uint64_t value, int bytes) {
  std::string text;
  for (int i = 0; i < bytes; ++i) text += static_cast<char>(value >> (8 * i) & 255);
  return text;
}
inline std::string u16(std::uint64_t value) {
  return number(value, 2);
}
inline std::string u32(std::uint64_t value) {
  return number(value, 4);
}
inline std::string u64(std::uint64_t value) {
  return number(value, 8);
}

///   zip64  writes sizes and places in the fields for more than 32 bits
inline std::string zip(const std::vector<ZipMember>& members, bool zip64 = false) {
  constexpr std::uint64_t full = 0xffffffff;
  std::string file, directory;
  for (const ZipMember& member : members) {
    const std::string data = member.deflated ? deflated(member.content) : member.content;
    const std::uint64_t offset = file.size();
    const std::string sizes = zip64 ? u32(full) + u32(full) : u32(data.size()) + u32(member.content.size());
    const std::string both = u64(member.content.size()) + u64(data.size());
    const std::string own = zip64 ? u16(1) + u16(16) + both : "";
    const std::string listed = zip64 ? u16(7) + u16(1) + "x" + u16(1) + u16(24) + both + u64(offset) : "";
    const std::string start =
        u16(20) + u16(0) + u16(member.deflated ? 8 : 0) + u32(0) + u32(crc_of(member.content)) + sizes;
    file += "PK\3\4" + start + u16(member.name.size()) + u16(own.size()) + member.name + own + data;
    directory += "PK\1\2" + u16(20) + start + u16(member.name.size()) + u16(listed.size()) + u16(0) + u16(0) +
                 u16(0) + u32(0) + u32(zip64 ? full : offset) + member.name + listed;
  }
  const std::uint64_t place = file.size(), end = place + directory.size();
  file += directory;
  if (zip64)
    file += "PK\6\6" + u64(44) + u16(45) + u16(45) + u32(0) + u32(0) + u64(members.size()) +
            u64(members.size()) + u64(directory.size()) + u64(place) + "PK\6\7" + u32(0) + u64(end) + u32(1);
  return file + "PK\5\6" + u32(0) + u16(members.size()) + u16(members.size()) +
         u32(zip64 ? full : directory.size()) + u32(zip64 ? full : place) + u16(0);
}

}  // namespace test_support
