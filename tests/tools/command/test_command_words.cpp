// Tests the words that the command prints and understands: names, corrections of typing errors, help, and
// text that a terminal must not obey. All cases run on the CPU.
#include <fcntl.h>
#include <pty.h>

#include <nlohmann/json.hpp>

#include "common/shell.hpp"
#include "paths.hpp"

namespace command_tests::test_command_words {
namespace {

const char* const line = "x,kind\n1,b\n2,a\n3,a\n5,b\n8,b\n";

/// Returns everything that the command writes if stdout and stderr are a terminal.
Result on_terminal(const std::vector<string>& arguments) {
  Result result;
  const string program = test_support::command_path();
  int terminal = -1;
  const pid_t child = forkpty(&terminal, nullptr, nullptr, nullptr);
  REQUIRE(child >= 0);
  if (child == 0) {
    std::vector<char*> words{const_cast<char*>("kith")};
    for (const string& argument : arguments) words.push_back(const_cast<char*>(argument.c_str()));
    words.push_back(nullptr);
    execv(program.c_str(), words.data());
    _exit(99);
  }
  std::array<char, 4096> buffer{};
  for (ssize_t n; (n = read(terminal, buffer.data(), buffer.size())) > 0;)
    result.out.append(buffer.data(), static_cast<std::size_t>(n));
  int status = 0;
  waitpid(child, &status, 0);
  close(terminal);
  result.code = WEXITSTATUS(status);
  return result;
}

/// Returns the subcommands that `kith --help` lists.
std::vector<string> subcommands() {
  std::istringstream lines(kith("--help").out);
  std::vector<string> names;
  for (string text; std::getline(lines, text) && text != "Subcommands:";) {
  }
  for (string text; std::getline(lines, text) && text.starts_with("  ");)
    if (text[2] != ' ') names.push_back(text.substr(2, text.find(' ', 2) - 2));
  return names;
}

/// Replaces each run of blanks and line ends in `text` by one blank.
string in_one_line(const string& text) {
  string line;
  for (const char c : text)
    if (c != ' ' && c != '\n')
      line += c;
    else if (!line.ends_with(' '))
      line += ' ';
  return line;
}

}  // namespace

TEST_CASE("help, version and exit codes are where people look for them") {
  CHECK(kith("help classify").out == kith("classify --help").out);
  CHECK(kith("help").out == kith("--help").out);
  CHECK(contains(kith("help classify").out, "--scale"));
  const string how = kith("help how").out;
  CHECK(contains(how, "\n  query_tile\n    Queries per step; 0: chosen.\n    a whole number\n"));
  CHECK(contains(how, "\n    automatic, none, gemm, dot, bf16, fp16, int8, int4\n"));
  check_refused("help clasify", 2,
                "invalid_argument: kith: unknown subcommand \"clasify\"; did you mean classify?");
  const string version = kith("--version").out;
  CHECK(version.starts_with("kith 0."));
  CHECK(kith("-V").out == version);
  CHECK(kith("version").out == version);
  for (const char* of : {"", "search ", "classify ", "devices ", "tune "}) {
    CAPTURE(of);
    const string help = in_one_line(kith(string(of) + "--help").out);
    CHECK(contains(help, "Exit codes: 0 success, 1 a check failed, 2 wrong arguments, 3 a bad file"));
    CHECK(contains(help, "130 Ctrl-C, 143 SIGTERM, 129 SIGHUP"));
  }
  CHECK(contains(in_one_line(kith("search --help").out),
                 "squared_l2 (sqeuclidean, l2sq), l2 (euclidean), l1 (manhattan, cityblock), linf "
                 "(chebyshev), negative_dot (inner_product, dot, ip; the negated product"));
}

TEST_CASE("help shows options by headings, and first what everybody needs") {
  const string help = kith("search --help-all").out;
  std::vector<string> headings, first;
  std::istringstream lines(help);
  for (string text; std::getline(lines, text);) {
    if (text.ends_with(":") && !text.starts_with(" ")) headings.push_back(text);
    if (headings.size() == 1 && text.starts_with("  -"))
      first.push_back(text.substr(2, text.find(' ', 2) - 2));
  }
  CHECK(headings ==
        std::vector<string>{"What to search:", "Columns and rows:", "How files are read:", "Output:",
                            "Devices:", "How it is done (the result is the same):", "Examples:"});
  REQUIRE(first.size() > 3);
  CHECK(std::vector<string>(first.begin(), first.begin() + 3) ==
        std::vector<string>{"-k", "--metric", "--query"});
  CHECK(contains(kith("classify --help-all").out, "\nVotes:\n  --votes "));
  CHECK(contains(kith("tune --help").out, "\nOptions:\n  -h,--help "));
  const string page = kith("manual --as man --of search").out;
  CHECK(page.find("\\fB\\-k\\fR") < page.find("\\fB\\-\\-train\\fR"));
  CHECK(contains(page, ".SS How files are read\n"));
}

TEST_CASE("help shows what one needs, and --help-all the rest") {
  for (const char* of : {"search", "count", "classify", "regress", "evaluate", "structure", "select-features",
                         "graph", "groundtruth"}) {
    CAPTURE(of);
    const string brief = kith(string(of) + " --help").out, all = kith(string(of) + " --help-all").out;
    CHECK(options_in(brief) >= 8);
    CHECK(options_in(brief) <= 16);
    CHECK(options_in(all) > options_in(brief));
    CHECK(contains(brief, "--help-all"));
    CHECK(contains(all, "--read"));
    CHECK(contains(brief, "Exit codes: 0 success"));
  }
  CHECK(!contains(kith("search --help").out, "\n  --read"));
}

TEST_CASE("no subcommand has more than 38 options") {
  int most = 0;
  for (const string& of : subcommands()) {
    CAPTURE(of);
    const int count = options_in(kith(of + " --help-all").out);
    CHECK(count >= 1);
    CHECK(count <= 38);
    most = std::max(most, count);
  }
  CHECK(most >= 30);  // else they were not counted
}

TEST_CASE("help on a topic lists the keys of an option") {
  const string csv = kith("help csv").out, read = kith("help read").out;
  CHECK(csv.starts_with("How text files are read: --csv KEY=VALUE,...\n\nKeys:\n  sep=SIGN "));
  for (const char* key : {"decimal=SIGN", "header=yes|no", "encoding=NAME", "quote=yes|no", "skip=N",
                          "labels=text|numbers", "base=0|1"})
    CHECK(contains(csv, string("\n  ") + key + " "));
  for (const char* key : {"format=WHAT", "array=NAME", "query-array=NAME", "element=WHAT", "max-columns=N",
                          "max-line=SIZE", "max-axes=N", "max-growth=N"})
    CHECK(contains(read, string("\n  ") + key + " "));
  const string prepare = kith("help prepare").out, place = kith("help place").out;
  for (const char* key : {"centre=yes|no", "missing=WHAT", "categorical=COLUMNS", "unseen=refuse|zero"})
    CHECK(contains(prepare, string("\n  ") + key + " "));
  CHECK(contains(prepare, "\n  categories=ordinal|one-hot\n"));
  for (const char* key :
       {"residence=WHAT", "placement=NAME", "shares=X,X,...", "memory-limit=SIZE", "threads=N"})
    CHECK(contains(place, string("\n  ") + key + " "));
  const string votes = kith("help votes").out;
  for (const char* key : {"weights=WHAT", "rank-weights=W,W,...", "tie=WHAT", "priors=LABEL:P,...",
                          "costs=FILE", "sample-weights=FILE", "no-label=LABEL", "outlier=LABEL"})
    CHECK(contains(votes, string("\n  ") + key + " "));
  const string write = kith("help write").out;
  for (const char* key : {"format=WHAT", "header=yes|no", "class-names=NAME,..."})
    CHECK(contains(write, string("\n  ") + key + " "));
  CHECK(contains(kith("manual --as man --of index").out, "placement=NAME"));
  CHECK(!contains(kith("manual --as man --of index").out, "residence=WHAT"));
  CHECK(contains(kith("help csw").err, "invalid_argument: kith: unknown subcommand \"csw\""));
}

TEST_CASE("an option by the name it has elsewhere, or with a slip in it") {
  const auto told = [](const string& arguments, const string& rest) {
    check_refused(arguments, 2, "invalid_argument: " + rest);
  };
  told("evaluate -k 5", "evaluate: unknown option -k; did you mean --k-max?");
  told("evaluate --k 5", "evaluate: unknown option --k; did you mean --k-max?");
  told("classify --n-neighbors 5", "classify: unknown option --n-neighbors; did you mean -k?");
  told("classify --n_neighbors=5", "classify: unknown option --n_neighbors; did you mean -k?");
  told("search --neighbors 5", "search: unknown option --neighbors; did you mean -k?");
  told("search --base a.csv", "search: unknown option --base; did you mean --train?");
  told("search --output a.csv", "search: unknown option --output; did you mean --out-index?");
  told("classify --output a.csv", "classify: unknown option --output; did you mean --out?");
  told("classify -o a.csv", "classify: unknown option -o; did you mean --out?");
  told("classify --weights distance", "classify: unknown option --weights; did you mean --votes?");
  told("search --element u8", "search: unknown option --element; did you mean --read?");
  told("search --out-format csv", "search: unknown option --out-format; did you mean --write?");
  told("classify --target price", "classify: unknown option --target; did you mean --label-column?");
  told("regress --label price", "regress: unknown option --label; did you mean --target?");
  told("search --Train a.csv", "search: unknown option --Train; did you mean --train?");
  told("search --out_index a.csv", "search: unknown option --out_index; did you mean --out-index?");
  told("structure -k 5",
       "structure: unknown option -k (search, graph, groundtruth, recall, classify, regress, "
       "select-features, compare, verify, tune have it); see `kith structure --help`");
  told("structure -x", "structure: unknown option -x; see `kith structure --help`");
  told("classify --frobnicate", "classify: unknown option --frobnicate; see `kith classify --help`");
  told("evaluate --radius 3",
       "evaluate: unknown option --radius (search, count, classify, regress have it); see `kith evaluate "
       "--help`");
  told("predict", "kith: unknown subcommand \"predict\"; did you mean classify?");
}

TEST_CASE("every named choice is taken in any case, with - or _") {
  const Folder folder;
  const string base = "--device CPU --label kind --train " + folder.write("line.csv", line) + " ";
  const string classify = "classify " + base + "--query 0 --out " + (folder / "o.txt") + " ";
  const std::vector<string> choices = {"--how selector=Merge-Sort",
                                       "--metric Squared-L2",
                                       "--metric EUCLIDEAN",
                                       "--metric cityblock",
                                       "--how proposer=NONE",
                                       "--votes weights=Distance",
                                       "--votes tie=Fewer_Neighbors",
                                       "--votes tie=SMALLEST-LABEL",
                                       "--scale ZScore",
                                       "--scale Min_Max",
                                       "--scale standard",
                                       "--prepare categories=Ordinal",
                                       "--csv header=YES",
                                       "--prepare unseen=Refuse",
                                       "--how fused=No",
                                       "--how sample=merge-sort+THRESHOLD"};
  for (const string& choice : choices) {
    const Result result = kith(classify + choice);
    CHECK_MESSAGE(result.code == 0, choice << ": " << result.err);
  }
  CHECK(kith("select-features --criterion Leave_One_Out --method FORWARD " + base).code == 0);
  const string scores = "compare --device cpu -n 50 -m 3 --dims 2 -k 2 --stage ";
  CHECK(contains(kith(scores + "score").out, "\nscore  "));
  CHECK(kith("compare --device cpu --stage Select,SEARCH --data Grid -n 50 -m 3 --dims 2 -k 2").code == 0);
  const string help = kith("select-features --help-all").out;  // CLI11 before 2.4 writes a default behind =
  CHECK((contains(help, "--criterion WHAT=q") || contains(help, "--criterion WHAT [q]")));
}

TEST_CASE("a column with a slip in its name is answered with the one that is meant") {
  const Folder folder;
  const string file = folder.write("flowers.csv", "length,species\n1,a\n2,b\n");
  const string base = "classify --device cpu --leave-one-out --train " + file + " --label ";
  for (const char* slip : {"Species", "speces", "SPECIES", "spec"}) {
    CAPTURE(slip);
    check_refused(
        base + slip, 2,
        "invalid_argument: " + file + ": has no column \"" + slip + "\"; did you mean \"species\"?");
  }
}

TEST_CASE("who names no metric gets l2; class structure is about squares") {
  const Folder folder;
  const string file = folder.write("points.csv", "0,0\n3,4\n6,8\n");
  const string asked = "search --device cpu --csv header=no --train " + file + " --query 0,0 -k 3 ";
  const string rooted =
      "nearest training rows of each query, from 0 (and their distance)\n"
      "query     #1     #2      #3\n    0  0 (0)  1 (5)  2 (10)\n";
  CHECK(kith(asked).out == rooted);
  CHECK(kith(asked + "--metric euclidean").out == rooted);
  CHECK(contains(kith(asked + "--metric sqeuclidean").out, "2 (100)"));
  CHECK(contains(kith(asked + "--explain").out, "l2, n = 3"));
  const string labelled = folder.write("labelled.csv", "x,y,kind\n0,0,1\n3,4,2\n6,8,2\n");
  const string of = " --device cpu --label kind --train " + labelled;
  CHECK(contains(kith("regress --device cpu --target kind --query 0,0 --radius 5 --train " + labelled).out,
                 "   2    1         5"));
  CHECK(contains(kith("classify --query 0,0 -k 2" + of).out, "   2    1         5"));
  CHECK(kith("classify --query 0,0 -k 2 --save-model " + (folder / "m.kith") + of).code == 0);
  CHECK(contains(folder.read("m.kith"), string("\2\0\0\0\0\0\0\0l2", 10)));
  CHECK(contains(kith("structure" + of).out, "squared_l2"));
}

TEST_CASE("a radius below 0 is refused where no distance is, and told where only rounding makes one") {
  const Folder folder;
  const string file = folder.write("points.csv", "1,2\n3,4\n");
  const string asked =
      "search --device cpu --csv header=no --train " + file + " --query 1,2 --radius -1 --metric ";
  for (const char* metric : {"l2", "squared_l2", "cosine", "l1", "linf"}) {
    CAPTURE(metric);
    check_refused(asked + metric, 2,
                  string("invalid_argument: search: --radius: -1 is below 0, and no distance is; give a "
                         "radius of 0 or more for ") +
                      metric);
  }
  const Result dot = kith(asked + "negative_dot");
  CHECK(dot.code == 0);
  CHECK(dot.err == "");
  CHECK(contains(dot.out, "1 (-11)"));
}

TEST_CASE("a query whose distances overflow is told") {
  const Folder folder;
  const string file = folder.write("points.csv", "x,y,kind\n1,2,1\n3,4,2\n5,6,2\n");
  const string note =
      ": distances of query 1 (from 0) overflow to infinity, and neighbours at infinity are in the order of "
      "their rows; correct the values, or scale all columns by --scale\n";
  const string asked = " --device cpu --train " + file + " --query 1,2 --query 1,1e30 ";
  for (const string& command : {"search -k 2 --label kind" + asked, "classify -k 2 --label kind" + asked,
                                "regress -k 2 --target kind" + asked}) {
    CAPTURE(command);
    const Result result = kith(command);
    CHECK(result.code == 0);
    CHECK(result.err == "kith: note: --query" + note);
  }
  CHECK(kith("search -k 2 --label kind --metric l1" + asked).err == "");
  const string queries = folder.write("q.csv", "x,y\n1e30,1\n1,1\n1e30,2\n1e30,2\n1e30,2\n1e30,2\n1e30,2\n");
  CHECK(contains(kith("search -k 1 --label kind --device cpu --train " + file + " --queries " + queries).err,
                 queries + ": distances of queries 0, 2, 3, 4, 5 and 1 more (from 0) overflow"));
}

TEST_CASE("text that is not UTF-8 breaks no JSON and no message") {
  const Folder folder;
  const string file = folder.write("k\xe4se.csv", line);
  const Result result = kith("evaluate --device cpu --label kind --k-max 1 --json --train " + file);
  CHECK(result.code == 0);
  CHECK(result.err == "");
  const nlohmann::json json = nlohmann::json::parse(result.out);
  CHECK(contains(json["train"].get<string>(), "k\xEF\xBF\xBDse.csv"));
  const Result missing = kith("search --query 1 --train " + (folder / "m\xe4rz.csv"));
  CHECK(missing.code == 3);
  CHECK(contains(missing.err, "m\\xe4rz.csv"));
  CHECK(!contains(missing.err, "\xe4"));
}

TEST_CASE("what a terminal would obey is shown in tables and messages, and on a terminal everywhere") {
  const Folder folder;
  // A colour, a bell, a change of text direction, and Latin letters that stay unchanged.
  const string odd = "r\x1b[31m\x07\xE2\x80\xAE\xC3\xA4", plain = "r\\x1b[31m\\x07\\u202e\xC3\xA4";
  const string train = folder.write("t.csv", "x,kind\n1," + odd + "\n2," + odd + "\n9,b\n8,b\n");
  const string asked = "classify --device cpu -k 1 --label kind --train " + train;
  const string answered = kith(asked + " --query 1").out;
  CHECK(answered.starts_with("1: " + plain + "\n"));
  CHECK(contains(answered, "   1    0         0  " + plain + "\n"));
  CHECK(contains(kith("evaluate --device cpu --label kind --train " + train).out, "\n" + plain + "  "));
  const string queries = folder.write("q.csv", "x\n1\n9\n");
  CHECK(kith(asked + " --queries " + queries).out == odd + "\nb\n");  // data for another program
  const Result shown = on_terminal(
      {"classify", "--device", "cpu", "-k", "1", "--label", "kind", "--train", train, "--queries", queries});
  CHECK(shown.code == 0);
  CHECK(contains(shown.out, plain + "\r\nb\r\n"));
  CHECK(!contains(shown.out, "\x1b[31m"));
  const Result written = on_terminal({"classify", "--device", "cpu", "-k", "1", "--label", "kind", "--train",
                                      train, "--leave-one-out", "--out", "-"});
  CHECK(contains(written.out, "label\r\n" + plain + "\r\n"));
  CHECK(!contains(written.out, "\x1b[31m"));
  const string columns = folder.write("c.csv", odd + ",kind\n1,a\n2,a\n9,b\n8,b\n");
  const string selected = kith("select-features --device cpu --label kind --train " + columns).out;
  CHECK(contains(selected, "\n  " + plain + "\n"));
  CHECK(!contains(selected, "\x1b"));
  const string odd_file = folder.write("k\xe4se.csv", "x,kind\n1," + odd + "\n2,b\n9,b\n8," + odd + "\n");
  const string structure = kith("structure --device cpu --label kind --train " + odd_file).out;
  CHECK(contains(structure, "k\\xe4se.csv: 4 rows"));
  CHECK(contains(structure, "  " + plain + " -> b: "));
  CHECK(!contains(structure, "\x1b"));
  const Result refused = kith("search --device cpu --query 1 --train " + train + " --label '" + odd + "'");
  CHECK(refused.code == 2);
  CHECK(contains(refused.err, plain));
  CHECK(!contains(refused.err, "\x1b"));
  const Result unknown = kith("$(printf 'se\\033[31m')");
  CHECK(contains(unknown.err, "\"se\\x1b[31m\""));
}

}  // namespace command_tests::test_command_words
