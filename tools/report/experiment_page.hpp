// What `kith reproduce` draws: the page of --report and the pictures of --charts.
#pragma once

#include <string>
#include <vector>

#include "lab/experiments/experiment.hpp"
#include "report/document.hpp"

namespace kith::report {

using experiments::Chart, experiments::Check, experiments::Claim, experiments::Point, experiments::Result,
    experiments::Series;

/// A chart as a picture with its legend beside it: every series has a number at the end of its line, a
/// colour that colour-blind people tell apart, a marker and a dash of its own. Points that are no number, or
/// not above 0 on a logarithmic axis, are left out, and the line has a gap there. A linear axis becomes
/// logarithmic where a series would lie on it.
///   reasons  the id of what says elsewhere why series have no points; empty: the legend says it
std::string line_chart(const Chart& chart, const std::string& reasons = {});

/// The same chart as a file of its own, for places that show pictures and no HTML: an SVG document with
/// title, legend below and the measured devices, light, without scripts, needing no other file.
///   result  the experiment that `chart` belongs to
std::string chart_picture(const Result& result, const Chart& chart);

/// All that is printed and written of experiments, but for their JSON. Refers to `results`.
Document experiment_document(const std::vector<Result>& results, const std::string& command,
                             const std::string& missing = {});

/// Its page: one self-contained UTF-8 HTML document, light and dark, without scripts.
///   command  what was typed
///   missing  how far it came and what is missing, in sentences, where this is not all; then it stands first
std::string experiment_page(const std::vector<Result>& results, const std::string& command,
                            const std::string& missing = {});

}  // namespace kith::report
