#include "search/sets/set_rows.hpp"

#include <algorithm>
#include <numeric>
#include <string>
#include <type_traits>
#include <utility>

#include "base/float_guard.hpp"
#include "base/numbers.hpp"
#include "device/device_set.hpp"
#include "device/timing.hpp"
#include "plan/reasons.hpp"
#include "rows/gathered_rows.hpp"
#include "rows/row_filter.hpp"
#include "search/index_plan.hpp"
#include "search/parted/joined_lists.hpp"
#include "search/sets/set_members.hpp"
#include "search/trace_sums.hpp"

namespace kith {
namespace {

/// What one member has to do in a search.
struct MemberShare {
  std::size_t member = 0;
  std::vector<const SetPart*> parts;
  std::int64_t rows = 0;  ///< of all its parts
  Stretch queries;
};

class SetRows : public PartedRows {
 public:
  SetRows(Device set, SetLayout layout, std::vector<SetPart> parts)
      : set_(std::move(set)), layout_(std::move(layout)), parts_(std::move(parts)) {}

  Keys search_keys(const Index::State& whole, const CheckedQueries& queries, std::int64_t k,
                   const PlanOptions& options, Trace* trace) const override {
    return search<Keys>(
        whole, k, queries.given.rows, options, trace,
        [&](const SetPart& part, Stretch some, const PlanOptions& way, const Keys* before, Trace* told) {
          CheckedQueries asked = queries.slice(some.first, some.count);
          if (before) asked.before = {before->value, k};
          asked.kept.first_row += part.places.first;
          return search_for_keys(*part.rows, asked, k, way, told, kept_.take());
        });
  }
  void take_back(Keys&& keys) const override { kept_.put(std::move(keys)); }

  RadiusKeys within_keys(const Index::State& whole, const CheckedQueries& queries,
                         std::span<const float> radii, const PlanOptions& options,
                         Trace* trace) const override {
    return search<RadiusKeys>(
        whole, 0, queries.given.rows, options, trace,
        [&](const SetPart& part, Stretch some, const PlanOptions& way, const RadiusKeys*, Trace* told) {
          const bool for_all = static_cast<std::int64_t>(radii.size()) != queries.given.rows;
          const auto own = for_all ? radii : radii.subspan(size(some.first), size(some.count));
          return search_within_keys(*part.rows, queries.slice(some.first, some.count), own, way, told);
        });
  }

  Plan plan(const Index::State& whole, std::int64_t m, std::int64_t k, const PlanOptions& options,
            const Feedback& feedback) const override;
  void prepare(const Index::State& whole, std::int64_t m, std::int64_t k,
               const PlanOptions& options) const override;
  Feedback feedback() const override { return feedback_of(*largest_part().rows); }
  float largest_element() const override {
    float largest = 0;
    for (const SetPart& part : parts_) largest = std::max(largest, part.rows->largest);
    return largest;
  }
  Residence residence() const override {
    const Index::State& part = *largest_part().rows;
    return part.parted ? part.parted->residence() : Residence::resident;
  }
  std::size_t memory_bytes() const override {
    std::size_t bytes = 0;
    for (const SetPart& part : parts_) bytes += memory_of(*part.rows);
    return bytes;
  }

  /// All parts have one source.
  std::uint64_t state() const override {
    const std::shared_ptr<const PartedRows>& rows = parts_.front().rows->parted;
    return rows ? rows->state() : 0;
  }
  void read_rows(std::int64_t first, std::int64_t count, float* to, std::uint32_t threads) const override {
    read_parts(parts_, {first, count}, to, threads);
  }
  std::shared_ptr<const PartedRows> with(const Index::State& whole, MatrixView<const float> more,
                                         std::uint32_t threads) const override;
  std::shared_ptr<const PartedRows> of(const Index::State& whole,
                                       std::span<const std::int64_t> places) const override;
  bool is_compact() const override {
    const auto same_member = [](const SetPart& a, const SetPart& b) { return a.member == b.member; };
    return std::adjacent_find(parts_.begin(), parts_.end(), same_member) == parts_.end();
  }

 private:
  const SetPart& largest_part() const {
    return *std::max_element(parts_.begin(), parts_.end(), [](const SetPart& a, const SetPart& b) {
      return a.places.count < b.places.count;
    });
  }
  std::vector<MemberShare> shares_of_search(std::int64_t m) const;
  /// As that of the whole, what was planned for a part.
  Plan plan_of_whole(const Index::State& whole, Plan of_part, std::int64_t m, std::int64_t k) const;

