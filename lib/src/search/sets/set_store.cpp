#include "search/sets/set_store.hpp"

#include <algorithm>
#include <string>
#include <utility>

#include "base/float_guard.hpp"
#include "base/numbers.hpp"
#include "device/device_set.hpp"
#include "device/timing.hpp"
#include "plan/reasons.hpp"
#include "rows/row_filter.hpp"
#include "search/distinct/stored_once.hpp"
#include "search/lists/asked_part.hpp"
#include "search/lists/trace_sums.hpp"
#include "search/sets/set_members.hpp"

namespace kith {
namespace {

float largest_of(const std::vector<SetPart>& parts) {
  const FloatGuard guard;
  float largest = 0;
  for (const SetPart& part : parts) largest = std::max(largest, part.rows->largest());
  return largest;
}

}  // namespace

SetStore::SetStore(const RowSchema& set, SetLayout layout, std::vector<SetPart> parts, std::int64_t rows)
    : RowStore(rows, largest_of(parts)),
      set_(set.device),
      dims_(set.dims),
      layout_(std::move(layout)),
      parts_(std::move(parts)) {}

const SetPart& SetStore::largest_part() const {
  return *std::max_element(parts_.begin(), parts_.end(), [](const SetPart& a, const SetPart& b) {
    return a.places.count < b.places.count;
  });
}

/// Describes the largest part, since all parts have one source, and are kept alike.
StoreInfo SetStore::info() const {
  StoreInfo info = largest_part().rows->info();
  const auto same_member = [](const SetPart& a, const SetPart& b) { return a.member == b.member; };
  info.compact = std::adjacent_find(parts_.begin(), parts_.end(), same_member) == parts_.end();
  info.bytes = 0;
  for (const SetPart& part : parts_) info.bytes += part.rows->info().bytes;
  return info;
}

/// Returns the shares of members that have rows and queries; without queries, of the first member that
/// has rows.
std::vector<SetStore::MemberShare> SetStore::shares_of_search(std::int64_t m) const {
  const bool split = layout_.placement == Placement::split;
  const std::vector<std::int64_t> cuts =
      split ? std::vector<std::int64_t>{} : cut_by_shares(m, layout_.shares, 1);
  std::vector<MemberShare> shares;
  for (const SetPart& part : parts_) {
    if (shares.empty() || shares.back().member != part.member) {
      const RowRange some =
          split ? RowRange{0, m} : RowRange{cuts[part.member], cuts[part.member + 1] - cuts[part.member]};
      shares.push_back({part.member, {}, 0, some});
    }
    shares.back().parts.push_back(&part);
    shares.back().rows += part.places.count;
  }
  if (m > 0)
    std::erase_if(shares, [](const MemberShare& share) { return share.queries.count == 0; });
  else
    shares.erase(shares.begin() + 1, shares.end());
  return shares;
}

/// Visits the parts of a member, one after another.
///   options      options of the member
///   trace, told  reports of the member; null: not wanted
void SetStore::visit_member(const MemberShare& share, const SearchRequest& request,
                            const SearchOptions& options, const VisitPart& visit, Trace* trace,
                            MemberTrace* told) const {
  const FloatGuard guard;
  const Stopwatch watch;
  std::int64_t largest = -1, before = 0;
  QuerySet queries = request.queries.slice(share.queries.first, share.queries.count);
  for (const SetPart* const part : share.parts) {
    AskedPart asked(request.m(), options, share.queries, part->places);
    const auto all = static_cast<double>(share.rows);
    asked.scale_progress(static_cast<double>(before) / all,
                         static_cast<double>(before + part->places.count) / all);
    SearchRequest own = request.part(queries, asked.options(), share.queries.first, part->places.first);
    own.member = share.member;
    Trace of_part = trace ? asked_like(*trace) : Trace{};
    visit(*part->rows, own, trace ? &of_part : nullptr);
    before += part->places.count;
    if (!trace) continue;
    add_rows(*trace, of_part);
    if (part->places.count > largest) told->plan = of_part.plan;
    largest = std::max(largest, part->places.count);
    told->bytes += part->rows->info().bytes;
  }
  if (!trace) return;
  told->device_seconds = trace->device_seconds;
  told->seconds = watch.seconds();
}

void SetStore::each_part(const SearchRequest& request, const VisitPart& visit, Trace* trace) const {
  const FloatGuard guard;
  const std::vector<MemberShare> shares = shares_of_search(request.m());
  std::vector<Trace> traces(shares.size(), trace ? asked_like(*trace) : Trace{});
  std::vector<MemberTrace> told(shares.size());
  std::vector<MemberWork> work;
  for (std::size_t i = 0; i < shares.size(); ++i) {
    const MemberShare& share = shares[i];
    told[i].device = members_of(set_)[share.member].info().spec;
    told[i].rows = share.rows;
    told[i].queries = share.queries.count;
    told[i].share = static_cast<double>(share.rows) * static_cast<double>(share.queries.count);
    const double weight = request.m() > 0 ? told[i].share : static_cast<double>(share.rows);
    work.push_back({told[i].device, weight, [&, i](const SearchOptions& options) {
                      visit_member(shares[i], request, options, visit, trace ? &traces[i] : nullptr,
                                   &told[i]);
                    }});
  }
  run_members(std::move(work), request.options);
  if (trace) join_traces(request, traces, std::move(told), *trace);
}

void SetStore::join_traces(const SearchRequest& request, const std::vector<Trace>& traces,
                           std::vector<MemberTrace> told, Trace& trace) const {
  const FloatGuard guard;
  double pairs = 0;
  for (const MemberTrace& member : told) pairs += member.share;
  for (MemberTrace& member : told) member.share = pairs > 0 ? member.share / pairs : 0;
  join_members(trace, traces);
  const auto most = std::max_element(
      told.begin(), told.end(), [](const MemberTrace& a, const MemberTrace& b) { return a.share < b.share; });
  trace.plan = plan_of_whole(most->plan, request.m(), request.radii ? 0 : request.k);
  trace.members = std::move(told);
}

/// Turns the plan of a part into that of the whole.
Plan SetStore::plan_of_whole(Plan of_part, std::int64_t m, std::int64_t k) const {
  of_part.problem.n = rows();
  of_part.problem.m = m;
  of_part.problem.k = k;
  of_part.device = set_.info().spec;
  std::string list;
  for (std::size_t i = 0; i < parts_.size(); ++i) {
    list += (list.empty() ? "" : ", ") + members_of(set_)[parts_[i].member].info().spec;
    if (layout_.placement == Placement::split) list += " " + std::to_string(parts_[i].places.count);
  }
  of_part.reason += reasons::placed(layout_.placement, list);
  return of_part;
}

/// Plans for the largest part.
Plan SetStore::plan(std::int64_t m, std::int64_t k, const SearchOptions& options,
                    const Feedback& feedback) const {
  check_k("search", k, rows(), options);
  check_rows_left_out("search", rows(), m, options);
  const std::vector<MemberShare> shares = shares_of_search(m);
  const SetPart& part = largest_part();
  const auto share = std::find_if(shares.begin(), shares.end(),
                                  [&](const MemberShare& one) { return one.member == part.member; });
  const RowRange some = share == shares.end() ? RowRange{0, m} : share->queries;
  SearchOptions without_self = options;
  without_self.self.reset();
  const AskedPart asked(m, without_self, some, part.places);
  const std::int64_t searched = k + (options.self ? 1 : 0);
  Plan plan = plan_of_whole(
      part.rows->plan(some.count, std::min(searched, part.places.count), asked.options(), feedback), m,
      searched);
  plan.self = options.self;
  return plan;
}

void SetStore::read(std::int64_t first, std::int64_t count, float* to, std::uint32_t threads) const {
  while (count > 0) {
    const auto part = std::find_if(parts_.begin(), parts_.end(), [first](const SetPart& candidate) {
      return candidate.places.first <= first && first < candidate.places.first + candidate.places.count;
    });
    const std::int64_t at = first - part->places.first, some = std::min(part->places.count - at, count);
    part->rows->read(at, some, to, threads);
    first += some;
    count -= some;
    to += some * dims_;
  }
}

/// Returns the rows at these places, which ascend, without gaps.
std::vector<float> SetStore::rows_at(std::span<const std::int64_t> places) const {
  std::vector<float> rows(places.size() * size(dims_));
  for (std::size_t begin = 0, end = 0; begin < places.size(); begin = end) {
    end = begin + 1;
    while (end < places.size() && places[end] == places[end - 1] + 1) ++end;
    read(places[begin], static_cast<std::int64_t>(end - begin), rows.data() + begin * size(dims_), 0);
  }
  return rows;
}

std::shared_ptr<const RowStore> SetStore::appended(const RowSchema& all, const RowsForIndex& more) const {
  const SetPart& largest = largest_part();
  if (info().residence != Residence::resident) return largest.rows->appended(all, more);  // throws the reason
  const PreparedRows prepared = prepared_rows(all, more);
  const std::int64_t first = rows(), count = prepared.view.rows();
  const float largest_of_all = std::max(this->largest(), prepared.largest);
  SetLayout added = set_layout(layout_.placement, layout_.shares, first, count);
  std::vector<SetPart> parts = parts_;
  for (SetPart& part : make_parts(all, added, [&](const RowSchema&member, RowRange places) {
         return stored_once(member, prepared.view.slice(places.first - first, places.count), largest_of_all,
                            layout_.reserve, layout_.deduplicate);
       }))
    parts.push_back(std::move(part));
  std::stable_sort(parts.begin(), parts.end(),
                   [](const SetPart& a, const SetPart& b) { return a.member < b.member; });
  return std::make_shared<SetStore>(all, layout_, std::move(parts), first + count);
}

/// Makes the subset. Replicas are made one after another, from rows that are read once.
std::shared_ptr<const RowStore> SetStore::subset(const RowSchema& schema,
                                                 std::span<const std::int64_t> places) const {
  if (info().residence != Residence::resident) return largest_part().rows->subset(schema, places);
  const auto count = static_cast<std::int64_t>(places.size());
  SetLayout layout = set_layout(layout_.placement, layout_.shares, 0, count);
  layout.reserve = layout_.reserve;
  layout.deduplicate = layout_.deduplicate;
  std::vector<SetPart> parts;
  std::vector<float> rows;
  RowRange have;  // range of `places` that `rows` holds
  float largest = 0;
  for (std::size_t i = 0; i < layout.rows.size(); ++i) {
    const RowRange here = layout.rows[i];
    if (here.count == 0) continue;
    if (have.first != here.first || have.count != here.count) {
      rows = rows_at(places.subspan(size(here.first), size(here.count)));
      have = here;
      largest = largest_element(rows, schema.metric);
    }
    parts.push_back({i, here,
                     stored_once(schema_of_member(schema, i), {rows.data(), here.count, dims_}, largest,
                                 layout.reserve, layout.deduplicate)});
  }
  return std::make_shared<SetStore>(schema, std::move(layout), std::move(parts), count);
}

}  // namespace kith
