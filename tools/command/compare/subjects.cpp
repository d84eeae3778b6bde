#include "command/compare/subjects.hpp"

#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>

namespace kith::command {

std::string subject_name(const Subject& subject) {
  return subject ? subject->info().spec : "plain";
}

std::vector<Device> open_devices(const std::string& where, const std::string& specs) {
  std::vector<Device> opened;
  if (specs != "all") {
    for (const std::string& spec : split_commas(specs)) opened.push_back(open_device(spec));
    return opened;
  }
  for (const DeviceInfo& info : devices()) {
    try {
      opened.push_back(open_device(info.spec));
    } catch (const Error& error) {
      note(error.what());
    }
  }
  if (opened.empty())
    throw Error(Errc::unavailable, where + ": no device here can be opened; see `kith doctor`");
  return opened;
}

Subject open_reference(const std::string& asked, const std::vector<Device>& devices) {
  const bool only_cpu = std::all_of(devices.begin(), devices.end(),
                                    [](const Device& device) { return device.info().backend == "cpu"; });
  const std::string spec = !asked.empty() ? asked : only_cpu ? "plain" : "cpu";
  if (spec == "plain") return std::nullopt;
  return open_device(spec);
}

std::string Outcome::text() const {
  if (different > 0) return std::to_string(different) + " DIFFERENT.";
  if (same > 0 && refused > 0) return "Same bits wherever it ran; " + std::to_string(refused) + " refused.";
  if (same > 0) return "Same bits everywhere.";
  return refused > 0 ? "Nothing was compared: everything was refused."
                     : "Nothing was compared: there are no queries.";
}

int Outcome::code() const {
  if (different > 0) return exit_failed_check;
  return same == 0 && refused > 0 ? exit_code(Errc::unsupported) : exit_ok;
}

std::string sizes_text(Metric metric, const RowsView& train, const RowsView& queries, std::int64_t k) {
  return std::string(name(metric)) + ", n = " + std::to_string(train.rows) +
         ", m = " + std::to_string(queries.rows) + ", dims = " + std::to_string(train.cols) +
         ", k = " + std::to_string(k);
}

nlohmann::ordered_json sizes_json(const std::string& data, Metric metric, const RowsView& train,
                                  const RowsView& queries, std::int64_t k) {
  return {{"data", data},      {"metric", name(metric)}, {"n", train.rows},
          {"m", queries.rows}, {"dims", train.cols},     {"k", k}};
}

std::vector<CLI::Option*> added_options(CLI::App& app, const std::function<void()>& add) {
  const std::vector<CLI::Option*> before = app.get_options();
  add();
  std::vector<CLI::Option*> all = app.get_options();
  all.erase(all.begin(), all.begin() + static_cast<std::ptrdiff_t>(before.size()));
  return all;
}

void each_needs(const std::vector<CLI::Option*>& options, CLI::Option* other) {
  for (CLI::Option* option : options) option->needs(other);
}

void each_excludes(const std::vector<CLI::Option*>& options, CLI::Option* other) {
  for (CLI::Option* option : options) option->excludes(other);
}

}  // namespace kith::command
