#include "search/sets/member_trace.hpp"

#include <algorithm>

namespace kith {
namespace {

/// All but the clocks of devices and queues.
void add_counts(Trace& all, const Trace& part) {
  for (const auto& [step, seconds] : part.seconds) all.seconds[step] += seconds;
  all.query_tiles += part.query_tiles;
  all.train_tiles = std::max(all.train_tiles, part.train_tiles);
  all.listed += part.listed;
  all.collected += part.collected;
  all.repeats += part.repeats;
  all.fallbacks += part.fallbacks;
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

}  // namespace

Trace asked_like(const Trace& trace) {
  Trace asked;
  asked.time_steps = trace.time_steps;
  asked.hold_queue = trace.hold_queue;
  return asked;
}

void add_part(Trace& member, const Trace& part) {
  add_counts(member, part);
  member.device_seconds += part.device_seconds;
  member.queue_seconds += part.queue_seconds;
}

void join_members(Trace& whole, const std::vector<Trace>& members) {
  for (const Trace& member : members) {
    add_counts(whole, member);
    whole.device_seconds = std::max(whole.device_seconds, member.device_seconds);
    whole.queue_seconds = std::max(whole.queue_seconds, member.queue_seconds);
  }
}

}  // namespace kith
