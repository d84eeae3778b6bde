// Makes the texts of experiments outside of tables and charts, for the terminal and as HTML.
#pragma once

#include <string>
#include <vector>

#include "lab/reproduce/experiment_page.hpp"

namespace kith::report {

constexpr const char* reasons_id = "not-measured";
constexpr std::size_t line_width = 110;  ///< columns of a terminal

/// Holds a reason why series have no points, with all series it is about.
struct Reason {
  std::string why;
  std::vector<std::string> what;
};
std::vector<Reason> reasons_of(const std::vector<Result>& results);

/// Returns as HTML why a claim differs, as a link if that is one of the reasons.
std::string why_text(const Claim& claim, const std::vector<Reason>& reasons);

/// Returns the notes of an experiment without those that contain one of the reasons.
std::vector<std::string> other_notes(const Result& result, const std::vector<Reason>& reasons);

/// Breaks `text` into lines; the first begins with `first`, the others with as many spaces.
std::string wrapped(const std::string& first, const std::string& text);

/// Return text for the terminal: the first lines, the claims, and the checks with those that failed.
std::string introduction(const Result& result);
std::string claims_text(const Result& result);
std::string checks_lines(const Result& result);

/// Return HTML: the picture before the experiments, and the head of one.
std::string top_picture(const std::vector<Result>& results, const std::string& title,
                        const std::string& missing);
std::string experiment_head(const Result& result, bool only_one);

/// Holds the style rules of this page besides those of every page.
extern const char* const experiment_style;

}  // namespace kith::report
