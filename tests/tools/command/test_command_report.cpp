// Tests reports of the command on data whose names cause trouble.
#include <nlohmann/json.hpp>

#include "common/shell.hpp"

namespace command_tests::test_command_report {
namespace {

/// One class name would colour a terminal, one would reverse the text behind it, and one is too long for
/// a table.
const string names =
    "x,\xE2\x80\xAE"
    "column,kind\n0,3,a\x1b[31m\n1,1,a\x1b[31m\n2,9,\xE2\x80\xAE"
    "b\n6,4,\xE2\x80\xAE"
    "b\n7,5," +
    string(300, 'w') + "\n9,2," + string(300, 'w') + "\n";

/// Returns whether all of `text` is UTF-8.
bool is_utf8(const string& text) {
  try {
    return !nlohmann::json(text).dump().empty();
  } catch (const nlohmann::json::exception&) {
    return false;
  }
}

}  // namespace

TEST_CASE("report: names with control characters, turned directions or bytes that are no text") {
  const Folder folder;
  const string train = folder.write("caf\xE9.csv", names);
  for (const char* command :
       {"classify --leave-one-out -k 1", "evaluate --k-max 3", "structure", "select-features"}) {
    CAPTURE(string(command));
    const Result result = kith(string(command) + " --device cpu --label kind --train '" + train +
                               "' --report " + (folder / "page.html"));
    REQUIRE_MESSAGE(result.code == 0, result.err);
    const string page = folder.read("page.html");
    CHECK(is_utf8(page));
    CHECK(contains(page, "caf\xEF\xBF\xBD.csv"));
    CHECK(contains(page, "<bdi>"));
    for (const char* raw : {"\x1b", "\xE2\x80\xAE", "\xE9.csv"}) CHECK(!contains(page, raw));
    const bool has_classes = !string(command).starts_with("select");
    CHECK(contains(page, "a\\x1b[31m") == has_classes);
    CHECK(contains(page, "\\u202eb") == has_classes);
    CHECK(contains(page, "<bdi title=\"" + string(300, 'w') + "\">") == has_classes);
    CHECK(contains(page, "</main>\n<footer>"));
  }
}

}  // namespace command_tests::test_command_report