  template <class Lists, class SearchPart>
  Lists search(const Index::State& whole, std::int64_t k, std::int64_t m, const PlanOptions& options,
               Trace* trace, const SearchPart& search_part) const;
  template <class Lists, class SearchPart>
  Lists search_member(const MemberShare& share, std::int64_t m, const PlanOptions& options, Trace* trace,
                      MemberTrace* told, const SearchPart& search_part) const;

  const Device set_;
  const SetLayout layout_;
  const std::vector<SetPart> parts_;  ///< by member, then by place
  mutable KeptKeys kept_;
};

/// Of members that have rows and queries; where there are no queries, of the first that has rows.
std::vector<MemberShare> SetRows::shares_of_search(std::int64_t m) const {
  const bool split = layout_.placement == Placement::split;
  const std::vector<std::int64_t> cuts =
      split ? std::vector<std::int64_t>{} : cut_by_shares(m, layout_.shares, 1);
  std::vector<MemberShare> shares;
  for (const SetPart& part : parts_) {
    if (shares.empty() || shares.back().member != part.member) {
      const Stretch some =
          split ? Stretch{0, m} : Stretch{cuts[part.member], cuts[part.member + 1] - cuts[part.member]};
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

/// One part after the other. What is found so far is what the next one begins with, where lists are of k.
template <class Lists, class SearchPart>
Lists SetRows::search_member(const MemberShare& share, std::int64_t m, const PlanOptions& options,
                             Trace* trace, MemberTrace* told, const SearchPart& search_part) const {
  const FloatGuard guard;
  const Stopwatch watch;
  std::vector<Lists> found;
  std::int64_t largest = -1, before = 0;
  for (const SetPart* const part : share.parts) {
    AskedPart asked(m, options, share.queries, part->places);
    const auto all = static_cast<double>(share.rows);
    asked.scale_progress(static_cast<double>(before) / all,
                         static_cast<double>(before + part->places.count) / all);
    Trace of_part = trace ? asked_like(*trace) : Trace{};
    found.push_back(search_part(*part, share.queries, asked.options(),
                                found.empty() ? nullptr : &found.front(), trace ? &of_part : nullptr));
    if (std::is_same_v<Lists, Keys> && found.size() > 1) {
      Lists best = united(std::move(found), kept_);
      found.clear();
      found.push_back(std::move(best));
    }
    before += part->places.count;
    if (!trace) continue;
    add_rows(*trace, of_part);
    if (part->places.count > largest) told->plan = of_part.plan;
    largest = std::max(largest, part->places.count);
    told->bytes += memory_of(*part->rows);
  }
  Lists all = united(std::move(found), kept_);
  if (trace) {
    told->device_seconds = trace->device_seconds;
    told->seconds = watch.seconds();
  }
  return all;
}

template <class Lists, class SearchPart>
Lists SetRows::search(const Index::State& whole, std::int64_t k, std::int64_t m, const PlanOptions& options,
                      Trace* trace, const SearchPart& search_part) const {
  const std::vector<MemberShare> shares = shares_of_search(m);
  const FloatGuard guard;
  std::vector<Lists> found(shares.size());
  std::vector<Trace> traces(shares.size(), trace ? asked_like(*trace) : Trace{});
  std::vector<MemberTrace> told(shares.size());
  std::vector<MemberWork> work;
  double pairs = 0;
  for (std::size_t i = 0; i < shares.size(); ++i) {
    const MemberShare& share = shares[i];
    told[i].device = members_of(set_)[share.member].info().spec;
    told[i].rows = share.rows;
    told[i].queries = share.queries.count;
    told[i].share = static_cast<double>(share.rows) * static_cast<double>(share.queries.count);
    pairs += told[i].share;
    work.push_back({told[i].device, told[i].share, [&, i](const PlanOptions& way) {
                      found[i] = search_member<Lists>(shares[i], m, way, trace ? &traces[i] : nullptr,
                                                      &told[i], search_part);
                    }});
  }
  run_members(std::move(work), options);
  const Stopwatch merging;
  Lists all =
      layout_.placement == Placement::split ? united(std::move(found), kept_) : appended(std::move(found));
  if (!trace) return all;
  for (MemberTrace& member : told) member.share = pairs > 0 ? member.share / pairs : 0;
  join_members(*trace, traces);
  trace->seconds["join"] += merging.seconds();
  const auto most = std::max_element(
      told.begin(), told.end(), [](const MemberTrace& a, const MemberTrace& b) { return a.share < b.share; });
  trace->plan = plan_of_whole(whole, most->plan, m, k);
  trace->members = std::move(told);
  return all;
}

Plan SetRows::plan_of_whole(const Index::State& whole, Plan of_part, std::int64_t m, std::int64_t k) const {
  of_part.problem.n = whole.rows;
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

/// Of the largest part.
Plan SetRows::plan(const Index::State& whole, std::int64_t m, std::int64_t k, const PlanOptions& options,
                   const Feedback& feedback) const {
  check_k("search", k, whole.rows, options);
  check_rows_left_out("search", whole.rows, m, options);
  const std::vector<MemberShare> shares = shares_of_search(m);
  const SetPart& part = largest_part();
  const auto share = std::find_if(shares.begin(), shares.end(),
                                  [&](const MemberShare& one) { return one.member == part.member; });
  const Stretch some = share == shares.end() ? Stretch{0, m} : share->queries;
  PlanOptions without_self = options;
  without_self.self.reset();
  const AskedPart asked(m, without_self, some, part.places);
  const std::int64_t searched = k + (options.self ? 1 : 0);
  Plan plan = plan_of_whole(
      whole,
      plan_of(*part.rows, some.count, std::min(searched, part.places.count), asked.options(), feedback), m,
      searched);
  plan.self = options.self;
  return plan;
}

void SetRows::prepare(const Index::State& whole, std::int64_t m, std::int64_t k,
                      const PlanOptions& options) const {
  check_k("search", k, whole.rows, options);
  check_rows_left_out("search", whole.rows, m, options);
  const std::vector<MemberShare> shares = shares_of_search(m);
  const std::int64_t searched = k + (options.self ? 1 : 0);
  PlanOptions without_self = options;
  without_self.self.reset();
  std::vector<MemberWork> work;
  work.reserve(shares.size());
  for (const MemberShare& share : shares)
    work.push_back({members_of(set_)[share.member].info().spec, static_cast<double>(share.rows),
                    [m, &share, searched](const PlanOptions& way) {
                      for (const SetPart* const part : share.parts) {
                        const AskedPart asked(m, way, share.queries, part->places);
                        prepare_for(*part->rows, share.queries.count, std::min(searched, part->places.count),
                                    asked.options());
                      }
                    }});
  run_members(std::move(work), without_self);
}

std::shared_ptr<const PartedRows> SetRows::with(const Index::State& whole, MatrixView<const float> more,
                                                std::uint32_t threads) const {
  if (residence() != Residence::resident)
    return largest_part().rows->parted->with(whole, more, threads);  // which says why not
  const std::int64_t first = whole.rows - more.rows();
  SetLayout added = set_layout(layout_.placement, layout_.shares, first, more.rows());
  added.reserve = layout_.reserve;
  std::vector<SetPart> parts = parts_;
  for (SetPart& part : parts_with_rows(whole, added, more, first, threads)) parts.push_back(std::move(part));
  std::stable_sort(parts.begin(), parts.end(),
                   [](const SetPart& a, const SetPart& b) { return a.member < b.member; });
  return rows_on_set(whole, layout_, std::move(parts));
}

std::shared_ptr<const PartedRows> SetRows::of(const Index::State& whole,
                                              std::span<const std::int64_t> places) const {
  if (residence() != Residence::resident) return largest_part().rows->parted->of(whole, places);
  SetLayout layout =
      set_layout(layout_.placement, layout_.shares, 0, static_cast<std::int64_t>(places.size()));
  layout.reserve = layout_.reserve;
  std::vector<SetPart> parts = parts_of_places(whole, layout, parts_, places);
  return rows_on_set(whole, std::move(layout), std::move(parts));
}

}  // namespace

std::shared_ptr<const PartedRows> rows_on_set(const Index::State& whole, SetLayout layout,
                                              std::vector<SetPart> parts) {
  return std::make_shared<SetRows>(whole.device, std::move(layout), std::move(parts));
}

std::shared_ptr<const PartedRows> rows_on_set(const Index::State& whole, MatrixView<const float> rows,
                                              const Placing& placing) {
  SetLayout layout = set_layout(whole, placing, rows.rows());
  std::vector<SetPart> parts = parts_with_rows(whole, layout, rows, 0, 0);
  return rows_on_set(whole, std::move(layout), std::move(parts));
}

}  // namespace kith
