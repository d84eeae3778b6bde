// Files that a subcommand writes, and their formats.
#pragma once

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "command/shared/command.hpp"
#include "files/output.hpp"

namespace kith::command {

/// The format of tables of numbers.
struct OutputFlags {
  std::string format;          ///< where the name says none: csv, tsv, txt, npy, ...; empty: csv
  std::string header = "yes";  ///< or no: names of the columns in .csv and .tsv
};

/// Returns `names`, or nothing if no header is wanted.
std::vector<std::string> header_of(const OutputFlags& flags, std::vector<std::string> names);

/// Returns `neighbor_1`, `neighbor_2`, ...: names of `count` columns.
std::vector<std::string> numbered(const std::string& name, std::int64_t count, std::int64_t first = 1);

/// A file to be written, if it has a name. A line on stderr says when it exists. If it is stdout,
/// print() writes to stderr from then on.
class OutputFile {
 public:
  OutputFile() = default;
  explicit OutputFile(const std::string& path, const std::string& format = "");

  explicit operator bool() const { return file_ != nullptr; }
  files::AtomicFile& operator*() { return *file_; }
  files::AtomicFile* operator->() { return file_.get(); }
  void commit();

 private:
  std::unique_ptr<files::AtomicFile> file_;
};

/// Remembers that `path` was written: tell_written() says so on stderr, with its size, after the results.
void note_written(const std::string& path);
void tell_written();

/// Throws invalid_argument: a model is `-`; models can only be ordinary files.
void check_model_path(const std::string& where, const std::string& option, const std::string& path);

/// Throws invalid_argument: --json and one of these outputs both go to stdout.
void check_json_alone(const std::string& where,
                      const std::vector<std::pair<std::string, std::string>>& outputs);

}  // namespace kith::command
