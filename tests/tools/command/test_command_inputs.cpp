// Tests that no output of the command replaces one of its inputs, and that inputs may be pipes and stdin.
#include <CLI/CLI.hpp>

#include "command/shared/command.hpp"
#include "command/shared/named_files.hpp"
#include "command/words/keys.hpp"
#include "common/shell.hpp"

using command_tests::check_refused;
using command_tests::contains;
using command_tests::Folder;
using command_tests::Result;
using command_tests::shell;
using std::string;
namespace fs = std::filesystem;

namespace {

const char* const flowers =
    "length,width,kind\n5.1,3.5,setosa\n4.9,3.0,setosa\n7.0,3.2,versicolor\n6.4,3.2,versicolor\n6.3,3.3,"
    "virginica\n";

/// Returns the option that names a file, as a user writes it.
string long_name(const CLI::Option& option) {
  return "--" + option.get_lnames()[0];
}

const std::set<string> written = {"--out",       "--proba",          "--save-model", "--report",
                                  "--out-index", "--out-distance",   "--out-edges",  "--table",
                                  "--errors",    "--sample-classes", "--distances",  "--resume"};

/// Holds how an option names a file that is read: in messages, and before the name of the file.
struct Input {
  string words, given;
};

/// Adds the files that an option names, or that its keys name.
void add_files(const CLI::Option& option, std::vector<Input>& inputs, std::vector<string>& outputs) {
  if (option.get_lnames().empty()) return;  // a positional argument
  const string name = long_name(option);
  if (option.get_type_name() == "FILE") {
    if (written.contains(name))
      outputs.push_back(name);
    else
      inputs.push_back({name, name + " "});
  }
  if (const kith::command::Topic* topic = kith::command::topic_of(option))
    for (const kith::command::Key& key : topic->keys)
      if (key.value == "FILE") inputs.push_back({name + " " + key.name, name + " " + key.name + "="});
}

string answer_to(const string& arguments, int code) {
  const Result result = command_tests::kith(arguments);
  CAPTURE(arguments);
  CHECK(result.code == code);
  return result.err;
}

}  // namespace

TEST_CASE("no thread can be made: the command works on one, and says so") {
  const Folder folder;
  const string train = folder.write("points.csv", "x,y\n0,0\n3,4\n");
  const string search = "\"$kith\" search --device cpu --query 0,0 -k 2 --train " + train;
  const Result usual = shell(search);
  const Result alone = shell("ulimit -s 137438953472; " + search);  // the stack of each thread in KiB
  CHECK(alone.code == 0);
  CHECK(alone.out == usual.out);
  CHECK(alone.err ==
        usual.err +
            "kith: note: no thread can be made here, so kith works on one, and a stop leaves unfinished "
            "files behind; a limit of processes may be the reason (ulimit -u, or the pids of a container)\n");
}

TEST_CASE("every option that names a file is known as one that is read or written") {
  CLI::App app("", "kith");
  std::size_t files = 0;
  for (const kith::command::Subcommand& subcommand : kith::command::all_subcommands(app)) {
    CAPTURE(subcommand.app->get_name());
    CHECK(kith::command::unknown_file_options(*subcommand.app) == std::vector<string>());
    for (const CLI::Option* option : subcommand.app->get_options())
      files += option->get_type_name() == "FILE";
  }
  CHECK(files >= 40);
  app.add_option("--new")->type_name("FILE");
  CHECK(kith::command::unknown_file_options(app) == std::vector<string>{"--new"});
}

TEST_CASE("no output of any subcommand may be one of its inputs, or another output") {
  const Folder folder;
  const string a = folder.write("a.csv", flowers);
  CLI::App app("", "kith");
  std::size_t pairs = 0;
  for (const kith::command::Subcommand& subcommand : kith::command::all_subcommands(app)) {
    const string name = subcommand.app->get_name();
    std::vector<Input> inputs;
    std::vector<string> outputs;
    for (const CLI::Option* option : subcommand.app->get_options()) add_files(*option, inputs, outputs);
    const auto others = [&](const string& given) {  // files that the command needs before it compares names
      string text;
      for (const char* needed : {"--train", "--queries", "--truth", "--found"})
        if (const CLI::Option* option = subcommand.app->get_option_no_throw(needed))
          if (needed != given && (option->get_required() || needed == string("--train")))
            text += string(" ") + needed + " none.csv";
      return text;
    };
    for (const string& output : outputs)
      for (const Input& input : inputs) {
        const Result result =
            command_tests::kith(name + others(input.words) + " " + input.given + a + " " + output + " " + a);
        CAPTURE(name + " " + input.words + " " + output);
        CHECK(result.code == 2);
        if (name == "verify") {  // files are for whole sets, --resume for random cases
          CHECK(result.err ==
                "kith: invalid_argument: verify: --resume goes with --random-cases; give --random-cases, "
                "too\n");
          continue;
        }
        CHECK(result.err == "kith: invalid_argument: " + name + ": " + output + " " + a +
                                " would replace the file that " + input.words +
                                " reads; give it another name\n");
        ++pairs;
      }
    for (std::size_t i = 1; i < outputs.size(); ++i) {
      const Result result =
          command_tests::kith(name + others("") + " " + outputs[0] + " " + a + " " + outputs[i] + " " + a);
      CHECK(result.code == 2);
    }
  }
  CHECK(pairs >= 40);
  CHECK(folder.read("a.csv") == flowers);
}

