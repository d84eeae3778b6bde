#include "lab/experiments/measure.hpp"

#include <algorithm>
#include <bit>

#include "kith/error.hpp"
#include "kith/spi.hpp"
#include "lab/experiments/memory.hpp"
#include "workloads/clock.hpp"

namespace kith::experiments {
namespace {

constexpr double warm_seconds = 0.1;  ///< clocks of an idle device take a while to rise
constexpr std::size_t fewest_samples = 3, most_samples = 200;

/// Returns the first `rows` queries of operands.
Operands first_rows(Operands operands, const Operation& operation, std::int64_t rows) {
  if (operands.queries.rows() > rows) operands.queries = operands.queries.slice(0, rows);
  if (operands.distances.rows() > rows) operands.distances = operands.distances.slice(0, rows);
  const auto most = [&](auto span, std::int64_t width) {
    return span.subspan(0, std::min(span.size(), static_cast<std::size_t>(rows * width)));
  };
  operands.lists = most(operands.lists, operation.lists * operation.k);
  operands.nearest = most(operands.nearest, operation.k);
  return operands;
}

/// Returns the beginning of a message as one line; a compiler's message may have many.
std::string one_line(std::string text) {
  constexpr std::size_t most = 400;
  std::replace(text.begin(), text.end(), '\n', ' ');
  if (text.size() > most) text = text.substr(0, most) + " ...";
  return text;
}

/// Returns the joules of one run, if there is a counter.
std::optional<double> joules_of(const Settings& settings, const std::string& what,
                                const std::function<Seconds()>& run, const Device* device) {
  for (std::size_t i = 0; device && i < settings.meters.size(); ++i) {
    energy::EnergyMeter* meter = settings.meters[i].get();
    if (!meter || settings.devices[i].info().spec != device->info().spec) continue;
    const auto measured = meter->measure([&] {
      tell(settings, what + ", joules");
      run();
    });
    if (measured) return measured->joules;
  }
  return std::nullopt;
}

/// Checks the bits of a whole call, then times it.
///   asked  the index, or its classifier
template <class Asked>
Measured time_whole(const Settings& settings, const char* call_name, const Asked& asked, const Index& index,
                    MatrixView<const float> queries, std::int64_t k, SearchOptions options,
                    const Answer& expected) {
  options.stop = settings.stop;
  Trace trace;
  trace.time_steps = false;
  const auto call = [&] { return workloads::ask(asked, queries, k, options, &trace); };
  return time_checked(
      settings, index.device(),
      std::string(call_name) + " on " + index.device().info().spec + ", n = " + std::to_string(index.rows()) +
          ", k = " + std::to_string(k),
      [&] { return difference(expected, call()); },
      [&]() -> Seconds {
        call();
        return {trace.device_seconds, trace.queue_seconds, trace.total_seconds};
      },
      &trace.plan);
}

}  // namespace

void tell(const Settings& settings, const std::string& what) {
  if (settings.progress) settings.progress(what);
}

Measured sample(const Settings& settings, const std::string& what, const std::function<Seconds()>& run,
                const Device* whose) {
  std::vector<double> device, host, total;
  const auto take = [&](const Seconds& seconds) {
    device.push_back(seconds.device);
    host.push_back(seconds.host);
    total.push_back(seconds.total);
  };
  tell(settings, what);
  const workloads::Clock warming;
  bool slow = false;
  Seconds once = run();
  if (warming.seconds() > settings.seconds) {  // the driver may still have been compiling
    const workloads::Clock again;
    once = run();
    slow = again.seconds() > settings.seconds;
  }
  if (slow) {
    take(once);
  } else {
    while (warming.seconds() < std::min(warm_seconds, settings.seconds / 2)) run();
    const workloads::Clock clock;
    while (device.size() < most_samples &&
           (device.size() < fewest_samples || clock.seconds() < settings.seconds)) {
      tell(settings, what);
      take(run());
    }
  }
  Measured measured;
  measured.samples = device.size();
  measured.device = median(std::move(device));
  measured.host = median(std::move(host));
  measured.total = median(std::move(total));
  measured.joules = joules_of(settings, what, run, whose);
  return measured;
}

Measured attempt(const std::function<Measured()>& body) {
  try {
    return body();
  } catch (const Error& error) {
    if (error.code() == Errc::interrupted) throw;
    Measured measured;
    (workloads::is_refusal(error) ? measured.refusal : measured.difference) = one_line(error.what());
    return measured;
  }
}

Measured attempt(const Settings& settings, const std::string& what, const std::function<Measured()>& body) {
  if (!settings.memory) return attempt(body);
  return settings.memory->measure(what, [&] { return attempt(body); });
}

Measured time_checked(const Settings& settings, const Device& device, const std::string& what,
                      const std::function<std::string()>& check, const std::function<Seconds()>& run,
                      const Plan* plan) {
  return attempt(settings, what, [&] {
    tell(settings, what);
    Measured measured;
    measured.difference = check();
    if (measured.difference.empty()) measured = sample(settings, what, run, &device);
    if (plan) measured.plan = short_plan(*plan);
    return measured;
  });
}

double seconds_of(const std::function<void()>& body) {
  const workloads::Clock clock;
  body();
  return clock.seconds();
}

StageResult right_result(const Settings& settings, Operation operation, const Operands& operands,
                         std::int64_t rows) {
  operation.m = std::min(operation.m, rows);
  if (operation.stage == Stage::select) operation.selector = settings.cpu.info().selectors.front();
  return result_of(settings.cpu, operation, first_rows(operands, operation, operation.m), "experiment");
}

Check check_cpu(const Settings& settings, const Operation& operation, const Operands& operands) {
  Operation one = operation;
  one.m = 1;
  const StageResult plain = plain_result(one, first_rows(operands, one, 1));
  return same_bits(std::string(workloads::name(one.stage)) +
                       " on cpu, one query: the bits of the contract written down slowly",
                   difference(plain, right_result(settings, one, operands, 1)));
}

Check same_bits(const std::string& what, const std::string& difference) {
  return {what, difference.empty(), difference};
}

workloads::Rows uniform_rows(const Settings& settings, workloads::Set set, std::int64_t rows,
                             std::int64_t dims) {
  return make_rows(workloads::DataKind::uniform, settings.seed, set, rows, dims);
}

Distances right_distances(const Settings& settings, MatrixView<const float> train,
                          MatrixView<const float> queries, Metric metric) {
  Operation operation{.stage = Stage::distance,
                      .metric = metric,
                      .n = train.rows(),
                      .m = queries.rows(),
                      .dims = train.cols()};
  Operands operands;
  operands.train = train;
  operands.queries = queries;
  const StageResult result = result_of(settings.cpu, operation, operands, "experiment");
  Distances distances{std::vector<float>(result.cells.size()), operation.m, operation.n};
  std::transform(result.cells.begin(), result.cells.end(), distances.values.begin(),
                 [](std::uint64_t cell) { return std::bit_cast<float>(static_cast<std::uint32_t>(cell)); });
  return distances;
}

Distances random_distances(const Settings& settings, std::int64_t m, std::int64_t n) {
  const workloads::Rows rows = uniform_rows(settings, workloads::Set::train, m, n);
  const float* from = rows.view().data();
  return {std::vector<float>(from, from + m * n), m, n};
}

Measured time_stage(const Settings& settings, const Device& device, const Operation& operation,
                    const Operands& operands, const StageResult& expected) {
  const std::string what = title(operation) + " on " + device.info().spec +
                           ", n = " + std::to_string(operation.n) +
                           ", lists = " + std::to_string(operation.lists);
  return attempt(settings, what, [&] {
    tell(settings, what);
    Measured measured;
    spi::with_device(device, [&](spi::Device& opened) {
      workloads::PreparedStage stage(opened, operation, operands);
      if (!stage.refusal().empty()) measured.refusal = device.info().spec + ": " + stage.refusal();
      if (!measured.refusal.empty()) return;
      stage.run();
      const auto rows = static_cast<std::int64_t>(expected.cells.size()) / expected.cols;
      measured.difference = difference(expected, stage.result(0, rows));
      if (!measured.difference.empty()) return;
      measured = sample(
          settings, what,
          [&]() -> Seconds {
            const auto seconds = stage.run();
            return {seconds.device, seconds.host, not_measured};
          },
          &device);
    });
    return measured;
  });
}

Answer right_answer(const Settings& settings, MatrixView<const float> train, MatrixView<const float> queries,
                    std::int64_t k, Metric metric, const std::vector<std::int64_t>* labels) {
  tell(settings, "the right answer on cpu, n = " + std::to_string(train.rows()));
  SearchOptions options{.stop = settings.stop};
  if (!labels) return workloads::ask(Index(settings.cpu, train, metric), queries, k, options);
  return workloads::ask(Classifier(settings.cpu, train, *labels, metric), queries, k, options);
}

Measured time_search(const Settings& settings, const Index& index, MatrixView<const float> queries,
                     std::int64_t k, const SearchOptions& options, const Answer& expected) {
  return time_whole(settings, "search", index, index, queries, k, options, expected);
}

Measured time_classify(const Settings& settings, const Classifier& classifier,
                       MatrixView<const float> queries, std::int64_t k, const SearchOptions& options,
                       const Answer& expected) {
  return time_whole(settings, "classify", classifier, classifier.index(), queries, k, options, expected);
}

std::string short_plan(const Plan& plan) {
  if (plan.boxes) return "boxes, tiles of " + std::to_string(plan.query_tile) + " queries";
  std::string text = plan.fused ? "fused" : std::string(name(plan.selector));
  if (plan.proposer != Proposer::none) text = std::string(name(plan.proposer)) + " proposer, " + text;
  return text + ", " + std::to_string(plan.lists) + (plan.lists == 1 ? " list" : " lists") + ", tiles " +
         std::to_string(plan.query_tile) + " x " + std::to_string(plan.train_tile);
}

}  // namespace kith::experiments
