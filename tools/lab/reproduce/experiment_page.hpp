// What `kith-lab reproduce` draws: the page of --report and the pictures of --charts.
#pragma once

#include <string>
#include <vector>

#include "lab/experiments/experiment.hpp"
#include "report/document.hpp"

namespace kith::report {

using experiments::Check, experiments::Claim, experiments::Result;

/// Returns a chart as a file of its own, for places that show pictures and no HTML: an SVG document with
/// title, legend below and the measured devices, light, without scripts, needing no other file.
///   result  the experiment that `chart` belongs to
std::string chart_picture(const Result& result, const Chart& chart);

/// Everything that is printed and written of experiments, except their JSON. Refers to `results`.
Document experiment_document(const std::vector<Result>& results, const std::string& command,
                             const std::string& missing = {});

/// Its page: one self-contained UTF-8 HTML document, light and dark, without scripts.
///   command  what was typed
///   missing  how far it came and what is missing, in sentences, where this is not all; then it stands first
std::string experiment_page(const std::vector<Result>& results, const std::string& command,
                            const std::string& missing = {});

}  // namespace kith::report
