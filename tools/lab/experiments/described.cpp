#include "lab/experiments/described.hpp"

#include <algorithm>
#include <sstream>

#include "kith/error.hpp"

namespace kith::experiments {
namespace {

std::string filled(std::string text, const std::map<std::string, std::string>& values) {
  for (const auto& [key, value] : values)
    for (std::size_t at; (at = text.find("{" + key + "}")) != std::string::npos;)
      text.replace(at, key.size() + 2, value);
  return text;
}

}  // namespace

Result described(std::string_view name, const std::map<std::string, std::string>& values) {
  const EmbeddedFile* const end = embedded_files + embedded_file_count;
  const EmbeddedFile* const file =
      std::find_if(embedded_files, end, [&](const EmbeddedFile& one) { return one.name == name; });
  if (file == end)
    throw Error(Errc::invalid_argument, "experiment: nothing is said of \"" + std::string(name) +
                                            "\"; write tools/lab/experiments/texts/" + std::string(name) +
                                            ".txt");
  Result result;
  std::map<std::string, std::string*> lines = {
      {"title", &result.title}, {"paper", &result.paper}, {"hardware", &result.hardware}};
  std::map<std::string, std::vector<std::string>*> lists = {{"explanation", &result.explanation},
                                                            {"assumed", &result.assumed}};
  std::istringstream text(filled(file->text, values));
  std::vector<std::string>* paragraphs = nullptr;
  bool begins = true;
  for (std::string line; std::getline(text, line);) {
    const std::string key = line.substr(0, line.find(':'));
    if (line.empty()) {
      begins = true;
    } else if (!paragraphs && lines.contains(key)) {
      *lines[key] = line.substr(key.size() + 2);
    } else if (lists.contains(key) && key.size() + 1 == line.size()) {
      paragraphs = lists[key];
    } else if (begins) {
      paragraphs->push_back(line);
      begins = false;
    } else {
      paragraphs->back() += " " + line;
    }
  }
  return result;
}

}  // namespace kith::experiments
