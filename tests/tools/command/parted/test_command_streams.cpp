// Tests residence=stream and --checkpoint as users use them.
#include "common/shell.hpp"
#include "paths.hpp"

namespace command_tests::test_command_streams {
namespace {

/// Returns pseudorandom rows of bytes in the format of big-ann-benchmarks.
string rows_of_bytes(std::uint32_t rows, std::uint32_t cols, std::uint32_t seed) {
  string text(8, '\0');
  for (std::size_t i = 0; i < 4; ++i) {
    text[i] = static_cast<char>(rows >> (8 * i));
    text[4 + i] = static_cast<char>(cols >> (8 * i));
  }
  std::uint32_t state = seed;
  for (std::uint64_t i = 0; i < std::uint64_t{rows} * cols; ++i) {
    state = state * 1664525u + 1013904223u;
    text += static_cast<char>(state >> 24);
  }
  return text;
}

struct StreamFiles {
  Folder folder;
  string train = folder.write("base.u8bin", rows_of_bytes(3000, 16, 1));
  string queries = folder.write("query.u8bin", rows_of_bytes(20, 16, 2));
  string kept = folder / "kept";

  string asked() const { return " --device cpu --train " + train + " --queries " + queries; }
};

/// Checks that a question has the same answer with and without residence=stream.
void check_streamed(const string& question) {
  CAPTURE(question);
  const Result resident = kith(question),
               streamed = kith(question + " --place residence=stream,memory-limit=200K");
  REQUIRE_MESSAGE(resident.code == 0, resident.err);
  CHECK_MESSAGE(streamed.code == 0, streamed.err);
  CHECK(streamed.out == resident.out);
}

}  // namespace

TEST_CASE("streams: every question has the answer of resident rows") {
  const StreamFiles files;
  string labels, values;
  for (int t = 0; t < 3000; ++t) {
    labels += std::to_string(t % 7) + "\n";
    values += std::to_string(t * 37 % 101) + "\n";
  }
  const string with_labels = " --labels " + files.folder.write("labels.csv", labels),
               with_values = " --values " + files.folder.write("values.csv", values);
  check_streamed("search -k 5" + files.asked());
  check_streamed("search -k 5 --metric cosine" + files.asked());
  check_streamed("search -k 5 --metric hamming --read element=bits" + files.asked());
  check_streamed("search -k 5 --features 1,3-5" + files.asked());
  check_streamed("search -k 5 --scale standardize" + files.asked());  // prepared rows are kept in memory
  check_streamed("search --radius 200" + files.asked());
  check_streamed("classify -k 5" + files.asked() + with_labels);
  check_streamed("regress -k 5 --votes weights=distance" + files.asked() + with_values);
  check_streamed("groundtruth -k 4 --quiet --out -" + files.asked());
  check_streamed("graph -k 3 --quiet --out - --write format=csv --device cpu --train " + files.train);
  check_streamed("search -k 3 --leave-one-out --device cpu --train " + files.train);
}

TEST_CASE("streams: what is done is explained") {
  const StreamFiles files;
  const string automatic = out_of("search -k 5 --explain --place residence=automatic" + files.asked());
  CHECK_FALSE(contains(automatic, "in chunks of"));
  const Result limited =
      kith("search -k 5 --explain --place residence=automatic,memory-limit=200K" + files.asked());
  CAPTURE_ALL(limited.out, limited.err);
  CHECK(contains(limited.out, "residence      stream, in chunks of "));
}

TEST_CASE("streams: a search that was killed goes on, to the same bits") {
  const StreamFiles files;
  const string out = files.folder / "found.ivecs", question = "search -k 9" + files.asked() + " --out-index ";
  REQUIRE(kith(question + (files.folder / "right.ivecs")).code == 0);
  const string again =
      question + out + " --place residence=stream,memory-limit=100K,threads=1 --checkpoint " + files.kept;
  // Kill the search as soon as there is a checkpoint. A fast machine may have finished by then,
  // and removed it.
  const Result killed = shell("\"$kith\" " + again + " & pid=$!; while kill -0 $pid 2>/dev/null && [ ! -e '" +
                              files.kept + "' ]; do :; done; kill -9 $pid 2>/dev/null; wait $pid; true");
  CHECK(killed.code == 0);
  const bool kept = files.folder.has("kept");
  if (kept) {
    CHECK_FALSE(files.folder.has("found.ivecs"));
    const Result other =
        kith("search -k 8" + files.asked() + " --place residence=stream --checkpoint " + files.kept);
    CHECK(other.code == 2);
    CHECK(contains(other.err, "it is that of a search with another metric, k, choice of columns or filter"));
    const Result resident = kith("search -k 9" + files.asked() + " --checkpoint " + files.kept);
    CHECK(resident.code == 6);
    CHECK(contains(resident.err, "residence stream"));
  }
  const Result done = kith(again);
  CHECK_MESSAGE(done.code == 0, done.err);
  CHECK(files.folder.read("found.ivecs") == files.folder.read("right.ivecs"));
  CHECK_FALSE(files.folder.has("kept"));
  files.folder.write("kept", "something else");
  const Result foreign = kith(again);
  CHECK(foreign.code == 3);
  CHECK(contains(foreign.err, "it is damaged, or no checkpoint of a search"));
  CHECK(files.folder.read("kept") == "something else");
}

TEST_CASE("streams: memory is bounded by the chunks, not by the file") {
  const StreamFiles files;
  constexpr std::uint32_t rows = 600000, cols = 128;  // 77 MB as bytes, 307 MB as float32
  const string large = files.folder.write("large.u8bin", rows_of_bytes(rows, cols, 3)),
               asked = files.folder.write("asked.u8bin", rows_of_bytes(2, cols, 4));
  const string question = " search -k 3 --device cpu --place threads=1 --train " + large + " --queries " +
                          asked + " --out-index " + (files.folder / "found.ivecs");
  // The limit of the address space leaves room for the command itself and for chunks. AddressSanitizer maps
  // terabytes before main(), so nothing runs under the limit.
  const bool limits = shell("ulimit -v 400000; \"$kith\" --version").code == 0;
  const string limited = (limits ? "ulimit -v 400000; \"$kith\"" : "\"$kith\"") + question;
  const Result streamed = shell(limited + " --place residence=stream,memory-limit=16M");
  CHECK_MESSAGE(streamed.code == 0, streamed.err);
  if (limits) CHECK(shell(limited).code != 0);
}

TEST_CASE("streams: the commands of the page run as written") {
  const StreamFiles files;
  const string page = test_support::text_of_file(test_support::in_sources("/docs/howto/beyond-one-card.md"));
  int ran = 0;
  for (std::size_t at = page.find("\nkith "); at != string::npos; at = page.find("\nkith ", at + 1)) {
    const string line = page.substr(at + 1, page.find('\n', at + 1) - at - 1);
    CAPTURE(line);
    const Result result = shell("cd '" + files.folder.path() + "' && kith() { \"$kith\" \"$@\"; }; " + line);
    CHECK_MESSAGE(result.code == 0, result.err);
    ++ran;
  }
  CHECK(ran == 3);
  const Result right =
      kith("search -k 10" + files.asked() + " --out-index " + (files.folder / "right.ivecs"));
  CHECK(right.code == 0);
  CHECK(files.folder.read("found.ivecs") == files.folder.read("right.ivecs"));
}

TEST_CASE("streams: what is refused") {
  const StreamFiles files;
  check_refused("search --place residence=stream --checkpoint " + files.kept + " --radius 3" + files.asked(),
                6,
                "unsupported: search: --checkpoint keeps the k nearest, and --radius asks for all rows "
                "within it; leave one of them out, or give -k, too");
  const string cut = files.folder.write("cut.u8bin", rows_of_bytes(30, 16, 1).substr(0, 100));
  check_refused(
      "search -k 5 --place residence=stream --device cpu --train " + cut + " --queries " + files.queries, 3,
      "bad_file: source: " + cut +
          ": its head says [30, 16] of u8, which take 488 bytes, but it has 100; copy it again");
  const Result odd = kith("search -k 5 --place residence=streem" + files.asked());
  CHECK(odd.code == 2);
  CHECK(contains(odd.err, "stream"));
}

}  // namespace command_tests::test_command_streams
