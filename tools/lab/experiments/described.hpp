// Reads the texts of an experiment, texts/NAME.txt, which are compiled in.
#pragma once

#include <cstddef>
#include <map>
#include <string>
#include <string_view>

#include "lab/experiments/experiment.hpp"

namespace kith::experiments {

struct EmbeddedFile {
  const char* name;
  const char* text;
};
extern const EmbeddedFile embedded_files[];
extern const std::size_t embedded_file_count;

/// Returns a result with title, paper, hardware, explanation and what was assumed. In the file, paragraphs
/// have an empty line between them.
///   values  replace {KEY} in the texts
Result described(std::string_view name, const std::map<std::string, std::string>& values = {});

}  // namespace kith::experiments
