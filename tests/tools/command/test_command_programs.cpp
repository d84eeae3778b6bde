// Tests OpenCL programs that an earlier command compiled and kept in a folder. They run on PoCL.
#include <sys/stat.h>

#include <nlohmann/json.hpp>

#include "common/shell.hpp"

namespace command_tests {
namespace {

/// Counts the programs of PoCL by `kith devices --json`; both numbers are -1 if PoCL is missing.
struct Programs {
  int compiled = -1, kept = -1;
};
Programs programs_of(const Result& devices) {
  CHECK(devices.code == 0);
  CHECK(devices.err.empty());
  for (const auto& backend : nlohmann::json::parse(devices.out)["backends"])
    for (const auto& device : backend["devices"])
      if (device["platform"] == "Portable Computing Language") {
        CHECK(device["exact"] == true);
        return {device["programs_compiled"], device["programs_kept"]};
      }
  return {};
}

Programs programs_with(const string& setting) {
  return programs_of(shell(setting + " \"$kith\" devices --json"));
}

/// Changes every file of the folder.
void change_all(const string& folder, const std::function<string(const string&)>& changed) {
  for (const auto& entry : fs::directory_iterator(folder)) {
    const string text = test_support::text_of_file(entry.path().string());
    std::ofstream(entry.path(), std::ios::binary) << changed(text);
  }
}

TEST_CASE("programs: a second process compiles nothing; what is damaged is compiled and replaced") {
  const Folder above;
  const string folder = above / "programs", setting = "KITH_CL_CACHE='" + folder + "'";
  const int all = programs_with("KITH_CL_CACHE=off").compiled;
  if (all < 0) return;  // no PoCL
  CHECK(all > 0);
  CHECK(!fs::exists(folder));
  // Two commands run at once, and neither finds a kept program at its start.
  const Result both =
      shell("export " + setting + "; \"$kith\" devices > /dev/null & \"$kith\" devices --json && wait $!");
  CHECK(programs_of(both).compiled + programs_of(both).kept == all);
  const Programs second = programs_with(setting);
  CHECK(second.compiled == 0);
  CHECK(second.kept == all);
  CHECK(contains(shell(setting + " \"$kith\" devices").out,
                 ", " + std::to_string(all) + " programs from the cache\n"));

  const auto replaced = [&](const string& what, const std::function<string(const string&)>& changed) {
    CAPTURE(what);
    change_all(folder, changed);
    const Programs found = programs_with(setting), again = programs_with(setting);
    CHECK(found.compiled == all);
    CHECK(again.kept == all);
    CHECK(again.compiled == 0);
  };
  replaced("truncated", [](const string& text) { return text.substr(0, text.size() / 2); });
  replaced("a bit of the content", [](string text) {
    text[text.size() - 99] ^= 4;
    return text;
  });
  replaced("a bit of the key", [](string text) {
    text[99] ^= 4;
    return text;
  });
  replaced("nothing", [](const string&) { return string(); });
}

TEST_CASE("programs: PoCL's are compiled by each process where no folder is named") {
  const Folder home;
  const string setting = "env -u KITH_CL_CACHE XDG_CACHE_HOME='" + home.path() + "'";
  for (int i = 0; i < 2; ++i) CHECK(programs_with(setting).kept <= 0);
  std::error_code none;  // other drivers of this machine may have left theirs
  for (const auto& entry : fs::directory_iterator(home / "kith/programs", none))
    CHECK(!contains(test_support::text_of_file(entry.path().string()), "platform: Portable Computing"));
}

TEST_CASE("programs: a folder that cannot be made costs time alone; one that is not trusted is told") {
  CHECK(programs_with("KITH_CL_CACHE=/proc/kith").kept <= 0);
  if (programs_with("KITH_CL_CACHE=off").compiled < 0) return;  // no PoCL
  const Folder above;
  const string file = above.write("file", "");
  const auto noted = [](const string& folder) {
    const Result found = shell("KITH_CL_CACHE='" + folder + "' \"$kith\" devices");
    CHECK(found.code == 0);
    CHECK(contains(found.out, " compiled\n"));
    return found.err;
  };
  const string advice = "; make it private, or set KITH_CL_CACHE to another one, or to off\n";
  CHECK(noted(file) == "kith: note: programs: " + file + " is not used: it is a link, or no folder" + advice);
  ::chmod(above.path().c_str(), 0777);
  CHECK(noted(above.path()) == "kith: note: programs: " + above.path() +
                                   " is not used: it can be written by others (mode 0777)" + advice);
  CHECK(noted("here") ==
        "kith: note: KITH_CL_CACHE=here is neither `off` nor an absolute folder, so nothing is kept; set it "
        "to one\n");
}

}  // namespace
}  // namespace command_tests
