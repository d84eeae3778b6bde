// What experiments say outside of tables and charts: in the terminal, and as HTML.
#pragma once

#include <string>
#include <vector>

#include "lab/reproduce/experiment_page.hpp"

namespace kith::report {

constexpr const char* reasons_id = "not-measured";
constexpr std::size_t line_width = 110;  ///< of a terminal

/// Why series have no points: each reason once, with all that it is about.
struct Reason {
  std::string why;
  std::vector<std::string> what;
};
std::vector<Reason> reasons_of(const std::vector<Result>& results);

/// HTML: why a claim differs, by a link where that is one of the reasons.
std::string why_text(const Claim& claim, const std::vector<Reason>& reasons);

/// Returns the notes of an experiment without those that say one of the reasons.
std::vector<std::string> other_notes(const Result& result, const std::vector<Reason>& reasons);

/// Returns words of `text` in lines that begin with `first`, then with as many spaces.
std::string wrapped(const std::string& first, const std::string& text);

/// Returns the terminal: the first lines, the claims, and the checks with those that failed.
std::string introduction(const Result& result);
std::string claims_text(const Result& result);
std::string checks_lines(const Result& result);

/// Returns the page: what stands before the experiments, and the head of one.
std::string top_picture(const std::vector<Result>& results, const std::string& title,
                        const std::string& missing);
std::string experiment_head(const Result& result, bool only_one);

/// The rules of the page beside those of every page.
extern const char* const experiment_style;

}  // namespace kith::report
