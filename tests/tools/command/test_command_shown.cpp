// Tests how foreign text is shown to people and in JSON.
#include <nlohmann/json.hpp>

#include "command/shared/json.hpp"
#include "common/test.hpp"
#include "files/shown.hpp"

namespace kith::tests {
namespace {

using std::string;

TEST_CASE("shown: controls, turns of text, and bytes that are no UTF-8; all else is as it is") {
  using files::shown;
  using files::shown_in_line;
  for (const string& text :
       {string("abc \xC3\xA4 \xE2\x82\xAC \xF0\x9F\x98\x80 \\x1b"), string(""), string("\xEF\xBF\xBD")})
    CHECK(shown(text) == text);
  CHECK(shown("a\tb\nc") == "a\tb\nc");
  CHECK(shown_in_line("a\tb\nc\r") == "a\\tb\\nc\\x0d");
  CHECK(shown("\x1b\x07\x7f\r") == "\\x1b\\x07\\x7f\\x0d");
  CHECK(shown("\xC2\x9B") == "\\u009b");  // CSI as one character
  for (const auto& [text, code] : {std::pair{"\xE2\x80\xAA", "202a"},
                                   {"\xE2\x80\xAE", "202e"},
                                   {"\xE2\x81\xA6", "2066"},
                                   {"\xE2\x81\xA9", "2069"},
                                   {"\xE2\x80\x8E", "200e"},
                                   {"\xE2\x80\x8F", "200f"},
                                   {"\xD8\x9C", "061c"},
                                   {"\xE2\x80\xA8", "2028"}})
    CHECK(shown(string("a") + text) == string("a\\u") + code);
  CHECK(shown("K\xe4se") == "K\\xe4se");
  CHECK(shown("\xC3") == "\\xc3");
  CHECK(shown("\xC0\xAF \xED\xA0\x80 \xF5\x80\x80\x80 \xE0\x80\x80") ==
        "\\xc0\\xaf \\xed\\xa0\\x80 \\xf5\\x80\\x80\\x80 \\xe0\\x80\\x80");
}

TEST_CASE("json: valid whatever the text is, and nothing in it that a terminal would obey") {
  CHECK(command::json_text(nlohmann::json{{"k\xe4se", "\xff"}}) ==
        "{\n  \"k\xEF\xBF\xBDse\": \"\xEF\xBF\xBD\"\n}\n");
  const string odd = "a\x1b[31m \x7f \xC2\x85 \xE2\x80\xAE \xC3\xA4";
  const string dumped = command::json_text(nlohmann::ordered_json{{"text", odd}});
  CHECK(dumped == "{\n  \"text\": \"a\\u001b[31m \\u007f \\u0085 \\u202e \xC3\xA4\"\n}\n");
  CHECK(nlohmann::json::parse(dumped)["text"] == odd);
}

}  // namespace
}  // namespace kith::tests
