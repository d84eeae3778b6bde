#include "command/words/place.hpp"

#include <CLI/CLI.hpp>
#include <utility>

namespace kith::command {
namespace {

constexpr const char* how_heading = "How it is done (the result is the same)";

std::vector<Key> memory_keys(PlanFlags& flags) {
  return {{"memory-limit", "SIZE",
           "device memory that a search may use besides the training rows: bytes, or such as 512M, 4G; else "
           "half of what is free",
           [&flags](const std::string& text) {
             (void)parse_bytes(text);
             flags.memory_limit = text;
           }},
          {"threads", "N", "threads of the host; 0, or none given: one per core",
           [&flags](const std::string& text) { flags.threads = whole_number(text, 0, 65536); }}};
}

void add_how_option(CLI::App& app, PlanFlags& flags) {
  CLI::Option* const how = app.add_option_function<std::vector<std::string>>(
      "--how",
      [&flags](const std::vector<std::string>& texts) {
        for (const std::string& text : texts) take_how(text, flags);
      },
      "Options that change the time and never the result, such as selector=radix,boxes=no; `kith help how` "
      "lists them");
  how->type_name("KEY=VALUE,...")->expected(1)->group(how_heading);
  how->multi_option_policy(CLI::MultiOptionPolicy::TakeAll);
  check_by(app, how, "--how", [](const std::string& text) {
    PlanFlags checked;
    take_how(text, checked);
  });
}

}  // namespace

CLI::Option* add_place_option(CLI::App& app, std::vector<Key> keys) {
  return add_keys(app, {"--place",
                        "Where rows lie, and what a search may use",
                        std::move(keys),
                        {"kith search --train base.u8bin --queries query.u8bin -k 10 --place "
                         "residence=stream,memory-limit=64M",
                         "kith search --train base.npy --queries query.npy -k 10 --device cpu+opencl:0 "
                         "--place placement=replicate,shares=3,1"}});
}

void add_plan_options(CLI::App& app, PlanFlags& flags, std::vector<Key> rows) {
  add_how_option(app, flags);
  for (Key& key : memory_keys(flags)) rows.push_back(std::move(key));
  add_place_option(app, std::move(rows))->group(how_heading);
}

void add_plan_options(CLI::App& app, PlanFlags& flags) {
  add_plan_options(app, flags, {});
}

}  // namespace kith::command
