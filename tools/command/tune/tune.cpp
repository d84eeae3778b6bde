// kith tune: measures which method is fastest on a device, and stores it where the library finds it.
#include "command/tune/tune.hpp"
#include "command/shared/json.hpp"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <filesystem>
#include <fstream>
#include <memory>

#include "command/shared/named_files.hpp"

namespace kith::command {
namespace {

struct TuneFlags {
  std::string device = "auto";
  std::string out;
  Metric metric = default_metric;
  std::vector<std::int64_t> n, m, dims, k;  ///< empty: the sizes of the grid
  std::int64_t seconds = 0;                 ///< 0: default_seconds() for each device
  bool quick = false, show = false, json = false, fresh = false;
};

// A measurement serves problems whose rows, queries and neighbours are each within a factor of 4 of its own,
// and whose columns are within a factor of 2. Neighbouring sizes of a grid therefore differ by 16 and 4.
TuneGrid default_grid(const DeviceInfo& device, bool quick) {
  if (quick) return {{4096, 65536}, {16, 256}, {8, 32}, {4, 64}};
  if (device.kind == DeviceKind::cpu)
    return {{4096, 65536, 1048576}, {1, 16, 256}, {2, 8, 32, 128, 512}, {4, 64, 1024}, std::int64_t{1} << 25};
  return {
      {4096, 65536, 1048576}, {1, 16, 256, 4096}, {2, 8, 32, 128, 512}, {4, 64, 1024}, std::int64_t{1} << 27};
}

double default_seconds(bool quick) {
  return quick ? 15 : 180;
}

TuneGrid wanted_grid(const DeviceInfo& device, const TuneFlags& flags) {
  TuneGrid grid = default_grid(device, flags.quick);
  const auto replace = [&](std::vector<std::int64_t>& sizes, const std::vector<std::int64_t>& wanted) {
    if (!wanted.empty()) sizes = wanted;
    std::sort(sizes.begin(), sizes.end());
    sizes.erase(std::unique(sizes.begin(), sizes.end()), sizes.end());
  };
  replace(grid.n, flags.n);
  replace(grid.m, flags.m);
  replace(grid.dims, flags.dims);
  replace(grid.k, flags.k);
  if (!flags.n.empty() && !flags.dims.empty()) grid.most_elements = INT64_MAX;
  return grid;
}

std::string ms(double seconds) {
  const double value = seconds * 1e3;
  return format_number(value, value >= 100 ? 1 : value >= 10 ? 2 : value >= 1 ? 3 : 4);
}

std::string gain(const TuningEntry& entry) {
  return format_number(entry.built_in_seconds / entry.seconds, 2) + "x";
}

std::vector<std::string> sizes(const Problem& p) {
  return {std::to_string(p.n), std::to_string(p.m), std::to_string(p.dims), std::to_string(p.k)};
}

std::string table_of(const std::vector<TunedProblem>& problems) {
  TextTable table({"n", "m", "dims", "k", "built-in choice", "ms", "best choice", "ms", "gain"});
  for (const TunedProblem& problem : problems) {
    std::vector<std::string> row = sizes(problem.problem);
    if (!problem.refusal.empty()) {
      row.insert(row.end(), {"left out", "-", "-", "-", "-"});
    } else {
      const TuningEntry& best = problem.best.front();
      const bool same = best.seconds == best.built_in_seconds;
      row.insert(row.end(), {way_text(*problem.built_in), ms(best.built_in_seconds),
                             problem.unsure ? "unsure"
                             : same         ? "the same"
                                            : way_text(best),
                             ms(best.seconds), gain(best)});
    }
    table.add(std::move(row));
  }
  return table.text();
}

/// Says what was left out: one line per kind of reason, with its count and one example.
std::string left_out_text(const std::vector<TunedProblem>& problems) {
  struct Count {
    std::string what, example;
    std::size_t times = 0;
  };
  std::vector<Count> counts;
  const auto count = [&](const std::string& what, const Problem& p, const std::string& why) {
    auto found = std::find_if(counts.begin(), counts.end(), [&](const Count& c) { return c.what == what; });
    if (found == counts.end())
      found = counts.insert(
          counts.end(), {what, "n = " + std::to_string(p.n) + ", m = " + std::to_string(p.m) + ", dims = " +
                                   std::to_string(p.dims) + ", k = " + std::to_string(p.k) + ": " + why});
    ++found->times;
  };
  for (const TunedProblem& problem : problems) {
    if (!problem.refusal.empty()) count("the problem", problem.problem, problem.refusal);
    for (const std::string& line : problem.left_out) {
      const std::size_t colon = line.find(": ");
      count(line.substr(0, colon), problem.problem, line.substr(colon + 2));
    }
  }
  std::string text;
  for (const Count& c : counts)
    text += "left out, " + std::to_string(c.times) + (c.times == 1 ? " time: " : " times: ") + c.what +
            ", as with " + c.example + "\n";
  return text;
}

nlohmann::ordered_json header_json(const DeviceInfo& info, const std::string& path) {
  return {{"device", info.spec}, {"name", info.name}, {"driver", info.driver}, {"file", path}};
}

/// Returns the tuning file of a device, or the file that was asked for.
std::string path_of(const DeviceInfo& device, const TuneFlags& flags) {
  const std::string path = flags.out.empty() ? tuning_path(device) : flags.out;
  if (path.empty())
    throw Error(Errc::invalid_argument,
                "tune: there is no place for what is measured: KITH_TUNING is off or no absolute folder, or "
                "neither XDG_CACHE_HOME nor HOME is one; set them, or give --out FILE");
  return path;
}

/// Returns the entries of `path` for other problems, and the new measurements.
Tuning joined(const DeviceInfo& device, const std::string& path, const std::vector<TunedProblem>& problems) {
  std::string ignored;
  const std::shared_ptr<const Tuning> before = load_tuning(device, path, ignored);
  Tuning tuning = before ? *before : empty_tuning(device);
  for (const TunedProblem& problem : problems) {
    if (problem.best.empty()) continue;
    std::erase_if(tuning.entries, [&](const TuningEntry& e) { return e.problem == problem.problem; });
    tuning.entries.insert(tuning.entries.end(), problem.best.begin(), problem.best.end());
  }
  return tuning;
}

/// Throws bad_file: `path` exists but is no tuning file. Notes that a damaged tuning file will be replaced.
void check_replaced(const DeviceInfo& device, const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  std::string line;
  if (!file || std::filesystem::is_empty(path)) return;
  if (!std::getline(file, line) || !line.starts_with("kith tuning "))
    throw Error(Errc::bad_file,
                "tune: --out: " + path + ": is there and no tuning file; name another file, or remove it");
  std::string ignored;
  if (!load_tuning(device, path, ignored)) note("tune: " + ignored + "; what it holds is replaced");
}

/// Returns an exit code.
int tune_device(const Device& device, const TuneFlags& flags, nlohmann::ordered_json& json) {
  const DeviceInfo& info = device.info();
  const std::string path = path_of(info, flags);
  const double seconds =
      flags.seconds > 0 ? static_cast<double>(flags.seconds) : default_seconds(flags.quick);
  const TuneGrid grid = wanted_grid(info, flags);
  KeptWork kept("tune", path + ".partial.json", asked_of(info, grid, flags.metric));
  kept.check_writable(flags.out.empty());
  if (!flags.out.empty()) check_replaced(info, path);
  const std::vector<TunedProblem> problems =
      TuneRun(device, grid, flags.metric, seconds, kept, flags.fresh).run();
  nlohmann::ordered_json entry = header_json(info, path);
  entry["problems"] = nlohmann::ordered_json::array();
  for (const TunedProblem& problem : problems) entry["problems"].push_back(to_json(problem));
  if (!flags.json)
    print(info.spec + ": " + info.name + ", " + info.driver + "; " + std::string(name(flags.metric)) + "\n" +
          table_of(problems) + left_out_text(problems));
  json.push_back(std::move(entry));
  for (const TunedProblem& problem : problems)
    if (!problem.difference.empty()) {
      complain(info.spec + " gave WRONG bits, and nothing was written: " + problem.difference);
      kept.remove();
      return exit_failed_check;
    }
  const Tuning tuning = joined(info, path, problems);
  if (tuning.entries.empty()) kept.remove();
  if (tuning.entries.empty())
    throw Error(Errc::invalid_argument, "tune: " + info.spec +
                                            ": nothing could be measured, and nothing was "
                                            "written; give more --seconds, or smaller sizes");
  save_tuning(tuning, path, flags.out.empty());
  kept.remove();
  if (!flags.json) print("written: " + path + " (" + std::to_string(tuning.entries.size()) + " entries)\n\n");
  std::string warning;
  if (flags.out.empty() && !load_tuning(info, path, warning)) note(warning);
  return exit_ok;
}

void show(const DeviceInfo& info, const TuneFlags& flags, nlohmann::ordered_json& json) {
  const std::string path = flags.out.empty() ? tuning_path(info) : flags.out;
  std::string warning;
  const std::shared_ptr<const Tuning> tuning = path.empty() ? nullptr : load_tuning(info, path, warning);
  nlohmann::ordered_json entry = header_json(info, path);
  entry["ignored_because"] = warning;
  entry["entries"] = nlohmann::ordered_json::array();
  TextTable table({"n", "m", "dims", "k", "metric", "best choice", "ms", "built-in ms", "gain"});
  for (const TuningEntry& e : tuning ? tuning->entries : std::vector<TuningEntry>()) {
    nlohmann::ordered_json line = to_json(e.problem);
    line.update(to_json(e));
    entry["entries"].push_back(std::move(line));
    std::vector<std::string> row = sizes(e.problem);
    row.insert(row.end(), {std::string(name(e.problem.metric)), way_text(e), ms(e.seconds),
                           ms(e.built_in_seconds), gain(e)});
    table.add(std::move(row));
  }
  json.push_back(std::move(entry));
  if (flags.json) return;
  const std::string what = !warning.empty() ? warning
                           : path.empty() ? "nothing is looked for: KITH_TUNING is off, or no folder is known"
                           : !tuning      ? "nothing was measured; " + path + " is not there"
                                          : path;
  print(info.spec + ": " + what + "\n" + (tuning ? table.text() : "") + "\n");
}

int run_tune(const TuneFlags& flags) {
  const std::vector<std::string> specs = split_commas(flags.device);
  if (!flags.out.empty() && specs.size() > 1)
    throw Error(Errc::invalid_argument, "tune: --out is one file, but there are " +
                                            std::to_string(specs.size()) +
                                            " devices; give one device, or leave --out out");
  std::vector<Device> devices;
  for (const std::string& spec : specs) devices.push_back(open_device(spec));
  nlohmann::ordered_json json = nlohmann::ordered_json::array();
  int code = exit_ok;
  if (!flags.show)
    for (const Device& device : devices) path_of(device.info(), flags);  // before anything is measured
  interrupt_token();  // somebody listens: a signal is answered at the next step
  const auto print_json = [&] {
    if (flags.json) print(json_text(json));
  };
  for (const Device& device : devices) {
    if (flags.show) {
      show(device.info(), flags, json);
      continue;
    }
    try {
      code = std::max(code, tune_device(device, flags, json));
    } catch (const Error& error) {
      if (json.empty()) throw;  // of a device before it there are results
      nlohmann::ordered_json entry = header_json(device.info(), path_of(device.info(), flags));
      entry["missing_because"] = error.what();
      json.push_back(std::move(entry));
      print_json();
      throw;
    }
  }
  print_json();
  return code;
}

}  // namespace

Subcommand add_tune(CLI::App& parent) {
  auto flags = std::make_shared<TuneFlags>();
  CLI::App* app = parent.add_subcommand("tune",
                                        "Measure which way of searching is fastest on a device, for later "
                                        "searches; takes 3 minutes, or 15 seconds with --quick");
  add_device_option(*app, flags->device, true);
  app->add_flag("--quick", flags->quick, "Measure fewer sizes, for a small machine");
  add_number(*app, "--seconds", flags->seconds,
             "About how long to measure each device (default 180, or 15 with --quick)", 1);
  app->add_flag("--fresh", flags->fresh,
                "Start over; otherwise the same command resumes a stopped run from FILE.partial.json, beside "
                "the file it writes");
  add_numbers(*app, "-n", flags->n, "Numbers of training rows to measure, instead of the built-in ones", 1);
  add_numbers(*app, "-m", flags->m, "Numbers of queries to measure", 1);
  add_numbers(*app, "--dims", flags->dims, "Numbers of columns to measure", 1);
  add_numbers(*app, "-k", flags->k, "Numbers of neighbours to measure", 1);
  add_metric_option(*app, flags->metric, false);
  keeps_file(app->add_option("--out", flags->out, "Write to this file, not where the library looks"));
  app->add_flag("--show", flags->show, "Measure nothing; print what is known and where it is kept");
  app->add_flag("--json", flags->json, "Print the same and more as JSON");
  add_examples(*app, {"kith tune --device cuda:0,cpu", "kith tune --device cpu --quick",
                      "kith tune -n 100000 -m 1000 --dims 96 -k 10", "kith tune --show"});
  return {app, [flags] { return run_tune(*flags); }};
}

}  // namespace kith::command
