// Compares GS_KNN with ANN and Garcia's method, over rows and columns.
#include <algorithm>
#include <cmath>
#include <optional>

#include "lab/experiments/ann.hpp"
#include "lab/experiments/measure.hpp"

namespace kith::experiments {
namespace {

constexpr std::int64_t k = 25, paper_m = 1200, quick_m = 60;
constexpr std::int64_t smallest_n = 1024, largest_n = 32768, largest_quick_n = 4096;
constexpr std::int64_t smallest_dims = 32, largest_dims = 256, largest_quick_dims = 64;

/// Holds the curves of a device.
struct Curves {
  explicit Curves(const Device& device)
      : gemm("GS_KNN, distances proposed by gemm", device),
        chain("GS_KNN's selections, kith's distances", device),
        garcia("Garcia", device),
        automatic("kith's choice", device) {}
  Curve gemm, chain, garcia, automatic;

  /// Returns the milliseconds of the faster of the two; NaN if there is none.
  double gs_knn(double n) const { return std::fmin(gemm.at(n), chain.at(n)); }
};

/// Times GS_KNN, which chooses the selector by timing one query. The plan ends with the times of that query.
Measured time_gs_knn(const Settings& settings, const Index& index, MatrixView<const float> queries,
                     Proposer proposer, const workloads::Answer& right) {
  const std::string what = "GS_KNN on " + index.device().info().spec + ", distances by " +
                           std::string(name(proposer)) + ", n = " + std::to_string(index.rows()) +
                           ", dims = " + std::to_string(index.dims());
  return attempt(settings, what, [&] {
    SearchOptions options{
        .proposer = proposer, .sample = {Selector::k_min, Selector::bitonic}, .stop = settings.stop};
    Trace trace;
    index.search(queries, k, options, &trace);
    options.sample.clear();
    options.selector = trace.plan.selector;
    Measured measured = time_search(settings, index, queries, k, options, right);
    measured.plan += "; " + trace.plan.reason;
    return measured;
  });
}

/// Holds the curve of ANN with one structure, which belongs to no device, and what it found.
struct Peer {
  AnnPeer::Structure structure;
  Series series;

