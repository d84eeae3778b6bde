// Draws the page of --report and the pictures of --charts, for `kith-lab reproduce`.
#pragma once

#include <string>
#include <vector>

#include "lab/experiments/experiment.hpp"
#include "report/document.hpp"

namespace kith::report {

using experiments::Check, experiments::Claim, experiments::Result;

/// Returns a chart as a separate file, for places that show pictures and no HTML: an SVG document with title,
/// legend below and the measured devices. It is light, has no scripts and needs no other file.
///   result  the experiment that `chart` belongs to
std::string chart_picture(const Result& result, const Chart& chart);

/// Returns everything that is printed and written about experiments, except their JSON. It refers
/// to `results`.
Document experiment_document(const std::vector<Result>& results, const std::string& command,
                             const std::string& missing = {});

/// Returns the page of experiments: one self-contained UTF-8 HTML document, light and dark, without scripts.
///   command  the command as typed
///   missing  sentences about what is done and what is missing, if a run was stopped; they come first
std::string experiment_page(const std::vector<Result>& results, const std::string& command,
                            const std::string& missing = {});

}  // namespace kith::report
