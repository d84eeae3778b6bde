// The JSON of an experiment's result, both ways.
#include <cmath>
#include <limits>

#include "command/shared/json.hpp"
#include "lab/reproduce/experiment_output.hpp"

namespace kith::command {
namespace {

using experiments::Axis;
using experiments::Chart;
using experiments::PlacedRun;
using experiments::PlacedStep;
using experiments::Point;
using experiments::Result;
using experiments::Series;
using Json = nlohmann::ordered_json;

/// Where `exact` is set, infinity is a text: JSON has no such number.
Json experiment_number(double value, bool exact) {
  if (exact && std::isinf(value)) return value > 0 ? "inf" : "-inf";
  return number_json(value);
}

double number_of(const Json& json) {
  if (json.is_null()) return std::numeric_limits<double>::quiet_NaN();
  if (!json.is_string()) return json.get<double>();
  return json == "inf" ? std::numeric_limits<double>::infinity() : -std::numeric_limits<double>::infinity();
}

Json axis_json(const Axis& axis) {
  return {{"title", axis.title}, {"log", axis.log}, {"from_zero", axis.from_zero}};
}

Axis axis_of(const Json& json) {
  return {json.at("title").get<std::string>(), json.at("log").get<bool>(), json.at("from_zero").get<bool>()};
}

Json series_json(const Series& series, bool exact) {
  Json json = {{"label", series.label}, {"device", series.device}, {"note", series.note}};
  json["points"] = Json::array();
  for (const Point& point : series.points) {
    Json entry = {{"x", experiment_number(point.x, exact)}, {"y", experiment_number(point.y, exact)}};
    if (point.joules) entry["joules"] = experiment_number(*point.joules, exact);
    json["points"].push_back(std::move(entry));
  }
  return json;
}

Series series_of(const Json& json) {
  Series series{json.at("label").get<std::string>(),
                json.at("device").get<std::string>(),
                json.at("note").get<std::string>(),
                {}};
  for (const Json& entry : json.at("points")) {
    Point point{number_of(entry.at("x")), number_of(entry.at("y")), {}};
    if (entry.contains("joules")) point.joules = number_of(entry["joules"]);
    series.points.push_back(point);
  }
  return series;
}

Json chart_json(const Chart& chart, bool exact) {
  Json json = {{"title", chart.title}, {"x", axis_json(chart.x)}, {"y", axis_json(chart.y)}};
  json["series"] = Json::array();
  for (const Series& series : chart.series) json["series"].push_back(series_json(series, exact));
  return json;
}

Chart chart_of(const Json& json) {
  Chart chart{json.at("title").get<std::string>(), axis_of(json.at("x")), axis_of(json.at("y")), {}};
  for (const Json& series : json.at("series")) chart.series.push_back(series_of(series));
  return chart;
}

Json placed_run_json(const PlacedRun& run) {
  Json json = {{"total", experiment_number(run.total, true)}, {"steps", Json::array()}};
  for (const PlacedStep& step : run.steps)
    json["steps"].push_back({{"what", step.what},
                             {"from", step.from},
                             {"to", step.to},
                             {"bytes", step.bytes},
                             {"device", experiment_number(step.device, true)},
                             {"host", experiment_number(step.host, true)}});
  return json;
}

PlacedRun placed_run_of(const Json& json) {
  PlacedRun run{{}, number_of(json.at("total"))};
  for (const Json& step : json.at("steps"))
    run.steps.push_back({step.at("what").get<std::string>(), step.at("from").get<std::string>(),
                         step.at("to").get<std::string>(), step.at("bytes").get<std::size_t>(),
                         number_of(step.at("device")), number_of(step.at("host"))});
  return run;
}

}  // namespace

Json experiment_json(const Result& result, bool exact) {
  Json json = {{"experiment", result.name},
               {"title", result.title},
               {"paper", result.paper},
               {"hardware", result.hardware},
               {"quick", result.quick},
               {"devices", result.devices},
               {"explanation", result.explanation},
               {"assumed", result.assumed},
               {"notes", result.notes},
               {"plans", result.plans},
               {"energy", result.energy}};
  json["claims"] = Json::array();
  for (const experiments::Claim& claim : result.claims)
    json["claims"].push_back(
        {{"what", claim.what}, {"paper", claim.paper}, {"here", claim.here}, {"why", claim.why}});
  json["charts"] = Json::array();
  for (const Chart& chart : result.charts) json["charts"].push_back(chart_json(chart, exact));
  json["tables"] = Json::array();
  for (const experiments::Table& table : result.tables)
    json["tables"].push_back({{"title", table.title}, {"head", table.head}, {"rows", table.rows}});
  json["checks"] = Json::array();
  for (const experiments::Check& check : result.checks)
    json["checks"].push_back({{"what", check.what}, {"passed", check.passed}, {"detail", check.detail}});
  return json;
}

Result experiment_of(const Json& json) {
  const auto text = [](const Json& from, const char* key) { return from.at(key).get<std::string>(); };
  const auto texts = [&](const char* key) { return json.at(key).get<std::vector<std::string>>(); };
  Result result;
  result.name = text(json, "experiment");
  result.title = text(json, "title");
  result.paper = text(json, "paper");
  result.hardware = text(json, "hardware");
  result.quick = json.at("quick").get<bool>();
  result.devices = texts("devices");
  result.explanation = texts("explanation");
  result.assumed = texts("assumed");
  result.notes = texts("notes");
  result.plans = texts("plans");
  result.energy = text(json, "energy");
  for (const Json& claim : json.at("claims"))
    result.claims.push_back(
        {text(claim, "what"), text(claim, "paper"), text(claim, "here"), text(claim, "why")});
  for (const Json& chart : json.at("charts")) result.charts.push_back(chart_of(chart));
  for (const Json& table : json.at("tables"))
    result.tables.push_back({text(table, "title"), table.at("head").get<std::vector<std::string>>(),
                             table.at("rows").get<std::vector<std::vector<std::string>>>()});
  for (const Json& check : json.at("checks"))
    result.checks.push_back({text(check, "what"), check.at("passed").get<bool>(), text(check, "detail")});
  return result;
}

Json memory_json(const std::vector<experiments::Memory::Kept>& all) {
  Json json = Json::array();
  for (const experiments::Memory::Kept& kept : all) {
    const experiments::Measured& measured = kept.measured;
    json.push_back({{"what", kept.what},
                    {"nth", kept.nth},
                    {"device", experiment_number(measured.device, true)},
                    {"host", experiment_number(measured.host, true)},
                    {"total", experiment_number(measured.total, true)},
                    {"samples", measured.samples},
                    {"plan", measured.plan}});
    if (measured.joules) json.back()["joules"] = experiment_number(*measured.joules, true);
    if (!kept.run.steps.empty()) json.back()["run"] = placed_run_json(kept.run);
  }
  return json;
}

std::vector<experiments::Memory::Kept> memory_of(const Json& json) {
  std::vector<experiments::Memory::Kept> all;
  for (const Json& entry : json) {
    experiments::Memory::Kept kept{
        entry.at("what").get<std::string>(), entry.at("nth").get<std::size_t>(), {}};
    kept.measured.device = number_of(entry.at("device"));
    kept.measured.host = number_of(entry.at("host"));
    kept.measured.total = number_of(entry.at("total"));
    kept.measured.samples = entry.at("samples").get<std::size_t>();
    kept.measured.plan = entry.at("plan").get<std::string>();
    if (entry.contains("joules")) kept.measured.joules = number_of(entry["joules"]);
    if (entry.contains("run")) kept.run = placed_run_of(entry["run"]);
    all.push_back(std::move(kept));
  }
  return all;
}

}  // namespace kith::command