  double last() const { return series.points.empty() ? not_measured : series.points.back().y; }
};

Peer make_peer(AnnPeer::Structure structure) {
  const bool tree = structure == AnnPeer::Structure::kd_tree;
  Peer peer{structure, {tree ? "ANN, kd-tree" : "ANN, brute force", "", "", {}}};
  peer.series.note = ann_built_in() ? "one thread, doubles" : "not built in: install libann-dev";
  return peer;
}

/// Returns how many of the k rows are not among the right ones.
std::int64_t count_others(std::vector<std::int64_t> found, const std::int64_t* right) {
  std::vector<std::int64_t> sorted(right, right + k), others;
  std::sort(sorted.begin(), sorted.end());
  std::sort(found.begin(), found.end());
  std::set_difference(found.begin(), found.end(), sorted.begin(), sorted.end(), std::back_inserter(others));
  return static_cast<std::int64_t>(others.size());
}

/// Times as many queries as take settings.seconds, at least a few, and scales to all m.
void measure_peer(const Settings& settings, MatrixView<const float> train, MatrixView<const float> queries,
                  const Neighbors& right, Peer& peer, Table& table) {
  const auto x = static_cast<double>(train.rows());
  if (!ann_built_in()) {
    peer.series.points.push_back({x, not_measured, {}});
    return;
  }
  const std::string what = peer.series.label + ", n = " + std::to_string(train.rows()) +
                           ", dims = " + std::to_string(train.cols());
  tell(settings, what);
  std::optional<AnnPeer> ann;
  const double build = seconds_of([&] { ann.emplace(train, peer.structure); });
  const std::int64_t m = queries.rows();
  std::int64_t asked = 0, others = 0;
  double spent = 0;
  for (; asked < m && (asked < 4 || spent < settings.seconds); ++asked) {
    tell(settings, what);
    std::vector<std::int64_t> found;
    spent += seconds_of([&] { found = ann->search(queries.row(asked), k); });
    others += count_others(found, right.row.data() + asked * k);
  }
  const double all = spent / static_cast<double>(asked) * static_cast<double>(m);
  peer.series.points.push_back({x, 1e3 * all, {}});
  table.rows.push_back({peer.series.label, std::to_string(train.rows()), std::to_string(train.cols()),
                        number_text(1e3 * build), number_text(1e3 * all), std::to_string(asked),
                        std::to_string(others) + " of " + std::to_string(asked * k)});
}

/// Holds what was measured with one number of columns.
struct Panel {
  std::int64_t dims;
  std::vector<Curves> curves;
  std::vector<Peer> peers;
  std::vector<std::string> plans;  ///< at the largest n
};

void measure_device(const Settings& settings, const Index& index, MatrixView<const float> queries,
                    const workloads::Answer& right, Curves& curves, std::vector<std::string>* plans) {
  const auto x = static_cast<double>(index.rows());
  const auto add = [&](Curve& curve, const Measured& measured) {
    curve.add(x, measured, 1e3 * measured.total);
    if (plans && !measured.plan.empty())
      plans->push_back("dims = " + std::to_string(index.dims()) + ", n = " + std::to_string(index.rows()) +
                       ", " + curve.series().label + ": " + measured.plan);
  };
  SearchOptions garcia{.selector = Selector::insertion};
  add(curves.gemm, time_gs_knn(settings, index, queries, Proposer::gemm, right));
  add(curves.chain, time_gs_knn(settings, index, queries, Proposer::none, right));
  add(curves.garcia, time_search(settings, index, queries, k, garcia, right));
  add(curves.automatic, time_search(settings, index, queries, k, {}, right));
}

Panel measure_panel(const Settings& settings, std::int64_t dims, Result& result, Table& table) {
  Panel panel{dims, {}, {}, {}};
  for (const Device& device : settings.devices) panel.curves.emplace_back(device);
  for (const auto structure : {AnnPeer::Structure::kd_tree, AnnPeer::Structure::brute_force})
    panel.peers.push_back(make_peer(structure));
  const std::int64_t most = settings.quick ? largest_quick_n : largest_n;
  const std::int64_t m = settings.quick ? quick_m : paper_m;
  const workloads::Rows all = uniform_rows(settings, workloads::Set::train, most, dims),
                        asked = uniform_rows(settings, workloads::Set::queries, m, dims);
  for (std::int64_t n = smallest_n; n <= most; n *= 2) {
    const MatrixView<const float> train = all.view().slice(0, n);
    const workloads::Answer right = right_answer(settings, train, asked.view(), k);
    if (n == smallest_n) {
      const MatrixView<const float> one = asked.view().slice(0, 1);
      result.checks.push_back(
          same_bits("search on cpu, dims = " + std::to_string(dims) +
                        ", one query: the bits of the contract written down slowly",
                    difference(workloads::plain_answer(Metric::squared_l2, train, one, k, nullptr),
                               right_answer(settings, train, one, k))));
    }
    for (std::size_t d = 0; d < panel.curves.size(); ++d)
      measure_device(settings, Index(settings.devices[d], train, Metric::squared_l2), asked.view(), right,
                     panel.curves[d], n == most ? &panel.plans : nullptr);
    for (Peer& peer : panel.peers) measure_peer(settings, train, asked.view(), right.neighbors, peer, table);
  }
  return panel;
}

/// Adds the claims about the largest n and dims.
void add_claims(const Settings& settings, const Panel& panel, Result& result) {
  const double n = panel.peers[0].series.points.back().x;
  const double tree = panel.peers[0].last(), brute_force = panel.peers[1].last();
  for (std::size_t d = 0; d < panel.curves.size(); ++d) {
    const Curves& curves = panel.curves[d];
    const std::string where = " (" + settings.devices[d].info().spec +
                              ", n = " + std::to_string(std::llround(n)) +
                              ", dims = " + std::to_string(panel.dims) + ")";
    const double gs_knn = curves.gs_knn(n), garcia = curves.garcia.at(n);
    const bool both = std::isfinite(tree / gs_knn);
    Claim over_ann{"GS_KNN over ANN", "145x",
                   (both ? ratio_text(tree / gs_knn) + " over its kd-tree, " +
                               ratio_text(brute_force / gs_knn) + " over its brute force"
                         : std::string(not_available)) +
                       where,
                   ""};
    over_ann.why = !ann_built_in() ? panel.peers[0].series.note
                   : !std::isfinite(gs_knn)
                       ? curves.chain.series().note
                       : "the paper does not say which of ANN's structures it took; ANN is one thread, and "
                         "its processor and the device are others than the paper's";
    Claim over_garcia{"GS_KNN over BF-CUDA (Garcia)", "2.8x", ratio_text(garcia / gs_knn) + where, ""};
    over_garcia.why = !std::isfinite(gs_knn) ? curves.chain.series().note
                      : !std::isfinite(garcia)
                          ? curves.garcia.series().note
                          : "Garcia's insertion is kith's own kernel here, not the published program; it "
                            "reads each distance once, while tournaments and sorts go over them many times";
    result.claims.push_back(std::move(over_ann));
    result.claims.push_back(std::move(over_garcia));
    result.claims.push_back({"kith's choice over GS_KNN", not_available,
                             ratio_text(gs_knn / curves.automatic.at(n)) + where,
                             !std::isfinite(gs_knn)                   ? curves.chain.series().note
                             : !std::isfinite(curves.automatic.at(n)) ? curves.automatic.series().note
                                                                      : "the paper could not know it"});
  }
}

}  // namespace

Result gsknn_table1(const Settings& settings) {
  Result result = described("gsknn-table1");
  Table table{
      "ANN: time and answers",
      {"structure", "n", "dims", "build, ms", "all queries, ms", "queries asked", "neighbours that differ"},
      {}};
  const std::int64_t most = settings.quick ? largest_quick_dims : largest_dims;
  for (std::int64_t dims = smallest_dims; dims <= most; dims *= 2) {
    Panel panel = measure_panel(settings, dims, result, table);
    if (dims == most) add_claims(settings, panel, result);
    Chart chart{std::to_string(dims) + " columns, k = 25, " +
                    std::to_string(settings.quick ? quick_m : paper_m) + " queries",
                {"training rows n", true},
                {"search, ms (host clock)", true},
                {}};
    for (Curves& curves : panel.curves)
      for (Curve* curve : {&curves.gemm, &curves.chain, &curves.garcia, &curves.automatic})
        std::move(*curve).finish(chart, result);
    for (Peer& peer : panel.peers) chart.series.push_back(std::move(peer.series));
    result.charts.push_back(std::move(chart));
    result.plans.insert(result.plans.end(), panel.plans.begin(), panel.plans.end());
  }
  if (!ann_built_in()) result.notes.push_back("ANN is not built in: install libann-dev and build again");
  std::sort(result.notes.begin(), result.notes.end());  // each number of columns has the same refusals
  result.notes.erase(std::unique(result.notes.begin(), result.notes.end()), result.notes.end());
  if (!table.rows.empty()) result.tables.push_back(std::move(table));
  return result;
}

}  // namespace kith::experiments
