// The steps that all writers of whole files share.
#pragma once

#include <sys/types.h>

#include <string>

namespace kith {

/// Returns advice about errno `error` of writing a file, such as `free some space`.
const char* writing_advice(int error);

/// Creates a locked temporary file beside `target`, after it has removed such files of processes that
/// have ended.
///   name     out: `TARGET.partial-PROCESS-N`
///   returns  a descriptor open for writing; -1: errno says why
int open_beside(const std::string& target, mode_t mode, std::string& name);

/// Writes the folder of `path` to the disk, which makes a rename survive a loss of power. Returns errno if
/// the disk fails; 0 also if the folder cannot be opened or synchronized by itself.
int sync_folder_of(const std::string& path);

}  // namespace kith
