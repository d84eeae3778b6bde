#include "plan/reasons.hpp"

#include <cstdio>

namespace kith::reasons {
namespace {

std::string ms(double seconds) {
  char text[32];
  std::snprintf(text, sizeof text, "%.3g ms", seconds * 1e3);
  return text;
}

std::string shortened(double value) {
  char text[32];
  std::snprintf(text, sizeof text, "%.3g", value);
  return text;
}

const char* const by_bounds = "; bounds of products tell which rows may be near, and the chain ranks those";

}  // namespace

std::string fused_on_host() {
  return "the fused step keeps distances in registers";
}
std::string straight() {
  return "each piece of the rows is landed, searched in the cache and forgotten: copying all rows first "
         "would take longer";
}
std::string fused_on_gpu() {
  return "k is small enough to select while distances are computed";
}
std::string sorted_lists() {
  return "one sorted list a work-item suits a CPU";
}
std::string sorts_most() {
  return "k is a large part of the training rows, so most are sorted";
}
std::string small_buffer() {
  return "k is small enough for a buffer in local memory";
}
std::string large_k() {
  return "k is too large for a buffer in local memory";
}

std::string built_in(const std::string& why, const std::string& why_not_tuned) {
  return "built-in rule" + (why_not_tuned.empty() ? "" : ", as " + why_not_tuned) + ": " + why;
}

std::string proposed(Proposer proposer, bool asked_for) {
  const std::string which = "proposer " + std::string(name(proposer));
  return (asked_for ? which + " was asked for"
                    : "built-in rule: " + which + ", since there are many distances") +
         by_bounds;
}

std::string paid(Proposer proposer, bool made) {
  return "built-in rule: proposer " + std::string(name(proposer)) +
         (made ? ", since its rows are made"
               : ", since earlier searches by the chain have paid for its rows") +
         by_bounds;
}
std::string scans_left(std::int64_t scans) {
  return "; proposer int8 will be faster once its rows are made, for which " + std::to_string(scans) +
         (scans == 1 ? " more scan has to pay" : " more scans have to pay");
}

std::string boxes() {
  return "built-in rule: rows have few columns, so boxes around neighbours tell which need not be looked at";
}
std::string boxes_asked_for() {
  return "boxes were asked for";
}
std::string bands() {
  return "; boxes were asked for, and rows stand by their numbers of ones, which tell what need not be "
         "looked at";
}
std::string gaps() {
  return "; values may be missing, so there are three columns for each, a sample gives a threshold for each "
         "query, and the host ranks what is proposed; the chain searches for queries that are still open";
}
std::string projected(std::int64_t dims) {
  return "built-in rule: a sample says that few directions tell most of the " + std::to_string(dims) +
         " columns, so rows are projected onto these, which gives lower bounds of distances; the chain "
         "ranks, "
         "and what is still open is searched in the ordinary way";
}
std::string boxes_lose(std::int64_t sampled, std::int64_t gave_up, double leaves, std::int64_t worth) {
  return "; not by boxes: " + std::to_string(sampled) + " sampled queries read " + shortened(leaves) +
         " leaves each, where " + std::to_string(worth) + " take as long as all rows, and " +
         std::to_string(gave_up) + " of them gave up";
}
std::string boxes_pay(std::int64_t sampled, double leaves, std::int64_t worth) {
  return "; " + std::to_string(sampled) + " sampled queries read " + shortened(leaves) +
         " leaves each, where " + std::to_string(worth) + " take as long as all rows";
}
std::string gave_way_boxes(const std::string& message) {
  return "; boxes gave way (" + message + ")";
}

std::string groups_together(std::int64_t most) {
  return "groups of up to " + std::to_string(most) +
         " rows are searched together, each query by all rows of its group";
}
std::string groups_by_products() {
  return "; products of 16-bit floats propose, the chain ranks";
}
std::string groups_of_doubles() {
  return "the index computes in double precision, in which each group is searched by itself";
}
std::string groups_of_terms(Terms terms) {
  return (terms == Terms::periodic ? std::string("the rows are in a periodic box")
                                   : std::string("columns have terms of their own")) +
         ", with which each group is searched by itself";
}
std::string groups_on_set() {
  return "rows on several devices are searched group by group";
}
std::string groups_asked_how() {
  return "the caller says how to search, so each group is searched by itself in this way";
}
std::string groups_filtered() {
  return "there is a filter, with which each group is searched by itself";
}
std::string radius() {
  return "a radius search writes distances and lists those within the radius";
}
std::string class_sums() {
  return "distances of a tile are added to the sums of their classes";
}
std::string class_sums_by_host() {
  return class_sums() + " by the host, in double precision";
}

std::string selector_asked_for(Selector selector, const std::string& otherwise) {
  const std::string asked = "selector " + std::string(name(selector)) + " was asked for";
  return otherwise.empty() ? asked : asked + "; " + otherwise;
}
std::string fused_asked_for() {
  return "the fused step was asked for";
}
std::string fused_refused() {
  return "the fused step was refused";
}
std::string words_of(Terms terms) {
  if (terms == Terms::differences) return "";
  return terms == Terms::periodic ? " in a periodic box" : " of terms of columns";
}
std::string by_terms(Terms terms) {
  if (terms == Terms::pairs) return "terms are of pairs of values, so all distances tell what is near";
  return (terms == Terms::periodic ? std::string("the rows are in a periodic box")
                                   : std::string("columns have terms of their own")) +
         ", of which boxes or all distances tell what is near";
}
std::string of_sums() {
  return "the metric is a quotient of two sums, which only the step distance computes";
}
std::string filtered() {
  return "a filter strikes out distances, so they are written, then selected from";
}

std::string tuned(const TuningEntry& e) {
  const Problem& p = e.problem;
  std::string text = "tuned: nearest measured problem n = " + std::to_string(p.n) +
                     ", m = " + std::to_string(p.m) + ", dims = " + std::to_string(p.dims) +
                     ", k = " + std::to_string(p.k) + ": ";
  std::string way = e.fused ? "fused" : std::string(name(e.selector));
  if (e.proposer != Proposer::none) way = "proposer " + std::string(name(e.proposer)) + ", " + way;
  way += " with " + std::to_string(e.lists) + (e.lists == 1 ? " list" : " lists") + " and query tiles of " +
         std::to_string(e.query_tile);
  if (e.seconds == e.built_in_seconds)
    return text + "nothing was faster than the built-in choice, " + way + ", " + ms(e.seconds);
  return text + way + " took " + ms(e.seconds) + ", the built-in choice " + ms(e.built_in_seconds);
}
std::string nothing_measured() {
  return "nothing like it was measured";
}
std::string measured_refused(const std::string& message) {
  return "what was measured cannot be had (" + message + ")";
}

std::string to_be_sampled(const std::vector<Selector>& sample) {
  return "one query of the data will be sampled, to choose among " + names_of(sample);
}
std::string sampled(std::int64_t query, const std::string& times, const std::string& left_out) {
  return "sampled query " + std::to_string(query) + ": " + times + left_out;
}
std::string sampled_time(const std::string& times, Selector selector, double seconds) {
  return times + (times.empty() ? "" : ", ") + std::string(name(selector)) + " " + ms(seconds);
}
std::string sampled_refusal(Selector selector, const std::string& message) {
  const std::string where = "search: ";  // the beginning of the message
  return "; " + std::string(name(selector)) +
         " is left out: " + (message.starts_with(where) ? message.substr(where.size()) : message);
}

std::string left_out(const Plan& plan) {
  return plan.self ? "; one more neighbour is searched for, since a query is no neighbour of its own" : "";
}
std::string masked(std::int64_t kept, std::int64_t rows) {
  return "; the filter keeps " + std::to_string(kept) + " of " + std::to_string(rows) +
         " rows, and there are no bounds of the others";
}
std::string struck(std::int64_t searched, std::int64_t wanted) {
  return "; " + std::to_string(searched) + " neighbours are searched for, of which " +
         std::to_string(wanted) + " should pass the filter";
}
std::string gathered(std::int64_t kept, std::int64_t rows) {
  return "; the filter keeps " + std::to_string(kept) + " of " + std::to_string(rows) +
         " rows, which are gathered";
}
std::string placed(Placement placement, const std::string& members) {
  return placement == Placement::split ? "; the rows are split: " + members
                                       : "; all rows are on each of " + members + ", which share the queries";
}

std::string distinct(std::int64_t distinct, std::int64_t rows) {
  return "; equal rows are searched once: " + std::to_string(distinct) + " distinct of " +
         std::to_string(rows);
}
std::string unit_rows_of_host() {
  return "; the host divides the queries by their norms, which the device does not do exactly";
}
std::string index_for_once() {
  return "; the rows became an index for this search alone";
}
std::string overwhelmed(Proposer proposer) {
  return "; proposer " + std::string(name(proposer)) +
         " gave way (an earlier search of this index showed that its bounds tell too few of the rows apart)";
}
std::string rows_are_bytes() {
  return "rows stay as bytes, which proposer int8 multiplies as they are";
}
std::string exact_products() {
  return "; rows and queries lie on one grid of bytes, so products of whole numbers are the chain";
}
std::string gave_way_measured(const std::string& message) {
  return "; what was measured is refused here (" + message + ")";
}
std::string gave_way_proposer(const std::string& message) {
  return "; a proposer gave way (" + message + ")";
}
std::string gave_way_at_work(const std::string& message) {
  return "; another way gave way (" + message + ")";
}
std::string out_of_range(const std::string& reason) {
  return "values are out of the range of the bound of a proposer; " + reason;
}

std::string names_of(const std::vector<Selector>& selectors) {
  std::string list;
  for (const Selector s : selectors) list += (list.empty() ? "" : ", ") + std::string(name(s));
  return list;
}

}  // namespace kith::reasons
