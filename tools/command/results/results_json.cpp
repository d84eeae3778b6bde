#include "command/results/results_json.hpp"

#include <cstdlib>

#include "files/text/number.hpp"
#include "report/class_parts.hpp"
#include "report/parts.hpp"
#include "report/text.hpp"

namespace kith::command {
namespace {

using Json = nlohmann::ordered_json;

constexpr std::size_t piece_bytes = std::size_t{1} << 16;

/// Returns null if it is NaN or infinite.
Json float_json(float value) {
  if (!std::isfinite(value)) return nullptr;
  return std::strtod(format_float(value).c_str(), nullptr);
}

/// Writes a number that has been parsed already.
Json radius_json(const std::string& text, Arithmetic arithmetic) {
  return arithmetic == Arithmetic::f64 ? number_json(files::parse_wide(text).value)
                                       : float_json(files::parse_number(text).value);
}

Json distance_json(const RadiusNeighbors& found, std::size_t at) {
  return found.arithmetic == Arithmetic::f64 ? number_json(found.distance64[at])
                                             : float_json(found.distance[at]);
}

}  // namespace

nlohmann::ordered_json radii_json(const std::vector<std::string>& radii, Arithmetic arithmetic) {
  Json values = Json::array();
  for (const std::string& radius : radii) values.push_back(radius_json(radius, arithmetic));
  return values;
}

void add_rows_asked(report::Document& document, const Training& training, std::int64_t queries, Metric metric,
                    const DeviceInfo& device, const std::string& asked) {
  using report::Fact;
  const files::Table& train = training.rows.table;
  const std::vector<std::int64_t>& shape = train.image_shape;
  const std::int64_t dims =
      training.features.empty() ? training.rows.width : static_cast<std::int64_t>(training.features.size());
  document.add(Fact{"train", "", train.path});
  document.add(Fact{"rows", "Training rows", training.n(), report::file_name(train.path)});
  document.add(Fact{
      "dims", "Dimensions", dims,
      shape.size() == 2 ? "images of " + std::to_string(shape[0]) + " × " + std::to_string(shape[1]) : ""});
  document.add(Fact{"queries", "Queries", queries, asked});
  document.add(report::metric_fact(std::string(name(metric))));
  document.add(Fact{"arithmetic", "", name(training.arithmetic)});
  document.add(report::device_fact(device));
}

void add_asked(report::Document& document, const Training& training, const files::Table& queries,
               Metric metric, const DeviceInfo& device, const QueryFlags& query_flags) {
  using report::Fact;
  add_rows_asked(document, training, queries.rows, metric, device,
                 query_flags.leave_one_out ? "each training row in turn" : report::file_name(queries.path));
  const bool by_k = query_flags.by_k(), by_radius = !query_flags.radius.empty();
  document.add(Fact{"k", by_k ? "k" : "", by_k ? Json(query_flags.k) : Json(), "neighbours that vote"});
  document.add(Fact{"radius", by_radius ? "Radius" : "",
                    by_radius ? radius_json(query_flags.radius, training.arithmetic) : Json(),
                    "all rows within it vote", report::escape(query_flags.radius)});
}

void add_members(report::Document& document, const Trace& trace) {
  if (trace.members.empty()) return;
  Json members = Json::array();
  for (const MemberTrace& member : trace.members)
    members.push_back({{"device", member.device},
                       {"share", member.share},
                       {"rows", member.rows},
                       {"queries", member.queries},
                       {"seconds", member.seconds},
                       {"device_seconds", member.device_seconds},
                       {"memory_bytes", member.bytes}});
  document.add(report::Fact{"members", "", members});
}

Json neighbors_json(const RadiusNeighbors& found, std::int64_t q,
                    const std::function<void(std::size_t row, Json& neighbor)>& more) {
  Json list = Json::array();
  const auto begin = static_cast<std::size_t>(found.first[static_cast<std::size_t>(q)]);
  for (std::size_t at = begin; at < begin + static_cast<std::size_t>(found.count(q)); ++at) {
    Json neighbor = {{"row", found.row[at]}, {"distance", distance_json(found, at)}};
    if (more) more(static_cast<std::size_t>(found.row[at]), neighbor);
    list.push_back(std::move(neighbor));
  }
  return list;
}

void print_results(const report::Document& document, std::int64_t queries,
                   const std::function<Json(std::int64_t q)>& result) {
  std::string text = json_text(report::json(document));
  text.erase(text.find_last_not_of("\n}") + 1);
  text += ",\n  \"results\": [";
  for (std::int64_t q = 0; q < queries; ++q) {
    text += (q > 0 ? ",\n    " : "\n    ") + json_text(result(q), -1);
    text.pop_back();  // its line feed
    if (text.size() < piece_bytes) continue;
    throw_if_interrupted("json");
    print(text);
    text.clear();
  }
  print(text + (queries > 0 ? "\n  ]\n}\n" : "]\n}\n"));
}

}  // namespace kith::command
