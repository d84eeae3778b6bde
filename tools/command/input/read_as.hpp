// As what training rows are read, by all options together: float32, doubles, or the elements of their file.
#pragma once

#include <string>

#include "command/input/training.hpp"

namespace kith::command {

/// Returns whether rows may keep the element type of their file, such as u8: only if no option changes their
/// values or has to read them.
bool keeps_elements(const TrainingFlags& flags);

/// Returns whether no preparation and no centre rounds rows to float32.
bool is_searched_as_read(const TrainingFlags& flags);

/// Returns what is to be done about a number beyond float32; nothing if doubles do not help.
std::string advice_if_too_large(const TrainingFlags& flags);

/// Throws invalid_argument: double precision is asked for, but other options have none.
void check_arithmetic(const std::string& where, const TrainingFlags& flags);

/// Returns `tables` with what else is to be kept of training rows: elements, doubles, a part of the rows.
TableFlags read_as_needed(const TrainingFlags& flags, TableFlags tables);

}  // namespace kith::command
