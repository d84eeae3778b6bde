// Writes the reasons of plans; nothing else writes Plan::reason.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "kith/placement.hpp"
#include "kith/unstable/plan.hpp"
#include "kith/unstable/tuning.hpp"

namespace kith::reasons {

// These are reasons of the built-in rules.
std::string fused_on_host();
std::string fused_on_gpu();
/// The rows of a caller are searched where they lie.
std::string straight();
std::string sorted_lists();
std::string sorts_most();
std::string small_buffer();
std::string large_k();
std::string built_in(const std::string& why, const std::string& why_not_tuned);
/// The proposer was chosen, or asked for.
std::string proposed(Proposer proposer, bool asked_for);
/// Few queries go by a proposer, since its rows are there or earlier scans have paid for them.
std::string paid(Proposer proposer, bool made);
/// Few queries go by the chain, until as many scans have paid for the rows of int8.
std::string scans_left(std::int64_t scans);
std::string boxes();
std::string boxes_asked_for();
std::string bands();
std::string gaps();
std::string projected(std::int64_t dims);
/// The plan replaces boxes, or keeps them, after a sample of queries.
///   leaves   average number of leaves that a query reads
///   gave_up  how many of `sampled` queries gave up
std::string boxes_lose(std::int64_t sampled, std::int64_t gave_up, double leaves, std::int64_t worth);
std::string boxes_pay(std::int64_t sampled, double leaves, std::int64_t worth);
std::string gave_way_boxes(const std::string& message);

std::string radius();
///   most  rows of a group that is searched together with others
std::string groups_together(std::int64_t most);
std::string groups_by_products();
// These say why each group is searched by itself.
std::string groups_of_doubles();
std::string groups_of_terms(Terms terms);
std::string groups_on_set();
std::string groups_asked_how();
std::string groups_filtered();
std::string class_sums();
std::string class_sums_by_host();

// These are reasons that the caller gave.
//   otherwise  why a proposer is used as well; empty: none is
std::string selector_asked_for(Selector selector, const std::string& otherwise);
std::string fused_asked_for();
std::string fused_refused();
std::string by_terms(Terms terms);
/// Returns what follows the name of a metric: "", or " in a periodic box".
std::string words_of(Terms terms);
std::string of_sums();
std::string filtered();

// These are reasons from measurements.
std::string tuned(const TuningEntry& entry);
std::string nothing_measured();
std::string measured_refused(const std::string& message);
std::string to_be_sampled(const std::vector<Selector>& sample);
///   times, left_out  concatenated results of sampled_time() and sampled_refusal()
std::string sampled(std::int64_t query, const std::string& times, const std::string& left_out);
std::string sampled_time(const std::string& times, Selector selector, double seconds);
std::string sampled_refusal(Selector selector, const std::string& message);

// These sentences follow a reason.
std::string left_out(const Plan& plan);  ///< empty if no row is left out
/// masked: the filter keeps `kept` rows. struck: the search is for `searched` neighbours, `wanted` of which
/// must count.
std::string masked(std::int64_t kept, std::int64_t rows);
std::string struck(std::int64_t searched, std::int64_t wanted);
std::string gathered(std::int64_t kept, std::int64_t rows);
/// The plan is for a set of devices.
///   members  the members, with the rows of each if rows are split
std::string placed(Placement placement, const std::string& members);
/// The plan searches the distinct rows, and lists the copies of each.
std::string distinct(std::int64_t distinct, std::int64_t rows);
std::string unit_rows_of_host();
/// The index was made for this search alone.
std::string index_for_once();
std::string overwhelmed(Proposer proposer);
std::string rows_are_bytes();
std::string exact_products();
std::string gave_way_measured(const std::string& message);
std::string gave_way_proposer(const std::string& message);
std::string gave_way_at_work(const std::string& message);
/// The sentence comes before a reason.
std::string out_of_range(const std::string& reason);

/// Lists names: `radix, threshold`.
std::string names_of(const std::vector<Selector>& selectors);

}  // namespace kith::reasons
