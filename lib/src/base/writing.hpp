// What all that writes files whole or not at all has in common.
#pragma once

#include <sys/types.h>

#include <string>

namespace kith {

/// What to do about errno `error` of writing a file: `free some space`.
const char* writing_advice(int error);

/// A new file beside `target` that is to take its place, locked as long as it is open; what processes that
/// are gone left behind beside `target` is removed first.
///   name     out: `TARGET.partial-PROCESS-N`
///   returns  a descriptor that is open for writing; -1: errno says why
int open_beside(const std::string& target, mode_t mode, std::string& name);

/// Let the disk know a name that was put in place: what was renamed in a folder is safe from a loss of power
/// once the folder is written, too. Returns errno where the disk fails; 0 also where a folder cannot be
/// written by itself.
int sync_folder_of(const std::string& path);

}  // namespace kith