TEST_CASE("an output is an input whatever the path says: links, folders, stdin") {
  const Folder folder;
  const string a = folder.write("a.csv", flowers);
  fs::create_directory(folder / "sub");
  fs::create_symlink(a, folder / "soft.csv");
  fs::create_hard_link(a, folder / "hard.csv");
  fs::create_directory_symlink(folder / "sub", folder / "way");
  const string ask = "classify --device cpu --label kind --leave-one-out -k 1 ";
  for (const string& other : {folder / "soft.csv", folder / "hard.csv", folder / "./a.csv",
                              folder / "sub/../a.csv", folder / "way/../a.csv"}) {
    for (const char* option : {"--out ", "--report "}) {
      const string err = answer_to(ask + "--train " + a + " " + option + other, 2);
      CHECK(err == "kith: invalid_argument: classify: " + string(option) + other +
                       " would replace the file that --train reads, " + a + "; give it another name\n");
    }
    answer_to(ask + "--out " + a + " --train " + other, 2);
  }
  answer_to(ask + "--train - --read format=csv --out " + a + " < " + a, 2);
  answer_to(ask + "--train /dev/stdin --read format=csv --out " + a + " < " + a, 2);
  answer_to(ask + "--train " + a + " --out - >> " + a, 2);
  CHECK(folder.read("a.csv") == flowers);
  answer_to(
      ask + "--train " + a + " --out " + (folder / "new.csv") + " --report " + (folder / "sub/../new.csv"),
      2);
  CHECK_FALSE(folder.has("new.csv"));
  answer_to(ask + "--train " + a + " --out /dev/null --report /dev/null", 0);
  CHECK(folder.read("a.csv") == flowers);
}

TEST_CASE("what kith tune measured is no output of another subcommand") {
  const Folder folder;
  fs::create_directory(folder / "tuned");
  const string a = folder.write("a.csv", flowers), tuned = folder.write("tuned/cpu.txt", "measured");
  const Result result =
      shell("KITH_TUNING='" + (folder / "tuned") + "' \"$kith\" classify --device cpu --train " + a +
            " --label kind --leave-one-out --out " + tuned);
  CHECK(result.code == 2);
  CHECK(contains(result.err, "would replace what `kith tune` measured"));
  CHECK(folder.read("tuned/cpu.txt") == "measured");
}

TEST_CASE("stdin, pipes and <(...) are inputs, plain or gzip") {
  const Folder folder;
  const string a = folder.write("a.csv", flowers);
  const string ask = " --device cpu --label kind --leave-one-out -k 1";
  const string right = command_tests::kith("classify --train " + a + ask).out;
  CHECK(contains(right, "accuracy"));
  const auto same = [&](const string& line) {
    CAPTURE(line);
    const Result result = shell(line);
    CHECK(result.code == 0);
    CHECK(result.err.empty());
    CHECK(result.out == right);
  };
  const string classify = "\"$kith\" classify" + ask + " --read format=csv --train ";
  same(classify + "- < " + a);
  same("cat " + a + " | " + classify + "-");
  same("gzip -c " + a + " | " + classify + "-");
  same("cat " + a + " | " + classify + "/dev/stdin");
  same("mkfifo " + (folder / "pipe") + "; cat " + a + " > " + (folder / "pipe") + " & " + classify +
       (folder / "pipe"));
  const string found = "<(cat " + a + ")";
  same("bash -c 'kith='\"$kith\"'; \"$kith\" classify" + ask + " --read format=csv --train " + found + "'");
  fs::copy(a, folder / "flowers");
  same(classify + (folder / "flowers"));
  same("gzip -c " + a + " > " + (folder / "packed") + "; " + classify + (folder / "packed"));
}

TEST_CASE("one input may be stdin, and its format must be said") {
  const Folder folder;
  const string a = folder.write("a.csv", flowers);
  const string ask = "classify --device cpu --label kind --leave-one-out --train ";
  CHECK(answer_to(ask + "- < " + a, 3) ==
        "kith: bad_file: stdin: has no name that says its format; give it, as in --read format=csv\n");
  CHECK(answer_to(ask + "- --read format=csv < /dev/null", 3) ==
        "kith: bad_file: stdin: is empty; a file of data has at least one row\n");
  CHECK(answer_to(ask + "- --read format=xls < " + a, 2) ==
        "kith: invalid_argument: classify: --read format: there is no \"xls\"; choose one of csv, tsv, txt, "
        "npy, idx, fvecs, ivecs, bvecs, svm, fbin, u8bin, i8bin, f16bin, ibin, npz, hdf5\n");
  for (const char* other : {"-", "/dev/stdin"})
    CHECK(contains(
        answer_to("search --device cpu --read format=csv --train - --queries " + string(other) + " < " + a,
                  2),
        "--train and --queries both read stdin, which can be read once"));
  CHECK(contains(answer_to(ask + "- --read format=csv --votes tie=nearest,costs=- < " + a, 2),
                 "--train and --votes costs both read stdin, which can be read once"));
  CHECK(answer_to("classify --device cpu --model - --queries " + a + " < " + a, 2) ==
        "kith: invalid_argument: classify: --model -: a model is an ordinary file; give it a name\n");
  const string x = folder.write("x.csv", "1,2\n3,4\n5,6\n"), y = folder.write("y.txt", "0\n0\n1\n");
  const Result labels =
      shell("\"$kith\" classify --device cpu --leave-one-out -k 1 --read format=txt --labels - --train " + x +
            " < " + y);
  CHECK(labels.code == 0);
  CHECK(contains(labels.out, "accuracy"));
}
