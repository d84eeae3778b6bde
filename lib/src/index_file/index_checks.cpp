#include "index_file/index_checks.hpp"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <limits>
#include <string>
#include <vector>

#include "base/text.hpp"
#include "kith/centre.hpp"
#include "metric/chain.hpp"
#include "rows/chunks.hpp"
#include "rows/landing.hpp"

namespace kith {
namespace {

bool is_known(std::string_view section) {
  constexpr std::string_view known[] = {
      rows_section,    unit_rows_section, features_section, positions_section, ids_section,
      removed_section, centre_section,    box_section,      groups_section,    degrees_section};
  return std::find(std::begin(known), std::end(known), section) != std::end(known) ||
         std::any_of(std::begin(metric_parameters), std::end(metric_parameters),
                     [&](const MetricParameter& one) { return one.section == section; });
}

/// Checks that sections follow each other, each from a page on, and end within the body.
void check_places(const IndexLayout& layout) {
  std::uint64_t end = index_head_bytes;
  std::vector<std::string> seen;
  for (const IndexFileSection& section : layout.info.sections) {
    const std::string which = "section " + section.name;
    if (std::find(seen.begin(), seen.end(), section.name) != seen.end())
      refuse_index_file(index_table_at, which + " is there twice; save the index again");
    seen.push_back(section.name);
    if (section.needed && !is_known(section.name))
      refuse_index_file(index_table_at,
                        which +
                            " is needed, and this kith does not know it; a newer one wrote the file: "
                            "use that");
    if (section.offset % index_page_bytes != 0 || section.offset < end ||
        section.offset > layout.body_end() || section.bytes > layout.body_end() - section.offset)
      refuse_index_file(index_table_at, which + " has " + std::to_string(section.bytes) +
                                            " bytes from byte " + std::to_string(section.offset) +
                                            ", but what is between byte " + std::to_string(end) + " and " +
                                            std::to_string(layout.body_end()) + " is left, from a whole " +
                                            std::to_string(index_page_bytes) + " on; save the index again");
    end = section.offset + section.bytes;
  }
}

/// Checks the sizes in the head, before any memory is allocated for them.
void check_counts(const IndexFileInfo& info) {
  const auto wrong = [](const std::string& why) { refuse_index_file(40, why + "; save the index again"); };
  constexpr std::int64_t most = std::numeric_limits<std::int64_t>::max();
  if (info.rows < 1 || info.rows > most_rows)
    wrong(std::to_string(info.rows) + " rows, but an index holds 1 to " + std::to_string(most_rows));
  if (info.dims < 1 || (compares_bits(info.metric) && info.dims > most_bits_of(info.metric)))
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

/// Returns the number of columns that count, from the size of their section.
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

/// Returns whether there is a section of a value for each column that counts: a centre, of rows of f32, or
/// a box, of f32 or f64. The metric must then be one of differences.
bool check_of_columns(const IndexLayout& layout, std::string_view which, bool takes_doubles) {
  const IndexFileSection* const section = layout.find(which);
  if (!section) return false;
  const auto count = static_cast<std::uint64_t>(layout.info.features);
  const bool known =
      layout.info.element == Element::f32 || (takes_doubles && layout.info.element == Element::f64);
  if (section->element != "f64" || section->bytes / sizeof(double) != count ||
      section->bytes % sizeof(double) != 0 || !known || !takes_centre(layout.info.metric))
    refuse_index_file(section->offset, "section " + section->name + " has " + std::to_string(section->bytes) +
                                           " bytes of " + section->element + ", which are no " +
                                           section->name + " of " + std::to_string(count) + " columns of " +
                                           std::string(name(layout.info.element)) + " by " +
                                           std::string(name(layout.info.metric)) + "; save the index again");
  return true;
}

/// Returns whether the metric takes this parameter.
bool takes(Metric metric, const MetricParameter& one) {
  if (one.values == &MetricParameters::column_weights) return takes_column_weights(metric);
  if (one.values == &MetricParameters::variances) return metric == Metric::seuclidean;
  if (one.values == &MetricParameters::p) return metric == Metric::minkowski;
  if (one.values == &MetricParameters::categorical || one.values == &MetricParameters::ranges)
    return takes_categories(metric);
  return metric == Metric::mahalanobis;
}

/// Returns the number of parameters that a file by this metric has, beside weights.
int parameters_of(Metric metric) {
  if (takes_categories(metric)) return 2;
  return metric == Metric::seuclidean || metric == Metric::mahalanobis || metric == Metric::minkowski ? 1 : 0;
}

/// Returns whether rows are prepared for a metric. Its parameters must then be there, and no others, and rows
/// are f32 or f64.
bool check_prepared(const IndexLayout& layout) {
  const IndexFileInfo& info = layout.info;
  int parameters = 0;
  bool weighted = false;
  const IndexFileSection* wrong = nullptr;
  for (const MetricParameter& one : metric_parameters)
    if (const IndexFileSection* const section = layout.find(one.section)) {
      const std::uint64_t bytes = one.count(info.features) * sizeof(double);
      if (section->element != "f64" || section->bytes != bytes || !takes(info.metric, one)) wrong = section;
      if (one.values == &MetricParameters::column_weights)
        weighted = true;
      else
        ++parameters;
    }
  const bool on_sphere = info.metric == Metric::haversine;
  if (const IndexFileSection* const degrees = layout.find(degrees_section))
    if (degrees->bytes > 0 || !on_sphere) wrong = degrees;
  const bool prepared = is_prepared(info.metric) || parameters > 0 || weighted;
  const bool is_float = (info.element == Element::f32 && !on_sphere) || info.element == Element::f64;
  if (on_sphere && info.features != sphere_columns)
    refuse_index_file(index_table_at, "rows of " + std::to_string(info.features) +
                                          " columns are no points of a sphere, as those of haversine are; "
                                          "save the index again");
  if (wrong || parameters != parameters_of(info.metric) ||
      (prepared && (!is_float || info.centred || info.periodic)))
    refuse_index_file(wrong ? wrong->offset : index_table_at,
                      (wrong ? "section " + wrong->name + " is" : std::string("the sections are")) +
                          " not what an index by " + std::string(name(info.metric)) + " has of " +
                          std::to_string(info.features) + " columns; save the index again");
  return prepared;
}

/// Checks a section on removed rows or on numbers of rows.
///   wanted  whether the head needs it
void check_numbers_section(const IndexLayout& layout, std::string_view name, std::string_view element,
                           std::int64_t bytes, bool wanted) {
  const IndexFileSection* const section = layout.find(name);
  if ((section != nullptr) == wanted &&
      (!section || (section->element == element && section->bytes == static_cast<std::uint64_t>(bytes))))
    return;
  refuse_index_file(section ? section->offset : index_table_at,
                    "section " + std::string(name) + (section ? " is not what" : " is missing, which") +
                        " the head needs of it; save the index again");
}

void check_numbers(const IndexLayout& layout) {
  const IndexFileInfo& info = layout.info;
  const std::int64_t numbers = info.rows * index_bytes;  // at most 2^32 rows
  const std::int64_t words = (info.rows + removed_bits_a_word - 1) / removed_bits_a_word;
  // An index that was not compacted may lack a list of positions, which are then equal to places.
  check_numbers_section(layout, positions_section, "i64", numbers,
                        info.positions != info.rows || layout.find(positions_section) != nullptr);
  check_numbers_section(layout, ids_section, "i64", numbers,
                        info.next_row != info.positions || layout.find(ids_section) != nullptr);
  check_numbers_section(layout, removed_section, "u32", words * std::int64_t{sizeof(std::uint32_t)},
                        info.removed > 0);
  if (layout.find(ids_section) && info.first_row != 0)
    refuse_index_file(index_table_at,
                      "the rows have ids and a first_row, which no index has; save the index again");
}

Element check_rows_section(const IndexLayout& layout) {
  const IndexFileInfo& info = layout.info;
  const bool unit = prepare_of(info.metric) == Prepare::unit_rows;
  const std::string_view wanted = unit ? unit_rows_section : rows_section;
  const IndexFileSection* const rows = layout.find(wanted);
  if (!rows || layout.find(unit ? rows_section : unit_rows_section))
    refuse_index_file(index_table_at, "an index of " + std::string(name(info.metric)) +
                                          " has its rows in the section " + std::string(wanted) +
                                          " alone; save the index again");
  for (const IndexFileSection& before : info.sections)
    if (is_known(before.name) && before.offset > rows->offset)
      refuse_index_file(index_table_at,
                        "section " + before.name + " stands behind the rows; save the index again");
  Element element{};
  bool known = false;
  for (const Element one :
       {Element::f32, Element::f16, Element::bf16, Element::u8, Element::i8, Element::bits, Element::f64})
    if (name(one) == rows->element) element = one, known = true;
  const bool of_units = element == Element::f32 || element == Element::f64;
  if (!known || (element == Element::bits) != compares_bits(info.metric) || (unit && !of_units) ||
      (element == Element::f64 && is_of_sums(info.metric)))
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

/// Checks a section of borders of groups, whose rows have the numbers that their places say. Returns the
/// number of groups.
std::int64_t check_groups(const IndexLayout& layout) {
  const IndexFileSection* const groups = layout.find(groups_section);
  if (!groups) return 0;
  const bool numbered = layout.find(positions_section) || layout.find(ids_section);
  if (groups->element != "i64" || groups->bytes < 2 * index_bytes || groups->bytes % index_bytes != 0 ||
      numbered || layout.info.removed > 0)
    refuse_index_file(groups->offset, "section groups has " + std::to_string(groups->bytes) + " bytes of " +
                                          groups->element + (numbered ? " beside numbers of rows" : "") +
                                          ", which are no borders of groups; save the index again");
  return static_cast<std::int64_t>(groups->bytes) / index_bytes - 1;
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

}  // namespace

void check_layout(IndexLayout& layout, std::uint64_t bytes) {
  check_sizes(layout, bytes);
  check_counts(layout.info);
  check_places(layout);
  layout.info.features = count_features(layout);
  check_numbers(layout);
  layout.info.groups = check_groups(layout);
  layout.info.element = check_rows_section(layout);
  layout.info.centred = check_of_columns(layout, centre_section, false);
  layout.info.periodic = check_of_columns(layout, box_section, true);
  layout.info.prepared = check_prepared(layout);
  layout.info.rows_offset = layout.rows().offset;
}

}  // namespace kith
