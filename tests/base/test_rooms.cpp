// Checks which folder ("room") of lib/src includes which.
#include <filesystem>

#include "common/test.hpp"
#include "common/text.hpp"
#include "paths.hpp"

namespace kith::tests {
namespace {

namespace fs = std::filesystem;
using std::string;
using test_support::contains;
using test_support::text_of_file;

const fs::path library = test_support::in_sources("/lib/src");

/// Returns the names between backticks that begin the lines of the numbered list, from the lowest room up.
std::vector<string> rooms_of(const string& readme) {
  std::vector<string> rooms;
  std::istringstream lines(readme);
  for (string line; std::getline(lines, line);) {
    const std::size_t begin = line.find(". `");
    if (begin == string::npos || line.find_first_not_of("0123456789") != begin) continue;
    rooms.push_back(line.substr(begin + 3, line.find('`', begin + 3) - begin - 3));
  }
  return rooms;
}

/// Returns the room of a file: the longest folder of its path that is one; empty where none is.
string room_of(const std::vector<string>& rooms, const string& path) {
  string folder = path;
  do {
    const std::size_t end = folder.rfind('/');
    if (end == string::npos) return "";
    folder.resize(end);
  } while (std::find(rooms.begin(), rooms.end(), folder) == rooms.end());
  return folder;
}

/// Returns what is wrong with the includes of one file; empty when nothing is.
string refused_include(const std::vector<string>& rooms, const string& room, const string& text) {
  const auto floor = [&](const string& name) { return std::find(rooms.begin(), rooms.end(), name); };
  std::istringstream lines(text);
  for (string line; std::getline(lines, line);) {
    const string start = "#include \"";
    if (line.compare(0, start.size(), start) != 0) continue;
    const string name = line.substr(start.size(), line.size() - start.size() - 1);
    const string top = name.substr(0, name.find('/'));
    if (top == "kith" || top == "cpu") continue;  // public headers, and the back end in the library
    const string other = room_of(rooms, name);
    if (other.empty()) return name + " is in no room of lib/src/README.md";
    const bool apart = (room == "exact" && other == "certified") || (room == "certified" && other == "exact");
    if (apart || floor(other) > floor(room)) return room + " includes " + name;
  }
  return "";
}

}  // namespace

TEST_CASE("rooms: no file of the library includes a room that stands later in lib/src/README.md") {
  const std::vector<string> rooms = rooms_of(text_of_file(library / "README.md"));
  REQUIRE(rooms.size() > 10);
  std::size_t files = 0;
  for (const auto& entry : fs::recursive_directory_iterator(library)) {
    const string extension = entry.path().extension().string();
    if (extension != ".cpp" && extension != ".hpp") continue;
    const string room = room_of(rooms, fs::relative(entry.path(), library).string());
    CAPTURE(entry.path().string());
    CHECK(room != "");
    CHECK(refused_include(rooms, room, text_of_file(entry.path())) == "");
    ++files;
  }
  CHECK(files > 100);
}

TEST_CASE("rooms: a planted include that points upward is refused") {
  const std::vector<string> rooms = {"base", "plan", "exact", "certified", "search/stores", "search"};
  CHECK(refused_include(rooms, "plan", "#include \"base/text.hpp\"\n#include <vector>\n") == "");
  CHECK(refused_include(rooms, "plan",
                        "#include \"plan/tiles.hpp\"\n#include \"kith/unstable/plan.hpp\"\n") == "");
  CHECK(refused_include(rooms, "plan", "\n#include \"search/index.hpp\"\n") ==
        "plan includes search/index.hpp");
  CHECK(refused_include(rooms, "search", "#include \"search/stores/search.hpp\"\n") == "");
  CHECK(refused_include(rooms, "search/stores", "#include \"search/index.hpp\"\n") ==
        "search/stores includes search/index.hpp");
  CHECK(refused_include(rooms, "certified", "#include \"exact/exact_tile.hpp\"\n") ==
        "certified includes exact/exact_tile.hpp");
  CHECK(refused_include(rooms, "exact", "#include \"certified/proposal.hpp\"\n") ==
        "exact includes certified/proposal.hpp");
  CHECK(refused_include(rooms, "plan", "#include \"attic/old.hpp\"\n") ==
        "attic/old.hpp is in no room of lib/src/README.md");
}

TEST_CASE("rooms: kith includes nothing of kith-lab") {
  std::size_t files = 0;
  for (const char* room : {"command", "files", "hdf5", "mpi", "report", "workloads"})
    for (const auto& entry :
         fs::recursive_directory_iterator(fs::path(test_support::in_sources()) / "tools" / room)) {
      if (!entry.is_regular_file()) continue;
      CAPTURE(entry.path().string());
      CHECK_FALSE(contains(text_of_file(entry.path()), "#include \"lab/"));
      ++files;
    }
  CHECK(files > 100);
}

TEST_CASE("rooms: no folder of sources has more than 25 files") {
  for (const char* tree : {"lib/src", "backends", "kernels_cl", "kernels_cuda", "tools", "tests"}) {
    std::vector<fs::path> folders = {fs::path(test_support::in_sources()) / tree};
    for (const auto& entry : fs::recursive_directory_iterator(folders.front()))
      if (entry.is_directory()) folders.push_back(entry.path());
    for (const fs::path& folder : folders) {
      const auto files =
          std::count_if(fs::directory_iterator(folder), {},
                        [](const fs::directory_entry& entry) { return entry.is_regular_file(); });
      CAPTURE(folder.string());
      CHECK(files <= 25);
    }
  }
}

}  // namespace kith::tests
