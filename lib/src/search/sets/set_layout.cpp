// Decides which rows go to which member of a set, and puts them there.
#include <algorithm>
#include <cmath>
#include <memory>
#include <string>
#include <utility>

#include "base/float_guard.hpp"
#include "base/numbers.hpp"
#include "device/device_set.hpp"
#include "kith/error.hpp"
#include "search/sets/set_members.hpp"
#include "search/sets/set_store.hpp"

namespace kith {
namespace {

constexpr std::int64_t filter_word = 32;  // a part that begins at a word uses the filter without shifting it

}  // namespace

SetLayout set_layout(Placement placement, std::vector<double> shares, std::int64_t first,
                     std::int64_t count) {
  SetLayout layout{placement, std::move(shares), {}, 0};
  if (placement == Placement::replicate) {
    for (const double share : layout.shares) layout.rows.push_back({first, share > 0 ? count : 0});
    return layout;
  }
  const std::vector<std::int64_t> cuts = cut_by_shares(count, layout.shares, filter_word);
  for (std::size_t i = 0; i < layout.shares.size(); ++i)
    layout.rows.push_back({first + cuts[i], cuts[i + 1] - cuts[i]});
  return layout;
}

SetLayout set_layout(const RowSchema& schema, Placement placement, std::span<const double> shares,
                     std::int64_t count) {
  const std::vector<Device>& members = members_of(schema.device);
  SetLayout layout = set_layout(chosen_placement(placement, count, static_cast<std::int64_t>(members.size())),
                                shares_of(schema.device, shares, schema.metric, schema.dims), 0, count);
  for (std::size_t i = 0; i < members.size(); ++i)
    if (layout.rows[i].count > most_rows)
      throw Error(Errc::invalid_argument,
                  "index: " + members[i].info().spec + " would hold " + std::to_string(layout.rows[i].count) +
                      " training rows, but a device holds at most " + std::to_string(most_rows) +
                      "; give it a smaller share, or add a member");
  return layout;
}

RowSchema schema_of_member(const RowSchema& set, std::size_t member) {
  RowSchema schema(members_of(set.device)[member], set.shown.metric, set.columns, set.features);
  schema.compare_as(set);
  schema.element = set.element;
  if (set.terms) schema.terms = set.terms->on(schema.device);
  return schema;
}

float largest_element(std::span<const float> rows, Metric metric) {
  float largest = 0;
  if (compares_bits(metric)) return largest;
  const FloatGuard guard;
  for (const float value : rows) largest = std::max(largest, std::fabs(value));
  return largest;
}

std::vector<SetPart> make_parts(
    const RowSchema& schema, const SetLayout& layout,
    const std::function<std::shared_ptr<const RowStore>(const RowSchema& member, RowRange places)>& make) {
  std::vector<SetPart> parts;
  for (std::size_t i = 0; i < layout.rows.size(); ++i)
    if (layout.rows[i].count > 0) parts.push_back({i, layout.rows[i], nullptr});
  std::vector<MemberWork> work;
  work.reserve(parts.size());
  for (SetPart& part : parts) {
    const RowSchema member = schema_of_member(schema, part.member);
    work.push_back({member.device.info().spec, 1,
                    [&part, &make, member](const SearchOptions&) { part.rows = make(member, part.places); }});
  }
  run_members(std::move(work), {});
  return parts;
}

}  // namespace kith
