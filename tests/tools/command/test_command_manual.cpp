// Tests kith manual: man pages and completions contain everything that --help says, and shells complete
// with them.
#include <regex>

#include "common/shell.hpp"

namespace command_tests::test_command_manual {
namespace {

/// Returns the names that `--help` lists at the beginning of lines: subcommands or options.
std::set<string> listed(const string& help, const char* line) {
  std::set<string> names;
  const std::regex pattern(line, std::regex::multiline);
  for (std::sregex_iterator at(help.begin(), help.end(), pattern), end; at != end; ++at)
    names.insert((*at)[1]);
  return names;
}

std::set<string> subcommands() {
  const string help = kith("--help").out;
  return listed(help.substr(help.find("Subcommands:")), "^  ([a-z-]+)  ");
}

std::set<string> options_of(const string& subcommand) {
  return listed(kith(subcommand + " --help-all").out, "^  (?:-.,)?(--[a-z-]+|-k)");
}

/// Returns what bash offers to complete the last of these words.
std::set<string> offered(const std::vector<string>& words) {
  string line = ". /dev/stdin; COMP_WORDS=(";
  for (const string& word : words) line += "'" + word + "' ";
  line += "); COMP_CWORD=" + std::to_string(words.size() - 1) + "; _kith; printf '%s\\n' \"${COMPREPLY[@]}\"";
  const Result result = shell("\"$kith\" manual --as bash | bash -c \"" +
                              std::regex_replace(line, std::regex("[$\"\\\\]"), "\\$&") + "\"");
  CHECK(result.err.empty());
  return listed(result.out, "^(.+)$");
}

}  // namespace

TEST_CASE("manual: every subcommand and every option of it stands in each form") {
  const string bash = kith("manual --as bash").out, zsh = kith("manual --as zsh").out;
  const string fish = kith("manual --as fish").out, markdown = kith("manual --as markdown").out;
  const std::set<string> all = subcommands();
  REQUIRE(all.size() >= 12);
  for (const string& subcommand : all) {
    CAPTURE(subcommand);
    const std::set<string> options = options_of(subcommand);
    REQUIRE(options.count("--help") == 1);
    const string page = kith("manual --as man --of " + subcommand).out;
    CHECK(contains(kith("manual --as man").out,
                   "\\fB" + std::regex_replace(subcommand, std::regex("-"), "\\-")));
    CHECK(contains(markdown, "\n## `kith " + subcommand + "`\n"));
    for (const string& option : options) {
      CAPTURE(option);
      CHECK(contains(page, "\\fB" + std::regex_replace(option, std::regex("-"), "\\-") + "\\fR"));
      CHECK(contains(markdown, "`" + option + "`"));
      CHECK(contains(zsh, "'*" + option + "["));
      CHECK(contains(fish, option.starts_with("--") ? " -l " + option.substr(2) + " " : " -s k "));
      CHECK(contains(bash, option));
    }
  }
  CHECK(contains(kith("manual --as man --of search").out, "\\fBsep=SIGN\\fR: what separates cells"));
  CHECK(contains(markdown, "\n## `--csv`\n\nHow text files are read, as KEY=VALUE"));
  CHECK(contains(markdown, "| `max-line=SIZE` |"));
}

TEST_CASE("manual: bash completes subcommands, options, and the names that an option takes") {
  CHECK(offered({"kith", "cla"}) == std::set<string>{"classify"});
  CHECK(offered({"kith", "search", "--metr"}) == std::set<string>{"--metric", "--metric-params"});
  const std::set<string> metrics = {"squared_l2", "l2",           "l1",
                                    "linf",       "negative_dot", "cosine",
                                    "hamming",    "correlation",  "spearman",
                                    "seuclidean", "mahalanobis",  "hellinger",
                                    "angular",    "haversine",    "jaccard",
                                    "dice",       "sokalsneath",  "rogerstanimoto",
                                    "russellrao", "braycurtis",   "nan_euclidean",
                                    "matching",   "canberra",     "minkowski",
                                    "gower",      "nan_gower",    "nan_manhattan"};
  CHECK(offered({"kith", "search", "--metric", ""}) == metrics);
  CHECK(offered({"kith", "search", "--metric", "=", "li"}) == std::set<string>{"linf"});
  CHECK(offered({"kith", "classify", "-k", ""}).empty());
  CHECK(offered({"kith", "search", "--csv", "se"}) == std::set<string>{"sep="});
  CHECK(offered({"kith", "search", "--read", "max-l"}) == std::set<string>{"max-line="});
  CHECK(offered({"kith", "search", "--train", "/et"}) == std::set<string>{"/etc"});
}

TEST_CASE("manual: all that systems look for is written below one folder") {
  const Folder folder;
  const string result = out_of("manual --out '" + (folder / "share") + "'");
  CHECK(result.empty());
  CHECK(folder.read("share/man/man1/kith-search.1") == kith("manual --as man --of search").out);
  CHECK(folder.read("share/bash-completion/completions/kith") == kith("manual --as bash").out);
  CHECK(folder.read("share/zsh/site-functions/_kith") == kith("manual --as zsh").out);
  CHECK(folder.read("share/fish/vendor_completions.d/kith.fish") == kith("manual --as fish").out);
}

TEST_CASE("manual: what it cannot do is one line") {
  check_refused("manual", 2,
                "invalid_argument: manual: --as FORM prints one, and --out DIR writes all; give one of them");
  check_refused("manual --as bash --of search", 2,
                "invalid_argument: manual: --of goes with --as man only; give --as man, or leave --of out");
  check_refused("manual --as pdf", 2,
                "invalid_argument: manual: --as: there is no form \"pdf\"; choose one of man, markdown, "
                "bash, zsh, fish");
  check_refused("manual --as man --of serch", 2,
                "invalid_argument: manual: --of: there is no subcommand \"serch\"; did you mean search?");
  const Folder folder;
  const string file = folder.write("file", "");
  const Result result = kith("manual --out '" + file + "'");
  CHECK(result.code == 3);
  CHECK(contains(result.err, "kith: bad_file: manual: " + file + "/man/man1 cannot be made"));
}

}  // namespace command_tests::test_command_manual
