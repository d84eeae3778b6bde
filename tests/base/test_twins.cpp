// The kernels of OpenCL C and of CUDA C++ have the same folders and file stems. A file without a twin must
// say why in its head.
#include <filesystem>
#include <type_traits>
#include <variant>

#include "common/test.hpp"
#include "kith/spi.hpp"
#include "paths.hpp"

namespace kith::tests {
namespace {

namespace fs = std::filesystem;
using std::string;

/// Returns the comment at the beginning of a file.
string head_of(const fs::path& path) {
  std::ifstream file(path);
  string head;
  for (string line; std::getline(file, line) && line.starts_with("//");) head += line + '\n';
  return head;
}

/// Returns the heads of all files below a folder, keyed by path without the folder and the extension.
std::multimap<string, string> heads_below(const string& folder) {
  const fs::path root = fs::path(test_support::in_sources()) / folder;
  std::multimap<string, string> heads;
  for (const auto& entry : fs::recursive_directory_iterator(root))
    if (entry.is_regular_file())
      heads.emplace(fs::relative(entry.path(), root).replace_extension().string(), head_of(entry.path()));
  return heads;
}

/// Returns what is wrong with a file's head; empty if it is right.
string refused_head(const string& head, const string& other, bool has_twin) {
  const string start = "// No twin in " + other + ": ";
  const std::size_t at = head.find(start);
  if (has_twin) return at == string::npos ? "" : "it has a twin in " + other + ", and says it has none";
  if (at == string::npos || head.find_first_of("\n", at) <= at + start.size() + 10)
    return "its head does not say why: `" + start + "...`";
  return "";
}

/// Returns whether both folders have kernels named `step` or `step_...` under the same stem.
bool has_twins(string step, const std::multimap<string, string>& ours,
               const std::multimap<string, string>& theirs) {
  if (const std::size_t by = step.find("_by_"); by != string::npos) step.erase(by, 3);
  return std::any_of(ours.begin(), ours.end(), [&](const auto& file) {
    const string stem = fs::path(file.first).filename().string();
    return (stem == step || stem.starts_with(step + '_')) && theirs.count(file.first) > 0;
  });
}

template <std::size_t... at>
std::vector<string> steps_of(std::index_sequence<at...>) {
  return {std::variant_alternative_t<at, spi::Work>::name...};
}

}  // namespace

TEST_CASE("twins: a kernel file that has none on the other side says why") {
  const std::pair<string, string> sides[] = {{"kernels_cl", "kernels_cuda"}, {"kernels_cuda", "kernels_cl"}};
  for (const auto& side : sides) {
    const auto ours = heads_below(side.first), theirs = heads_below(side.second);
    CHECK(ours.size() > 50);
    for (const auto& file : ours) {
      CAPTURE_ALL(side.first, file.first);
      CHECK(refused_head(file.second, side.second, theirs.count(file.first) > 0) == "");
    }
  }
}

TEST_CASE("twins: a head that does not say why is refused, and so is one that says so without need") {
  const string none = "// select by K bubbles.\n",
               why = "// No twin in kernels_cuda: CUDA has no CPU devices.\n";
  CHECK(refused_head(none, "kernels_cuda", true) == "");
  CHECK(refused_head(none, "kernels_cuda", false) ==
        "its head does not say why: `// No twin in kernels_cuda: ...`");
  CHECK(refused_head(none + "// No twin in kernels_cuda: \n", "kernels_cuda", false) != "");
  CHECK(refused_head(none + why, "kernels_cuda", false) == "");
  CHECK(refused_head(none + why, "kernels_cl", false) != "");
  CHECK(refused_head(none + why, "kernels_cuda", true) ==
        "it has a twin in kernels_cuda, and says it has none");
}

TEST_CASE("twins: nine of ten steps have kernels of their names on both sides") {
  const auto ours = heads_below("kernels_cl"), theirs = heads_below("kernels_cuda");
  const std::vector<string> steps = steps_of(std::make_index_sequence<std::variant_size_v<spi::Work>>());
  std::size_t twins = 0;
  for (const string& step : steps) {
    twins += has_twins(step, ours, theirs);
    if (!has_twins(step, ours, theirs)) MESSAGE("no twins of step " << step);
  }
  CHECK(10 * twins >= 9 * steps.size());
  CHECK(!has_twins("collect_dot", ours, theirs));
}

}  // namespace kith::tests
