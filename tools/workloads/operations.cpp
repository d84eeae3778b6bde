#include "workloads/operations.hpp"

#include <algorithm>
#include <bit>

#include "files/printed.hpp"

namespace kith::workloads {
namespace {

std::string cell_text(const StageResult& result, std::int64_t column, std::uint64_t cell) {
  using Content = StageResult::Content;
  Content content = result.content;
  if (content == Content::bounds)
    content = column < result.cols - 2    ? Content::keys
              : column == result.cols - 2 ? Content::values
                                          : Content::counts;
  switch (content) {
    case Content::values:
      return value_text(std::bit_cast<float>(static_cast<std::uint32_t>(cell)));
    case Content::keys:
      if (cell == no_key) return "no key";
      return neighbor_text(row_of(cell), value_of(cell));
    default:
      return cell == no_row ? "none" : std::to_string(cell);
  }
}

}  // namespace

std::string value_text(float value) {
  return files::printed("%.9g (0x%08X)", static_cast<double>(value), std::bit_cast<std::uint32_t>(value));
}

std::string value_text(double value) {
  return files::printed("%.17g (0x%016llX)", value,
                        static_cast<unsigned long long>(std::bit_cast<std::uint64_t>(value)));
}

std::string neighbor_text(std::int64_t row, float distance) {
  return "row " + std::to_string(row) + " at " + value_text(distance);
}

std::string neighbor_text(std::int64_t row, double distance) {
  return "row " + std::to_string(row) + " at " + value_text(distance);
}

std::string_view name(Stage stage) {
  constexpr std::array names = {spi::DistanceStep::name, spi::SelectStep::name,    spi::NearestStep::name,
                                spi::MergeStep::name,    spi::CollectStep::name,   spi::RerankStep::name,
                                spi::TightenStep::name,  spi::VoteStep::name,      spi::MaskStep::name,
                                spi::ScoreStep::name,    spi::AccumulateStep::name};
  static_assert(names.size() == all_stages.size());
  return names[static_cast<std::size_t>(stage)];
}

std::string title(const Operation& operation) {
  std::string text(name(operation.stage));
  if (operation.stage == Stage::select) text += " " + std::string(kith::name(operation.selector));
  return text;
}

std::string difference(const StageResult& expected, const StageResult& actual) {
  if (expected.cols != actual.cols || expected.cells.size() != actual.cells.size())
    return "the result has " + std::to_string(actual.cells.size()) + " elements, expected " +
           std::to_string(expected.cells.size());
  const auto [right, found] =
      std::mismatch(expected.cells.begin(), expected.cells.end(), actual.cells.begin());
  if (right == expected.cells.end()) return "";
  const auto at = right - expected.cells.begin(), column = at % expected.cols;
  return "row " + std::to_string(at / expected.cols) + ", column " + std::to_string(column) + ": " +
         cell_text(actual, column, *found) + ", expected " + cell_text(expected, column, *right);
}

StageResult plain_result(const Operation& operation, const Operands& operands) {
  const auto device = spi::plain_device();
  PreparedStage stage(*device, operation, operands);
  stage.run();
  return stage.result(0, operation.m);
}

StageResult result_of(const Device& device, const Operation& operation, const Operands& operands,
                      const std::string& where) {
  StageResult result;
  spi::with_device(device, [&](spi::Device& opened) {
    PreparedStage stage(opened, operation, operands);
    if (!stage.refusal().empty())
      throw Error(Errc::unsupported, where + ": " + device.info().spec + " refuses " + title(operation) +
                                         ": " + stage.refusal());
    stage.run();
    result = stage.result(0, operation.m);
  });
  return result;
}

}  // namespace kith::workloads
