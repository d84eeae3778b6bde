#include "command/input/results_json.hpp"

#include <cstdlib>

#include "files/text/number.hpp"

namespace kith::command {
namespace {

using Json = nlohmann::ordered_json;

constexpr std::size_t piece_bytes = std::size_t{1} << 16;

}  // namespace

Json asked_json(const Training& training, std::int64_t queries, Metric metric, const std::string& device,
                const AskingFlags& asking) {
  Json json = {{"train", training.rows.table.path},
               {"rows", training.n()},
               {"dims", training.features.empty() ? training.rows.width
                                                  : static_cast<std::int64_t>(training.features.size())},
               {"queries", queries},
               {"metric", name(metric)},
               {"device", device},
               {"k", nullptr},
               {"radius", nullptr}};
  if (asking.radius.empty())
    json["k"] = asking.k;
  else
    json["radius"] = float_json(files::parse_number(asking.radius).value);
  return json;
}

Json float_json(float value) {
  if (!std::isfinite(value)) return nullptr;
  return std::strtod(format_float(value).c_str(), nullptr);
}

Json neighbors_json(const RadiusNeighbors& found, std::int64_t q,
                    const std::function<void(std::size_t row, Json& neighbor)>& more) {
  Json list = Json::array();
  const auto begin = static_cast<std::size_t>(found.first[static_cast<std::size_t>(q)]);
  for (std::size_t at = begin; at < begin + static_cast<std::size_t>(found.count(q)); ++at) {
    Json neighbor = {{"row", found.index[at]}, {"distance", float_json(found.distance[at])}};
    if (more) more(static_cast<std::size_t>(found.index[at]), neighbor);
    list.push_back(std::move(neighbor));
  }
  return list;
}

void print_results(const Json& head, std::int64_t queries,
                   const std::function<Json(std::int64_t q)>& result) {
  std::string text = json_text(head);
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
