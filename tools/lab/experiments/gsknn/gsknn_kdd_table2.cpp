// Measures Table 2: several draws, each with a few thousand connections to learn from, and 500 to classify.
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

/// Says what a test row is; an attack is known if some training row has its name.
enum Kind : std::size_t { normal_row, known_attack, unknown_attack };
using Kinds = std::vector<Kind>;
const Kinds attacks = {known_attack, unknown_attack};

/// Counts test rows of a draw by their kind: all, or those that are classified as attacks.
using Counts = std::array<std::int64_t, 3>;

/// Holds the counts of one device. taken  [draws][ks]
struct Detection {
  std::string spec;
  std::vector<std::vector<Counts>> taken;
};

Kinds kinds_of(const Connections& all, const Draw& draw) {
  Kinds kinds;
  for (const std::int64_t row : draw.test)
    kinds.push_back(all.class_of(row) == normal    ? normal_row
                    : draw.knows(all.name_of(row)) ? known_attack
                                                   : unknown_attack);
  return kinds;
}

std::vector<Counts> counts_of(const Kinds& kinds, const Sweep& sweep) {
  std::vector<Counts> counts(ks.size());
  for (std::size_t i = 0; i < ks.size(); ++i)
    for (std::size_t q = 0; q < kinds.size(); ++q) counts[i][kinds[q]] += sweep.label[i][q] != 0;
  return counts;
}

/// Counts the test rows that equal a training row in every column.
std::int64_t count_twins(const Sweep& sweep) {
  std::int64_t twins = 0;
  for (std::int64_t q = 0; q < sweep.neighbors.queries; ++q)
    twins += sweep.neighbors.distance[static_cast<std::size_t>(q * sweep.neighbors.k)] == 0;
  return twins;
}

/// Holds the draws as the CPU and the other devices classify them.
struct Table2 {
  std::vector<Counts> truths;  ///< [draws]
  Detection cpu;
  std::vector<Detection> others;  ///< [rivals]
  std::vector<Rival> rivals;
  std::int64_t twins = 0;
};

Sweep ask(const Settings& settings, const Device& device, const Problem& problem) {
  SearchOptions options{.stop = settings.stop};
  return Classifier(device, problem.train(), problem.train_labels, Metric::squared_l2)
      .sweep(problem.test(), ks, options);
}

/// Compares the CPU on a few rows with a slow program that follows the contract literally.
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
    const Kinds kinds = kinds_of(all, draw);
    Counts& truth = table.truths.emplace_back();
    for (const Kind kind : kinds) ++truth[kind];
    table.cpu.taken.push_back(counts_of(kinds, right));
    table.twins += count_twins(right);
    for (std::size_t r = 0; r < table.rivals.size(); ++r) {
      Rival& rival = table.rivals[r];
      rival.attempt([&] {
        const Sweep found = ask(settings, rival.device(), problem);
        rival.compare(right, found, ks, "draw " + std::to_string(i + 1) + ", ");
        table.others[r].taken.push_back(counts_of(kinds, found));
      });
    }
  }
  for (const Rival& rival : table.rivals) rival.finish(result);
  return table;
}

/// Holds a rate in percent over the draws.
struct Rate {
  double mean = not_measured, least = not_measured, most = not_measured;
};

/// Returns the share of rows of these kinds that are classified as attacks.
Rate rate_of(const Table2& table, const Detection& detection, std::size_t k, const Kinds& kinds) {
  Rate rate;
  std::int64_t parts = 0, wholes = 0;
  for (std::size_t draw = 0; draw < detection.taken.size(); ++draw) {
    std::int64_t some = 0, all = 0;
    for (const Kind kind : kinds) {
      some += detection.taken[draw][k][kind];
      all += table.truths[draw][kind];
    }
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
      if (detection.taken.size() < table.truths.size()) return;
      const auto mean = [&](Kind kind) { return percent_text(rate_of(table, detection, k, {kind}).mean); };
      const Rate found = rate_of(table, detection, k, attacks),
                 false_alarm = rate_of(table, detection, k, {normal_row});
      rates.rows.push_back({std::to_string(ks[k]), detection.spec, percent_text(found.mean), range(found),
                            mean(known_attack), mean(unknown_attack), mean(normal_row), range(false_alarm),
                            not_available});
    };
    add(table.cpu);
    for (const Detection& other : table.others) add(other);
  }
  return rates;
}

