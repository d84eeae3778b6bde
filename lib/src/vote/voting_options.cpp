#include "kith/voting.hpp"

#include "base/names.hpp"

namespace kith {
namespace {

constexpr std::pair<Weights, std::string_view> weights_names[] = {
    {Weights::uniform, "uniform"}, {Weights::distance, "distance"}, {Weights::rank, "rank"}};

constexpr std::pair<TieRule, std::string_view> tie_rule_names[] = {
    {TieRule::smallest_label, "smallest_label"},
    {TieRule::nearest, "nearest"},
    {TieRule::smallest_distance, "smallest_distance"},
    {TieRule::fewer_neighbors, "fewer_neighbors"},
    {TieRule::abstain, "abstain"},
};

}  // namespace

std::string_view name(Weights weights) {
  return name_in(weights_names, weights);
}
std::string_view name(TieRule rule) {
  return name_in(tie_rule_names, rule);
}

Weights weights_named(std::string_view text) {
  return parse_in(weights_names, "weights", text);
}
TieRule tie_rule_named(std::string_view text) {
  return parse_in(tie_rule_names, "tie rule", text);
}

}  // namespace kith
