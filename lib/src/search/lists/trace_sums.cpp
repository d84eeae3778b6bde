#include "search/lists/trace_sums.hpp"

#include <algorithm>

namespace kith {
namespace {

/// Adds everything but tiles, the clocks of devices and queues, and members.
void add_counts(Trace& all, const Trace& part) {
  for (const auto& [step, seconds] : part.seconds) all.seconds[step] += seconds;
  all.listed += part.listed;
  all.collected += part.collected;
  all.repeats += part.repeats;
  all.fallbacks += part.fallbacks;
  all.ranked_doubles += part.ranked_doubles;
  all.repeated_doubles += part.repeated_doubles;
  all.product_bound = std::max(all.product_bound, part.product_bound);
  if (all.proposer_check.empty()) all.proposer_check = part.proposer_check;
  all.quantized_seconds += part.quantized_seconds;
  all.quantized_bytes += part.quantized_bytes;
  all.boxes_seconds += part.boxes_seconds;
  all.boxes_bytes += part.boxes_bytes;
  all.leaves += part.leaves;
  all.chunks += part.chunks;
  all.source_bytes += part.source_bytes;
}

void add_clocks(Trace& all, const Trace& part) {
  all.device_seconds += part.device_seconds;
  all.queue_seconds += part.queue_seconds;
}

void add_query_tiles(Trace& all, const Trace& part) {
  all.query_tiles += part.query_tiles;
  all.train_tiles = std::max(all.train_tiles, part.train_tiles);
}

/// Adds what a member did for other queries with the same rows.
void add_to_member(MemberTrace& member, const MemberTrace& more) {
  member.queries += more.queries;
  member.seconds += more.seconds;
  member.device_seconds += more.device_seconds;
  member.bytes = std::max(member.bytes, more.bytes);
}

/// Adds traces of members. One that had no queries before is inserted at its place in the order of the set.
void add_members(std::vector<MemberTrace>& all, const std::vector<MemberTrace>& more) {
  std::size_t before = all.size();
  for (auto member = more.rbegin(); member != more.rend(); ++member) {
    std::size_t at = before;
    while (at > 0 && all[at - 1].device != member->device) --at;
    if (at > 0)
      add_to_member(all[at - 1], *member);
    else
      all.insert(all.begin() + static_cast<std::ptrdiff_t>(before), *member);
    before = at > 0 ? at - 1 : before;
  }
}

void share_by_pairs(std::vector<MemberTrace>& members) {
  double all = 0;
  for (MemberTrace& member : members) {
    member.share = static_cast<double>(member.rows) * static_cast<double>(member.queries);
    all += member.share;
  }
  for (MemberTrace& member : members) member.share = all > 0 ? member.share / all : 0;
}

}  // namespace

Trace asked_like(const Trace& trace) {
  Trace asked;
  asked.time_steps = trace.time_steps;
  asked.hold_queue = trace.hold_queue;
  return asked;
}

void add_rest(Trace& all, const Trace& rest) {
  add_counts(all, rest);
  add_clocks(all, rest);
}

void add_rows(Trace& all, const Trace& more) {
  add_rest(all, more);
  all.query_tiles = std::max(all.query_tiles, more.query_tiles);
  all.train_tiles += more.train_tiles;
}

void add_queries(Trace& all, const Trace& more) {
  if (all.query_tiles == 0) all.plan = more.plan;
  add_counts(all, more);
  add_clocks(all, more);
  add_query_tiles(all, more);
  add_members(all.members, more.members);
  share_by_pairs(all.members);
}

void join_members(Trace& whole, const std::vector<Trace>& members) {
  for (const Trace& member : members) {
    add_counts(whole, member);
    add_query_tiles(whole, member);
    whole.device_seconds = std::max(whole.device_seconds, member.device_seconds);
    whole.queue_seconds = std::max(whole.queue_seconds, member.queue_seconds);
  }
}

}  // namespace kith
