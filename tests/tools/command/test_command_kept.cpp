// Tests that stopped work goes on with the same bits, and never from the kept file of another command.
#include <nlohmann/json.hpp>

#include "command/shared/kept.hpp"
#include "command/tune/tune.hpp"
#include "common/device.hpp"
#include "common/shell.hpp"

namespace command_tests::test_command_kept {
namespace {

using kith::command::KeptWork;
using kith::tests::error_of;
using Json = nlohmann::ordered_json;

}  // namespace

TEST_CASE("tune: what is kept is what was measured") {
  kith::command::TunedProblem problem;
  problem.problem = {kith::Metric::l1, 1000, 10, 8, 5};
  problem.refusal = "too large";
  const auto back = [](const kith::command::TunedProblem& from) {
    return kith::command::tuned_problem_of(Json::parse(kith::command::whole_json(from).dump()));
  };
  CHECK(back(problem) == problem);
  kith::TuningEntry fused{problem.problem, true, kith::Selector::threshold, kith::Proposer::none, 1, 10, 1000,
                          1.234e-7,        0.1};
  kith::TuningEntry selected = fused;
  selected.fused = false;
  selected.selector = kith::Selector::bitonic;
  selected.proposer = kith::Proposer::gemm;
  problem.refusal.clear();
  problem.built_in = fused;
  problem.best = {selected, fused};
  problem.timed = 12;
  problem.left_out = {"bubble: slow", "radix: refused"};
  problem.difference = "row 7";
  problem.unsure = true;
  CHECK(back(problem) == problem);
}

TEST_CASE("kept work: a file is believed only whole, from the same command, and is never somebody else's") {
  const Folder folder;
  const Json asked = {{"--quick", true}, {"--device", {"cpu: one"}}, {"--data", "K\xe4se"}},
             done = {1, "two", 0.1};
  KeptWork work("reproduce", folder / "state.json", asked);
  CHECK(work.load(false).is_null());
  work.save(done);
  CHECK(work.saved());
  CHECK(work.load(false) == done);
  CHECK(work.load(true).is_null());
  work.save({3});
  CHECK(work.load(false) == Json{3});
  CHECK(folder.files() == 1);

  Json other = asked;
  other["--quick"] = false;
  CHECK(error_of([&] { KeptWork("reproduce", folder / "state.json", other).load(false); }) ==
        "invalid_argument: reproduce: " + (folder / "state.json") +
            ": another command left it unfinished (--quick is true there and false here); give that command "
            "again to go on from it; --fresh begins anew");
  CHECK(KeptWork("reproduce", folder / "state.json", other).load(true).is_null());

  const string text = folder.read("state.json");
  for (const std::size_t at : {text.size() - 4, text.find("cpu: one"), text.find("checksum") + 12}) {
    string damaged = text;
    damaged[at] = damaged[at] == '3' ? '4' : '3';
    folder.write("state.json", damaged);
    CHECK(error_of([&] { work.load(false); }) ==
          "bad_file: " + (folder / "state.json") + ": is damaged; --fresh begins anew");
  }
  folder.write("state.json", text.substr(0, text.size() / 2));
  CHECK(contains(error_of([&] { work.load(false); }), "is damaged; --fresh begins anew"));
  CHECK(work.load(true).is_null());

  folder.write("state.json", "a,b\n1,2\n");
  for (const bool fresh : {false, true})
    CHECK(error_of([&] { work.load(fresh); }) ==
          "bad_file: " + (folder / "state.json") +
              ": is no file that kith keeps measurements in; name another, or move it away");
  work.remove();
  CHECK(!folder.has("state.json"));
  CHECK(contains(error_of([&] { KeptWork("tune", folder / "no/state.json", asked).check_writable(false); }),
                 "bad_file: "));
  KeptWork nowhere("tune", "", asked);
  nowhere.save(done);
  CHECK(!nowhere.saved());
  CHECK(nowhere.load(false).is_null());
}

}  // namespace command_tests::test_command_kept
