// Classifies one half of all rows of KDD Cup 1999 by the other, in five classes.
#include "lab/experiments/gsknn/gsknn_kdd.hpp"

namespace kith::experiments::kdd {
namespace {

constexpr std::array<std::int64_t, 2> ks = {1, 5};
constexpr std::int64_t quick_every = 100, warm_queries = 1000;

Problem whole_problem(const Connections& all, const Halves& halves) {
  Problem problem{prepare(all, halves.train, halves.test), {}, {}};
  for (const std::int64_t row : halves.train) problem.train_labels.push_back(all.class_of(row));
  for (const std::int64_t row : halves.test) problem.truth.push_back(all.class_of(row));
  return problem;
}

/// Holds what a device answered, and how fast.
struct Timed {
  Sweep sweep;
  double seconds = 0;  ///< seconds of a whole call
  std::string plan;
};

/// Times one whole call, or several if they are short, after a small call, in which drivers compile.
Timed classify(const Settings& settings, const Device& device, const Problem& problem) {
  const std::string what = "all rows on " + device.info().spec;
  tell(settings, what);
  SearchOptions options{.stop = settings.stop};
  const Classifier classifier(device, problem.train(), problem.train_labels, Metric::squared_l2);
  const MatrixView<const float> test = problem.test();
  classifier.sweep(test.slice(0, std::min(warm_queries, test.rows())), ks, options);
  Timed timed;
  const auto run = [&]() -> Seconds {
    Trace trace;
    trace.time_steps = false;
    timed.sweep = classifier.sweep(test, ks, options, &trace);
    timed.plan = short_plan(trace.plan);
    return {trace.device_seconds, trace.queue_seconds, trace.total_seconds};
  };
  timed.seconds = run().total;
  if (timed.seconds < settings.seconds) timed.seconds = sample(settings, what, run).total;
  return timed;
}

std::int64_t count_right(const std::vector<std::int64_t>& labels, const std::vector<std::int64_t>& truth) {
  std::int64_t right = 0;
  for (std::size_t q = 0; q < truth.size(); ++q) right += labels[q] == truth[q];
  return right;
}

Table confusion_of(const std::vector<std::int64_t>& labels, const std::vector<std::int64_t>& truth,
                   std::int64_t k, const std::string& devices) {
  constexpr std::size_t classes = class_names.size();
  std::array<std::array<std::int64_t, classes>, classes> counts{};
  for (std::size_t q = 0; q < truth.size(); ++q)
    ++counts[static_cast<std::size_t>(truth[q])][static_cast<std::size_t>(labels[q])];
  Table table{"All rows, k = " + std::to_string(k) + ": what each class was taken for (" + devices + ")",
              {"true class", "rows"},
              {}};
  for (const std::string_view name : class_names) table.head.emplace_back(name);
  table.head.emplace_back("recall, %");
  for (std::size_t c = 0; c < classes; ++c) {
    std::int64_t rows = 0;
    for (const std::int64_t count : counts[c]) rows += count;
    std::vector<std::string> line = {std::string(class_names[c]), std::to_string(rows)};
    for (const std::int64_t count : counts[c]) line.push_back(std::to_string(count));
    line.push_back(rows > 0 ? percent(counts[c][c], rows) : "-");
    table.rows.push_back(std::move(line));
  }
  return table;
}

std::vector<std::string> line_of(const std::string& spec, const Timed& timed, const Problem& problem) {
  std::vector<std::string> line = {spec};
  const auto total = static_cast<std::int64_t>(problem.truth.size());
  for (const std::vector<std::int64_t>& labels : timed.sweep.label) {
    const std::int64_t right = count_right(labels, problem.truth);
    line.push_back(std::to_string(right));
    line.push_back(percent(right, total));
  }
  line.push_back(time_text(timed.seconds));
  line.push_back(std::to_string(static_cast<std::int64_t>(static_cast<double>(total) / timed.seconds)));
  return line;
}

}  // namespace

void classify_whole(const Settings& settings, const Connections& all, Result& result) {
  const Halves taken = halves(all, settings.quick ? quick_every : 1, settings.seed);
  const Problem problem = whole_problem(all, taken);
  Table table{"All rows: " + std::to_string(taken.test.size()) + " classified by " +
                  std::to_string(taken.train.size()) + " others, five classes, " +
                  std::to_string(problem.rows.width) + " columns",
              {"device", "k = 1: right", "%", "k = 5: right", "%", "one call for both k", "queries a second"},
              {}};
  const auto add = [&](const std::string& spec, const Timed& timed) {
    table.rows.push_back(line_of(spec, timed, problem));
    result.plans.push_back("all rows, " + spec + ": " + timed.plan);
  };
  const Timed right = classify(settings, settings.cpu, problem);
  add(settings.cpu.info().spec, right);
  std::vector<Rival> rivals = rivals_of(settings, "all rows");
  std::string equal_on = settings.cpu.info().spec;
  for (Rival& rival : rivals) {
    rival.attempt([&] {
      const Timed found = classify(settings, rival.device(), problem);
      rival.compare(right.sweep, found.sweep, ks, "");
      add(rival.spec(), found);
      if (rival.labels_different() == 0) equal_on += ", " + rival.spec();
    });
    rival.finish(result);
  }
  result.tables.push_back(std::move(table));
  for (std::size_t i = 0; i < ks.size(); ++i)
    result.tables.push_back(confusion_of(right.sweep.label[i], problem.truth, ks[i], equal_on));
}

}  // namespace kith::experiments::kdd
