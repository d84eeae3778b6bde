// Which rows go to which member of a set, and how they get there.
#include <algorithm>
#include <cmath>
#include <memory>
#include <numeric>
#include <string>
#include <utility>

#include "base/float_guard.hpp"
#include "base/numbers.hpp"
#include "certified/row_sample.hpp"
#include "device/device_set.hpp"
#include "kith/error.hpp"
#include "rows/gathered_rows.hpp"
#include "search/bytes/byte_rows.hpp"
#include "search/halves/half_rows.hpp"
#include "search/sets/set_members.hpp"
#include "search/sets/set_rows.hpp"

namespace kith {
namespace {

constexpr std::int64_t filter_word = 32;  // a part that begins with a word cuts a filter without shifting it

/// max |element| of rows that come from devices, of which nothing else is known; 0 of bits.
float largest_of(std::span<const float> rows, Metric metric) {
  float largest = 0;
  if (compares_bits(metric)) return largest;
  const FloatGuard guard;
  for (const float value : rows) largest = std::max(largest, std::fabs(value));
  return largest;
}

///   largest  max |element| of these rows, or of more
///   reserve  IndexOptions::reserve
void fill_part(Index::State& part, MatrixView<const float> rows, float largest, std::int64_t reserve,
               std::uint32_t threads) {
  part.largest = largest;
  if (keeps_bytes(part, reserve)) {
    part.parted = ByteRows::made_of(part, rows, threads);
    return;
  }
  if (keeps_halves(part, reserve)) {
    part.parted = HalfRows::made_of(part, rows, threads);
    return;
  }
  part.chunks = upload_chunks(part.device.state(), rows, 0, threads);
  sampled_values(rows, part.metric, part.element).tell(part);
}

/// The rows at these places, ascending, one behind the other.
std::vector<float> rows_at(std::span<const SetPart> parts, std::span<const std::int64_t> places,
                           std::int64_t dims) {
  std::vector<float> rows(size(static_cast<std::int64_t>(places.size())) * size(dims));
  for (std::size_t begin = 0, end = 0; begin < places.size(); begin = end) {
    end = begin + 1;
    while (end < places.size() && places[end] == places[end - 1] + 1) ++end;
    read_parts(parts, {places[begin], static_cast<std::int64_t>(end - begin)},
               rows.data() + begin * size(dims), 0);
  }
  return rows;
}

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

SetLayout set_layout(const Index::State& whole, const Placing& placing, std::int64_t count) {
  const std::vector<Device>& members = members_of(whole.device);
  const Placement placement =
      chosen_placement(placing.placement, count, static_cast<std::int64_t>(members.size()));
  SetLayout layout =
      set_layout(placement, shares_of(whole.device, placing.shares, whole.metric, whole.dims), 0, count);
  layout.reserve = placing.reserve;
  for (std::size_t i = 0; i < members.size(); ++i)
    if (layout.rows[i].count > most_rows)
      throw Error(Errc::invalid_argument,
                  "index: " + members[i].info().spec + " would hold " + std::to_string(layout.rows[i].count) +
                      " training rows, but a device holds at most " + std::to_string(most_rows) +
                      "; give it a smaller share, or add a member");
  return layout;
}

std::shared_ptr<Index::State> empty_part(const Index::State& whole, std::size_t member, Stretch places) {
  auto part = std::make_shared<Index::State>(members_of(whole.device)[member], whole.metric, whole.columns,
                                             whole.features);
  part->rows = places.count;
  part->element = whole.element;
  part->numbers = RowNumbers(places.count);
  part->first_row = places.first;
  return part;
}

std::vector<SetPart> parts_with_rows(const Index::State& whole, const SetLayout& layout,
                                     MatrixView<const float> rows, std::int64_t first,
                                     std::uint32_t threads) {
  const std::vector<Device>& members = members_of(whole.device);
  const float largest = whole.largest;
  const std::int64_t reserve = layout.reserve;
  std::vector<SetPart> parts;
  std::vector<MemberWork> work;
  for (std::size_t i = 0; i < members.size(); ++i) {
    const Stretch places = layout.rows[i];
    if (places.count == 0) continue;
    const std::shared_ptr<Index::State> part = empty_part(whole, i, places);
    parts.push_back({i, places, part});
    work.push_back({members[i].info().spec, 1, [=](const PlanOptions&) {
                      fill_part(*part, rows.slice(places.first - first, places.count), largest, reserve,
                                threads);
                    }});
  }
  run_members(std::move(work), {});
  return parts;
}

void read_parts(std::span<const SetPart> parts, Stretch places, float* to, std::uint32_t threads) {
  std::int64_t done = 0;
  while (done < places.count) {
    const std::int64_t at = places.first + done;
    const auto part = std::find_if(parts.begin(), parts.end(), [at](const SetPart& candidate) {
      return candidate.places.first <= at && at < candidate.places.first + candidate.places.count;
    });
    const std::int64_t first = at - part->places.first,
                       count = std::min(part->places.count - first, places.count - done);
    float* const into = to + done * part->rows->dims;
    if (part->rows->parted) {
      part->rows->parted->read_rows(first, count, into, threads);
    } else {
      std::vector<std::int64_t> wanted(size(count));
      std::iota(wanted.begin(), wanted.end(), first);
      const std::vector<float> rows = gathered_rows(*part->rows, wanted, threads);
      std::copy(rows.begin(), rows.end(), into);
    }
    done += count;
  }
}

std::vector<SetPart> parts_of_places(const Index::State& whole, const SetLayout& layout,
                                     std::span<const SetPart> parts, std::span<const std::int64_t> places) {
  std::vector<SetPart> made;
  const std::vector<Device>& members = members_of(whole.device);
  std::vector<float> rows;
  Stretch have;  // of `places`, in `rows`
  float largest = 0;
  for (std::size_t i = 0; i < members.size(); ++i) {
    const Stretch here = layout.rows[i];
    if (here.count == 0) continue;
    if (have.first != here.first || have.count != here.count) {
      rows = rows_at(parts, places.subspan(size(here.first), size(here.count)), whole.dims);
      have = here;
      largest = largest_of(rows, whole.metric);
    }
    const std::shared_ptr<Index::State> part = empty_part(whole, i, here);
    fill_part(*part, {rows.data(), here.count, whole.dims}, largest, layout.reserve, 0);
    made.push_back({i, here, part});
  }
  return made;
}

}  // namespace kith
