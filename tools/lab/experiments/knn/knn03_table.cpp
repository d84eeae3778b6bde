// Repeats the table of KNN in CUDA (Batlle, Ballber 2020), which compares sequential quicksort with knn03.
#include <array>
#include <cmath>

#include "files/printed.hpp"
#include "lab/experiments/points.hpp"

namespace kith::experiments {
namespace {

/// Holds a row of the published table, in milliseconds: k = 15 at (2.5, 7), k = 101 at (50.2, 36).
struct Published {
  std::int64_t n;
  std::array<double, 2> sequential, cuda;
};

constexpr std::array<Published, 4> published = {{{131072, {658.8, 472.0}, {382.2, 381.8}},
                                                 {262144, {1618.9, 2303.3}, {776.1, 775.2}},
                                                 {524288, {7517.4, 8978.8}, {1559.8, 1561.8}},
                                                 {1310720, {56360.1, 33563.7}, {3953.5, 3952.5}}}};
constexpr std::array<Question, 2> questions = {question_15, question_101};

std::string question_text(const Question& question) {
  return files::printed("k = %d at (%g, %g)", static_cast<int>(question.k),
                        static_cast<double>(question.at[0]), static_cast<double>(question.at[1]));
}

/// Holds the curves of one question on a device.
struct Curves {
  explicit Curves(const Device& device)
      : knn03("knn03", device),
        automatic("kith's choice", device),
        in_place("kith's choice, points in place", device) {}
  Curve knn03, automatic, in_place;
};

/// Holds what belongs to one question.
struct Panel {
  explicit Panel(const Settings& settings) {
    for (const Device& device : settings.devices) curves.emplace_back(device);
  }
  Series sequential{"sequential quicksort, float", "", "one thread", {}};
  std::vector<Curves> curves;
  std::int64_t others = 0;
  bool same_class = true;
};

void measure(const Settings& settings, const Points& points, const Question& question, Panel& panel,
             Result& result) {
  const std::int64_t n = points.rows.rows();
  const auto x = static_cast<double>(n);
  const Answer right = right_answer(settings, points.rows.view(), question.view(), question.k,
                                    Metric::squared_l2, &points.labels64);
  const SequentialTime time =
      time_sequential<float>(settings, points, question, SequentialSort::quick_sort, right);
  panel.sequential.points.push_back({x, 1e3 * time.seconds, {}});
  panel.others += time.others;
  panel.same_class = panel.same_class && time.same_class;

  PlacedProblem problem = placed_problem(points, question);
  problem.selector = Selector::merge_sort;
  problem.vote = spi::VoteMethod::branch_free;
  problem.locked = true;
  const Placement on_cpu = {
      {Stage::distance, settings.cpu}, {Stage::select, settings.cpu}, {Stage::vote, settings.cpu}};
  const PlacedAnswer expected = placed_answer(settings.cpu, on_cpu, problem);
  if (n == published[0].n)
    result.checks.push_back(
        same_bits("cpu, " + question_text(question) + ": the bits of the contract written down slowly",
                  difference(plain_placed_answer(on_cpu, problem), expected)));
  for (std::size_t d = 0; d < panel.curves.size(); ++d) {
    const Device& device = settings.devices[d];
    const Placement there = {{Stage::distance, device}, {Stage::select, device}, {Stage::vote, device}};
    const Measured knn03 = time_placed(settings, there, problem, expected).measured;
    panel.curves[d].knn03.add(x, knn03, 1e3 * knn03.total);
    const Measured whole = time_whole_call(settings, device, points, question, right);
    panel.curves[d].automatic.add(x, whole, 1e3 * whole.total);
    const std::string what = "points in place on " + device.info().spec + ", n = " + std::to_string(n);
    const Measured again = attempt(settings, what, [&] {
      return time_classify(settings,
                           Classifier(device, points.rows.view(), points.labels64, Metric::squared_l2),
                           question.view(), question.k, {}, right);
    });
    panel.curves[d].in_place.add(x, again, 1e3 * again.total);
    if (n == published[0].n && !whole.plan.empty())
      result.plans.push_back(question_text(question) + ", " + panel.curves[d].automatic.series().label +
                             ": " + whole.plan);
  }
}

/// Returns the published table, and our times behind it, one row per device.
Table table_of(const Settings& settings, const std::vector<Panel>& panels, std::size_t rows) {
  Table table{
      "The paper's table and ours, ms",
      {"n", "k at (x, y)", "paper: sequential", "paper: CUDA", "paper: ratio", "device", "here: sequential",
       "here: knn03", "ratio", "here: kith's choice", "ratio", "here: points in place", "ratio"},
      {}};
  for (std::size_t i = 0; i < rows; ++i)
    for (std::size_t p = 0; p < panels.size(); ++p) {
      const Published& paper = published[i];
      const double sequential = panels[p].sequential.points[i].y;
      for (std::size_t d = 0; d < settings.devices.size(); ++d) {
        std::vector<std::string> row = {std::to_string(paper.n),
                                        question_text(questions[p]),
                                        files::printed("%.1f", paper.sequential[p]),
                                        files::printed("%.1f", paper.cuda[p]),
                                        ratio_text(paper.sequential[p] / paper.cuda[p]),
                                        settings.devices[d].info().spec,
                                        number_text(sequential)};
        const Curves& curves = panels[p].curves[d];
        for (const Curve* curve : {&curves.knn03, &curves.automatic, &curves.in_place}) {
          const double ms = curve->at(static_cast<double>(paper.n));
          row.push_back(number_text(ms));
          row.push_back(ratio_text(sequential / ms));
        }
        table.rows.push_back(std::move(row));
      }
    }
  return table;
}

/// Returns how the sequential times grow from the smallest n to the largest, in the paper and here.
std::string growth(const Series& sequential, std::size_t question, std::size_t rows) {
  const Published &first = published[0], &last = published[rows - 1];
  if (rows == 1) return "both processors are others";
  const auto n_log_n = [](std::int64_t n) {
    return static_cast<double>(n) * std::log(static_cast<double>(n));
  };
  return "from n = " + std::to_string(first.n) + " to n = " + std::to_string(last.n) +
         " the paper's sequential times grow by " +
         ratio_text(last.sequential[question] / first.sequential[question]) + ", ours by " +
         ratio_text(sequential.points[rows - 1].y / sequential.points[0].y) + ", and n log n by " +
         ratio_text(n_log_n(last.n) / n_log_n(first.n)) + "; and both processors are others";
}

/// Adds the ratios at the largest n.
void add_claims(const Settings& settings, const std::vector<Panel>& panels, std::size_t rows,
                Result& result) {
  const Published& paper = published[rows - 1];
  for (std::size_t d = 0; d < settings.devices.size(); ++d)
    for (std::size_t p = 0; p < panels.size(); ++p) {
      const double sequential = panels[p].sequential.points[rows - 1].y;
      const Curves& curves = panels[p].curves[d];
      const double ratio = sequential / curves.knn03.at(static_cast<double>(paper.n));
      const std::string what = ", n = " + std::to_string(paper.n) + ", " + question_text(questions[p]);
      const bool headline = p == 0 && rows == published.size();
      Claim claim{"knn03 over sequential quicksort" + what,
                  ratio_text(paper.sequential[p] / paper.cuda[p]) + (headline ? " (claimed: 14x)" : ""),
                  ratio_text(ratio) + " (" + settings.devices[d].info().spec + ")", ""};
      claim.why = std::isfinite(ratio) ? growth(panels[p].sequential, p, rows) : curves.knn03.series().note;
      result.claims.push_back(std::move(claim));
    }
}

}  // namespace

Result knn03_table(const Settings& settings) {
  Result result = described("knn03-table", {{"about_ties", about_ties}});
  const std::size_t rows = settings.quick ? 2 : published.size();
  std::vector<Panel> panels;
  for (std::size_t p = 0; p < questions.size(); ++p) panels.emplace_back(settings);
  for (std::size_t i = 0; i < rows; ++i) {
    const Points points = make_points(settings.seed, published[i].n);
    for (std::size_t p = 0; p < questions.size(); ++p)
      measure(settings, points, questions[p], panels[p], result);
  }
  result.tables.push_back(table_of(settings, panels, rows));
  add_claims(settings, panels, rows, result);
  for (std::size_t p = 0; p < questions.size(); ++p) {
    Chart chart{question_text(questions[p]), {"points n", true}, {"whole call, ms (host clock)", true}, {}};
    const std::string others =
        panels[p].others == 0 ? "" : std::to_string(panels[p].others) + " distances differ";
    result.checks.push_back(same_bits(
        "sequential quicksort, " + question_text(questions[p]) + ": the distances of the CPU's neighbours",
        others));
    if (!panels[p].same_class)
      panels[p].sequential.note += "; another class than kith's for some n: ties are cut elsewhere";
    chart.series.push_back(std::move(panels[p].sequential));
    for (Curves& curves : panels[p].curves)
      for (Curve* curve : {&curves.knn03, &curves.automatic, &curves.in_place})
        std::move(*curve).finish(chart, result);
    result.charts.push_back(std::move(chart));
  }
  return result;
}

}  // namespace kith::experiments
