// The parts of the page; each returns HTML.
#pragma once

#include <string>

#include "report/report.hpp"

namespace kith::report {

/// The confusion matrix as a picture: a cell's strength is its share of its row.
std::string heat_map(const Confusion& confusion, const std::vector<std::string>& classes);

/// Accuracy over k.
std::string sweep_chart(const std::vector<SweepPoint>& sweep, std::int64_t total, std::int64_t k);

/// Misclassified rows beside their neighbours: pictures where rows are images, else tables.
std::string samples(const Report& report);

/// Device, plan and seconds.
std::string how(const Report& report);

/// The style sheet.
extern const char* const style;

}  // namespace kith::report
