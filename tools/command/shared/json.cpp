#include "command/shared/json.hpp"

#include <algorithm>

#include "files/shown.hpp"

namespace kith::command {
namespace {

template <class Json>
std::string text_of(const Json& json, int indent) {
  const std::string dumped = json.dump(indent, ' ', false, Json::error_handler_t::replace);
  std::string result;
  for (std::string_view rest = dumped; !rest.empty();) {
    const std::size_t length = std::max<std::size_t>(files::character_length(rest), 1);
    const std::string_view character = rest.substr(0, length);
    if (character != "\n" && files::is_obeyed(rest, length)) {
      const std::string escaped = Json(std::string(character)).dump(-1, ' ', true);  // in quotes
      result += escaped.substr(1, escaped.size() - 2);
    } else {
      result += character;
    }
    rest.remove_prefix(length);
  }
  return result + "\n";
}

}  // namespace

std::string json_text(const nlohmann::ordered_json& json, int indent) {
  return text_of(json, indent);
}

std::string json_text(const nlohmann::json& json, int indent) {
  return text_of(json, indent);
}

}  // namespace kith::command
