// Tests options with keys: where a value ends, and the names of separators, decimal signs and encodings.
#include "command/input/tables.hpp"
#include "common/test.hpp"

namespace kith::tests {
namespace {

TEST_CASE("keys: a comma ends a value where a key follows, and is one by itself") {
  std::vector<std::pair<std::string, std::string>> taken;
  std::vector<command::Key> keys;
  for (const char* name : {"sep", "decimal", "max-line"})
    keys.push_back(
        {name, "SIGN", "", [&taken, name](const std::string& value) { taken.emplace_back(name, value); }});
  const auto parsed = [&](const std::string& text) {
    taken.clear();
    command::take_keys("search: --csv", keys, text);
    return taken;
  };
  using Taken = std::vector<std::pair<std::string, std::string>>;
  CHECK(parsed("sep=;,decimal=,,max-line=3") == Taken{{"sep", ";"}, {"decimal", ","}, {"max-line", "3"}});
  CHECK(parsed("sep=,") == Taken{{"sep", ","}});
  CHECK(parsed("sep=,,decimal=,") == Taken{{"sep", ","}, {"decimal", ","}});
  CHECK(parsed("sep=,decimal=,") == Taken{{"sep", ","}, {"decimal", ","}});
  CHECK(parsed("sep=3,1,decimal=a,b") == Taken{{"sep", "3,1"}, {"decimal", "a,b"}});
  CHECK(parsed("sep==") == Taken{{"sep", "="}});
  CHECK(parsed("").empty());
  for (const char* wrong : {"sep", "sep=", "=;", "colour=;", "sep=;,other=1"})
    CHECK_THROWS_AS(command::take_keys("search: --csv", keys, wrong), Error);
}

TEST_CASE("keys: separators, decimal signs and encodings by name") {
  CHECK(command::separator_named("tab") == '\t');
  CHECK(command::separator_named("\\t") == '\t');
  CHECK(command::separator_named(";") == ';');
  for (const char* none : {"", "ab", "5", "\"", ".", "x"})
    CHECK_THROWS_AS(command::separator_named(none), Error);
  CHECK(command::decimal_named("comma") == ',');
  CHECK(command::decimal_named(".") == '.');
  CHECK_THROWS_AS(command::decimal_named(";"), Error);
  using enum files::Encoding;
  CHECK(command::encoding_named("Latin_1") == latin1);
  CHECK(command::encoding_named("latin1") == latin1);
  CHECK(command::encoding_named("CP1252") == windows1252);
  CHECK(command::encoding_named("UTF-16LE") == utf16le);
  CHECK_THROWS_AS(command::encoding_named("klingon"), Error);
}

}  // namespace
}  // namespace kith::tests
