// kith tune: measures one problem after another, and stores each result at once.
#include <algorithm>
#include <filesystem>

#include "command/tune/tune.hpp"

namespace kith::command {
namespace {

/// Returns the (n, dims) of a grid, small ones first.
std::vector<std::pair<std::int64_t, std::int64_t>> tables_of(const TuneGrid& grid) {
  std::vector<std::pair<std::int64_t, std::int64_t>> tables;
  for (const std::int64_t n : grid.n)
    for (const std::int64_t dims : grid.dims)
      if (n <= grid.most_elements / dims) tables.emplace_back(n, dims);
  std::stable_sort(tables.begin(), tables.end(),
                   [](const auto& a, const auto& b) { return a.first * a.second < b.first * b.second; });
  return tables;
}

std::size_t problems_in(const TuneGrid& grid, std::int64_t n) {
  const auto ks = std::count_if(grid.k.begin(), grid.k.end(), [&](std::int64_t k) { return k <= n; });
  return grid.m.size() * static_cast<std::size_t>(ks);
}

}  // namespace

nlohmann::ordered_json asked_of(const DeviceInfo& info, const TuneGrid& grid, Metric metric) {
  return {
      {"kith", empty_tuning(info).kith},
      {"--device", report::device_line(info) + ", " + std::to_string(info.compute_units) + " compute units"},
      {"--metric", std::string(name(metric))},
      {"-n", grid.n},
      {"-m", grid.m},
      {"--dims", grid.dims},
      {"-k", grid.k}};
}

TuneRun::TuneRun(const Device& device, TuneGrid grid, Metric metric, double seconds, KeptWork& kept,
                 bool fresh)
    : device_(device),
      grid_(std::move(grid)),
      metric_(metric),
      kept_(kept),
      bar_("tuning " + device.info().spec) {
  for (const auto& [n, dims] : tables_of(grid_)) left_ += problems_in(grid_, n);
  all_ = left_;
  start_ = now_seconds();
  take_up(fresh);
  end_ = start_ + seconds;
}

void TuneRun::take_up(bool fresh) {
  const nlohmann::ordered_json before = kept_.load(fresh);
  if (before.is_null()) return;
  try {
    start_ -= before.at("seconds").get<double>();
    for (const auto& json : before.at("problems")) measured_.push_back(tuned_problem_of(json));
  } catch (const nlohmann::json::exception&) {
    kept_.refuse_damaged();
  }
  note("going on from " + kept_.path().string() + ": " + how_far() + "; --fresh begins anew");
}

std::vector<TunedProblem> TuneRun::run() {
  try {
    for (const auto& [n, dims] : tables_of(grid_)) table(n, dims);
  } catch (const Error& error) {
    if (measured_.empty() || !std::filesystem::exists(kept_.path())) throw;
    const std::string kept = "tune: " + device_.info().spec + ": " + how_far() + " and kept in " +
                             kept_.path().string() + "; give the same command again to go on";
    if (error.code() == Errc::interrupted) throw Error(error.code(), kept);
    note(kept);
    throw;
  }
  return std::move(problems_);
}

/// Formats the progress: `57 of 180 problems are measured`
std::string TuneRun::how_far() const {
  return std::to_string(measured_.size()) + " of " + std::to_string(all_) + " problems are measured";
}

void TuneRun::step() {
  throw_if_interrupted("tune");
  bar_.update(static_cast<double>(problems_.size()) / static_cast<double>(all_));
}

const TunedProblem* TuneRun::measured(const Problem& problem) const {
  const auto found = std::find_if(measured_.begin(), measured_.end(),
                                  [&](const TunedProblem& known) { return known.problem == problem; });
  return found == measured_.end() ? nullptr : &*found;
}

void TuneRun::table(std::int64_t n, std::int64_t dims) {
  step();
  std::optional<Tuner> tuner;
  for (const std::int64_t m : grid_.m)
    for (const std::int64_t k : grid_.k) {
      if (k > n) continue;
      const double share = (end_ - now_seconds()) / static_cast<double>(left_--);
      const Problem problem{metric_, n, m, dims, k};
      if (const TunedProblem* known = measured(problem)) {
        problems_.push_back(*known);
      } else if (share <= 0) {
        problems_.push_back({problem, {}, {}, 0, {}, "the time is up; give more --seconds", {}});
      } else {
        if (!tuner) tuner.emplace(device_, metric_, n, dims, grid_.m.back(), [this] { step(); });
        problems_.push_back(tuner->measure(m, k, 2 * share));
        if (problems_.back().refusal.empty()) keep(problems_.back());
      }
    }
}

void TuneRun::keep(const TunedProblem& problem) {
  measured_.push_back(problem);
  nlohmann::ordered_json done = {{"seconds", now_seconds() - start_}};
  for (const TunedProblem& each : measured_) done["problems"].push_back(whole_json(each));
  kept_.save(done);
}

}  // namespace kith::command
