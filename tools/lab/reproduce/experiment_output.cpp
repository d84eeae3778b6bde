#include "lab/reproduce/experiment_output.hpp"

#include "report/experiment_page.hpp"

namespace kith::command {

std::string experiment_text(const experiments::Result& result) {
  return report::text(report::experiment_document({result}, ""));
}

std::string experiments_csv(const std::vector<experiments::Result>& results) {
  return report::csv(report::experiment_document(results, ""));
}

}  // namespace kith::command
