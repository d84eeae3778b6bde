#include "command/shared/output_file.hpp"

#include <filesystem>

#include "command/shared/command.hpp"
#include "command/shared/ranks.hpp"

namespace kith::command {
namespace {

std::vector<std::string> written;  ///< for tell_written()

}  // namespace

std::vector<std::string> header_of(const OutputFlags& flags, std::vector<std::string> names) {
  return flags.header == "yes" ? std::move(names) : std::vector<std::string>();
}

std::vector<std::string> numbered(const std::string& name, std::int64_t count, std::int64_t first) {
  std::vector<std::string> names;
  for (std::int64_t j = 0; j < count; ++j) names.push_back(name + "_" + std::to_string(first + j));
  return names;
}

OutputFile::OutputFile(const std::string& path, const std::string& format) {
  if (path.empty() || !speaks()) return;
  if (files::is_stdout(path)) print_to_stderr();
  file_ = std::make_unique<files::AtomicFile>(path, format);
}

void OutputFile::commit() {
  if (!file_) return;
  file_->commit();
  note_written(file_->path().string());
}

void note_written(const std::string& path) {
  written.push_back(path);
}

void tell_written() {
  for (const std::string& path : written) {
    std::error_code error;
    if (!std::filesystem::is_regular_file(path, error)) continue;  // a pipe's reader knows
    const std::uintmax_t bytes = std::filesystem::file_size(path, error);
    if (!error) note("wrote " + path + " (" + format_bytes(bytes) + ")");
  }
  written.clear();
}

void check_model_path(const std::string& where, const std::string& option, const std::string& path) {
  if (path == "-") refuse(where, option + " -: a model is an ordinary file; give it a name");
}

void check_json_alone(const std::string& where,
                      const std::vector<std::pair<std::string, std::string>>& outputs) {
  for (const auto& [option, path] : outputs)
    if (files::is_stdout(path))
      refuse(where, "--json and " + option + " " + path + " both go to stdout; give one of them a file");
}

}  // namespace kith::command
