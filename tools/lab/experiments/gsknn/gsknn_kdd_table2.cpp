// Table 2: a few thousand connections to learn from, 500 to classify, again and again.
#include <cmath>

#include "lab/experiments/gsknn/gsknn_kdd.hpp"

namespace kith::experiments::kdd {
namespace {

constexpr std::array<std::int64_t, 7> ks = {1, 3, 5, 7, 9, 15, 25};
constexpr std::int64_t plain_queries = 3;

Problem draw_problem(const Connections& all, const Draw& draw) {
  Problem problem{prepare(all, draw.train, draw.test), {}, {}};
  for (const std::int64_t row : draw.train) problem.train_labels.push_back(all.class_of(row) != normal);
  for (const std::int64_t row : draw.test) problem.truth.push_back(all.class_of(row) != normal);
  return problem;
}

/// What a device made of one draw with one k.
struct Counts {
  std::int64_t detected = 0, detected_known = 0, false_alarms = 0;
};

/// What the test rows of one draw are.
struct Truth {
  std::int64_t attacks = 0, known = 0, normal = 0;
};

/// All of one device. counts  [draws][ks]
struct Detection {
  std::string spec;
  std::vector<std::vector<Counts>> counts;
};

bool is_known_attack(const Connections& all, const Draw& draw, std::size_t q) {
  const std::int64_t row = draw.test[q];
  return all.class_of(row) != normal && draw.knows(all.name_of(row));
}

Truth truth_of(const Connections& all, const Draw& draw, const Problem& problem) {
  Truth truth;
  for (std::size_t q = 0; q < problem.truth.size(); ++q) {
    ++(problem.truth[q] ? truth.attacks : truth.normal);
    truth.known += is_known_attack(all, draw, q);
  }
  return truth;
}

std::vector<Counts> counts_of(const Connections& all, const Draw& draw, const Problem& problem,
                              const Sweep& sweep) {
  std::vector<Counts> counts(ks.size());
  for (std::size_t i = 0; i < ks.size(); ++i)
    for (std::size_t q = 0; q < problem.truth.size(); ++q) {
      if (sweep.label[i][q] == 0) continue;
      ++(problem.truth[q] ? counts[i].detected : counts[i].false_alarms);
      counts[i].detected_known += is_known_attack(all, draw, q);
    }
  return counts;
}

/// Test rows that a training row equals in every column.
std::int64_t count_twins(const Sweep& sweep) {
  std::int64_t twins = 0;
  for (std::int64_t q = 0; q < sweep.neighbors.queries; ++q)
    twins += sweep.neighbors.distance[static_cast<std::size_t>(q * sweep.neighbors.k)] == 0;
  return twins;
}

/// The draws, as the CPU and the others classify them.
struct Table2 {
  std::vector<Truth> truths;  ///< [draws]
  Detection cpu;
  std::vector<Detection> others;  ///< [rivals]
  std::vector<Rival> rivals;
  std::int64_t twins = 0;
};

Sweep ask(const Settings& settings, const Device& device, const Problem& problem) {
  PlanOptions options;
  options.stop = settings.stop;
  return Classifier(device, problem.train(), problem.train_labels, Metric::squared_l2)
      .sweep(problem.test(), ks, options);
}

/// Whether the CPU itself keeps the contract, as written down slowly: on a few rows.
Check check_cpu_classifies(const Settings& settings, const Problem& problem) {
  const MatrixView<const float> asked = problem.test().slice(0, plain_queries);
  const workloads::Answer plain =
      workloads::plain_answer(Metric::squared_l2, problem.train(), asked, ks.back(), &problem.train_labels);
  return same_bits("classify on cpu, " + std::to_string(plain_queries) +
                       " queries of the first draw: the bits of the contract written down slowly",
                   difference(plain, right_answer(settings, problem.train(), asked, ks.back(),
                                                  Metric::squared_l2, &problem.train_labels)));
}

Table2 classify_draws(const Settings& settings, const Connections& all, Result& result) {
  const std::int64_t draws = draws_of(settings);
  Table2 table;
  table.cpu.spec = settings.cpu.info().spec;
  table.rivals = rivals_of(settings, "Table 2");
  for (const Rival& rival : table.rivals) table.others.push_back({rival.spec(), {}});
  for (std::int64_t i = 0; i < draws; ++i) {
    tell(settings, "Table 2, draw " + std::to_string(i + 1));
    const Draw draw = kdd::draw(all, {}, settings.seed + static_cast<std::uint64_t>(i));
    const Problem problem = draw_problem(all, draw);
    if (i == 0) result.checks.push_back(check_cpu_classifies(settings, problem));
    const Sweep right = ask(settings, settings.cpu, problem);
    table.truths.push_back(truth_of(all, draw, problem));
    table.cpu.counts.push_back(counts_of(all, draw, problem, right));
    table.twins += count_twins(right);
    for (std::size_t r = 0; r < table.rivals.size(); ++r) {
      Rival& rival = table.rivals[r];
      rival.attempt([&] {
        const Sweep found = ask(settings, rival.device(), problem);
        rival.compare(right, found, ks, "draw " + std::to_string(i + 1) + ", ");
        table.others[r].counts.push_back(counts_of(all, draw, problem, found));
      });
    }
  }
  for (const Rival& rival : table.rivals) rival.finish(result);
  return table;
}

/// A rate in percent over the draws.
struct Rate {
  double mean = not_measured, least = not_measured, most = not_measured;
};

/// part(counts), of whole(truth)
template <class Part, class Whole>
Rate rate_of(const Table2& table, const Detection& detection, std::size_t k, const Part& part,
             const Whole& whole) {
  Rate rate;
  std::int64_t parts = 0, wholes = 0;
  for (std::size_t draw = 0; draw < detection.counts.size(); ++draw) {
    const std::int64_t some = part(detection.counts[draw][k]), all = whole(table.truths[draw]);
    parts += some;
    wholes += all;
    if (all == 0) continue;
    const double share = 100 * static_cast<double>(some) / static_cast<double>(all);
    rate.least = std::fmin(rate.least, share);
    rate.most = std::fmax(rate.most, share);
  }
  if (wholes > 0) rate.mean = 100 * static_cast<double>(parts) / static_cast<double>(wholes);
  return rate;
}

Rate detected(const Table2& table, const Detection& detection, std::size_t k) {
  return rate_of(
      table, detection, k, [](const Counts& c) { return c.detected; },
      [](const Truth& t) { return t.attacks; });
}
Rate detected_known(const Table2& table, const Detection& detection, std::size_t k) {
  return rate_of(
      table, detection, k, [](const Counts& c) { return c.detected_known; },
      [](const Truth& t) { return t.known; });
}
Rate detected_unknown(const Table2& table, const Detection& detection, std::size_t k) {
  return rate_of(
      table, detection, k, [](const Counts& c) { return c.detected - c.detected_known; },
      [](const Truth& t) { return t.attacks - t.known; });
}
Rate false_alarms(const Table2& table, const Detection& detection, std::size_t k) {
  return rate_of(
      table, detection, k, [](const Counts& c) { return c.false_alarms; },
      [](const Truth& t) { return t.normal; });
}

std::string range(const Rate& rate) {
  return percent_text(rate.least) + " to " + percent_text(rate.most);
}

Table rates_table(const Table2& table) {
  Table rates{
      "Table 2: rates in percent, mean and range of " + std::to_string(table.truths.size()) + " draws",
      {"k", "device", "attacks detected", "range", "of known names", "of unknown names", "false alarms",
       "range", "the paper's rates"},
      {}};
  for (std::size_t k = 0; k < ks.size(); ++k) {
    const auto add = [&](const Detection& detection) {
      if (detection.counts.size() < table.truths.size()) return;
      const Rate found = detected(table, detection, k), false_alarm = false_alarms(table, detection, k);
      rates.rows.push_back({std::to_string(ks[k]), detection.spec, percent_text(found.mean), range(found),
                            percent_text(detected_known(table, detection, k).mean),
                            percent_text(detected_unknown(table, detection, k).mean),
                            percent_text(false_alarm.mean), range(false_alarm), not_available});
    };
    add(table.cpu);
    for (const Detection& other : table.others) add(other);
  }
  return rates;
}

/// The specs of all devices whose labels are those of the CPU.
std::string equal_devices(const Table2& table) {
  std::string specs = table.cpu.spec;
  for (const Rival& rival : table.rivals)
    if (!rival.refuses() && rival.labels_different() == 0) specs += ", " + rival.spec();
  return specs;
}

template <class Height>
Series series_of(const Table2& table, const std::string& label, const Height& height) {
  Series series{label, "", "the same on " + equal_devices(table), {}};
  for (std::size_t k = 0; k < ks.size(); ++k)
    series.points.push_back({static_cast<double>(ks[k]), height(k), {}});
  return series;
}

/// Least, mean and most over the draws.
template <class RateOf>
std::vector<Series> spread(const Table2& table, const std::string& what, const RateOf& rate) {
  return {series_of(table, what + ", mean of the draws", [&](std::size_t k) { return rate(k).mean; }),
          series_of(table, what + ", least", [&](std::size_t k) { return rate(k).least; }),
          series_of(table, what + ", most", [&](std::size_t k) { return rate(k).most; })};
}

void add_charts(const Table2& table, Result& result) {
  Chart found{"Attacks that are detected", {"neighbours k", false}, {"percent of the attacks", false}, {}};
  found.series = spread(table, "all attacks", [&](std::size_t k) { return detected(table, table.cpu, k); });
  found.series.push_back(series_of(table, "names that were in the training rows, mean",
                                   [&](std::size_t k) { return detected_known(table, table.cpu, k).mean; }));
  found.series.push_back(series_of(table, "names that were not, mean", [&](std::size_t k) {
    return detected_unknown(table, table.cpu, k).mean;
  }));
  Chart alarms{"False alarms", {"neighbours k", false}, {"percent of the normal connections", false}, {}};
  alarms.series =
      spread(table, "false alarms", [&](std::size_t k) { return false_alarms(table, table.cpu, k); });
  result.charts = {std::move(found), std::move(alarms)};
}

void add_claims(const Table2& table, Result& result) {
  const auto text = [&](std::size_t k) {
    return percent_text(detected(table, table.cpu, k).mean) + " % and " +
           percent_text(false_alarms(table, table.cpu, k).mean) + " % at k = " + std::to_string(ks[k]);
  };
  result.claims.push_back(
      {"detection rate and false-alarm rate, mean of the draws", not_available,
       text(0) + "; " + text(2) + "; " + text(ks.size() - 1) + " (" + equal_devices(table) + ")",
       "the figures of Table 2 are in a picture, and encoding, scaling and the split of the test rows are "
       "not "
       "given"});
  Claim claim{"labels of the GPU beside those of the CPU", "nearly equal rates, small differences", "", ""};
  for (const Rival& rival : table.rivals) {
    claim.here = rival.refuses()
                     ? not_available + (" (" + rival.spec() + ")")
                     : std::to_string(rival.labels_different()) + " of " +
                           std::to_string(rival.labels_compared()) + " labels differ (" + rival.spec() + ")";
    claim.why = rival.refuses()
                    ? rival.refusal()
                    : "the paper's differences came from ties cut at k; here a smaller row goes first among "
                      "equal distances, on every device";
    result.claims.push_back(claim);
  }
  if (!table.rivals.empty()) return;
  claim.here = not_available;
  claim.why = "no other device than the CPU was asked";
  result.claims.push_back(claim);
}

void add_notes(const Table2& table, Result& result) {
  const auto draws = static_cast<double>(table.truths.size());
  std::int64_t unknown = 0;
  for (const Truth& truth : table.truths) unknown += truth.attacks - truth.known;
  result.notes.push_back(percent_text(static_cast<double>(unknown) / draws) +
                         " of the 250 attacks of a draw, in the mean, have a name that no training row has");
  result.notes.push_back(percent_text(static_cast<double>(table.twins) / draws) +
                         " of the 500 test rows of a draw, in the mean, have a training row that is the same "
                         "in every column");
}

}  // namespace

void classify_samples(const Settings& settings, const Connections& all, Result& result) {
  const Table2 table = classify_draws(settings, all, result);
  add_notes(table, result);
  add_claims(table, result);
  add_charts(table, result);
  result.tables.push_back(rates_table(table));
}

}  // namespace kith::experiments::kdd
