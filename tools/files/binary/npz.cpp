// Arrays by name, as numpy.savez and numpy.savez_compressed write them: a .zip of .npy files, stored or
// deflated. Its directory, at the end, is the truth, as it is for NumPy.
// Source: PKWARE, .ZIP File Format Specification (APPNOTE.TXT 6.3.10, 2022), sections 4.3 and 4.5.
#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "files/formats.hpp"

namespace kith::files {
namespace {

constexpr std::string_view again = "; it is damaged: copy or download it again, or save it by numpy.savez";
constexpr std::uint32_t full32 = 0xffffffff;  // the number stands where zip64 has it
constexpr std::uint64_t full16 = 0xffff;

/// Bytes of a .zip, and numbers in them.
class Bytes {
 public:
  Bytes(Source& source, std::uint64_t offset, std::uint64_t size, std::string_view what)
      : source_(source), what_(what), bytes_(size) {
    const std::uint64_t all = source.disk_bytes();
    if (offset > all || size > all - offset)
      source.fail("ends before " + std::string(what) + ", which needs " + count_of(size, "byte") +
                  " from byte " + std::to_string(offset) + " on" + std::string(again));
    source.read_at(offset, bytes_.data(), bytes_.size());
  }
  std::uint64_t size() const { return bytes_.size(); }
  std::uint64_t number(std::uint64_t at, std::uint64_t size) const {
    std::uint64_t number = 0;
    const std::string_view bytes = text(at, size);
    for (std::size_t i = 0; i < size; ++i)
      number |= std::uint64_t{static_cast<unsigned char>(bytes[i])} << (8 * i);
    return number;
  }
  std::string_view text(std::uint64_t at, std::uint64_t size) const {
    if (at > bytes_.size() || size > bytes_.size() - at)
      source_.fail("ends within " + std::string(what_) + std::string(again));
    return std::string_view(bytes_.data(), bytes_.size()).substr(at, size);
  }

