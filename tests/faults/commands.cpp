// Runs the command with its N-th call for files failing, interrupted or short (libkith_faulty_files.so). It
// must exit with code 3 and a message, or give the right answer; outputs must be whole or unchanged, with no
// other files beside them.
#include <errno.h>
#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>
#include <zlib.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstring>
#include <sstream>

#include "common/data.hpp"
#include "common/folder.hpp"
#include "faults.hpp"
#include "file_calls.hpp"
#include "kith/unstable/tuning.hpp"

extern char** environ;

namespace kith::tests::faults {
namespace {

using test_support::TemporaryFolder;

struct Command {
  std::string name;
  std::vector<std::string> words;
  std::vector<std::string> outputs;  ///< names of files
};

struct Outcome {
  int code = -1;
  std::string out, err;
  long calls = 0;
  long descriptors = 0, unsynchronised = 0;
};

/// Writes the files that the commands read.
void write_inputs(const TemporaryFolder& folder) {
  const Matrix rows = hard_rows(DataKind::integers, Set::train, 60, 4, Metric::l2);
  std::ostringstream csv, sizes, plain, bytes;
  csv << "a,b,c,d,kind\n";
  sizes << "a,b,c,d,size\n";
  plain << "a,b,c,d\n";
  for (std::int64_t r = 0; r < rows.rows; ++r) {
    for (const float value : rows.row(r)) {
      csv << value << ',';
      sizes << value << ',';
      bytes.write(reinterpret_cast<const char*>(&value), sizeof value);
    }
    csv << "kind" << r % 3 << '\n';
    sizes << r % 7 << '\n';
    if (r < 5)
      plain << rows.row(r)[0] << ',' << rows.row(r)[1] << ',' << rows.row(r)[2] << ',' << rows.row(r)[3]
            << '\n';
  }
  folder.write("t.csv", csv.str());
  folder.write("u.csv", sizes.str());
  folder.write("q.csv", plain.str());
  std::string header = "{'descr': '<f4', 'fortran_order': False, 'shape': (60, 4), }";
  header.resize(128 - 10 - 1, ' ');
  folder.write("t.npy", std::string("\x93NUMPY\1\0\x76\0", 10) + header + "\n" + bytes.str());
  const gzFile packed = ::gzopen((folder / "t.csv.gz").c_str(), "wb");
  const std::string text = csv.str();
  ::gzwrite(packed, text.data(), static_cast<unsigned>(text.size()));
  ::gzclose(packed);
}

std::vector<Command> commands() {
  const std::vector<std::string> labels = {"--label-column", "kind"};
  const auto classify = [&](const std::string& train, std::vector<std::string> more) {
    std::vector<std::string> words = {"classify", "--train", train, "-k", "3"};
    words.insert(words.end(), labels.begin(), labels.end());
    words.insert(words.end(), more.begin(), more.end());
    return words;
  };
  return {
      {"search .npy", {"search", "--train", "t.npy", "--queries", "t.npy", "-k", "3"}, {}},
      {"search --out-index .npy",
       {"search", "--train", "t.npy", "--queries", "t.npy", "-k", "3", "--out-index", "i.npy",
        "--out-distance", "d.csv"},
       {"i.npy", "d.csv"}},
      {"classify .csv --out", classify("t.csv", {"--queries", "q.csv", "--out", "o.csv"}), {"o.csv"}},
      {"classify .csv.gz --out", classify("t.csv.gz", {"--queries", "q.csv", "--out", "o.csv"}), {"o.csv"}},
      {"classify --save-model", classify("t.csv", {"--save-model", "n.kith"}), {"n.kith"}},
      {"classify --model",
       {"classify", "--model", "m.kith", "--queries", "q.csv", "--out", "o.csv"},
       {"o.csv"}},
      {"classify --report", classify("t.csv", {"--queries", "t.csv", "--report", "r.html"}), {"r.html"}},
      {"regress --out",
       {"regress", "--train", "u.csv", "--target", "size", "-k", "3", "--queries", "q.csv", "--out", "o.csv"},
       {"o.csv"}},
      {"search by tuning", {"search", "--train", "t.npy", "--queries", "t.npy", "-k", "2"}, {}},
  };
}

/// Returns whether two outputs are equal. Pages contain times and the machine, so only their number of tags
/// and their end are compared.
bool same_output(const std::string& name, const std::string& one, const std::string& other) {
  if (!name.ends_with(".html")) return one == other;
  constexpr std::string_view end = "</html>\n";
  return one.ends_with(end) && other.ends_with(end) && one.substr(0, 15) == other.substr(0, 15) &&
         std::count(one.begin(), one.end(), '<') == std::count(other.begin(), other.end(), '<');
}

class Runner {
 public:
  Runner() {
    write_inputs(folder_);
    const DeviceInfo cpu = open_device("cpu").info();
    ::setenv("KITH_TUNING", scratch_.path().c_str(), 1);
    save_tuning(empty_tuning(cpu), tuning_path(cpu), false);
    ::setenv("KITH_TUNING", "off", 1);
    run({"classify", "--train", "t.csv", "--label-column", "kind", "--save-model", "m.kith"}, 0, 0);
    inputs_ = folder_.names();
  }

