// Implements stops and traces of searches for C.
#include <iterator>
#include <memory>
#include <vector>

#include "c_api/c_handles.hpp"
#include "c_api/c_structs.hpp"

using namespace kith;
using namespace kith::c_api;

kith_status kith_stop_new(kith_stop** out) {
  return make_handle(__func__, out, [](const char*) { return std::make_unique<kith_stop>(); });
}

void kith_stop_free(kith_stop* stop) {
  delete stop;
}

kith_status kith_stop_request(const kith_stop* stop) {
  return guarded(__func__, [&](const char* where) {
    std::stop_source(given(where, "stop", stop).source).request_stop();
  });
}

kith_status kith_trace_new(int32_t time_steps, kith_trace** out) {
  return make_handle(__func__, out, [&](const char*) {
    auto trace = std::make_unique<kith_trace>();
    trace->trace.time_steps = time_steps != 0;
    return trace;
  });
}

void kith_trace_free(kith_trace* trace) {
  delete trace;
}

kith_status kith_trace_describe(const kith_trace* trace, kith_trace_info* info) {
  return guarded(__func__, [&](const char* where) {
    const kith_trace& told = given(where, "trace", trace);
    const Trace& from = told.trace;
    auto to = KITH_INIT(kith_trace_info);
    to.plan = told.plan.c_str();
    to.selector = name(from.plan.selector).data();
    to.proposer = name(from.plan.proposer).data();
    to.device_seconds = from.device_seconds;
    to.total_seconds = from.total_seconds;
    to.query_tiles = from.query_tiles;
    to.train_tiles = from.train_tiles;
    to.repeats = from.repeats;
    to.fallbacks = from.fallbacks;
    to.step_count = static_cast<int64_t>(from.seconds.size());
    to.member_count = static_cast<int64_t>(from.members.size());
    write_struct(where, info, to);
  });
}

kith_status kith_trace_step(const kith_trace* trace, int64_t number, const char** step, double* seconds) {
  return guarded(__func__, [&](const char* where) {
    const auto& steps = given(where, "trace", trace).trace.seconds;
    check_number(where, "step", number, steps.size());
    const auto found = std::next(steps.begin(), number);
    check_given(where, "seconds", seconds);
    given(where, "name", step) = found->first.c_str();
    *seconds = found->second;
  });
}

kith_status kith_trace_member(const kith_trace* trace, int64_t number, kith_member_info* info) {
  return guarded(__func__, [&](const char* where) {
    const std::vector<MemberTrace>& members = given(where, "trace", trace).trace.members;
    check_number(where, "member", number, members.size());
    const MemberTrace& from = members[static_cast<std::size_t>(number)];
    auto to = KITH_INIT(kith_member_info);
    to.device = from.device.c_str();
    to.rows = from.rows;
    to.queries = from.queries;
    to.share = from.share;
    to.seconds = from.seconds;
    to.device_seconds = from.device_seconds;
    to.memory_bytes = from.bytes;
    write_struct(where, info, to);
  });
}