/// Returns the specs of all devices whose labels are those of the CPU.
std::string equal_devices(const Table2& table) {
  std::string specs = table.cpu.spec;
  for (const Rival& rival : table.rivals)
    if (!rival.refuses() && rival.labels_different() == 0) specs += ", " + rival.spec();
  return specs;
}

Series series_of(const Table2& table, const std::string& label, const Kinds& kinds, double Rate::*height) {
  Series series{label, "", "the same on " + equal_devices(table), {}};
  for (std::size_t k = 0; k < ks.size(); ++k)
    series.points.push_back({static_cast<double>(ks[k]), rate_of(table, table.cpu, k, kinds).*height, {}});
  return series;
}

/// Returns the least, mean and most over the draws.
std::vector<Series> spread(const Table2& table, const std::string& what, const Kinds& kinds) {
  return {series_of(table, what + ", mean of the draws", kinds, &Rate::mean),
          series_of(table, what + ", least", kinds, &Rate::least),
          series_of(table, what + ", most", kinds, &Rate::most)};
}

void add_charts(const Table2& table, Result& result) {
  Chart found{"Attacks that are detected", {"neighbours k", false}, {"percent of the attacks", false}, {}};
  found.series = spread(table, "all attacks", attacks);
  found.series.push_back(
      series_of(table, "names that were in the training rows, mean", {known_attack}, &Rate::mean));
  found.series.push_back(series_of(table, "names that were not, mean", {unknown_attack}, &Rate::mean));
  Chart alarms{"False alarms", {"neighbours k", false}, {"percent of the normal connections", false}, {}};
  alarms.series = spread(table, "false alarms", {normal_row});
  result.charts = {std::move(found), std::move(alarms)};
}

void add_claims(const Table2& table, Result& result) {
  const auto text = [&](std::size_t k) {
    return percent_text(rate_of(table, table.cpu, k, attacks).mean) + " % and " +
           percent_text(rate_of(table, table.cpu, k, {normal_row}).mean) +
           " % at k = " + std::to_string(ks[k]);
  };
  result.claims.push_back(
      {"detection rate and false-alarm rate, mean of the draws", not_available,
       text(0) + "; " + text(2) + "; " + text(ks.size() - 1) + " (" + equal_devices(table) + ")",
       "the figures of Table 2 are in a picture, and encoding, scaling and the split of the test rows are "
       "not given"});
  Claim claim{"labels of the GPU beside those of the CPU", "nearly equal rates, small differences", "", ""};
  for (const Rival& rival : table.rivals) {
    claim.here = rival.refuses()
                     ? not_available + (" (" + rival.spec() + ")")
                     : std::to_string(rival.labels_different()) + " of " +
                           std::to_string(rival.labels_compared()) + " labels differ (" + rival.spec() + ")";
    claim.why = rival.refuses() ? rival.refusal()
                                : "the paper's differences came from ties cut at k; here a smaller row goes "
                                  "first among equal distances, on every device";
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
  for (const Counts& truth : table.truths) unknown += truth[unknown_attack];
  result.notes.push_back(percent_text(static_cast<double>(unknown) / draws) +
                         " of the 250 attacks of a draw, in the mean, have a name that no training row has");
  result.notes.push_back(
      percent_text(static_cast<double>(table.twins) / draws) +
      " of the 500 test rows of a draw, in the mean, have a training row that is the same in every column");
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