  void fail_each_call(const Asked& asked, const Command& command);

 private:
  Outcome run(const std::vector<std::string>& words, long number, int kind);
  std::string judge(const Command& command, const Outcome& outcome, bool must_work);
  void place_outputs(const Command& command, bool old);
  std::string wrong_files(const Command& command, bool done);

  TemporaryFolder folder_, scratch_;
  std::set<std::string> inputs_;
  Outcome right_;
  std::vector<std::string> right_files_;
  bool old_ = false;  // whether the outputs exist beforehand
};

Outcome Runner::run(const std::vector<std::string>& words, long number, int kind) {
  const std::string out = scratch_ / "out", err = scratch_ / "err", report = scratch_ / "report";
  std::vector<std::string> all = {KITH_COMMAND_PATH};
  all.insert(all.end(), words.begin(), words.end());
  all.insert(all.end(), {"--device", "cpu"});
  const bool tuned = std::find(words.begin(), words.end(), "2") != words.end();
  std::vector<std::string> settings = {"LD_PRELOAD=" KITH_FAULTY_FILES,
                                       "KITH_FAULT_CALL=" + std::to_string(number),
                                       "KITH_FAULT_KIND=" + std::to_string(kind),
                                       "KITH_FAULT_REPORT=" + report,
                                       "KITH_TUNING=" + (tuned ? scratch_.path() : "off"),
                                       "PATH=/usr/bin:/bin"};
  std::vector<char*> arguments, environment;
  for (std::string& word : all) arguments.push_back(word.data());
  for (std::string& setting : settings) environment.push_back(setting.data());
  arguments.push_back(nullptr);
  environment.push_back(nullptr);
  posix_spawn_file_actions_t files;
  ::posix_spawn_file_actions_init(&files);
  ::posix_spawn_file_actions_addopen(&files, 0, "/dev/null", O_RDONLY, 0);
  ::posix_spawn_file_actions_addopen(&files, 1, out.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0600);
  ::posix_spawn_file_actions_addopen(&files, 2, err.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0600);
  ::posix_spawn_file_actions_addchdir_np(&files, folder_.path().c_str());
  pid_t child = 0;
  int status = -1;
  std::remove(report.c_str());
  if (::posix_spawn(&child, KITH_COMMAND_PATH, &files, nullptr, arguments.data(), environment.data()) == 0)
    ::waitpid(child, &status, 0);
  ::posix_spawn_file_actions_destroy(&files);
  Outcome outcome;
  outcome.code = WIFEXITED(status) ? WEXITSTATUS(status) : 256 + WTERMSIG(status);
  outcome.out = scratch_.read("out");
  outcome.err = scratch_.read("err");
  std::istringstream(scratch_.read("report")) >> outcome.calls >> outcome.descriptors >>
      outcome.unsynchronised;
  return outcome;
}

void Runner::place_outputs(const Command& command, bool old) {
  for (const std::string& name : folder_.names())
    if (!inputs_.contains(name)) std::filesystem::remove(folder_ / name);
  old_ = old;
  for (const std::string& output : command.outputs)
    if (old) folder_.write(output, "old\n");
}

/// Returns what is wrong with the files. A command that fails may still have written a whole output.
std::string Runner::wrong_files(const Command& command, bool done) {
  std::set<std::string> expected = inputs_;
  for (std::size_t i = 0; i < command.outputs.size(); ++i) {
    const std::string& name = command.outputs[i];
    const std::string content = folder_.read(name);
    expected.insert(name);
    const bool whole = i < right_files_.size() && same_output(name, content, right_files_[i]);
    if (!whole && (done || !(content.empty() || (old_ && content == "old\n"))))
      return name + " is not whole: " + std::to_string(content.size()) + " bytes";
    if (!whole && !done && old_ && content != "old\n") return name + " is gone";
  }
  for (const std::string& name : folder_.names())
    if (!expected.contains(name)) return name + " is left behind";
  return "";
}

std::string Runner::judge(const Command& command, const Outcome& outcome, bool must_work) {
  constexpr int bad_file = 3;
  const std::string prefix = "kith: bad_file: ";
  if (outcome.code != 0) {
    const std::string told = "exit code " + std::to_string(outcome.code) + ": " + outcome.err;
    if (must_work || outcome.code != bad_file) return told;
    const std::size_t at = outcome.err.find(prefix);
    if (at == std::string::npos) return "no sentence: " + outcome.err;
    if (!is_sentence(outcome.err.substr(at + prefix.size()))) return "says not what to do: " + outcome.err;
  } else if (outcome.out != right_.out) {
    return "another answer: " + outcome.out;
  }
  if (outcome.descriptors > 0) return std::to_string(outcome.descriptors) + " descriptors are lost";
  if (outcome.unsynchronised > 0) return "a file is in its place, but was not synchronised";
  return wrong_files(command, outcome.code == 0);
}

void Runner::fail_each_call(const Asked& asked, const Command& command) {
  const auto begin = std::chrono::steady_clock::now();
  place_outputs(command, false);
  right_files_.clear();
  right_ = run(command.words, 0, 0);
  for (const std::string& output : command.outputs) right_files_.push_back(folder_.read(output));
  std::string wrong = right_.code == 0 ? judge(command, right_, true) : right_.err;
  if (!wrong.empty() || right_.calls == 0) return complain(command.name + ": without a fault: " + wrong);
  long made = 0;
  constexpr std::array kinds = {EIO, ENOSPC, EINTR, short_count};
  for (const long which : numbers_of(asked, command.name, right_.calls * static_cast<long>(kinds.size()))) {
    const int kind = kinds[static_cast<std::size_t>((which - 1) / right_.calls)];
    const long number = (which - 1) % right_.calls + 1;
    place_outputs(command, number % 2 == 0);
    const bool must_work = kind == EINTR || kind == short_count;
    wrong = judge(command, run(command.words, number, kind), must_work);
    const std::string name = kind == short_count ? "a short count" : ::strerrorname_np(kind);
    if (!wrong.empty())
      complain(command.name + ": call " + std::to_string(number) + " fails with " + name + ": " + wrong);
    ++made;
  }
  const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - begin;
  std::printf("  %-28s %6ld calls, %6ld faults, %.1f s\n", command.name.c_str(), right_.calls, made,
              seconds.count());
  std::fflush(stdout);
}

}  // namespace

void fail_commands(const Asked& asked) {
  Runner runner;
  for (const Command& command : commands()) runner.fail_each_call(asked, command);
}

}  // namespace kith::tests::faults
