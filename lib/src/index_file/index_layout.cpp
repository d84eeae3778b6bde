#include "index_file/index_layout.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <iterator>
#include <limits>
#include <utility>

#include "base/text.hpp"
#include "base/xxh64.hpp"
#include "kith/error.hpp"
#include "metric/chain.hpp"
#include "rows/chunks.hpp"
#include "rows/landing.hpp"

namespace kith {
namespace {

constexpr std::uint64_t order_mark = 0x0102030405060708u;
constexpr std::size_t metric_bytes = 16, name_bytes = 16, element_bytes_in_file = 8;
constexpr std::uint64_t table_at = 120, entry_bytes = 64, checksum_at = index_head_bytes - 8;
constexpr std::uint64_t most_sections = (checksum_at - table_at) / entry_bytes;
constexpr std::int64_t index_bytes = sizeof(std::int64_t);

/// The next fields of a head, in their order: said once, for whoever writes and reads it.
template <class Stream, class AnyLayout>
void head_fields(Stream& s, AnyLayout& layout) {
  auto& info = layout.info;
  s.number(info.bytes);
  s.number(layout.body_bytes);
  s.number(info.rows);
  s.number(info.dims);
  s.number(info.first_row);
  s.number(info.removed);
  s.number(info.positions);
  s.number(info.next_row);
  s.number(info.largest);
  s.zeros(4);
  s.metric(info.metric);
  s.sections(info.sections);
}

class HeadWriter {
 public:
  std::vector<unsigned char> head = std::vector<unsigned char>(index_head_bytes);

  void bytes(const void* from, std::size_t size) {
    std::memcpy(head.data() + position_, from, size);
    position_ += size;
  }
  template <class T>
  void number(T value) {
    bytes(&value, sizeof value);
  }
  void zeros(std::size_t size) { position_ += size; }
  void text(std::string_view value, std::size_t room) {
    std::memcpy(head.data() + position_, value.data(), value.size());
    position_ += room;
  }
  void metric(Metric metric) { text(name(metric), metric_bytes); }
  void sections(const std::vector<IndexFileSection>& all) {
    number(std::uint64_t{all.size()});
    for (const IndexFileSection& section : all) {
      text(section.name, name_bytes);
      text(section.element, element_bytes_in_file);
      number(section.offset);
      number(section.bytes);
      number(std::uint64_t{section.needed});
      zeros(16);
    }
  }

 private:
  std::size_t position_ = 0;
};

class HeadReader {
 public:
  explicit HeadReader(std::span<const unsigned char> head) : head_(head) {}

  std::uint64_t position() const { return position_; }

  template <class T>
  void number(T& value) {
    std::memcpy(&value, head_.data() + position_, sizeof value);
    position_ += sizeof value;
  }
  /// Bytes for which this version has no use.
  void zeros(std::size_t size) {
    for (const std::size_t end = position_ + size; position_ < end; ++position_)
      if (head_[position_] != 0)
        refuse_index_file(position_,
                          "this byte is " + std::to_string(head_[position_]) +
                              ", and means nothing to this kith; a newer one wrote the file: use that");
  }
  /// A text that ends where the zeros begin. Quoted in messages, so it must be printable.
  void text(std::string& value, std::size_t room) {
    const auto* const from = reinterpret_cast<const char*>(head_.data()) + position_;
    value.assign(from, std::find(from, from + room, '\0'));
    if (value.empty() || escaped(value) != value)
      refuse_index_file(position_,
                        "\"" + escaped(value) + "\" is no name that kith writes; save the index again");
    position_ += value.size();
    zeros(room - value.size());
  }
  void metric(Metric& metric) {
    const std::uint64_t start = position_;
    std::string text_of_metric;
    text(text_of_metric, metric_bytes);
    try {
      metric = parse_metric(text_of_metric);
    } catch (const Error& error) {
      refuse_index_file(start, error.what());
    }
    if (name(metric) != text_of_metric)
      refuse_index_file(start, "the metric \"" + text_of_metric + "\" is not written as kith writes it, " +
                                   std::string(name(metric)) + "; save the index again");
  }
  void sections(std::vector<IndexFileSection>& all) {
    const std::uint64_t start = position_;
    std::uint64_t count = 0;
    number(count);
    if (count > most_sections)
      refuse_index_file(start, std::to_string(count) + " sections, but a head has room for " +
                                   std::to_string(most_sections) + "; save the index again");
    for (std::uint64_t i = 0; i < count; ++i) all.push_back(section());
  }

