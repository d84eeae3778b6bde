// docs/glossary.md explains every word that --explain and --certify print.
#include "common/glossary.hpp"
#include "common/shell.hpp"
#include "paths.hpp"

namespace command_tests::test_command_glossary {
namespace {

/// Returns the names in the output: the first 15 columns in the plan and the certificate, the text before two
/// blanks for steps, before a colon elsewhere; and the names of attempts, which are values.
Words printed_words(const string& text) {
  Words words;
  int parts = 0;
  for (const string& line : lines_of(text)) {
    if (line.empty() && ++parts == 3) break;  // after plan, steps and certificate the answers follow
    if (line.empty() || line.starts_with("step ")) continue;
    const std::size_t colon = line.find(": "), blanks = line.find("  ");
    if (line.starts_with("certificate: ")) {
      words.insert("certificate");
    } else if (line.starts_with("candidates ranked by ")) {
      words.insert(line.substr(0, colon));
    } else if (blanks == string::npos) {
      words.insert(line.substr(0, 15).substr(0, line.substr(0, 15).find_last_not_of(' ') + 1));
    } else {
      words.insert(line.substr(0, blanks));
    }
    if (line.starts_with("attempt ")) words.insert(line.substr(15, colon - 15));
  }
  return words;
}

/// Returns a file of `rows` rows with three columns and a class.
string table_of(int rows) {
  string text = "x,y,z,kind\n";
  for (int r = 0; r < rows; ++r)
    text += std::to_string(r % 17) + "," + std::to_string(r % 23) + "," + std::to_string(r % 5) + "," +
            (r % 2 ? "a" : "b") + "\n";
  return text;
}

/// Returns everything that searches of every kind print about themselves on `device`.
std::vector<string> told_by(const string& device, const Folder& folder) {
  const string train = folder.write("train.csv", table_of(600));
  const string asked = " --explain --device " + device + " --label-column kind --train " + train + " ";
  const string certified = "search --certify" + asked;
  std::vector<string> told;
  for (const string& line :
       {certified + "--query 1,2,3 -k 2 --how proposer=none",
        certified + "--query 1,2,3 -k 2 --how proposer=dot",
        certified + "--leave-one-out -k 5 --how proposer=dot",
        certified + "--query 1,2,3 -k 2 --how fused=no", certified + "--query 1,2,3 --radius 2",
        certified + "--query 1,2,3 -k 2 --how proposer=gemm",
        certified + "--query 1,2,3 -k 2 --how proposer=int8",
        certified + "--query 1,2,3 -k 2 --prepare arithmetic=f64",
        "classify --certify" + asked + "--query 1,2,3 -k 3"}) {
    const Result result = kith(line);
    const bool rare = contains(line, "gemm") || contains(line, "int8");
    if (rare && result.code != 0) continue;  // not every device has these proposers
    CHECK_MESSAGE(result.code == 0, line, ": ", result.err);
    told.push_back(result.out);
  }
  return told;
}

}  // namespace

TEST_CASE("glossary: every line that --explain and --certify print is explained") {
  const Folder folder;
  const Glossary glossary(test_support::in_sources("/docs/glossary.md"));
  std::vector<string> devices = {"cpu"};
  if (contains(kith("devices").out, "Portable Computing Language")) devices.push_back("opencl:pocl");
  for (const string& device : devices) {
    Words words;
    for (const string& text : told_by(device, folder)) words.merge(printed_words(text));
    for (const char* seen : {"device", "chain", "certified", "proven", "upload", "whole call", "exact"})
      CHECK_MESSAGE(words.count(seen) == 1, "nothing printed `", seen, "`");
    check_explained(glossary, words);
  }
}

}  // namespace command_tests::test_command_glossary
