// What all that writes files whole or not at all has in common.
#pragma once

#include <string>

namespace kith {

/// What to do about errno `error` of writing a file: `free some space`.
const char* writing_advice(int error);

/// Let the disk know a name that was put in place: what was renamed in a folder is safe from a loss of power
/// once the folder is written, too. Returns errno where the disk fails; 0 also where a folder cannot be
/// written by itself.
int sync_folder_of(const std::string& path);

}  // namespace kith
