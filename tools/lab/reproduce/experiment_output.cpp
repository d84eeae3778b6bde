#include "lab/reproduce/experiment_output.hpp"

#include <cmath>
#include <concepts>
#include <limits>

#include "command/shared/json.hpp"
#include "lab/reproduce/experiment_page.hpp"

namespace kith::command {
namespace {

using Json = nlohmann::ordered_json;
using experiments::PlacedRun;

/// Puts members into an object. If `exact` is set, infinity is a text, because JSON has no such number.
struct Put {
  Json& object;
  bool exact;

  template <class T, class... More>
  void operator()(const char* key, const T& value, const More&... more) const {
    if constexpr (std::same_as<T, std::optional<double>>) {
      if (value) object[key] = to(*value);
    } else if constexpr (std::same_as<T, PlacedRun>) {
      if (!value.steps.empty()) object[key] = to(value);
    } else {
      object[key] = to(value);
    }
    if constexpr (sizeof...(more) > 0) (*this)(more...);
  }

  Json to(double value) const {
    if (exact && std::isinf(value)) return value > 0 ? "inf" : "-inf";
    return number_json(value);
  }
  template <class T>
  Json to(const std::vector<T>& all) const {
    Json array = Json::array();
    for (const T& each : all) array.push_back(to(each));
    return array;
  }
  template <class T>
  Json to(const T& value) const {
    if constexpr (requires { members(*this, value); }) {
      Json json = Json::object();
      members(Put{json, exact}, value);
      return json;
    } else {
      return value;
    }
  }
};

/// Takes members out of an object. Throws what nlohmann throws: one is missing, or of another type.
struct Take {
  const Json& object;

  template <class T, class... More>
  void operator()(const char* key, T& value, More&... more) const {
    if constexpr (std::same_as<T, std::optional<double>>) {
      if (object.contains(key)) from(object[key], value.emplace());
    } else {
      constexpr bool may_lack = std::same_as<T, PlacedRun>;
      if (!may_lack || object.contains(key)) from(object.at(key), value);
    }
    if constexpr (sizeof...(more) > 0) (*this)(more...);
  }

  void from(const Json& json, double& value) const {
    constexpr double infinity = std::numeric_limits<double>::infinity();
    value = json.is_null()     ? std::numeric_limits<double>::quiet_NaN()
            : json.is_string() ? (json == "inf" ? infinity : -infinity)
                               : json.get<double>();
  }
  template <class T>
  void from(const Json& json, std::vector<T>& all) const {
    for (const Json& each : json) from(each, all.emplace_back());
  }
  template <class T>
  void from(const Json& json, T& value) const {
    if constexpr (requires { members(*this, value); })
      members(Take{json}, value);
    else
      value = json.get<T>();
  }
};

// Each struct names its members once, for reading and for writing.

/// T or const T.
template <class T, class Of>
concept Some = std::same_as<std::remove_const_t<T>, Of>;

template <class Each, Some<experiments::Axis> T>
void members(const Each& each, T& axis) {
  each("title", axis.title, "log", axis.log, "from_zero", axis.from_zero);
}

template <class Each, Some<experiments::Point> T>
void members(const Each& each, T& point) {
  each("x", point.x, "y", point.y, "joules", point.joules);
}

template <class Each, Some<experiments::Series> T>
void members(const Each& each, T& series) {
  each("label", series.label, "device", series.device, "note", series.note, "points", series.points);
}

template <class Each, Some<experiments::Chart> T>
void members(const Each& each, T& chart) {
  each("title", chart.title, "x", chart.x, "y", chart.y, "series", chart.series);
}

template <class Each, Some<experiments::Claim> T>
void members(const Each& each, T& claim) {
  each("what", claim.what, "paper", claim.paper, "here", claim.here, "why", claim.why);
}

template <class Each, Some<experiments::Table> T>
void members(const Each& each, T& table) {
  each("title", table.title, "head", table.head, "rows", table.rows);
}

template <class Each, Some<experiments::Check> T>
void members(const Each& each, T& check) {
  each("what", check.what, "passed", check.passed, "detail", check.detail);
}

template <class Each, Some<experiments::Result> T>
void members(const Each& each, T& result) {
  each("experiment", result.name, "title", result.title, "paper", result.paper, "hardware", result.hardware,
       "quick", result.quick, "devices", result.devices, "explanation", result.explanation, "assumed",
       result.assumed, "notes", result.notes, "plans", result.plans, "energy", result.energy, "claims",
       result.claims, "charts", result.charts, "tables", result.tables, "checks", result.checks);
}

template <class Each, Some<experiments::PlacedStep> T>
void members(const Each& each, T& step) {
  each("what", step.what, "from", step.from, "to", step.to, "bytes", step.bytes, "device", step.device,
       "host", step.host);
}

template <class Each, Some<PlacedRun> T>
void members(const Each& each, T& run) {
  each("total", run.total, "steps", run.steps);
}

template <class Each, Some<experiments::Memory::Kept> T>
void members(const Each& each, T& kept) {
  each("what", kept.what, "nth", kept.nth, "device", kept.measured.device, "host", kept.measured.host,
       "total", kept.measured.total, "samples", kept.measured.samples, "plan", kept.measured.plan, "joules",
       kept.measured.joules, "run", kept.run);
}

}  // namespace

std::string experiment_text(const experiments::Result& result) {
  return report::text(report::experiment_document({result}, ""));
}

std::string experiments_csv(const std::vector<experiments::Result>& results) {
  return report::csv(report::experiment_document(results, ""));
}

Json experiment_json(const experiments::Result& result, bool exact) {
  Json whole;
  return Put{whole, exact}.to(result);
}

experiments::Result experiment_of(const Json& json) {
  experiments::Result result;
  Take{json}.from(json, result);
  return result;
}

Json memory_json(const std::vector<experiments::Memory::Kept>& all) {
  Json whole;
  return Put{whole, true}.to(all);
}

std::vector<experiments::Memory::Kept> memory_of(const Json& json) {
  std::vector<experiments::Memory::Kept> all;
  Take{json}.from(json, all);
  return all;
}

}  // namespace kith::command
