// Why a plan is as it is: the only place where Plan::reason is put into words.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "kith/placement.hpp"
#include "kith/plan.hpp"
#include "kith/tuning.hpp"

namespace kith::reasons {

// What rules choose.
std::string fused_on_host();
std::string fused_on_gpu();
std::string sorted_lists();
std::string sorts_most();
std::string small_buffer();
std::string large_k();
std::string built_in(const std::string& why, const std::string& why_not_tuned);
/// A proposer that pays, or that was asked for.
std::string proposed(Proposer proposer, bool asked_for);
std::string boxes();
std::string boxes_asked_for();
/// Of a way that was taken instead; leaves are of a query of the sample.
///   gave_up  of `sampled` queries
std::string boxes_lose(std::int64_t sampled, std::int64_t gave_up, double leaves, std::int64_t worth);
std::string boxes_pay(std::int64_t sampled, double leaves, std::int64_t worth);
std::string gave_way_boxes(const std::string& message);

std::string radius();
std::string class_sums();

// What the caller has fixed.
///   otherwise  why a proposer is taken beside it; empty: none is
std::string selector_asked_for(Selector selector, const std::string& otherwise);
std::string fused_asked_for();
std::string fused_refused();
std::string filtered();

// What was measured.
std::string tuned(const TuningEntry& entry);
std::string nothing_measured();
std::string measured_refused(const std::string& message);
std::string to_be_sampled(const std::vector<Selector>& sample);
///   times, left_out  as sampled_time() and sampled_refusal() write them, one after the other
std::string sampled(std::int64_t query, const std::string& times, const std::string& left_out);
std::string sampled_time(const std::string& times, Selector selector, double seconds);
std::string sampled_refusal(Selector selector, const std::string& message);

// What follows a reason.
std::string left_out(const Plan& plan);  ///< empty when no rows are
/// `searched` neighbours for `wanted` that count.
std::string masked(std::int64_t kept, std::int64_t rows);
std::string struck(std::int64_t searched, std::int64_t wanted);
std::string gathered(std::int64_t kept, std::int64_t rows);
/// Of a set of devices.
///   members  with the rows of each, where the rows are split
std::string placed(Placement placement, const std::string& members);
std::string overwhelmed(Proposer proposer);
std::string rows_are_bytes();
std::string exact_products();
std::string gave_way_measured(const std::string& message);
std::string gave_way_proposer(const std::string& message);
std::string gave_way_at_work(const std::string& message);
/// Stands before a reason.
std::string out_of_range(const std::string& reason);

/// `radix, threshold`
std::string names_of(const std::vector<Selector>& selectors);

}  // namespace kith::reasons
