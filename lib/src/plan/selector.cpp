#include "kith/selector.hpp"

#include "base/names.hpp"
#include "kith/device.hpp"

namespace kith {
namespace {

constexpr std::pair<Selector, std::string_view> selector_names[] = {
    {Selector::automatic, "automatic"},   {Selector::threshold, "threshold"},
    {Selector::radix, "radix"},           {Selector::bubble, "bubble"},
    {Selector::insertion, "insertion"},   {Selector::local_sort, "local_sort"},
    {Selector::k_min, "k_min"},           {Selector::bitonic, "bitonic"},
    {Selector::odd_even, "odd_even"},     {Selector::rank_sort, "rank_sort"},
    {Selector::merge_sort, "merge_sort"}, {Selector::selection_sort, "selection_sort"},
    {Selector::quick_sort, "quick_sort"},
};

constexpr std::pair<Proposer, std::string_view> proposer_names[] = {
    {Proposer::automatic, "automatic"}, {Proposer::none, "none"},
    {Proposer::gemm, "gemm"},           {Proposer::dot, "dot"},
    {Proposer::bf16, "bf16"},           {Proposer::fp16, "fp16"},
    {Proposer::int8, "int8"},
};

constexpr std::pair<DeviceKind, std::string_view> kind_names[] = {
    {DeviceKind::cpu, "cpu"}, {DeviceKind::gpu, "gpu"}, {DeviceKind::accelerator, "accelerator"}};

}  // namespace

std::string_view name(Selector selector) {
  return name_in(selector_names, selector);
}
std::string_view name(Proposer proposer) {
  return name_in(proposer_names, proposer);
}
std::string_view name(DeviceKind kind) {
  return name_in(kind_names, kind);
}

const std::vector<Selector>& all_selectors() {
  static const std::vector<Selector> all = [] {
    std::vector<Selector> list;
    for (const auto& [selector, text] : selector_names)
      if (selector != Selector::automatic) list.push_back(selector);
    return list;
  }();
  return all;
}

Selector parse_selector(std::string_view text) {
  return parse_in(selector_names, "selector", text);
}
Proposer parse_proposer(std::string_view text) {
  return parse_in(proposer_names, "proposer", text);
}

}  // namespace kith