 private:
  const Source& source_;
  std::string_view what_;
  std::vector<char> bytes_;
};

/// Where the directory is.
struct Place {
  std::uint64_t offset = 0, bytes = 0, entries = 0;
};

/// The end of a .zip of more than 4 GiB, whose place stands before the end of the others.
Place zip64_place(Source& source, std::uint64_t end) {
  constexpr std::uint64_t locator_bytes = 20, record_bytes = 56;
  const std::string_view what = "the end of its directory";
  if (end < locator_bytes) source.fail("has no place of its directory" + std::string(again));
  const Bytes locator(source, end - locator_bytes, locator_bytes, what);
  if (locator.text(0, 4) != "PK\6\7") source.fail("has no place of its directory" + std::string(again));
  const Bytes record(source, locator.number(8, 8), record_bytes, what);
  if (record.text(0, 4) != "PK\6\6") source.fail("has no directory where it says" + std::string(again));
  return {record.number(48, 8), record.number(40, 8), record.number(32, 8)};
}

Place directory_place(Source& source) {
  constexpr std::uint64_t end_bytes = 22, longest_comment = 0xffff;
  const std::uint64_t all = source.disk_bytes();
  const std::uint64_t tail_bytes = std::min(all, end_bytes + longest_comment);
  const Bytes tail(source, all - tail_bytes, tail_bytes, "its end");
  for (std::uint64_t back = end_bytes; back <= tail_bytes; ++back) {
    const std::uint64_t at = tail_bytes - back;
    if (tail.text(at, 4) != "PK\5\6" || tail.number(at + 20, 2) != back - end_bytes) continue;
    Place place{tail.number(at + 16, 4), tail.number(at + 12, 4), tail.number(at + 10, 2)};
    const std::uint64_t end = all - back;
    if (place.offset == full32 || place.bytes == full32 || place.entries == full16)
      place = zip64_place(source, end);
    if (place.offset > end || place.bytes > end - place.offset)
      source.fail("says that its directory has " + count_of(place.bytes, "byte") + " from byte " +
                  std::to_string(place.offset) + " on, but that ends at byte " + std::to_string(end) +
                  std::string(again));
    return place;
  }
  source.fail(
      "has no directory at its end, as .npz files have; it is truncated or no such file: copy or "
      "download it again, or save it by numpy.savez");
}

/// What is more than 32 bits hold stands in an extra field of the entry, one behind the other.
void take_zip64(const Source& source, const Bytes& directory, std::uint64_t at, std::uint64_t bytes,
                Member& member) {
  const std::uint64_t end = at + bytes;
  while (at + 4 <= end) {
    const std::uint64_t kind = directory.number(at, 2), size = directory.number(at + 2, 2);
    std::uint64_t from = at + 4;
    at = from + size;
    if (at > end) break;
    if (kind != 1) continue;
    for (std::uint64_t* const number : {&member.bytes, &member.packed, &member.offset})
      if (*number == full32 && from + 8 <= at) *number = directory.number(from, 8), from += 8;
    return;
  }
  source.fail("says of " + in_quotes(member.name) + " no size or place" + std::string(again));
}

/// A member, and whether and how it can be read.
struct Entry {
  Member member;
  std::uint64_t flags = 0, method = 0;
};

std::vector<Entry> read_directory(Source& source) {
  constexpr std::uint64_t entry_bytes = 46, most = std::uint64_t{1} << 24;
  const Place place = directory_place(source);
  if (place.bytes > most || place.entries > most / entry_bytes)
    source.fail("has a directory of " + count_of(place.bytes, "byte") + ", more than the " +
                std::to_string(most) + " that one may have; save fewer arrays in a file");
  const Bytes directory(source, place.offset, place.bytes, "its directory");
  std::vector<Entry> entries;
  std::uint64_t at = 0;
  for (std::uint64_t i = 0; i < place.entries; ++i) {
    if (directory.text(at, 4) != "PK\1\2")
      source.fail("has no entry " + std::to_string(i) + " of " + std::to_string(place.entries) +
                  " in its directory" + std::string(again));
    const std::uint64_t name_bytes = directory.number(at + 28, 2), extra_bytes = directory.number(at + 30, 2);
    Entry entry;
    entry.flags = directory.number(at + 8, 2);
    entry.method = directory.number(at + 10, 2);
    Member& member = entry.member;
    member.checksum = static_cast<std::uint32_t>(directory.number(at + 16, 4));
    member.packed = directory.number(at + 20, 4);
    member.bytes = directory.number(at + 24, 4);
    member.offset = directory.number(at + 42, 4);
    member.name = directory.text(at + entry_bytes, name_bytes);
    if (std::max({member.packed, member.bytes, member.offset}) == full32)
      take_zip64(source, directory, at + entry_bytes + name_bytes, extra_bytes, member);
    member.deflated = entry.method == 8;
    at += entry_bytes + name_bytes + extra_bytes + directory.number(at + 32, 2);
    if (member.name.ends_with(".npy")) entries.push_back(std::move(entry));
  }
  if (entries.empty()) source.fail("holds no array: no member ends in .npy; save it by numpy.savez");
  return entries;
}

/// The bytes of a member begin behind its own header, which must say what the directory does.
std::uint64_t data_of(Source& source, const Entry& entry) {
  constexpr std::uint64_t header_bytes = 30;
  const Member& member = entry.member;
  const std::string name = in_quotes(member.name);
  if (entry.flags & 1) source.fail(name + " is encrypted; save it by numpy.savez, which does not");
  if (entry.method != 0 && entry.method != 8)
    source.fail(name + " is packed by method " + std::to_string(entry.method) +
                "; kith reads 0 (stored) and 8 (deflated): save it by numpy.savez");
  if (!member.deflated && member.packed != member.bytes)
    source.fail(name + " is stored, but " + std::to_string(member.packed) + " bytes are to become " +
                std::to_string(member.bytes) + std::string(again));
  const std::string what = "the header of " + name;
  const Bytes header(source, member.offset, header_bytes, what);
  const std::uint64_t name_bytes = header.number(26, 2);
  const Bytes own_name(source, member.offset + header_bytes, name_bytes, what);
  if (header.text(0, 4) != "PK\3\4" || header.number(8, 2) != entry.method ||
      own_name.text(0, name_bytes) != member.name)
    source.fail("has another member than " + name + " where its directory says it is" + std::string(again));
  const std::uint64_t data = member.offset + header_bytes + name_bytes + header.number(28, 2);
  if (data > source.disk_bytes() || member.packed > source.disk_bytes() - data)
    source.fail("ends within " + name + ", which needs " + count_of(member.packed, "byte") + " from byte " +
                std::to_string(data) + " on" + std::string(again));
  return data;
}

}  // namespace

std::size_t chosen_array(const Source& source, const std::vector<std::string>& names,
                         const FileOptions& options) {
  constexpr std::size_t most_listed = 20;
  std::string list;
  for (std::size_t i = 0; i < std::min(names.size(), most_listed); ++i)
    list += (i ? ", " : "") + in_quotes(names[i]);
  if (names.size() > most_listed) list += ", ...";
  const auto find = [&](const std::string& name) {
    const auto found = std::find(names.begin(), names.end(), name);
    if (found != names.end() && std::find(found + 1, names.end(), name) != names.end())
      source.fail("holds several arrays called " + in_quotes(name) +
                  "; save it again, each under its own name");
    return found;
  };
  if (options.array.empty() && !options.usual_array.empty())
    if (const auto usual = find(options.usual_array); usual != names.end())
      return static_cast<std::size_t>(usual - names.begin());
  if (options.array.empty()) {
    if (names.size() > 1 && options.note)
      options.note(source.name() + ": the first of its arrays, " + in_quotes(names[0]) +
                   ", is taken; it has " + list +
                   "; --read array=, or --read query-array= for queries, says otherwise");
    return static_cast<std::size_t>(find(names[0]) - names.begin());
  }
  const auto found = find(options.array);
  if (found != names.end()) return static_cast<std::size_t>(found - names.begin());
  throw Error(Errc::invalid_argument,
              source.name() + ": has no array called " + in_quotes(options.array) + "; it has " + list);
}

ArrayLayout read_npz_header(Source& source, const FileOptions& options) {
  if (source.disk_bytes() == 0)
    source.fail(
        "is a .npz file that is packed once more, or comes through a pipe, and what it holds stands at "
        "its end; give it as a file of its own");
  std::vector<Entry> entries = read_directory(source);
  std::vector<std::string> names;
  for (Entry& entry : entries)
    names.push_back(entry.member.name.substr(0, entry.member.name.size() - std::string_view(".npy").size()));
  const std::size_t at = chosen_array(source, names, options);
  Entry& entry = entries[at];
  const std::uint64_t data = data_of(source, entry);
  entry.member.name = names[at];
  source.enter(entry.member, data);
  return read_npy_header(source);
}

}  // namespace kith::files
