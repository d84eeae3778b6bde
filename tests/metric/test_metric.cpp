// Tests the table metrics.def: docs/contract.md, section 1.
#include <filesystem>
#include <regex>

#include "common/device.hpp"
#include "common/oracle.hpp"
#include "common/text.hpp"
#include "kith/metric.hpp"
#include "kith/model.hpp"
#include "kith/names.hpp"
#include "kith/parse.hpp"
#include "kith/preparation.hpp"
#include "kith/selector.hpp"
#include "kith/unstable/plan.hpp"
#include "kith/voting.hpp"
#include "paths.hpp"

namespace kith::tests {
namespace {

std::string text_of_source(const std::string& path) {
  const std::string text = test_support::text_of_file(test_support::in_sources("/" + path));
  REQUIRE_MESSAGE(!text.empty(), "cannot read ", path);
  return text;
}

/// Holds one line of metrics.def: id, prepare, start, accumulate, finish.
using Line = std::vector<std::string>;

std::vector<Line> lines_of(const std::string& table) {
  std::vector<Line> lines;
  std::istringstream in(table);
  for (std::string text; std::getline(in, text);) {
    if (!text.starts_with("KITH_METRIC(")) continue;
    Line cells(1);
    int depth = 0;
    for (const char c : text.substr(12, text.rfind(')') - 12)) {
      depth += (c == '(') - (c == ')');
      if (c == ',' && depth == 0) {
        cells.emplace_back();
      } else if (c != ' ') {
        cells.back() += c;
      }
    }
    lines.push_back(cells);
  }
  return lines;
}

/// Returns why the compiler or the device could round a formula differently; empty if they cannot.
std::string objection(const std::string& formula) {
  if (formula == "0.5f*acc") return {};  // a single operation, which cannot be contracted
  if (formula.find('*') != std::string::npos) return "multiplies outside of fma";
  if (formula.find('/') != std::string::npos) return "divides, which devices round differently";
  static const std::regex call("([a-z_0-9]+)\\(");
  for (auto it = std::sregex_iterator(formula.begin(), formula.end(), call); it != std::sregex_iterator();
       ++it) {
    const std::string function = (*it)[1];
    const std::vector<std::string> exact{"fma", "fabs", "fmax", "fmin", "sqrt", "bits_apart"};
    if (std::find(exact.begin(), exact.end(), function) == exact.end())
      return "calls " + function + ", which is not the same everywhere";
  }
  return {};
}

TEST_CASE("metric: no formula in metrics.def leaves a rounding to the compiler") {
  const std::vector<Line> lines = lines_of(text_of_source("lib/include/kith/metrics.def"));
  REQUIRE(lines.size() == all_metrics.size());
  for (const Line& line : lines) {
    CAPTURE(line[0]);
    REQUIRE(line.size() == 5);
    CHECK(objection(line[3]) == "");
    CHECK(objection(line[4]) == "");
    CHECK(line[3].find("sqrt") == std::string::npos);  // devices need not round roots correctly
    CHECK(std::regex_match(line[2], std::regex("-?[0-9]+\\.[0-9]+f")));
    CHECK((line[1] == "none" || line[1] == "unit_rows"));
  }
}

TEST_CASE("metric: the reader of metrics.def notices what it is there to notice") {
  const std::vector<Line> bad = lines_of(
      "// a * b\n"
      "KITH_METRIC(careless, none, 0.0f, acc + (a - b) * (a - b), acc)\n"
      "KITH_METRIC(slow,     none, 0.0f, fma(a, b, acc),          acc / 2.0f)\n"
      "KITH_METRIC(curved,   none, 0.0f, acc + expf(a),           acc)\n");
  REQUIRE(bad.size() == 3);
  CHECK(bad[0] == Line{"careless", "none", "0.0f", "acc+(a-b)*(a-b)", "acc"});
  CHECK(objection(bad[0][3]) == "multiplies outside of fma");
  CHECK(objection(bad[1][3]) == "");
  CHECK(objection(bad[1][4]) == "divides, which devices round differently");
  CHECK(objection(bad[2][3]) == "calls expf, which is not the same everywhere");
}

TEST_CASE("metric: no source and no build file asks a compiler for careless arithmetic") {
  // Directed rounding is not searched for: only bounds use it, and it can only widen them.
  const std::regex careless(
      "fast-relaxed-math|mad-enable|denorms-are-zero|[^o]-ffast-math|use_fast_math|unsafe-math|finite-math|"
      "\\bmad\\(|\\bnative_[a-z]|__f(mul|add|sub)_r[nz]|ftz=true|fmad=true|ffp-contract=(fast|on)");
  // The regular expression over all sources would take ten seconds, so it sees only lines with one
  // of these words.
  const std::vector<std::string> stems{"math", "mad", "denorms", "native_", "__f", "ftz", "ffp-contract"};
  const auto asks = [&](const std::string& text) {
    std::istringstream lines(text);
    for (std::string line; std::getline(lines, line);)
      for (const std::string& stem : stems)
        if (line.find(stem) != std::string::npos && std::regex_search(line, careless)) return true;
    return false;
  };
  CHECK(asks("set(flags\n  -O2 -ffast-math)"));
  CHECK(asks("x = mad(a, b, c);"));
  CHECK(!asks(" -fno-fast-math -ffp-contract=off"));
  std::size_t files = 0;
  for (const char* folder : {"lib", "backends", "kernels_cl", "kernels_cuda", "cmake"})
    for (const auto& entry :
         std::filesystem::recursive_directory_iterator(test_support::in_sources("/" + std::string(folder)))) {
      if (!entry.is_regular_file()) continue;
      const std::string path = std::filesystem::relative(entry.path(), test_support::in_sources()).string();
      CAPTURE(path);
      CHECK(!asks(text_of_source(path)));
      ++files;
    }
  CHECK(files > 80);
}

/// Calls body(metric, query, row) for values that tell the formulas apart.
template <class Body>
void for_each_telling_pair(const Body& body) {
  const std::vector<float> values{0.0f,   -0.0f,   1,     -1,           3, 0x1p-12f, 1 + 0x1p-12f,
                                  1e-40f, -1e-23f, 7e18f, 0x1.fffffep9f};
  for (const Metric metric : all_metrics)
    for (const float a : values)
      for (const float b : values)
        for (const float c : values) body(metric, std::vector{a, c, b, a}, std::vector{b, a, c, c});
}

TEST_CASE("metric: the formulas of metrics.def are those of the contract, on values that tell them apart") {
  for_each_telling_pair([](Metric metric, const std::vector<float>& query, const std::vector<float>& row) {
    CHECK(same(table_chain(metric, query, row), chain(metric, query, row)));
  });
}

// The kernel nearest_low_dim.cl exchanges query and row.
TEST_CASE("metric: query and row exchanged give the same bits") {
  for_each_telling_pair([](Metric metric, const std::vector<float>& query, const std::vector<float>& row) {
    CHECK(same(table_chain(metric, query, row), table_chain(metric, row, query)));
  });
}

TEST_CASE("metric: every metric has a row in docs/contract.md") {
  const std::string contract = text_of_source("docs/contract.md");
  std::vector<Metric> numbers(all_metrics.begin(), all_metrics.end());
  std::erase_if(numbers, compares_bits);
  CHECK(std::equal(numbers.begin(), numbers.end(), number_metrics.begin(), number_metrics.end()));
  for (const Metric metric : all_metrics) {
    CAPTURE(std::string(name(metric)));
    CHECK(std::regex_search(contract, std::regex("\\| *`" + std::string(name(metric)) + "` *\\|")));
  }
  for (const Metric metric : sum_metrics)
    CHECK(std::regex_search(contract, std::regex("\\n\\| `" + std::string(name(metric)) + "` \\|")));
  for (const Metric metric : prepared_metrics)
    CHECK(std::regex_search(contract, std::regex("\\n\\| `" + std::string(name(metric)) + "` \\|")));
}

TEST_CASE("metric: names are read back, and an unknown one is refused with the known ones") {
  for (const Metric metric : all_metrics) CHECK(parse<Metric>(name(metric)) == metric);
  for (const Metric metric : prepared_metrics) CHECK(parse<Metric>(name(metric)) == metric);
  for (const Metric metric : sum_metrics) CHECK(parse<Metric>(name(metric)) == metric);
  CHECK(error_of([] { parse<Metric>("tversky"); }) ==
        "invalid_argument: metric: there is none called \"tversky\"; choose one of squared_l2, l2, l1, linf, "
        "negative_dot, cosine, hamming, correlation, spearman, seuclidean, mahalanobis, hellinger, "
        "angular, haversine, minkowski, gower, matching, canberra, nan_gower, jaccard, dice, sokalsneath, "
        "rogerstanimoto, russellrao, braycurtis, nan_euclidean, nan_manhattan");
  CHECK_THROWS_AS(parse<Metric>(""), Error);
}

TEST_CASE("metric: the names of other libraries, in any case, with - or _, and what was meant by a slip") {
  const std::pair<const char*, Metric> said[] = {{"euclidean", Metric::l2},
                                                 {"Euclidean", Metric::l2},
                                                 {"L2", Metric::l2},
                                                 {"sqeuclidean", Metric::squared_l2},
                                                 {"squared-l2", Metric::squared_l2},
                                                 {"Squared_L2", Metric::squared_l2},
                                                 {"manhattan", Metric::l1},
                                                 {"CityBlock", Metric::l1},
                                                 {"chebyshev", Metric::linf},
                                                 {"inner_product", Metric::negative_dot},
                                                 {"IP", Metric::negative_dot},
                                                 {"Inner-Product", Metric::negative_dot},
                                                 {"dot", Metric::negative_dot},
                                                 {"negative-dot", Metric::negative_dot},
                                                 {"l2sq", Metric::squared_l2},
                                                 {"cos", Metric::cosine},
                                                 {"COSINE", Metric::cosine},
                                                 {"pearson", Metric::correlation},
                                                 {"Tanimoto", Metric::jaccard}};
  for (const auto& one : said) {
    CAPTURE(one.first);
    CHECK(parse<Metric>(one.first) == one.second);
  }
  for (const Metric metric : all_metrics)
    for (const std::string_view other : other_names(metric)) CHECK(parse<Metric>(other) == metric);
  CHECK(error_of([] { parse<Metric>("euclid"); }) ==
        "invalid_argument: metric: there is none called \"euclid\"; did you mean euclidean?");
  CHECK(error_of([] { parse<Metric>("cosin"); }) ==
        "invalid_argument: metric: there is none called \"cosin\"; did you mean cosine?");
  CHECK(error_of([] { parse<Metric>("l3"); })
            .ends_with(", nan_gower, jaccard, dice, sokalsneath, rogerstanimoto, russellrao, "
                       "braycurtis, nan_euclidean, nan_manhattan"));
  CHECK(default_metric == Metric::l2);
  CHECK(Problem().metric == Metric::l2);
  CHECK(Model().metric == Metric::l2);
}

TEST_CASE("names: selectors, proposers, scalings and rules of the vote in any case, with - or _") {
  CHECK(parse<Selector>("Merge-Sort") == Selector::merge_sort);
  CHECK(parse<Proposer>("BF16") == Proposer::bf16);
  CHECK(parse<Weights>("DISTANCE") == Weights::distance);
  CHECK(parse<TieRule>("fewer-neighbors") == TieRule::fewer_neighbors);
  CHECK(parse<Scaling>("zscore") == Scaling::standardize);
  CHECK(parse<Scaling>("Standard") == Scaling::standardize);
  CHECK(parse<Scaling>("min-max") == Scaling::min_max);
  CHECK(parse<Scaling>("L2") == Scaling::l2_rows);
  CHECK(parse<Categories>("one-hot") == Categories::one_hot);
  CHECK(error_of([] { parse<Selector>("merge_srot"); }) ==
        "invalid_argument: selector: there is none called \"merge_srot\"; did you mean merge_sort?");
}

TEST_CASE("names: what is near, and what is not") {
  const std::vector<std::string> known = {"species", "petal length", "a", "b"};
  CHECK(closest_name("Species", known) == "species");
  CHECK(closest_name("speces", known) == "species");
  CHECK(closest_name("sepcies", known) == "species");
  CHECK(closest_name("peta", known) == "petal length");
  CHECK(closest_name("Petal_Length", known) == "petal length");
  CHECK(closest_name("A", known) == "a");
  CHECK(closest_name("c", known).empty());
  CHECK(closest_name("price", known).empty());
  CHECK(closest_name("", known).empty());
  CHECK(closest_name(std::string(10000, 's'), known).empty());
  CHECK(advice_on_name("c", known) == "choose one of species, petal length, a, b");
}

TEST_CASE("selector: names are read back, and an unknown one is refused with the known ones") {
  for (const Selector selector : all_selectors()) {
    CHECK(parse<Selector>(name(selector)) == selector);
    CHECK(selector != Selector::automatic);
  }
  CHECK(parse<Selector>("automatic") == Selector::automatic);
  CHECK(error_of([] { parse<Selector>("magic"); }) ==
        "invalid_argument: selector: there is none called \"magic\"; choose one of automatic, threshold, "
        "radix, bubble, insertion, local_sort, k_min, bitonic, odd_even, rank_sort, merge_sort, "
        "selection_sort, quick_sort");
  CHECK(parse<Proposer>("none") == Proposer::none);
  CHECK(error_of([] { parse<Proposer>("magic"); }) ==
        "invalid_argument: proposer: there is none called \"magic\"; choose one of automatic, none, gemm, "
        "dot, bf16, fp16, int8, int4");
}

TEST_CASE("error: every code has its name") {
  CHECK(name(Errc::invalid_argument) == "invalid_argument");
  CHECK(name(Errc::bad_file) == "bad_file");
  CHECK(name(Errc::unsupported) == "unsupported");
  CHECK(name(Errc::unavailable) == "unavailable");
  CHECK(name(Errc::out_of_memory) == "out_of_memory");
  CHECK(name(Errc::device_failure) == "device_failure");
  CHECK(name(Errc::interrupted) == "interrupted");
}

}  // namespace
}  // namespace kith::tests
