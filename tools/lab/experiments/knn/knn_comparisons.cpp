#include "lab/experiments/knn/knn_comparisons.hpp"

#include <array>
#include <cstring>
#include <memory>

#include "lab/experiments/measure.hpp"

namespace kith::experiments {
namespace {

/// Times copies from and to one device, through two kinds of memory.
class Transfers {
 public:
  Transfers(const Settings& settings, spi::Device& device, std::size_t bytes)
      : settings_(settings), device_(device), bytes_(bytes), memory_(device.allocate(bytes)) {}

  /// Returns the gigabytes per second into the device, and out of it.
  std::array<double, 2> measure(void* host) {
    std::memset(host, 1, bytes_);
    const auto time = [&](const std::function<void()>& copy) {
      const Measured measured =
          sample(settings_, "copies of " + std::to_string(bytes_) + " bytes, " + device_.info.spec,
                 [&]() -> Seconds {
                   const double spent = seconds_of([&] {
                     copy();
                     device_.finish();
                   });
                   return {not_measured, spent, spent};
                 });
      return static_cast<double>(bytes_) / measured.total / 1e9;
    };
    return {time([&] { device_.write(*memory_, 0, host, bytes_); }),
            time([&] { device_.read(*memory_, 0, host, bytes_); })};
  }

 private:
  const Settings& settings_;
  spi::Device& device_;
  std::size_t bytes_;
  std::unique_ptr<spi::Allocation> memory_;
};

std::vector<std::string> copies_row(const Settings& settings, spi::Device& device, std::size_t bytes) {
  Transfers transfers(settings, device, bytes);
  std::vector<unsigned char> pageable(bytes);
  const auto slow = transfers.measure(pageable.data());
  const std::unique_ptr<spi::HostMemory> pinned = device.allocate_host(bytes);
  const auto fast = pinned ? transfers.measure(pinned->data) : std::array{not_measured, not_measured};
  return {device.info.spec,
          std::to_string(bytes),
          number_text(slow[0]),
          number_text(fast[0]),
          number_text(slow[1]),
          number_text(fast[1]),
          pinned ? "" : "locked memory makes no difference to this device"};
}

}  // namespace

Table sequential_table(const Settings& settings, const Points& points, const Answer& right, Result& result) {
  Table table{"Sequential programs on one core, n = " + std::to_string(points.rows.rows()) + ", k = 15",
              {"sort", "double, ms", "float, ms", "double / float", "distances that differ", "class"},
              {}};
  for (const SequentialSort sort :
       {SequentialSort::std_sort, SequentialSort::selection_sort, SequentialSort::quick_sort}) {
    const SequentialTime twice = time_sequential<double>(settings, points, question_15, sort, right);
    const SequentialTime once = time_sequential<float>(settings, points, question_15, sort, right);
    const std::string others = std::to_string(twice.others) + " and " + std::to_string(once.others);
    table.rows.push_back(
        {std::string(name(sort)), number_text(1e3 * twice.seconds), number_text(1e3 * once.seconds),
         ratio_text(twice.seconds / once.seconds), others,
         twice.same_class && once.same_class ? "kith's" : "another: ties are cut elsewhere"});
    result.checks.push_back(same_bits(
        "sequential " + std::string(name(sort)) + ", double and float: the distances of the CPU's neighbours",
        twice.others + once.others == 0 ? "" : others + " distances differ"));
  }
  return table;
}

Table transfer_table(const Settings& settings, std::int64_t n) {
  Table table{"Copies through pageable and through pinned memory of the host, GB/s",
              {"device", "bytes", "in, pageable", "in, pinned", "out, pageable", "out, pinned", "remark"},
              {}};
  for (const Device& device : settings.devices)
    for (const std::size_t bytes : {static_cast<std::size_t>(n) * 8, static_cast<std::size_t>(n) * 80}) {
      std::vector<std::string> row;
      const Measured measured = attempt([&] {
        spi::with_device(device, [&](spi::Device& opened) { row = copies_row(settings, opened, bytes); });
        return Measured();
      });
      if (row.empty()) {
        row = {device.info().spec, std::to_string(bytes)};
        row.resize(table.head.size() - 1, not_available);
        row.push_back(measured.refusal + measured.difference);
      }
      table.rows.push_back(std::move(row));
    }
  return table;
}

Table vote_table(const Settings& settings, const Points& points, const std::vector<Key>& nearest,
                 Result& result) {
  Table table{"The vote, us (device clock)", {"device", "k", "atomic", "branch-free", "kith's choice"}, {}};
  for (const Device& device : settings.devices)
    for (const std::int64_t k : {question_15.k, static_cast<std::int64_t>(nearest.size())}) {
      Operation operation{.stage = Stage::vote, .n = points.rows.rows(), .m = 1, .k = k, .classes = 2};
      Operands operands;
      operands.nearest = std::span(nearest).first(static_cast<std::size_t>(k));
      operands.labels = points.labels;
      const auto right = right_result(settings, operation, operands, 1);
      std::vector<std::string> row = {device.info().spec, std::to_string(k)};
      Check check{"vote of k = " + std::to_string(k) + ", both ways (" + device.info().spec +
                      "): the bits of the CPU",
                  true, ""};
      for (const auto method :
           {spi::VoteMethod::atomic, spi::VoteMethod::branch_free, spi::VoteMethod::automatic}) {
        operation.vote = method;
        const Measured measured = time_stage(settings, device, operation, operands, right);
        row.push_back(number_text(1e6 * measured.device));
        if (!measured.refusal.empty()) result.notes.push_back(device.info().spec + ": " + measured.refusal);
        if (!measured.difference.empty()) check = {check.what, false, measured.difference};
      }
      result.checks.push_back(std::move(check));
      table.rows.push_back(std::move(row));
    }
  return table;
}

}  // namespace kith::experiments
