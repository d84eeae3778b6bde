// kith verify: compares random searches, or those of whole files, with the right answers.
#include "command/verify/verify.hpp"

#include <CLI/CLI.hpp>
#include <memory>

namespace kith::command {
namespace {

CLI::Option* add_random_options(CLI::App& app, VerifyFlags& flags) {
  CLI::Option* const random = add_number(app, "--random-cases", flags.random_cases,
                                         "Run this many random searches and classifications on each device; "
                                         "a case that differs is printed as the command that repeats it",
                                         1);
  each_needs(
      added_options(
          app,
          [&] {
            app.add_flag("--proposed", flags.proposed,
                         "Run all cases by a proposer, 16 per Index, and compare with the chain alone on the "
                         "same device; every 16th Index also compares with the chain of --reference");
            add_number(app, "--workers", flags.workers,
                       "Threads for --proposed, each with its own opened device", 1, 64)
                ->capture_default_str()
                ->needs(app.get_option("--proposed"));
            add_number(app, "--first", flags.first,
                       "Number of the first random case; each number is one case", 0)
                ->capture_default_str();
            add_number(app, "--seed", flags.seed, "Seed of the random cases", 0)->capture_default_str();
            add_number(app, "--seconds", flags.seconds, "Stop after this many seconds per device", 1);
            keeps_file(
                app.add_option("--resume", flags.resume,
                               "Save here how far the random cases came, so that the same command resumes"));
          }),
      random);
  return random;
}

CLI::Option* add_set_options(CLI::App& app, VerifyFlags& flags) {
  TableFlags& tables = flags.set.tables;
  CLI::Option* const train =
      reads_file(app.add_option("--train", tables.train,
                                "Search the rows of this file, for --queries or for themselves, by every "
                                "proposer, and compare with the chain alone"));
  each_needs(
      added_options(app,
                    [&] {
                      reads_file(app.add_option("--queries", tables.queries, "Rows to search for"));
                      add_number(app, "-m", flags.m, "Use only this many queries, spread evenly", 1);
                      add_number(app, "-k", flags.k, "How many neighbours to find", 1)->capture_default_str();
                      add_metric_option(app, flags.metric, false);
                      reads_file(app.add_option(
                          "--found-index", flags.found_index,
                          "Check a file by `kith search --out-index` of all these queries instead of "
                          "proposers: each device searches again and must find the same rows"));
                      reads_file(app.add_option(
                          "--found-distance", flags.found_distance,
                          "Also check a file by --out-distance: distances must have the same bits"));
                      app.add_flag("--json", flags.json, "Print JSON");
                      add_text_options(app, tables);
                      add_texts(app, "--label-column,--label", tables.label_columns,
                                "Column of text files to leave out, because it holds labels", "COLUMNS");
                      add_preparation_options(app, flags.set, {arithmetic_key(flags.set)});
                    }),
      train);
  CLI::Option* const found = app.get_option("--found-index");
  app.get_option("--found-distance")->needs(found);
  app.get_option("-k")->excludes(found);  // which says how many
  return train;
}

int run_verify(const VerifyFlags& flags) {
  if (flags.random_cases > 0) return verify_random_cases(flags);
  if (!flags.set.tables.train.empty()) return verify_set(flags);
  refuse("verify", "there is nothing to verify; give --random-cases COUNT, or --train FILE");
}

}  // namespace

Subcommand add_verify(CLI::App& parent) {
  auto flags = std::make_shared<VerifyFlags>();
  CLI::App* app = parent.add_subcommand("verify",
                                        "Verify random searches, whole files or an earlier answer, bit by "
                                        "bit. Exit 1 if bits differ, 6 if every device refused");
  add_device_option(*app, flags->device, true);
  app->get_option("--device")->description("all, or devices separated by commas");
  app->add_option("--reference", flags->reference,
                  "What to compare with: a device, or plain (a slow program that spells out the contract); "
                  "by default cpu, or plain for random cases of the cpu")
      ->type_name("SPEC");
  CLI::Option* const random = add_random_options(*app, *flags);
  CLI::Option* const train = add_set_options(*app, *flags);
  random->excludes(train);
  each_excludes({app->get_option("--reference")}, app->get_option("--found-index"));
  for (CLI::Option* option : added_options(*app, [&] { add_plan_options(*app, flags->plan); }))
    if (option->get_name() != "--how") option->needs(train);
  add_examples(*app, {"kith verify --device cuda:0 --random-cases 20000 --resume cases.txt",
                      "kith verify --device cuda:0 --random-cases 200000 --proposed --workers 4",
                      "kith verify --train base.fvecs --queries query.fvecs -k 100 --device cuda:0",
                      "kith verify --train base.fvecs --queries query.fvecs -k 100 --device cpu \\",
                      "            --found-index found.npy --found-distance far.npy -m 100"});
  return {app, [flags] { return run_verify(*flags); }};
}

}  // namespace kith::command
