// Tests kith-lab as a program: help, files that it names, its manual.
#include <CLI/CLI.hpp>

#include "command/shared/named_files.hpp"
#include "lab/subcommands.hpp"
#include "tools/lab/lab_shell.hpp"

namespace command_tests::test_lab_program {

TEST_CASE("kith-lab: every subcommand explains itself, with examples") {
  for (const char* name : {"bench", "reproduce", "placements", "manual"}) {
    CAPTURE(string(name));
    const Result result = lab(string(name) + " --help");
    CHECK(result.code == 0);
    CHECK(result.err.empty());
    CHECK(contains(result.out, "Examples:\n  kith-lab " + string(name)));
    const string help = lab(string(name) + " --help-all").out;
    CHECK(contains(help, "--quiet"));
    CHECK(options_in(help) >= 1);
    CHECK(options_in(help) <= 36);
  }
  const Result all = lab("--help");
  CHECK(contains(all.out, "Examples:\n  kith-lab bench"));
  CHECK(lab("").out == all.out);
  CHECK(lab("").code == 2);
  CHECK(contains(lab("--version").out, "kith-lab 0."));
  check_lab_refused("benhc", 2,
                    "invalid_argument: kith-lab: unknown subcommand \"benhc\"; did you mean bench?");
  check_lab_refused("search", 2,
                    "invalid_argument: kith-lab: unknown subcommand \"search\"; choose one of bench, "
                    "reproduce, placements, manual");
  check_lab_refused("bench --xml", 2,
                    "invalid_argument: bench: unknown option --xml; see `kith-lab bench --help`");
}

TEST_CASE("kith-lab: every option that names a file is known as one that is read or written") {
  CLI::App app("", "kith-lab");
  for (const kith::command::Subcommand& subcommand : kith::command::lab_program().subcommands(app)) {
    CAPTURE(subcommand.app->get_name());
    CHECK(kith::command::unknown_file_options(*subcommand.app) == std::vector<string>());
  }
}

TEST_CASE("a folder of outputs may hold no input that would be replaced") {
  const Folder folder;
  fs::create_directory(folder / "charts");
  const string data = folder.write("charts/x-1.svg", "1,2\n");
  check_lab_refused("reproduce gsknn-kdd --data " + data + " --charts " + (folder / "charts"), 2,
                    "invalid_argument: reproduce: --charts " + (folder / "charts") +
                        " would replace the file of --data; give another folder");
  const string images = folder.write("train-images-idx3-ubyte", "");
  check_lab_refused("bench --fashion-mnist " + (folder / ".") + " --json " + images, 2,
                    "invalid_argument: bench: --json " + images +
                        " would replace a file of --fashion-mnist; give it another name");
}

TEST_CASE("kith-lab manual: pages and completions are its own") {
  const Folder folder;
  CHECK(lab("manual --out '" + (folder / "share") + "'").code == 0);
  CHECK(folder.read("share/man/man1/kith-lab-bench.1") == lab("manual --as man --of bench").out);
  CHECK(contains(folder.read("share/man/man1/kith-lab.1"), ".BR kith\\-lab\\-reproduce (1)"));
  const string bash = folder.read("share/bash-completion/completions/kith-lab");
  CHECK(contains(bash, "\n_kith_lab() {\n"));
  CHECK(bash.ends_with("complete -o filenames -F _kith_lab kith-lab\n"));
  CHECK(folder.read("share/zsh/site-functions/_kith_lab").starts_with("#compdef kith-lab\n"));
  CHECK(contains(folder.read("share/fish/vendor_completions.d/kith-lab.fish"), "complete -c kith-lab -f\n"));
}

}  // namespace command_tests::test_lab_program
