// Files that kith keeps for its user, such as measurements and compiled programs: where they are, and whether
// to trust them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <string>

#include "base/whole_file.hpp"

namespace kith {

/// Returns the folder for one kind of files of the user: the value of `variable`, else kith/KIND in the
/// user's cache ($XDG_CACHE_HOME, else $HOME/.cache). It is empty if the variable is `off`, or if no folder
/// is known.
///   lost     what an invalid value of the variable costs: "nothing is kept"
///   warning  out: says that the variable has no valid value; otherwise unchanged
std::filesystem::path user_folder(const char* variable, const char* kind, const char* lost,
                                  std::string& warning);

/// Makes a folder, and any missing folders above it, for the user alone (0700). Throws bad_file: "WHERE:
/// FOLDER: cannot be written", and why.
void make_private_folders(const char* where, const std::filesystem::path& folder);

/// Opens a folder that belongs to `user`, and that nobody else may write to. It is -1 if there is no such
/// folder or it cannot be read; errno says why. Throws bad_file, which says why the folder is not trusted:
/// "WHAT is a link, or no folder".
Descriptor trusted_folder(const std::filesystem::path& folder, std::uint32_t user, const char* what);

/// Returns the text of a file that only `user` can have written, in such a folder. Neither may be reached by
/// a link in the last step of its path. The text is empty if there is no file. Throws bad_file, which says
/// why the file is not trusted: "it is empty".
std::string trusted_text(const std::filesystem::path& path, std::size_t most_bytes, std::uint32_t user);

}  // namespace kith
