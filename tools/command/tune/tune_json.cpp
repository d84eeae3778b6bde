// The JSON of what kith tune measured.
#include "command/tune/tune.hpp"
#include "kith/parse.hpp"

namespace kith::command {
namespace {

using Json = nlohmann::ordered_json;

TuningEntry tuning_entry_of(const Json& json, const Problem& problem) {
  TuningEntry entry{.problem = problem, .fused = json.at("fused").get<bool>()};
  if (!entry.fused) entry.selector = parse<Selector>(json.at("selector").get<std::string>());
  entry.proposer = parse<Proposer>(json.at("proposer").get<std::string>());
  entry.lists = json.at("lists").get<std::int64_t>();
  entry.query_tile = json.at("query_tile").get<std::int64_t>();
  entry.train_tile = json.at("train_tile").get<std::int64_t>();
  entry.seconds = json.at("seconds").get<double>();
  entry.built_in_seconds = json.at("built_in_seconds").get<double>();
  return entry;
}

Problem tuned_size_of(const Json& json) {
  const auto number = [&](const char* key) { return json.at(key).get<std::int64_t>(); };
  return {parse<Metric>(json.at("metric").get<std::string>()), number("n"), number("m"), number("dims"),
          number("k")};
}

}  // namespace

Json to_json(const TuningEntry& e) {
  return {{"fused", e.fused},
          {"selector", e.fused ? "" : std::string(name(e.selector))},
          {"proposer", std::string(name(e.proposer))},
          {"lists", e.lists},
          {"query_tile", e.query_tile},
          {"train_tile", e.train_tile},
          {"seconds", e.seconds},
          {"built_in_seconds", e.built_in_seconds}};
}

Json to_json(const Problem& p) {
  return {{"metric", std::string(name(p.metric))}, {"n", p.n}, {"m", p.m}, {"dims", p.dims}, {"k", p.k}};
}

Json to_json(const TunedProblem& problem) {
  Json json = to_json(problem.problem);
  if (!problem.refusal.empty()) {
    json["left_out_because"] = problem.refusal;
    return json;
  }
  json["built_in"] = to_json(*problem.built_in);
  json["best"] = to_json(problem.best.front());
  json["unsure"] = problem.unsure;
  json["ways_timed"] = problem.timed;
  json["ways_left_out"] = problem.left_out;
  return json;
}

Json whole_json(const TunedProblem& problem) {
  Json json = {{"problem", to_json(problem.problem)}, {"built_in", nullptr}};
  if (problem.built_in) json["built_in"] = to_json(*problem.built_in);
  json["best"] = Json::array();
  for (const TuningEntry& entry : problem.best) json["best"].push_back(to_json(entry));
  json["timed"] = problem.timed;
  json["left_out"] = problem.left_out;
  json["refusal"] = problem.refusal;
  json["difference"] = problem.difference;
  json["unsure"] = problem.unsure;
  return json;
}

TunedProblem tuned_problem_of(const Json& json) {
  TunedProblem problem;
  problem.problem = tuned_size_of(json.at("problem"));
  if (!json.at("built_in").is_null())
    problem.built_in = tuning_entry_of(json.at("built_in"), problem.problem);
  for (const Json& entry : json.at("best")) problem.best.push_back(tuning_entry_of(entry, problem.problem));
  problem.timed = json.at("timed").get<std::size_t>();
  problem.left_out = json.at("left_out").get<std::vector<std::string>>();
  problem.refusal = json.at("refusal").get<std::string>();
  problem.difference = json.at("difference").get<std::string>();
  problem.unsure = json.at("unsure").get<bool>();
  return problem;
}

}  // namespace kith::command
