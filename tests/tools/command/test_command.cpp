// Runs the kith command as users do: exit codes, exact messages, and files that are written whole or not at
// all. All cases run on the CPU.
#include <fcntl.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <filesystem>
#include <thread>

#include "common/shell.hpp"
#include "paths.hpp"

namespace command_tests::test_command {
namespace {

const char* const two_rows = "1,2\n3,4\n";
const char* const flowers =
    "length,width,kind\n5.1,3.5,setosa\n4.9,3.0,setosa\n7.0,3.2,versicolor\n6.4,3.2,versicolor\n6.3,3.3,"
    "virginica\n";

/// Returns a .npy file of pseudorandom float32 numbers.
string npy(std::uint32_t rows, std::uint32_t cols) {
  string header = "{'descr': '<f4', 'fortran_order': False, 'shape': (" + std::to_string(rows) + ", " +
                  std::to_string(cols) + "), }";
  header.append(64 - (10 + header.size() + 1) % 64, ' ');
  header += '\n';
  string file("\x93NUMPY\x01\x00", 8);
  file += static_cast<char>(header.size() & 255);
  file += static_cast<char>(header.size() >> 8);
  file += header;
  std::uint32_t state = 1;
  std::vector<float> values(std::size_t{rows} * cols);
  for (float& value : values) value = static_cast<float>((state = state * 1664525 + 1013904223) >> 8);
  file.append(reinterpret_cast<const char*>(values.data()), values.size() * sizeof(float));
  return file;
}

}  // namespace

TEST_CASE("every subcommand explains itself, with examples") {
  for (const char* name : {"devices", "search", "classify", "regress", "evaluate", "structure",
                           "select-features", "compare", "verify", "tune", "doctor"}) {
    CAPTURE(string(name));
    const Result result = kith(string(name) + " --help");
    CHECK(result.code == 0);
    CHECK(result.err.empty());
    CHECK(contains(result.out, "Examples:\n  kith " + string(name)));
  }
  const string all = out_of("--help");
  CHECK(contains(all, "Examples:\n  kith devices"));
  const Result alone = kith("");
  CHECK(alone.code == 2);  // nothing was done
  CHECK(alone.out == all);
  CHECK(alone.err.empty());
  CHECK(contains(kith("--version").out, "kith 0."));
}

TEST_CASE("a slip on the command line is answered with what is meant, and exit code 2") {
  check_refused("serach", 2, "invalid_argument: kith: unknown subcommand \"serach\"; did you mean search?");
  check_refused("frobnicate", 2,
                "invalid_argument: kith: unknown subcommand \"frobnicate\"; choose one of devices, search, "
                "count, graph, index, groundtruth, recall, classify, regress, evaluate, structure, "
                "select-features, compare, verify, tune, doctor, manual");
  for (const char* elsewhere : {"bench", "benchmark", "reproduce"})
    CHECK(contains(kith(elsewhere).err, "unknown subcommand \"" + string(elsewhere) + "\"; choose one of "));
  check_refused("search --trian a.npy", 2,
                "invalid_argument: search: unknown option --trian; did you mean --train?");
  check_refused("devices --xml", 2,
                "invalid_argument: devices: unknown option --xml; see `kith devices --help`");
  check_refused("search --queries b.npy", 2,
                "invalid_argument: search: there are no training rows; give --train FILE or --index FILE");
  check_refused("search --train", 2,
                "invalid_argument: search: --train has no value after it; see `kith search --help`");
  check_refused("search a.npy --train b.npy --queries c.npy", 2,
                "invalid_argument: search: \"a.npy\" follows no option that takes it; every value needs its "
                "option before it, as in --train a.npy");
  check_refused(
      "--json devices", 2,
      "invalid_argument: kith: unknown option --json before devices; options come after the subcommand");
}

TEST_CASE("numbers and names outside their range are refused with those there are") {
  const Folder folder;
  const string a = folder.write("a.csv", two_rows);
  const string files = "--train " + a + " --queries " + a + " --csv header=no --device cpu ";
  check_refused("search " + files + "-k 0", 2,
                "invalid_argument: search: -k = 0 is out of range; give a whole number of at least 1");
  check_refused("search " + files + "-k -3", 2,
                "invalid_argument: search: -k = -3 is out of range; give a whole number of at least 1");
  check_refused(
      "search " + files + "-k 1.5", 2,
      "invalid_argument: search: -k = \"1.5\" is no whole number; give a whole number of at least 1");
  check_refused("search " + files + "-k 99999999999999999999", 2,
                "invalid_argument: search: -k = 99999999999999999999 is out of range; give a whole number of "
                "at least 1");
  check_refused("search " + files + "-k 3", 2,
                "invalid_argument: search: k = 3 but " + a + " holds 2 rows; choose k from 1 to 2");
  check_refused(
      "search " + files + "-k 1 --place threads=1000000", 2,
      "invalid_argument: search: --place threads: \"1000000\" is no whole number from 0 to 65536; give one");
  check_refused(
      "search " + files + "-k 1 --place memory-limit=much", 2,
      "invalid_argument: search: --place memory-limit: \"much\" is no size in bytes; write it as 512M or 4G");
  check_refused("search " + files + "--metric nonsense", 2,
                "invalid_argument: search: --metric: there is none called \"nonsense\"; choose one of "
                "squared_l2, l2, l1, linf, negative_dot, cosine, hamming, correlation, spearman, seuclidean, "
                "mahalanobis, hellinger, angular, haversine, minkowski, gower, matching, canberra, "
                "nan_gower, jaccard, dice, "
                "sokalsneath, rogerstanimoto, russellrao, braycurtis, nan_euclidean, nan_manhattan");
  check_refused("search " + files + "--how selector=nonsense", 2,
                "invalid_argument: search: --how: selector: there is none called \"nonsense\"; choose one of "
                "automatic, threshold, radix, bubble, insertion, local_sort, k_min, bitonic, odd_even, "
                "rank_sort, merge_sort, selection_sort, quick_sort");
  check_refused("search " + files + "--how proposer=nonsense", 2,
                "invalid_argument: search: --how: proposer: there is none called \"nonsense\"; choose one of "
                "automatic, none, gemm, dot, bf16, fp16, int8, int4");
  check_refused("search " + files + "--how fused=perhaps", 2,
                "invalid_argument: search: --how: fused=perhaps: choose one of automatic, yes, no");
  check_refused("search " + files + "--how lists=-1", 2,
                "invalid_argument: search: --how: lists=-1: give a whole number from 0 to 4294967295");
  check_refused("search " + files + "--how boxes", 2,
                "invalid_argument: search: --how: boxes has no value; write boxes=VALUE");
  check_refused("search " + files + "--how quick=yes", 2,
                "invalid_argument: search: --how: there is no key \"quick\"; choose one of selector, "
                "proposer, sample, fused, boxes, lists, query_tile, train_tile");
  check_refused(
      "search " + files + "--prepare unseen=perhaps", 2,
      "invalid_argument: search: --prepare unseen: there is no \"perhaps\"; choose one of refuse, zero");
  check_refused("search " + files + "-k 1 --how selector=bubble", 6,
                "unsupported: search: cpu has no selector bubble; it has threshold, rank_sort, merge_sort, "
                "selection_sort, quick_sort");
  const Result small = kith("search " + files + "-k 1 --place memory-limit=1");
  CHECK(small.code == 5);
  CHECK(small.err.starts_with("kith: out_of_memory: search: one query takes "));
  check_refused("search --train " + a + " --queries " + a + " -k 1 --device nonsense", 2,
                "invalid_argument: open_device: \"nonsense\": there is no back end called \"nonsense\"; "
                "choose one of auto, gpu, cpu, opencl, cuda");
  const Result absent =
      kith("search --train " + a + " --queries " + a + " -k 1 --device opencl:no-such-device");
  CHECK(absent.code == 4);
  CHECK(absent.err.starts_with("kith: unavailable: open_device: opencl:no-such-device: "));
}

TEST_CASE("files that are missing, torn or wrong are refused with the place, and exit code 3") {
  const Folder folder;
  const string good = folder.write("good.csv", two_rows);
  const auto refused = [&](const string& file, const string& message) {
    check_refused("search --train " + file + " --queries " + good + " -k 1 --device cpu", 3,
                  "bad_file: " + file + message);
  };
  refused(folder / "absent.npy", ": cannot be read: No such file or directory; check the name");
  refused(folder.write("nan.csv", "1,2\n3,nan\n"),
          ":2: column 2 holds NaN; make every value finite, or leave the row out; --prepare missing= fills "
          "such cells in, drops their rows, or leaves them out");
  refused(folder.write("text.csv", "1,2\n3,4\n5,six\n"),
          ":3: column 2 holds \"six\" where a number belongs; correct it or leave the row out");
  refused(folder.write("ragged.csv", "1,2\n3,4,5\n"),
          ":2: 3 cells but the rows before have 2; every row needs as many cells");
  refused(folder.write("empty.csv", ""), ": is empty; a file of data has at least one row");
  const string torn = folder.write("torn.npy", npy(100, 10).substr(0, 2000));
  const Result result = kith("search --train " + torn + " --queries " + good + " -k 1 --device cpu");
  CHECK(result.code == 3);
  CHECK(result.err.starts_with("kith: bad_file: " + torn));
}

TEST_CASE("tables that do not fit each other are refused, and exit code 2") {
  const Folder folder;
  const string two = folder.write("two.csv", two_rows);
  const string three = folder.write("three.csv", "1,2,3\n4,5,6\n");
  check_refused("search --train " + two + " --queries " + three + " -k 1 --device cpu", 2,
                "invalid_argument: " + three + ": has 3 columns but " + two +
                    " has 2; queries need the columns of the training rows; a column with the true answers "
                    "is named by --label COLUMN (or --target)");
  const string labels = folder.write("labels.csv", "2\n1\n1\n");
  check_refused(
      "classify --train " + two + " --labels " + labels + " --queries " + two + " -k 1 --device cpu", 2,
      "invalid_argument: classify: " + labels + " holds 3 labels but " + two + " 2 rows; give one a row");
  check_refused("classify --train " + two + " --queries " + two, 2,
                "invalid_argument: classify: there are no labels; give --labels FILE, or --label-column "
                "COLUMN of the training file");
  check_refused("classify --train " + two + " --labels " + labels, 2,
                "invalid_argument: classify: there is nothing to classify; give --queries FILE, --query "
                "VALUES or --leave-one-out");
  check_refused("classify --train " + two + " --label-column 2 --queries " + two + " --truth " + two +
                    " --truth " + two,
                2, "invalid_argument: classify: --truth is given more than once; see `kith classify --help`");
  const string half = folder.write("half.csv", "0.5\n1\n");
  check_refused("classify --train " + two + " --labels " + half + " --queries " + two + " -k 1 --device cpu",
                3,
                "bad_file: " + half +
                    ":1: column 1 holds the label \"0.5\"; labels are whole numbers or text; numbers to be "
                    "predicted are for kith regress --target");
}

TEST_CASE("search finds rows and distances, and writes them as .npy") {
  const Folder folder;
  const string train = folder.write("train.csv", "0,0\n3,4\n3,4\n6,8\n");
  const string queries = folder.write("queries.csv", "0,0\n6,8\n");
  const string files =
      "search --train " + train + " --queries " + queries + " -k 3 --metric l2 --device cpu ";
  const Result shown = kith(files);
  CHECK(shown.code == 0);
  CHECK(shown.err.empty());
  CHECK(shown.out ==
        "nearest training rows of each query, from 0 (and their distance)\n"
        "query     #1     #2     #3\n"
        "    0  0 (0)  1 (5)  2 (5)\n"
        "    1  3 (0)  1 (5)  2 (5)\n");
  const Result written =
      kith(files + "--out-index " + (folder / "i.npy") + " --out-distance " + (folder / "d.npy"));
  CHECK(written.code == 0);
  CHECK(written.out.empty());
  const string index = folder.read("i.npy"), distance = folder.read("d.npy");
  CHECK(contains(index, "'<i8'"));
  CHECK(contains(index, "(2, 3)"));
  CHECK(contains(distance, "'<f4'"));
  const std::array<std::int64_t, 6> rows = {0, 1, 2, 3, 1, 2};
  const std::array<float, 6> far = {0, 5, 5, 0, 5, 5};
  REQUIRE(index.size() > sizeof rows);
  REQUIRE(distance.size() > sizeof far);
  CHECK(std::memcmp(index.data() + index.size() - sizeof rows, rows.data(), sizeof rows) == 0);
  CHECK(std::memcmp(distance.data() + distance.size() - sizeof far, far.data(), sizeof far) == 0);
  const string explained = out_of(files + "--explain");
  CHECK(contains(explained, "whole call"));
}

TEST_CASE("what cannot be finished leaves nothing behind, and what was there stays") {
  const Folder folder;
  const string good = folder.write("good.csv", two_rows);
  const string bad = folder.write("bad.csv", "1,2\n3,nan\n");
  folder.write("out.npy", "precious");
  const std::size_t files = folder.files();
  const string to =
      " -k 1 --device cpu --out-index " + (folder / "out.npy") + " --out-distance " + (folder / "new.npy");
  CHECK(kith("search --train " + good + " --queries " + bad + to).code == 3);
  CHECK(folder.read("out.npy") == "precious");
  CHECK(folder.files() == files);
  CHECK(kith("search --train " + good + " --queries " + good + " -k 1 --device cpu --out-index " +
             (folder / "no-such-folder/out.npy"))
            .code == 3);
  CHECK(kith("search --train " + good + " --queries " + good + " -k 1 --device cpu --out-index " +
             (folder / "out.xyz"))
            .code == 2);
  check_refused("search --train " + good + " --queries " + good + " --out-index " + (folder / "x.npy") +
                    " --out-distance " + (folder / "x.npy"),
                2,
                "invalid_argument: search: --out-index and --out-distance are the same file; give two names");
  CHECK(folder.files() == files);
  const string text = folder.write("flowers.csv", flowers);
  check_refused("classify --train " + text + " --queries " + text + " --label-column kind -k 1 --out " +
                    (folder / "labels.npy"),
                2,
                "invalid_argument: classify: --out " + (folder / "labels.npy") +
                    ": the labels are text, which .npy does not hold here; choose .csv, .tsv or .txt");
  CHECK(folder.files() == files + 1);  // flowers.csv
  const Result full =
      kith("search --train " + good + " --queries " + good + " -k 1 --device cpu > /dev/full");
  CHECK(full.code == 3);
  CHECK(full.err ==
        "kith: bad_file: stdout: cannot be written: No space left on device; free space or send it "
        "elsewhere\n");
  const Result full_file =
      kith("search --train " + good + " --queries " + good + " -k 1 --device cpu --out-index /dev/full");
  CHECK(full_file.code == 3);
  CHECK(contains(full_file.err, "/dev/full: cannot be written: No space left on device"));
}

TEST_CASE("stdout without a reader is no error worth a message") {
  const Result result = shell("{ \"$kith\" devices; echo $? >&2; } | true");
  CHECK((result.err == "141\n" || result.err == "0\n"));  // 0: everything was written before the reader ended
}

TEST_CASE("devices and doctor name every back end") {
  const string lines = out_of("devices");
  for (const char* name : {"cpu", "opencl", "cuda"}) {
    CAPTURE(string(name));
    CHECK(contains("\n" + lines, "\n" + string(name) + ": "));
  }
  CHECK(contains(lines, "\n  cpu  "));
  CHECK(contains(lines, "self-test passed"));
  const string json = out_of("devices --json");
  CHECK(contains(json, "\"exact\": true"));
  const string doctor = out_of("doctor");
  CHECK(contains(doctor, "device cpu: "));
  const std::size_t cpu = doctor.find("device cpu: ");
  const std::string cpu_line = doctor.substr(cpu, doctor.find('\n', cpu) - cpu);
  CHECK(contains(cpu_line, ", exact; proposers: "));
  CHECK(contains(cpu_line, "dot"));  // every processor has it
  CHECK(contains(doctor, "--device auto is "));
  // Compilers in drivers must print nothing about the kernels, which are compiled here since the
  // cache is empty.
  const Folder cache;
  const Result compiled = shell("POCL_CACHE_DIR=" + cache.path() + " \"$kith\" devices");
  CHECK(compiled.code == 0);
  CHECK(compiled.err.empty());
  const Result no_plugins = shell("KITH_BACKEND_PATH=/no/such/folder \"$kith\" doctor");
  CHECK(no_plugins.code == 0);
  CHECK(contains(no_plugins.out, "[missing]  back end opencl: "));
}

TEST_CASE("a signal ends a long search within two seconds, with 128 and its number, and no file") {
  const Folder folder;
  const string train = folder.write("train.npy", npy(40000, 256));
  const string out = folder / "out.npy", err = folder / "err";  // the child below writes err
  const string program = test_support::command_path();
  const std::size_t files = folder.files();
  const auto stopped = [&](int signal_number, int code, const char* residence, const string& advice) {
    CAPTURE_ALL(signal_number, residence);
    const pid_t child = fork();
    REQUIRE(child >= 0);
    if (child == 0) {
      signal(signal_number, SIG_DFL);
      const int fd = open(err.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0600);
      dup2(fd, STDERR_FILENO);
      execl(program.c_str(), "kith", "search", "--train", train.c_str(), "--queries", train.c_str(), "-k",
            "100", "--metric", "l1", "--device", "cpu", "--place",
            ("threads=1,residence=" + string(residence)).c_str(), "--out-index", out.c_str(), nullptr);
      _exit(99);
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(700));
    int status = 0;
    REQUIRE(waitpid(child, &status, WNOHANG) == 0);  // it is still searching
    const auto start = std::chrono::steady_clock::now();
    kill(child, signal_number);
    waitpid(child, &status, 0);
    const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    CHECK(seconds < 2);
    CHECK(WIFEXITED(status));
    CHECK(WEXITSTATUS(status) == code);
    CHECK(folder.read("err").starts_with("kith: interrupted: "));
    CHECK(folder.read("err").ends_with("; no output is written: run it again" + advice + "\n"));
    CHECK(folder.files() == files + 1);  // the new file is err
    CHECK(!folder.has("out.npy"));
  };
  stopped(SIGINT, 130, "resident", "");
  stopped(SIGTERM, 143, "resident", "");
  stopped(SIGHUP, 129, "stream", ", with --checkpoint FILE to go on from where a stop comes");
}

}  // namespace command_tests::test_command
