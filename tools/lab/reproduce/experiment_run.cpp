#include "lab/reproduce/experiment_run.hpp"

#include <algorithm>
#include <array>
#include <chrono>
#include <new>
#include <optional>

#include "command/shared/json.hpp"
#include "files/output.hpp"
#include "kith/index.hpp"
#include "kith/unstable/tuning.hpp"
#include "lab/reproduce/experiment_output.hpp"
#include "lab/reproduce/experiment_page.hpp"

namespace kith::command {
namespace {

namespace fs = std::filesystem;
using experiments::Experiment;
using experiments::Result;
using experiments::Settings;
using Json = nlohmann::ordered_json;

/// Files that grow with every measurement are written at most so often.
constexpr auto between_writes = std::chrono::seconds(1);

/// Returns size and time of an input file, which show whether it was replaced by another file of the
/// same name.
Json file_facts(const std::string& path) {
  if (path.empty()) return nullptr;
  std::error_code error;
  const auto size = fs::file_size(path, error);
  const auto time = fs::last_write_time(path, error).time_since_epoch();
  const auto seconds = std::chrono::duration_cast<std::chrono::seconds>(time).count();
  return {{"path", path}, {"bytes", error ? 0 : size}, {"changed", error ? 0 : seconds}};
}

/// Returns the error of a device that no longer works; nothing if all work.
std::optional<Error> lost_device(const Settings& settings) {
  const float one = 1;
  for (const Device& device : settings.devices) try {
      Index(device, {&one, 1, 1}).search({&one, 1, 1}, 1);
    } catch (const Error& error) {
      if (error.code() == Errc::device_failure) return error;
    }
  return std::nullopt;
}

}  // namespace

Json asked_of(const Settings& settings) {
  Json devices = Json::array();
  for (const Device& device : settings.devices)
    devices.push_back(report::device_line(device.info()) + ", " +
                      std::to_string(device.info().compute_units) + " compute units");
  return {{"kith", empty_tuning(settings.cpu.info()).kith},
          {"--device", std::move(devices)},
          {"cpu", report::device_line(settings.cpu.info())},
          {"--quick", settings.quick},
          {"--seconds", settings.seconds},
          {"--seed", settings.seed},
          {"--energy", !settings.meters.empty()}};
}

fs::path partial_path(const std::string& path) {
  std::error_code ignored;
  const fs::path whole = path;
  const auto type = fs::status(whole, ignored).type();
  if (path.empty() || (type != fs::file_type::not_found && type != fs::file_type::regular)) return {};
  return whole.parent_path() / (whole.stem().string() + ".partial" + whole.extension().string());
}

void check_partial_paths(const ReproduceFlags& flags) {
  const auto real = [](const fs::path& path) {
    std::error_code ignored;
    return fs::weakly_canonical(fs::absolute(path, ignored), ignored);
  };
  const std::array<std::pair<const char*, std::string>, 4> named{{{"--data", flags.data},
                                                                  {"--resume", flags.resume},
                                                                  {"--report", flags.report},
                                                                  {"--table", flags.csv}}};
  for (const std::string& whole : {flags.report, flags.csv}) {
    const fs::path partial = partial_path(whole);
    for (const auto& [option, path] : named)
      if (!partial.empty() && !path.empty() && real(path) == real(partial))
        refuse("reproduce", option + (" " + path) + " is where unfinished results of " + whole +
                                " are kept; give it another name");
  }
}

ExperimentRun::ExperimentRun(const ReproduceFlags& flags, std::vector<Experiment> wanted,
                             const Settings& settings, KeptWork kept)
    : flags_(flags), wanted_(std::move(wanted)), settings_(settings), kept_(std::move(kept)) {
  const Json before = kept_.load(flags.fresh);
  if (before.is_null()) return;
  try {
    take_up(before);
  } catch (const nlohmann::json::exception&) {
    kept_.refuse_damaged();
  }
  partial_ = !done_.empty();
  note("going on from " + kept_.path().string() + ": " + how_far() + "; --fresh begins anew");
}

void ExperimentRun::take_up(const Json& before) {
  const bool same_data = before.at("data") == file_facts(settings_.data);
  const auto is_taken = [&](const std::string& name) {
    const auto found =
        std::find_if(wanted_.begin(), wanted_.end(), [&](const auto& e) { return e.name == name; });
    if (found == wanted_.end())
      refuse("reproduce",
             kept_.path().string() + ": an earlier run left " + name +
                 " there, which is not asked for now; ask for it, too, to go on; --fresh begins anew");
    if (!found->check_data || same_data) return true;
    note("reproduce: " + name + " is measured anew: its file is another than before");
    return false;
  };
  for (const Json& json : before.at("results")) {
    Result result = experiment_of(json);
    const std::string name = result.name;
    if (is_taken(name)) done_[name] = std::move(result);
  }
  for (const auto& [name, json] : before.at("begun").items())
    if (is_taken(name)) begun_[name] = memory_of(json);
}

/// Returns a text such as `3 of 8 experiments are done, and 57 measurements of gsknn-crossover`.
std::string ExperimentRun::how_far() const {
  std::string text = std::to_string(done_.size()) + " of " + std::to_string(wanted_.size()) +
                     (wanted_.size() == 1 ? " experiment is done" : " experiments are done");
  for (const auto& [name, measured] : begun_)
    text += ", and " + std::to_string(measured.size()) +
            (measured.size() == 1 ? " measurement of " : " measurements of ") + name;
  return text;
}

/// Returns a text such as `pbknn-groups, knn-ladder (out_of_memory: ...)`.
std::string ExperimentRun::missing_text() const {
  std::string text;
  for (const Experiment& experiment : wanted_) {
    const std::string name(experiment.name);
    if (done_.contains(name)) continue;
    const auto why = failed_.find(name);
    text += (text.empty() ? "" : ", ") + name + (why == failed_.end() ? "" : " (" + why->second + ")");
  }
  return text;
}

std::vector<Result> ExperimentRun::results() const {
  std::vector<Result> results;
  for (const Experiment& experiment : wanted_)
    if (const auto found = done_.find(std::string(experiment.name)); found != done_.end())
      results.push_back(found->second);
  return results;
}

void ExperimentRun::show(const Result& result) {
  if (flags_.json) return;
  print((shown_ ? "\n\n" : "") + experiment_text(result));
  shown_ = true;
}

/// Writes the results so far into partial files; the named files appear only when all is done.
void ExperimentRun::write_partial() {
  partial_ = true;
  const std::vector<Result> results = this->results();
  const auto write = [&](const std::string& place, const auto& text) {
    const fs::path path = partial_path(place);
    if (path.empty()) return;
    files::AtomicFile file(path);
    file.write(text());
    file.commit();
  };
  try {
    write(flags_.csv, [&] { return experiments_csv(results); });
    write(flags_.report, [&] {
      return report::experiment_page(
          results, command_line(),
          how_far() + ". Missing: " + missing_text() + "." +
              (kept_.saved() ? " The command at the end of this page, given again, goes on from here." : ""));
    });
  } catch (const Error& error) {
    if (error.code() != Errc::bad_file) throw;
    note(std::string("reproduce: what is done so far cannot be shown: ") + error.what());
  }
}

void ExperimentRun::keep() {
  Json results = Json::array(), begun = Json::object();
  for (const Result& result : this->results()) results.push_back(experiment_json(result, true));
  for (const auto& [name, measured] : begun_) begun[name] = memory_json(measured);
  kept_.save(
      {{"data", file_facts(settings_.data)}, {"results", std::move(results)}, {"begun", std::move(begun)}});
  last_kept_ = std::chrono::steady_clock::now();
}

void ExperimentRun::finish(Result result) {
  const std::string name = result.name;
  done_[name] = std::move(result);
  begun_.erase(name);
  keep();
  show(done_.at(name));
  if (done_.size() < wanted_.size()) write_partial();
}

void ExperimentRun::measure(const Experiment& experiment, std::size_t number) {
  std::optional<Result> result;
  {
    const ActivityLine activity("experiment " + std::to_string(number) + " of " +
                                std::to_string(wanted_.size()) + ": " + std::string(experiment.name));
    throw_if_interrupted("reproduce");
    const std::string name(experiment.name);
    experiments::Memory memory(begun_[name], [&] {
      begun_[name] = memory.kept();
      if (std::chrono::steady_clock::now() - last_kept_ > between_writes) keep();
    });
    Settings settings = settings_;
    settings.memory = &memory;
    try {
      result = run_experiment(experiment, settings);
    } catch (const std::bad_alloc&) {
      throw Error(Errc::out_of_memory, "the host has no memory left for this experiment; free some");
    }
  }
  // What fails on a lost device would look like wrong bits.
  if (!all_passed(*result))
    if (const auto lost = lost_device(settings_)) throw *lost;
  finish(std::move(*result));
}

void ExperimentRun::run() {
  std::optional<Error> failure;
  for (std::size_t i = 0; i < wanted_.size(); ++i) {
    const std::string name(wanted_[i].name);
    if (const auto before = done_.find(name); before != done_.end()) {
      show(before->second);
      continue;
    }
    try {
      measure(wanted_[i], i + 1);
    } catch (const Error& error) {
      if (error.code() == Errc::interrupted) give_up(error);
      failed_[name] = std::string(kith::name(error.code())) + ": " + error.what();
      if (!failure) failure = error;
      if (lost_device(settings_)) give_up(error);
      if (wanted_.size() > 1) note("reproduce: " + name + " is left out: " + failed_[name]);
    }
  }
  if (failure) give_up(*failure);
  if (flags_.json) print_json();
}

/// Prints an entry for each experiment that was asked for: a result, or why there is none.
void ExperimentRun::print_json() const {
  Json all = Json::array();
  for (const Experiment& experiment : wanted_) {
    const std::string name(experiment.name);
    const auto done = done_.find(name);
    const auto why = failed_.find(name);
    if (done != done_.end())
      all.push_back(experiment_json(done->second));
    else
      all.push_back({{"experiment", name},
                     {"missing_because", why == failed_.end() ? "stopped before it was done" : why->second}});
  }
  print(json_text(all));
}

void ExperimentRun::give_up(const Error& error) {
  std::erase_if(begun_, [](const auto& begun) { return begun.second.empty(); });
  if (done_.empty() && begun_.empty()) throw error;
  keep();
  if (!done_.empty()) write_partial();
  if (!done_.empty() && flags_.json) print_json();
  std::string places;
  for (const std::string& place : {flags_.report, flags_.csv})
    if (const fs::path path = partial_path(place); partial_ && !path.empty())
      places += (places.empty() ? "; see " : ", ") + path.string();
  const bool stopped = error.code() == Errc::interrupted;
  throw Error(error.code(),
              "reproduce: " + how_far() + places + (stopped ? "" : "; missing: ") +
                  (stopped ? "" : missing_text()) +
                  (kept_.saved() ? "; give the same command again to go on"
                                 : "; nothing is kept to go on from, give --resume FILE for that"));
}

void ExperimentRun::forget() {
  kept_.remove();
  std::error_code ignored;
  for (const std::string& place : {flags_.report, flags_.csv})
    if (const fs::path path = partial_path(place); partial_ && !path.empty()) fs::remove(path, ignored);
}

}  // namespace kith::command
