// kith-lab bench: measures one workload on one device.
#include <algorithm>
#include <filesystem>
#include <functional>

#include "files/output.hpp"
#include "files/table.hpp"
#include "kith/index.hpp"
#include "kith/parse.hpp"
#include "kith/spi.hpp"
#include "lab/bench/bench.hpp"
#include "lab/experiments/measure.hpp"
#include "workloads/cases.hpp"

namespace kith::command {
namespace {

using workloads::Answer;
using workloads::Operands;
using workloads::Operation;
using workloads::Timed;

constexpr double cpu_check_work = 1e10, plain_check_work = 2e8;  ///< chain steps of the check

/// Returns how many queries are checked: as many as take about a second.
std::int64_t check_count(const BenchData& data, bool by_cpu) {
  const auto& w = data.workload;
  const double one = static_cast<double>(w.n) * static_cast<double>(std::max<std::int64_t>(w.dims, 8));
  const double most = (by_cpu ? cpu_check_work : plain_check_work) / one;
  return std::clamp<std::int64_t>(static_cast<std::int64_t>(most), 1, std::min<std::int64_t>(w.m, 64));
}

Answer pick_queries(const Neighbors& found, std::int64_t count) {
  Answer some;
  some.neighbors.queries = count;
  some.neighbors.k = found.k;
  for (std::int64_t i = 0; i < count; ++i) {
    const std::int64_t at = workloads::spread_row(i, count, found.queries) * found.k;
    const auto add = [&](auto& to, const auto& from) {
      to.insert(to.end(), from.begin() + at, from.begin() + at + found.k);
    };
    add(some.neighbors.distance, found.distance);
    add(some.neighbors.row, found.row);
  }
  return some;
}

/// Copies the rows of spread_rows() as they are, one after another.
std::vector<unsigned char> spread_bytes(const RowsView& rows, std::int64_t count) {
  const auto bytes = static_cast<std::size_t>(row_bytes(rows.element, rows.cols));
  std::vector<unsigned char> some;
  for (std::int64_t i = 0; i < count; ++i) {
    const unsigned char* const row = rows.row(workloads::spread_row(i, count, rows.rows));
    some.insert(some.end(), row, row + bytes);
  }
  return some;
}

std::string check_search(const Device* cpu, const BenchData& data, std::int64_t count,
                         const Neighbors& found) {
  const auto& w = data.workload;
  const std::vector<unsigned char> bytes = spread_bytes(data.query_rows(), count);
  const RowsView some(bytes.data(), w.element, count, w.dims);
  Answer expected;
  if (cpu) {
    expected.neighbors = Index(*cpu, data.train_rows(), w.metric).search(some, w.k);
  } else {
    const workloads::Rows floats = workloads::spread_rows(data.queries.view(), count);
    expected = workloads::plain_answer(w.metric, data.train.view(), floats.view(), w.k, nullptr);
  }
  return difference(expected, pick_queries(found, count));
}

/// Writes the neighbours, for comparisons with other programs. Every device writes the same bits.
void write_answers(const BenchFlags& flags, const BenchData& data, const Neighbors& found) {
  const std::filesystem::path folder(flags.answers);
  std::error_code ignored;  // writing the files reports any error
  std::filesystem::create_directories(folder, ignored);
  const auto write = [&](const char* ending, const auto& values) {
    files::AtomicFile file(folder / (std::string(data.workload.name) + ending));
    files::write_rows(file, MatrixView(values.data(), found.queries, found.k));
    file.commit();
  };
  write(".index.npy", found.row);
  write(".distance.npy", found.distance);
}

std::string lists_text(std::int64_t lists) {
  return std::to_string(lists) + (lists == 1 ? " list" : " lists");
}

/// Repeats `run`, and returns its joules.
std::optional<energy::Energy> joules(energy::EnergyMeter* meter, const std::function<void()>& run) {
  if (!meter) return std::nullopt;
  return meter->measure([&] {
    throw_if_interrupted("bench");
    run();
  });
}

/// Returns an Index whose training rows lie where the residence says.
Index index_of(const Device& device, const BenchData& data, const BenchFlags& flags) {
  IndexOptions options{.residence = parse<Residence>(flags.residence)};
  if (options.residence == Residence::resident) return {device, data.train_rows(), data.workload.metric};
  return {device, memory_source(data.train_rows()), data.workload.metric, options};
}

/// Makes boxes a second time, when everything that is made on first use exists, and returns the seconds.
double seconds_of_boxes(const Device& device, const BenchData& data, const BenchFlags& flags) {
  const Index again = index_of(device, data, flags);
  Trace trace;
  SearchOptions options{.boxes = true};
  again.search(data.query_rows().slice(0, 1), 1, options, &trace);
  return trace.boxes_seconds;
}

void measure_search(const Device& device, const Device* cpu, const BenchData& data, const BenchFlags& flags,
                    energy::EnergyMeter* meter, Measured& measured) {
  const auto& w = data.workload;
  const SearchOptions options = plan_options(flags.plan);
  const Clock build;
  const Index index = index_of(device, data, flags);
  measured.index_build = build.seconds();

  Trace trace;
  const Clock first;
  Neighbors found = index.search(data.query_rows(), w.k, options, &trace);
  measured.first_run = first.seconds();
  measured.device_bytes = index.memory_bytes();
  if (trace.plan.boxes) measured.boxes = seconds_of_boxes(device, data, flags);
  measured.checked = check_count(data, cpu);
  measured.difference = check_search(cpu, data, measured.checked, found);
  if (!measured.difference.empty()) return;
  if (!flags.answers.empty()) write_answers(flags, data, found);
  index.prepare(w.m, w.k, options);  // makes boxes, for which one search would not pay

  take_samples(flags, [&](bool counts) {
    trace.time_steps = false;
    index.search_into(data.query_rows(), w.k, found, options, &trace);
    if (counts) {
      measured.host.push_back(trace.queue_seconds);
      measured.total.push_back(trace.total_seconds);
    }
    // The device's clock is read in a separate run, because it holds the queue, which delays the answer.
    trace.hold_queue = device.info().kind != DeviceKind::cpu;
    if (trace.hold_queue) index.search_into(data.query_rows(), w.k, found, options, &trace);
    trace.hold_queue = false;
    if (counts) measured.device.push_back(trace.device_seconds);
  });
  measured.energy = joules(meter, [&] { found = index.search(data.query_rows(), w.k, options); });
  trace.time_steps = true;
  found = index.search(data.query_rows(), w.k, options, &trace);
  measured.plan = explain(trace.plan);
  measured.short_plan = experiments::short_plan(trace.plan);
  measured.steps = trace.seconds;
}

/// Returns the stage of a workload, on its first `m` queries, with the selector the plan would take.
Operation stage_of(const Device& device, const BenchData& data, const BenchFlags& flags, std::int64_t m) {
  const auto& w = data.workload;
  Operation operation;
  operation.stage = w.timed == Timed::distance ? workloads::Stage::distance : workloads::Stage::select;
  operation.metric = w.metric;
  operation.n = w.n;
  operation.m = m;
  operation.dims = w.dims;
  operation.k = w.k;
  operation.threads = static_cast<std::uint32_t>(flags.plan.threads);
  if (w.timed == Timed::distance) return operation;
  SearchOptions options = plan_options(flags.plan);
  if (options.selector == Selector::automatic) options.fused = false;
  const Plan plan = make_plan(device.info(), {w.metric, w.n, w.m, w.dims, w.k}, options);
  operation.selector = plan.selector;
  operation.lists = plan.lists;
  return operation;
}

Operands operands_of(const BenchData& data, std::int64_t m) {
  Operands operands;
  if (data.workload.timed == Timed::select) {
    operands.distances = data.train.view().slice(0, m);
  } else {
    operands.train = data.train.view();
    operands.queries = data.queries.view().slice(0, m);
  }
  return operands;
}

workloads::StageResult expected_stage(const Device* cpu, const Operation& operation,
                                      const Operands& operands) {
  if (!cpu) return plain_result(operation, operands);
  Operation on_cpu = operation;
  on_cpu.selector = cpu->info().selectors.front();
  return result_of(*cpu, on_cpu, operands, "bench");
}

void measure_stage(const Device& device, const Device* cpu, const BenchData& data, const BenchFlags& flags,
                   energy::EnergyMeter* meter, Measured& measured) {
  const std::int64_t count = check_count(data, cpu);
  const Operation few = stage_of(device, data, flags, count);
  const workloads::StageResult expected = expected_stage(cpu, few, operands_of(data, count));
  const Operation operation = stage_of(device, data, flags, data.workload.m);
  measured.short_plan = title(operation);
  if (data.workload.timed == Timed::select) measured.short_plan += ", " + lists_text(operation.lists);
  measured.plan = measured.short_plan + "\n";
  spi::with_device(device, [&](spi::Device& opened) {
    const Clock build;
    workloads::PreparedStage stage(opened, operation, operands_of(data, operation.m));
    measured.index_build = build.seconds();
    measured.refusal = stage.refusal();
    if (!measured.refusal.empty()) return;
    measured.first_run = stage.run().host;
    measured.checked = count;
    measured.difference = difference(expected, stage.result(0, count));
    if (!measured.difference.empty()) return;
    take_samples(flags, [&](bool counts) {
      const auto seconds = stage.run();
      if (!counts) return;
      measured.device.push_back(seconds.device);
      measured.host.push_back(seconds.host);
    });
    measured.energy = joules(meter, [&] { stage.run(); });
  });
}

constexpr const char* train_images = "train-images-idx3-ubyte.gz";
constexpr const char* test_images = "t10k-images-idx3-ubyte.gz";

/// Returns the first rows of a file of images.
workloads::Rows read_images(const BenchFlags& flags, const std::string& file, std::int64_t rows) {
  const files::Table table = files::read_table(flags.fashion_mnist + "/" + file);
  if (table.rows < rows)
    throw Error(Errc::bad_file, "bench: " + table.path + " holds " + std::to_string(table.rows) +
                                    " images, not " + std::to_string(rows) +
                                    "; give the folder with all of Fashion-MNIST");
  return workloads::prepared_rows(Metric::squared_l2, {table.values.data(), rows, table.cols});
}

bool is_of_bytes(const workloads::Workload& workload) {
  return workload.element == Element::u8 || workload.element == Element::i8;
}

/// A float has 32 columns of bits.
std::int64_t columns_as_floats(const workloads::Workload& workload) {
  return workload.element == Element::bits ? workload.dims / 32 : workload.dims;
}

/// Rounds the values to those of the element, and stores the rows as that element.
void store(const workloads::Workload& workload, BenchData& data) {
  workloads::round_to(workload.element, workload.metric, data.train);
  workloads::round_to(workload.element, workload.metric, data.queries);
  data.stored_train.emplace(workload.element, data.train);
  data.stored_queries.emplace(workload.element, data.queries);
}

}  // namespace

bool has_fashion_mnist(const BenchFlags& flags) {
  const std::filesystem::path folder(flags.fashion_mnist);
  return std::filesystem::exists(folder / train_images) && std::filesystem::exists(folder / test_images);
}

BenchData make_data(const workloads::Workload& workload, const BenchFlags& flags) {
  BenchData data{workload, {}, {}, "uniform", {}, {}};
  const auto kind = is_of_bytes(workload) ? workloads::DataKind::integers : workloads::DataKind::uniform;
  if (is_of_bytes(workload)) data.source = workload.grown ? "bytes" : "integers";
  const auto make = [kind](workloads::Set set, std::int64_t rows, std::int64_t dims) {
    return make_rows(kind, workloads::measured_seed, set, rows, dims);
  };
  if (workload.real_data) {
    data.source = flags.fashion_mnist;
    data.train = read_images(flags, train_images, workload.n);
    data.queries = read_images(flags, test_images, workload.m);
  } else if (workload.timed == Timed::select) {
    data.train = make(workloads::Set::train, workload.m, workload.n);
  } else if (!workload.grown) {
    const std::int64_t floats = columns_as_floats(workload);
    data.train = make(workloads::Set::train, workload.n, floats);
    data.queries =
        make(workload.own_rows ? workloads::Set::train : workloads::Set::queries, workload.m, floats);
  }
  if (workload.element != Element::f32 && !workload.grown) store(workload, data);
  return data;
}

Measured measure(const Device& device, const Device& cpu, const BenchData& data, const BenchFlags& flags,
                 energy::EnergyMeter* meter) {
  // The CPU back end cannot vouch for itself.
  const Device* reference = device.info().backend == "cpu" ? nullptr : &cpu;
  Measured measured;
  try {
    if (data.workload.grown) {
      measure_grown(device, cpu, data, flags, measured);
    } else if (data.workload.timed == Timed::search) {
      measure_search(device, reference, data, flags, meter, measured);
    } else {
      measure_stage(device, reference, data, flags, meter, measured);
    }
  } catch (const Error& error) {
    if (!workloads::is_refusal(error)) throw;
    measured.refusal = error.what();
  }
  return measured;
}

}  // namespace kith::command
