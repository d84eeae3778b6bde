// What a long run has measured so far, in a file that the same command goes on from.
#pragma once

#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>

namespace kith::command {

/// The file of one run: one JSON document with what was asked, what is done, and a checksum of both.
///
///   {"kith_partial": 1, "checksum": "89abcdef", "asked": {...}, "done": ...}
///
/// It is replaced whole whenever something more is done, and removed when all is.
class KeptWork {
 public:
  /// Touches no file.
  ///   where  the subcommand, for messages
  ///   path   empty: nothing is kept
  ///   asked  an object: all that decides what is measured, on what and by whom
  KeptWork(std::string where, std::filesystem::path path, nlohmann::ordered_json asked)
      : where_(std::move(where)), path_(std::move(path)), asked_(std::move(asked)) {}

  const std::filesystem::path& path() const { return path_; }

  /// What an earlier run of the same command left; null where there is nothing, or where `fresh` leaves it
  /// out. A file that is kept must be named, so that nothing that was measured is lost unseen:
  /// Throws bad_file: the file is damaged, or none of these at all (that one not even `fresh` replaces);
  /// invalid_argument: another command left it, and `fresh` is not set.
  nlohmann::ordered_json load(bool fresh) const;

  /// Throw bad_file, as load() does, where what it gave is not what was saved.
  [[noreturn]] void refuse_damaged() const;

  /// Throws bad_file where save() would write in vain. Folders that are missing are made for the user alone
  /// where `make_folders` is set.
  void check_writable(bool make_folders) const;

  /// Replace the file. One that cannot be written is told once, in a note, and the run goes on.
  void save(const nlohmann::ordered_json& done);

  /// Whether save() has written what it was last given.
  bool saved() const { return saved_; }

  /// All is done.
  void remove() noexcept;

 private:
  std::string where_;
  std::filesystem::path path_;
  nlohmann::ordered_json asked_;
  bool saved_ = false, told_ = false;
};

/// `experiments-89abcdef.json` in the user's folder for such files: the same name for the same `asked`.
/// Empty where there is no such folder: neither XDG_CACHE_HOME nor HOME is absolute.
std::filesystem::path kept_path(const std::string& what, const nlohmann::ordered_json& asked);

}  // namespace kith::command
