// Files that kith keeps for its user, such as measurements and compiled programs: where they are, and which
// of them to trust.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <string>

#include "base/whole_file.hpp"

namespace kith {

/// Returns the folder of the user's files of one kind: the value of `variable`, else kith/KIND in the user's
/// cache ($XDG_CACHE_HOME, else $HOME/.cache). Empty if the variable is `off`, or if no folder is known.
///   lost     what a wrong value of the variable costs: "nothing is kept"
///   warning  out: says that the variable has no valid value; else it stays
std::filesystem::path user_folder(const char* variable, const char* kind, const char* lost,
                                  std::string& warning);

/// Makes a folder, and those above it that are missing, for the user alone (0700). Throws bad_file: "WHERE:
/// FOLDER: cannot be written", and why.
void make_private_folders(const char* where, const std::filesystem::path& folder);

/// Opens a folder which belongs to `user`, and which nobody else may write to; -1 if there is none, or if it
/// cannot be read: errno says why. Throws bad_file, which says why it is not trusted: "WHAT is a link, or no
/// folder".
Descriptor trusted_folder(const std::filesystem::path& folder, std::uint32_t user, const char* what);

/// Returns the text of a file that `user` alone can have written, in such a folder, neither of them reached
/// by a link in its last step; empty if there is no file. Throws bad_file, which says why it is not trusted:
/// "it is empty".
std::string trusted_text(const std::filesystem::path& path, std::size_t most_bytes, std::uint32_t user);

}  // namespace kith
