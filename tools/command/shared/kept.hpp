// Keeps the measurements of a long run in a file, from which the same command continues.
#pragma once

#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>

namespace kith::command {

/// The file of one run: one JSON document with the settings, the results so far, and a checksum of both.
///
///   {"kith_partial": 1, "checksum": "89abcdef", "asked": {...}, "done": ...}
///
/// It is replaced as a whole whenever a result is added, and removed when all are done.
class KeptWork {
 public:
  /// Neither reads nor writes a file.
  ///   where  the subcommand, for messages
  ///   path   empty: nothing is kept
  ///   asked  an object: all that decides what is measured, on what and by whom
  KeptWork(std::string where, std::filesystem::path path, nlohmann::ordered_json asked)
      : where_(std::move(where)), path_(std::move(path)), asked_(std::move(asked)) {}

  const std::filesystem::path& path() const { return path_; }

  /// Returns the results of an earlier run of the same command; null if there are none, or if `fresh` ignores
  /// them. A kept file must be named, so that no measurement is lost unnoticed.
  /// Throws bad_file: the file is damaged, or is no such file (which not even `fresh` replaces);
  /// invalid_argument: another command wrote it, and `fresh` is not set.
  nlohmann::ordered_json load(bool fresh) const;

  /// Throws bad_file, as load() does, if the loaded results are not what was saved.
  [[noreturn]] void refuse_damaged() const;

  /// Throws bad_file if save() could not write. If `make_folders` is set, makes missing folders, for the user
  /// alone.
  void check_writable(bool make_folders) const;

  /// Replaces the file. If it cannot be written, one note says so, and the run continues.
  void save(const nlohmann::ordered_json& done);

  /// Returns whether save() has written the last results that it was given.
  bool saved() const { return saved_; }

  /// Removes the file, when all is done.
  void remove() noexcept;

 private:
  std::string where_;
  std::filesystem::path path_;
  nlohmann::ordered_json asked_;
  bool saved_ = false, told_ = false;
};

/// Returns `experiments-89abcdef.json` in the user's folder for such files: equal `asked` give equal names.
/// Empty if there is no such folder: neither XDG_CACHE_HOME nor HOME is an absolute path.
std::filesystem::path kept_path(const std::string& what, const nlohmann::ordered_json& asked);

}  // namespace kith::command
