// --explain and --certify: describes how a search was done.
#include <CLI/CLI.hpp>
#include <iomanip>
#include <sstream>

#include "command/shared/command.hpp"

namespace kith::command {
namespace {

std::string count_of(std::int64_t count, const char* one, const char* many) {
  return std::to_string(count) + " " + (count == 1 ? one : many);
}

/// Says how many of the queries were certified, and by which attempt.
std::string certified(const Trace& trace) {
  const std::int64_t m = trace.plan.problem.m;
  const std::int64_t at_first = m - trace.repeats - trace.fallbacks;
  std::string text =
      std::to_string(at_first) + " of " + count_of(m, "query", "queries") + " at the first attempt";
  if (trace.repeats > 0)
    text += "; " + std::to_string(trace.repeats) +
            " at the second, since a list had overflowed or a guess was wrong";
  if (trace.fallbacks > 0)
    text += "; " + std::to_string(trace.fallbacks) +
            " by the chain alone, since a list overflowed at every attempt";
  return text;
}

std::string rows_made(const Trace& trace) {
  if (trace.quantized_bytes == 0) return "were there already";
  return format_bytes(trace.quantized_bytes) + " of device memory, made in " +
         format_seconds(trace.quantized_seconds) + " by the device's clock";
}

/// Counts what doubles did.
std::string ranked(const Trace& trace) {
  return count_of(trace.ranked_doubles, "candidate", "candidates") + " ranked, " +
         count_of(trace.repeated_doubles, "query", "queries") + " asked again";
}

/// Explains an answer in double precision.
std::string certificate_of_doubles(const Trace& trace) {
  return "certificate: floats proposed, doubles ranked; " + ranked(trace) +
         "\nproven         every training row that doubles did not rank is farther than the k-th, or than "
         "the "
         "radius, even if rounding to floats brought it nearer (docs/certificate.md, section 7); so rows, "
         "order, ties and distances are those of double precision alone\n";
}

}  // namespace

std::string candidates_per_k(std::int64_t candidates, const Plan& plan) {
  const double slots = static_cast<double>(plan.problem.m) * static_cast<double>(plan.problem.k);
  return format_number(static_cast<double>(candidates) / slots, 2);
}

std::string ranked_doubles(const Trace& trace, Arithmetic arithmetic) {
  if (arithmetic != Arithmetic::f64) return {};
  return "arithmetic     double precision: floats propose, doubles rank; " + ranked(trace) + "\n";
}

std::string certificate(const Trace& trace, Arithmetic arithmetic) {
  const Plan& plan = trace.plan;
  if (plan.problem.m == 0) return "certificate: there are no queries, and nothing had to be certified\n";
  if (arithmetic == Arithmetic::f64) return certificate_of_doubles(trace);
  if (plan.proposer == Proposer::none)
    return "certificate: the chain computed the distances of all " +
           std::to_string(plan.problem.n * plan.problem.m) + " pairs, and nothing had to be certified\n";
  std::ostringstream bound;
  bound << std::setprecision(4) << trace.product_bound;
  std::string text;
  const auto line = [&](const char* what, const std::string& value) {
    text += (what + std::string(15, ' ')).substr(0, 15) + value + "\n";
  };
  line("certified", certified(trace));
  line("listed", candidates_per_k(trace.listed, plan) + " times k candidates a query, k = " +
                     std::to_string(plan.problem.k) + (plan.self ? " with the query itself" : "") + "; " +
                     (plan.exact_products ? "products" : "the chain") + " ranked " +
                     candidates_per_k(trace.collected, plan) + " times k");
  line("proposer", std::string(name(plan.proposer)) +
                       ", whose products are off by at most b |q~| |x~| + tau, b = " + bound.str() +
                       " (docs/certificate.md, section 3)");
  line("checked", "when " + plan.device + " first proposed: " + trace.proposer_check);
  line("prepared rows", rows_made(trace));
  line("proven",
       std::string("every training row whose distance ") +
           (plan.exact_products ? "products, which are the chain, did not give"
                                : "the chain did not compute") +
           " is farther than the k-th; so rows, order, ties and distances are those of the chain alone");
  return text;
}

void add_diagnostic_options(CLI::App& app, DiagnosticFlags& flags) {
  app.add_flag("--explain", flags.explain, "Print how the search was done, and the seconds of each step");
  app.add_flag(
      "--certify", flags.certify,
      "Print why no neighbour can have been missed: the queries certified, the candidates, the bound");
}

std::string diagnostics(const DiagnosticFlags& flags, const Trace& trace, Arithmetic arithmetic) {
  std::string text;
  if (flags.explain)
    text += ranked_doubles(trace, arithmetic) + explain(trace.plan) + "\n" + stage_times(trace) + "\n";
  if (flags.certify) text += certificate(trace, arithmetic) + "\n";
  return text;
}

}  // namespace kith::command
