#include "command/shared/named_files.hpp"

#include <sys/stat.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <filesystem>
#include <map>
#include <optional>
#include <utility>

#include "command/shared/command.hpp"
#include "files/output.hpp"
#include "files/source.hpp"
#include "kith/unstable/tuning.hpp"

namespace kith::command {
namespace {

namespace fs = std::filesystem;

struct Use {
  bool read = false, written = false, folder = false;
  std::vector<std::string> endings;  ///< the endings of files in a folder
  FilesIn files_in;                  ///< finds the files that are named among other words
};

/// How each option uses its files. CLI::Option has no field for it.
std::map<const CLI::Option*, Use>& uses() {
  static std::map<const CLI::Option*, Use> all;
  return all;
}

CLI::Option* remember(CLI::Option* option, const char* type, Use use) {
  uses()[option] = std::move(use);
  return option->type_name(type);
}

/// A file that the command line names.
struct Named {
  std::string option, path;
  const Use* use = nullptr;
  std::optional<struct stat> status;  ///< of the link's target; empty if there is no such file
  fs::path place;                     ///< folder and name, with links followed where they lead somewhere
};

Named named(const std::string& option, const std::string& path, const Use& use) {
  Named file{option, path, &use, std::nullopt, {}};
  struct stat status {};
  const bool stream = use.written ? files::is_stdout(path) : files::is_stdin(path);
  if ((stream ? ::fstat(use.written ? STDOUT_FILENO : STDIN_FILENO, &status)
              : ::stat(path.c_str(), &status)) == 0)
    file.status = status;
  std::error_code error;
  if (!stream) file.place = fs::weakly_canonical(fs::absolute(path), error);
  return file;
}

/// Returns whether a file is /dev/null, a terminal or the like, which hold nothing that could be lost.
bool is_device(const Named& file) {
  return file.status && S_ISCHR(file.status->st_mode);
}

bool same_inode(const struct stat& a, const struct stat& b) {
  return a.st_dev == b.st_dev && a.st_ino == b.st_ino;
}

bool same_file(const Named& a, const Named& b) {
  if (a.status && b.status) return !is_device(a) && same_inode(*a.status, *b.status);
  return !a.status && !b.status && !a.place.empty() && a.place == b.place;
}

/// Returns whether `file` is one of those in the folder that the option stands for.
bool lies_in(const Named& file, const Named& folder) {
  struct stat parent {};
  if (!folder.status || file.place.empty() || ::stat(file.place.parent_path().c_str(), &parent) != 0)
    return false;
  const std::string name = file.place.filename().string();
  return same_inode(parent, *folder.status) &&
         std::any_of(folder.use->endings.begin(), folder.use->endings.end(),
                     [&](const std::string& ending) { return name.ends_with(ending); });
}

std::vector<Named> files_of(const CLI::App& app) {
  std::vector<Named> files;
  for (const CLI::Option* option : app.get_options()) {
    const auto use = uses().find(option);
    if (use == uses().end()) continue;
    std::vector<std::string> paths = option->results();
    if (use->second.files_in) {
      for (const auto& [words, path] : use->second.files_in(paths))
        files.push_back(named(words, path, use->second));
      continue;
    }
    if (paths.empty() && !option->get_default_str().empty()) paths.push_back(option->get_default_str());
    for (const std::string& path : paths)
      if (!path.empty()) files.push_back(named(option->get_name(), path, use->second));
  }
  return files;
}

void check_output(const std::string& where, const Named& output, const Named& input) {
  const std::string says = output.option + " " + output.path;
  if (input.use->folder != output.use->folder) {
    const Named& folder = input.use->folder ? input : output;
    if (!lies_in(input.use->folder ? output : input, folder)) return;
    refuse(where, input.use->folder
                      ? says + " would replace a file of " + input.option + "; give it another name"
                      : says + " would replace the file of " + input.option + "; give another folder");
  }
  if (input.use->folder || !same_file(output, input)) return;
  refuse(where, says + " would replace the file that " + input.option + " reads" +
                    (input.path == output.path ? "" : ", " + input.path) + "; give it another name");
}

/// Only `kith tune` may write to the folder where searches look for its measurements.
void check_tuning(const std::string& where, const Named& output) {
  if (output.use->read || output.use->folder) return;
  const std::string known = tuning_path(DeviceInfo{});  // of no device: its folder is that of all
  if (known.empty()) return;
  static const Use use{.read = true, .written = false, .folder = true, .endings = {".txt"}, .files_in = {}};
  Named folder{"", fs::path(known).parent_path().string(), &use, std::nullopt, {}};
  struct stat status {};
  if (::stat(folder.path.c_str(), &status) == 0) folder.status = status;
  if (output.status && S_ISREG(output.status->st_mode) && lies_in(output, folder))
    refuse(where, output.option + " " + output.path +
                      " would replace what `kith tune` measured; give it another name");
}

/// Compares two outputs or two inputs.
void check_alike(const std::string& where, const Named& a, const Named& b) {
  if (a.use->folder || b.use->folder) return;
  if (a.use->written) {
    const bool stdout_twice = files::is_stdout(a.path) && files::is_stdout(b.path);
    if (stdout_twice || same_file(a, b))
      refuse(where, a.option + " and " + b.option + " are the same file; give two names");
    return;
  }
  const bool pipe = a.status && !S_ISREG(a.status->st_mode) && !S_ISDIR(a.status->st_mode);
  if ((files::is_stdin(a.path) && files::is_stdin(b.path)) || (pipe && same_file(a, b)))
    refuse(where, a.option + " and " + b.option + " both read " +
                      (files::is_stdin(a.path) ? "stdin" : "the pipe " + a.path) +
                      ", which can be read once; save one of them as a file");
}

}  // namespace

CLI::Option* reads_file(CLI::Option* option) {
  return remember(option, "FILE",
                  {.read = true, .written = false, .folder = false, .endings = {}, .files_in = {}});
}

CLI::Option* writes_file(CLI::Option* option) {
  return remember(option, "FILE",
                  {.read = false, .written = true, .folder = false, .endings = {}, .files_in = {}});
}

void reads_files_in(CLI::Option* option, FilesIn files) {
  uses()[option] = {
      .read = true, .written = false, .folder = false, .endings = {}, .files_in = std::move(files)};
}

CLI::Option* keeps_file(CLI::Option* option) {
  return remember(option, "FILE",
                  {.read = true, .written = true, .folder = false, .endings = {}, .files_in = {}});
}

CLI::Option* reads_folder(CLI::Option* option, std::vector<std::string> endings) {
  return remember(
      option, "DIR",
      {.read = true, .written = false, .folder = true, .endings = std::move(endings), .files_in = {}});
}

CLI::Option* writes_folder(CLI::Option* option, std::vector<std::string> endings) {
  return remember(
      option, "DIR",
      {.read = false, .written = true, .folder = true, .endings = std::move(endings), .files_in = {}});
}

std::vector<std::string> unknown_file_options(const CLI::App& app) {
  std::vector<std::string> unknown;
  for (const CLI::Option* option : app.get_options()) {
    const std::string type = option->get_type_name();
    if ((type == "FILE" || type == "DIR") && !uses().contains(option)) unknown.push_back(option->get_name());
  }
  return unknown;
}

void refuse_stdin(const CLI::App& app) {
  for (const Named& file : files_of(app))
    if (file.use->read && files::is_stdin(file.path))
      refuse(app.get_name(), file.option + " " + file.path +
                                 ": mpirun gives stdin to rank 0 alone, and every rank reads; name a file");
}

void check_named_files(const CLI::App& app) {
  const std::string where = app.get_name();
  const std::vector<Named> files = files_of(app);
  for (const Named& output : files) {
    if (!output.use->written) continue;
    check_tuning(where, output);
    for (const Named& input : files)
      if (&input != &output && input.use->read) check_output(where, output, input);
  }
  for (std::size_t a = 0; a < files.size(); ++a)
    for (std::size_t b = a + 1; b < files.size(); ++b)
      if (files[a].use->written == files[b].use->written) check_alike(where, files[a], files[b]);
}

}  // namespace kith::command
