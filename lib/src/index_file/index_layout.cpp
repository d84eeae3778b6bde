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
#include "index_file/index_checks.hpp"
#include "kith/error.hpp"
#include "kith/parse.hpp"
#include "metric/chain.hpp"
#include "rows/chunks.hpp"
#include "rows/landing.hpp"

namespace kith {
namespace {

constexpr std::uint64_t order_mark = 0x0102030405060708u;
constexpr std::size_t metric_bytes = 16, name_bytes = 16, element_bytes_in_file = 8;
constexpr std::uint64_t entry_bytes = 64, checksum_at = index_head_bytes - 8;
constexpr std::uint64_t most_sections = (checksum_at - index_table_at) / entry_bytes;

constexpr std::uint64_t version_at = index_magic.size() + sizeof(std::uint64_t);

/// Passes the next fields of a head in their order, stated once for writing and reading.
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
  /// Checks bytes that this version does not use.
  void zeros(std::size_t size) {
    for (const std::size_t end = position_ + size; position_ < end; ++position_)
      if (head_[position_] != 0)
        refuse_index_file(position_,
                          "this byte is " + std::to_string(head_[position_]) +
                              ", and means nothing to this kith; a newer one wrote the file: use that");
  }
  /// Reads a text that ends where the zeros begin. Messages quote it, so that it must be printable.
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
      metric = parse<Metric>(text_of_metric);
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

/// Checks magic, version and byte order, which decide whether the rest can be read at all.
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
    refuse_index_file(version_at, "the format is version " + std::to_string(version) +
                                      ", but this kith reads version " + std::to_string(index_version) +
                                      "; use the kith that wrote it");
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

IndexFileSection section_of(const IndexLayout& layout, const IndexFileSection& section,
                            const IndexPart& part) {
  const auto first = static_cast<std::uint64_t>(part.first), rows = static_cast<std::uint64_t>(part.rows);
  const auto cut = [&section](std::uint64_t begin, std::uint64_t end) {
    IndexFileSection some = section;
    some.offset += begin;
    some.bytes = end - begin;
    return some;
  };
  if (section.name == removed_section) {
    const std::uint64_t bits = removed_bits_a_word, word = sizeof(std::uint32_t);
    return cut(first / bits * word, (first + rows + bits - 1) / bits * word);
  }
  const bool numbers = section.name == positions_section || section.name == ids_section;
  if (!numbers && &section != &layout.rows()) return section;
  const std::uint64_t one =
      numbers ? std::uint64_t{sizeof(std::int64_t)}
              : static_cast<std::uint64_t>(row_bytes(layout.info.element, layout.info.features));
  return cut(first * one, (first + rows) * one);
}

IndexLayout layout_of(IndexFileInfo info, bool positions, bool ids, std::size_t borders,
                      const MetricParameters& parameters) {
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
  if (layout.info.centred)
    add(centre_section, "f64", static_cast<std::uint64_t>(layout.info.features) * sizeof(double));
  if (layout.info.periodic)
    add(box_section, "f64", static_cast<std::uint64_t>(layout.info.features) * sizeof(double));
  for (const MetricParameter& one : metric_parameters)
    if (const std::vector<double>& values = parameters.*one.values; !values.empty())
      add(one.section, "f64", values.size() * sizeof(double));
  if (parameters.degrees) add(degrees_section, "u8", 0);  // that it is there says it
  if (borders > 0) add(groups_section, "i64", borders * sizeof(std::int64_t));
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

std::vector<double> doubles_from(const std::vector<unsigned char>& bytes) {
  std::vector<double> values(bytes.size() / sizeof(double));
  if (!values.empty()) std::memcpy(values.data(), bytes.data(), bytes.size());
  return values;
}

std::vector<double> centre_from(const std::vector<unsigned char>& bytes, const IndexLayout& layout) {
  std::vector<double> centre = doubles_from(bytes);
  for (std::size_t i = 0; i < centre.size(); ++i)
    if (!std::isfinite(centre[i]))
      refuse_index_file(
          layout.find(centre_section)->offset + i * sizeof(double),
          "the centre has " + text_of(centre[i]) + ", which is not finite; save the index again");
  return centre;
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
  check_layout(layout, bytes);
  return layout;
}

}  // namespace kith