 private:
  IndexFileSection section() {
    IndexFileSection section;
    text(section.name, name_bytes);
    text(section.element, element_bytes_in_file);
    number(section.offset);
    number(section.bytes);
    const std::uint64_t start = position_;
    std::uint64_t needed = 0;
    number(needed);
    if (needed > 1)
      refuse_index_file(start, "section " + section.name + " is needed: " + std::to_string(needed) +
                                   "; that is 0 or 1: save the index again");
    section.needed = needed == 1;
    zeros(16);
    return section;
  }

  std::span<const unsigned char> head_;
  std::size_t position_ = 0;
};

bool is_known(std::string_view section) {
  constexpr std::string_view known[] = {rows_section,      unit_rows_section, features_section,
                                        positions_section, ids_section,       removed_section};
  return std::find(std::begin(known), std::end(known), section) != std::end(known);
}

/// Sections stand one behind another, from a page each, and end within the body.
void check_places(const IndexLayout& layout) {
  std::uint64_t end = index_head_bytes;
  std::vector<std::string> seen;
  for (const IndexFileSection& section : layout.info.sections) {
    const std::string which = "section " + section.name;
    if (std::find(seen.begin(), seen.end(), section.name) != seen.end())
      refuse_index_file(table_at, which + " is there twice; save the index again");
    seen.push_back(section.name);
    if (section.needed && !is_known(section.name))
      refuse_index_file(table_at,
                        which +
                            " is needed, and this kith does not know it; a newer one wrote the file: "
                            "use that");
    if (section.offset % index_page_bytes != 0 || section.offset < end ||
        section.offset > layout.body_end() || section.bytes > layout.body_end() - section.offset)
      refuse_index_file(table_at, which + " has " + std::to_string(section.bytes) + " bytes from byte " +
                                      std::to_string(section.offset) + ", but what is between byte " +
                                      std::to_string(end) + " and " + std::to_string(layout.body_end()) +
                                      " is left, from a whole " + std::to_string(index_page_bytes) +
                                      " on; save the index again");
    end = section.offset + section.bytes;
  }
}

/// The sizes that the head tells; nothing is made for them before they are known to be right.
void check_counts(const IndexFileInfo& info) {
  const auto wrong = [](const std::string& why) { refuse_index_file(40, why + "; save the index again"); };
  constexpr std::int64_t most = std::numeric_limits<std::int64_t>::max();
  if (info.rows < 1 || info.rows > most_rows)
    wrong(std::to_string(info.rows) + " rows, but an index holds 1 to " + std::to_string(most_rows));
  if (info.dims < 1 || (compares_bits(info.metric) && info.dims > most_bits))
    wrong(std::to_string(info.dims) + " columns, which no index has");
  if (info.removed < 0 || info.removed >= info.rows)
    wrong(std::to_string(info.removed) + " of " + std::to_string(info.rows) + " rows are removed");
  if (info.positions < info.rows || info.next_row < info.positions || info.next_row == most)
    wrong(std::to_string(info.rows) + " rows of " + std::to_string(info.positions) +
          " that were given, and the next is number " + std::to_string(info.next_row));
  if (info.first_row < 0 || info.first_row > most - info.positions)
    wrong("first_row = " + std::to_string(info.first_row) + " with " + std::to_string(info.positions) +
          " rows");
  if (!std::isfinite(info.largest) || info.largest < 0)
    wrong("largest = " + text_of(info.largest) + ", which no element has");
}

/// The columns that count, from the size of their section.
std::int64_t count_features(const IndexLayout& layout) {
  const IndexFileSection* const features = layout.find(features_section);
  if (!features) return layout.info.dims;
  const std::uint64_t count = features->bytes / index_bytes;
  if (features->element != "i64" || features->bytes % index_bytes != 0 || count < 1 ||
      count > static_cast<std::uint64_t>(layout.info.dims) || compares_bits(layout.info.metric))
    refuse_index_file(features->offset, "section features has " + std::to_string(features->bytes) +
                                            " bytes of " + features->element + ", which are no features of " +
                                            std::to_string(layout.info.dims) +
                                            " columns; save the index again");
  return static_cast<std::int64_t>(count);
}

/// What says which rows are there, and what they are called.
///   wanted  whether the head needs it
void check_numbers_section(const IndexLayout& layout, std::string_view name, std::string_view element,
                           std::int64_t bytes, bool wanted) {
  const IndexFileSection* const section = layout.find(name);
  if ((section != nullptr) == wanted &&
      (!section || (section->element == element && section->bytes == static_cast<std::uint64_t>(bytes))))
    return;
  refuse_index_file(section ? section->offset : table_at,
                    "section " + std::string(name) + (section ? " is not what" : " is missing, which") +
                        " the head needs of it; save the index again");
}

void check_numbers(const IndexLayout& layout) {
  const IndexFileInfo& info = layout.info;
  const std::int64_t numbers = info.rows * index_bytes;  // at most 2^32 rows
  const std::int64_t words = (info.rows + removed_bits_a_word - 1) / removed_bits_a_word;
  // An index that was not compacted may have no list of positions: these are then places.
  check_numbers_section(layout, positions_section, "i64", numbers,
                        info.positions != info.rows || layout.find(positions_section) != nullptr);
  check_numbers_section(layout, ids_section, "i64", numbers,
                        info.next_row != info.positions || layout.find(ids_section) != nullptr);
  check_numbers_section(layout, removed_section, "u32", words * std::int64_t{sizeof(std::uint32_t)},
                        info.removed > 0);
  if (layout.find(ids_section) && info.first_row != 0)
    refuse_index_file(table_at,
                      "the rows have ids and a first_row, which no index has; save the index again");
}

Element check_rows_section(const IndexLayout& layout) {
  const IndexFileInfo& info = layout.info;
  const bool unit = prepare_of(info.metric) == Prepare::unit_rows;
  const std::string_view wanted = unit ? unit_rows_section : rows_section;
  const IndexFileSection* const rows = layout.find(wanted);
  if (!rows || layout.find(unit ? rows_section : unit_rows_section))
    refuse_index_file(table_at, "an index of " + std::string(name(info.metric)) +
                                    " has its rows in the section " + std::string(wanted) +
                                    " alone; save the index again");
  for (const IndexFileSection& before : info.sections)
    if (is_known(before.name) && before.offset > rows->offset)
      refuse_index_file(table_at, "section " + before.name + " stands behind the rows; save the index again");
  Element element{};
  bool known = false;
  for (const Element one : all_elements)
    if (name(one) == rows->element) element = one, known = true;
  if (!known || (element == Element::bits) != compares_bits(info.metric) || (unit && element != Element::f32))
    refuse_index_file(rows->offset, "rows of " + rows->element + " do not go with " +
                                        std::string(name(info.metric)) + "; save the index again");
  const auto row = static_cast<std::uint64_t>(row_bytes(element, info.features));
  const auto count = static_cast<std::uint64_t>(info.rows);
  if (rows->bytes % count != 0 || rows->bytes / count != row)
    refuse_index_file(rows->offset, "the rows take " + std::to_string(rows->bytes) + " bytes, but " +
                                        std::to_string(info.rows) + " of " + std::to_string(row) +
                                        " bytes each are told; save the index again");
  return element;
}

void check_sizes(const IndexLayout& layout, std::uint64_t bytes) {
  const std::uint64_t most = std::numeric_limits<std::int64_t>::max() / 2;
  const std::uint64_t told = layout.info.bytes;
  if (told > most || layout.body_bytes > most || told != layout.body_end() + 8 * (layout.blocks() + 1))
    refuse_index_file(24, "a file of " + std::to_string(told) + " bytes has no body of " +
                              std::to_string(layout.body_bytes) + "; save the index again");
  if (bytes < told)
    refuse_index_file(
        bytes, "the file ends here, but " + std::to_string(told) + " bytes were written; copy it again");
  if (bytes > told)
    refuse_index_file(told,
                      "the file should end here, but has " + std::to_string(bytes) + " bytes; copy it again");
}

/// Magic, version and byte order: what decides whether the rest can be read at all.
void check_origin(HeadReader& reader, std::span<const unsigned char> head) {
  const std::size_t some = std::min(head.size(), index_magic.size());
  if (some == 0 || std::memcmp(head.data(), index_magic.data(), some) != 0)
    refuse_index_file(0, "this is no index of kith; name a file that kith wrote as .kidx");
  if (head.size() < index_head_bytes)
    refuse_index_file(head.size(), "the file ends here, within its head of " +
                                       std::to_string(index_head_bytes) + " bytes; copy it again");
  std::uint64_t magic = 0, mark = 0, version = 0;
  reader.number(magic);
  reader.number(mark);
  if (mark == __builtin_bswap64(order_mark))
    refuse_index_file(index_magic.size(),
                      "the file has the byte order of another kind of machine; save the index on this kind");
  if (mark != order_mark)
    refuse_index_file(index_magic.size(), "here stands no byte order; the file is damaged: copy it again");
  reader.number(version);
  if (version != index_version)
    refuse_index_file(index_magic.size() + 8,
                      "the format is version " + std::to_string(version) + ", but this kith reads version " +
                          std::to_string(index_version) + "; use the kith that wrote it");
}

}  // namespace

void refuse_index_file(std::uint64_t byte, const std::string& why) {
  throw Error(Errc::bad_file, "byte " + std::to_string(byte) + ": " + why);
}

const IndexFileSection* IndexLayout::find(std::string_view section) const {
  for (const IndexFileSection& one : info.sections)
    if (one.name == section) return &one;
  return nullptr;
}

const IndexFileSection& IndexLayout::rows() const {
  for (const std::string_view name : {rows_section, unit_rows_section})
    if (const IndexFileSection* const section = find(name)) return *section;
  throw Error(Errc::bad_file, "the file has no section of rows; copy it again");
}

IndexLayout layout_of(IndexFileInfo info, bool positions, bool ids) {
  IndexLayout layout{std::move(info)};
  std::uint64_t end = index_head_bytes;
  const auto add = [&](std::string_view section, std::string_view element, std::uint64_t bytes) {
    const std::uint64_t offset = (end + index_page_bytes - 1) / index_page_bytes * index_page_bytes;
    layout.info.sections.push_back({std::string(section), std::string(element), offset, bytes, true});
    end = offset + bytes;
  };
  layout.info.sections.clear();
  if (layout.info.features != layout.info.dims)
    add(features_section, "i64", static_cast<std::uint64_t>(layout.info.features * index_bytes));
  if (positions) add(positions_section, "i64", static_cast<std::uint64_t>(layout.info.rows * index_bytes));
  if (ids) add(ids_section, "i64", static_cast<std::uint64_t>(layout.info.rows * index_bytes));
  if (layout.info.removed > 0)
    add(removed_section, "u32",
        static_cast<std::uint64_t>((layout.info.rows + removed_bits_a_word - 1) / removed_bits_a_word) *
            sizeof(std::uint32_t));
  add(prepare_of(layout.info.metric) == Prepare::unit_rows ? unit_rows_section : rows_section,
      name(layout.info.element),
      static_cast<std::uint64_t>(layout.info.rows * row_bytes(layout.info.element, layout.info.features)));
  layout.info.rows_offset = layout.info.sections.back().offset;
  layout.body_bytes = end - index_head_bytes;
  layout.info.version = index_version;
  layout.info.bytes = end + 8 * (layout.blocks() + 1);
  return layout;
}

std::vector<std::int64_t> features_from(const std::vector<unsigned char>& bytes, const IndexLayout& layout) {
  if (bytes.empty()) return {};
  std::vector<std::int64_t> features(bytes.size() / sizeof(std::int64_t));
  std::memcpy(features.data(), bytes.data(), bytes.size());
  for (std::size_t i = 0; i < features.size(); ++i)
    if (features[i] < 0 || features[i] >= layout.info.dims || (i > 0 && features[i] <= features[i - 1]))
      refuse_index_file(layout.find(features_section)->offset + i * sizeof(std::int64_t),
                        "feature " + std::to_string(features[i]) + " does not ascend, or is none of " +
                            std::to_string(layout.info.dims) + " columns; save the index again");
  return features;
}

std::vector<unsigned char> head_of(const IndexLayout& layout) {
  HeadWriter writer;
  writer.bytes(index_magic.data(), index_magic.size());
  writer.number(order_mark);
  writer.number(layout.info.version);
  head_fields(writer, layout);
  const std::uint64_t sum = Xxh64::of(writer.head.data(), checksum_at);
  std::memcpy(writer.head.data() + checksum_at, &sum, sizeof sum);
  return std::move(writer.head);
}

IndexLayout read_head(std::span<const unsigned char> head, std::uint64_t bytes) {
  HeadReader reader(head);
  check_origin(reader, head);
  std::uint64_t sum = 0;
  std::memcpy(&sum, head.data() + checksum_at, sizeof sum);
  if (sum != Xxh64::of(head.data(), checksum_at))
    refuse_index_file(checksum_at,
                      "the checksum of the head does not match; the file is damaged: copy it again");
  IndexLayout layout;
  layout.info.version = index_version;
  head_fields(reader, layout);
  reader.zeros(checksum_at - reader.position());
  check_sizes(layout, bytes);
  check_counts(layout.info);
  check_places(layout);
  layout.info.features = count_features(layout);
  check_numbers(layout);
  layout.info.element = check_rows_section(layout);
  layout.info.rows_offset = layout.rows().offset;
  return layout;
}

}  // namespace kith
