#include "sources.hpp"

#include <cstdlib>
#include <fstream>
#include <sstream>

#include "kith/error.hpp"

namespace kith::opencl {
namespace {

/// Returns X of a line `#include "X"`; empty for every other line.
std::string included_by(const std::string& line) {
  constexpr std::string_view start = "#include \"";
  if (line.compare(0, start.size(), start) != 0 || line.back() != '"') return "";
  return line.substr(start.size(), line.size() - start.size() - 1);
}

}  // namespace

Sources::Sources() {
  if (const char* folder = secure_getenv("KITH_CL_DIR")) folder_ = folder;
}

std::string Sources::read(const std::string& name) const {
  std::set<std::string> seen;
  std::string text;
  expand(name, seen, text);
  return text;
}

std::string Sources::text_of(const std::string& name) const {
  if (!folder_.empty() && name.ends_with(".cl")) {
    std::ifstream file(folder_ + "/" + name);
    std::ostringstream text;
    if (!(text << file.rdbuf()))
      throw Error(Errc::unavailable, "opencl: KITH_CL_DIR is " + folder_ + ", which has no readable " + name +
                                         "; copy it from kernels_cl/, or unset KITH_CL_DIR");
    return text.str();
  }
  for (std::size_t i = 0; i < embedded_file_count; ++i)
    if (name == embedded_files[i].name) return embedded_files[i].text;
  throw Error(Errc::unavailable, "opencl: there is no kernel file " + name +
                                     " in this build; correct the #include that names it");
}

// Compilers for OpenCL C have no files to include, so this function inserts them, each once, but a table as
// often as it is read; with #line their messages have the right places.
void Sources::expand(const std::string& name, std::set<std::string>& seen, std::string& out) const {
  if (!name.ends_with(".def") && !seen.insert(name).second) return;
  std::istringstream lines(text_of(name));
  out += "#line 1 \"" + name + "\"\n";
  std::size_t number = 0;
  for (std::string line; std::getline(lines, line);) {
    ++number;
    const std::string included = included_by(line);
    if (included.empty()) {
      out += line + '\n';
      continue;
    }
    expand(included, seen, out);
    out += "#line " + std::to_string(number + 1) + " \"" + name + "\"\n";
  }
}

}  // namespace kith::opencl
