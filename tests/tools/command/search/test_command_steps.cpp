// Tests the seconds of each step of a search, as --explain prints them.
#include "command/shared/command.hpp"
#include "common/glossary.hpp"
#include "paths.hpp"

namespace command_tests::test_command_steps {
namespace {

using kith::Proposer;

TEST_CASE("glossary: every step is explained, whichever search runs it") {
  const Glossary glossary(test_support::in_sources("/docs/glossary.md"));
  kith::Trace trace;
  for (const Proposer proposer : {Proposer::none, Proposer::dot}) {
    trace.plan.proposer = proposer;
    Words steps;
    for (const std::string_view step : kith::command::steps_in_order(trace.plan)) steps.insert(string(step));
    check_explained(glossary, steps);
  }
  CHECK(glossary.quoted.count("no such step") == 0);
}

TEST_CASE("explain: steps stand in the order in which they run") {
  kith::Trace trace;
  trace.plan.proposer = Proposer::dot;
  for (const char* step : {"average", "collect", "download", "finish", "merge", "nearest", "prepare", "prune",
                           "rerank", "tighten", "unheard of", "upload"})
    trace.seconds[step] = 1;
  const auto names = [](const string& table) {
    string text;
    for (const string& line : lines_of(table)) text += line.substr(0, line.find("  ")) + " ";
    return text;
  };
  CHECK(names(kith::command::stage_times(trace))
            .starts_with("step upload prepare collect tighten prune rerank nearest merge download finish "
                         "average unheard of device, in all whole call "));
  trace.plan.proposer = Proposer::none;
  CHECK(names(kith::command::stage_times(trace))
            .starts_with("step upload nearest merge prepare collect tighten prune rerank download finish "));
}

}  // namespace

}  // namespace command_tests::test_command_steps
