// A search that fills a Trace adds up seconds, and one that reports progress divides. A host program that
// traps inexact operations must not end by these: docs/contract.md, section 7.
#include <cmath>

#include "common/elements.hpp"
#include "common/environment.hpp"
#include "common/parted/groups.hpp"
#include "common/parted/sets.hpp"
#include "common/parted/sources.hpp"
#include "common/proposers.hpp"
#include "common/subsets.hpp"
#include "kith/classifier.hpp"
#include "kith/evaluation.hpp"
#include "kith/knn.hpp"
#include "kith/knn_graph.hpp"
#include "kith/regressor.hpp"
#include "kith/structure.hpp"

namespace kith::tests::test_environment_traced {
namespace {

constexpr std::int64_t n = 601, m = 41, dims = 3, k = 5, classes = 7;

using Tell = std::function<void(const Progress&)>;

/// Holds what one kind of call returns; the rest stays empty.
struct Answer {
  Neighbors found = {};
  RadiusNeighbors near = {};
  std::vector<std::int64_t> numbers = {};
  std::vector<double> values = {};
  bool operator==(const Answer&) const = default;
};

/// Holds a kind of call that takes a Trace and reports progress.
struct Kind {
  std::string name;
  std::string step;  ///< is in Trace::seconds, if the call went the way that is meant; empty: any way
  std::function<Answer(const Tell& tell, Trace* trace)> ask;
};

/// Holds what is asked.
struct Data {
  Matrix train = hard_rows(DataKind::normal, Set::train, n, dims, Metric::l2);
  Matrix queries = hard_rows(DataKind::normal, Set::queries, m, dims, Metric::l2);
  Matrix bytes = train;
  Matrix gaps = train;
  std::vector<double> doubles{train.values.begin(), train.values.end()};
  MatrixView<const double> rows_of_doubles{doubles.data(), n, dims};
  std::vector<float> radii = std::vector<float>(size(m), 0.5f);
  std::vector<double> radii_of_doubles = std::vector<double>(size(m), 0.5);
  std::vector<double> radii_to_count{0.25, 0.5};
  std::vector<std::int64_t> labels;
  Borders groups{0, 100, 350, n}, groups_of_queries{0, 10, 10, m};

  Data() {
    for (std::int64_t t = 0; t < n; ++t) labels.push_back(t % classes);
    for (std::size_t i = 0; i < gaps.values.size(); i += 5) gaps.values[i] = std::nanf("");
    for (std::size_t i = 0; i < bytes.values.size(); ++i)
      bytes.values[i] = static_cast<float>(i * i % 251);  // whole numbers from 0 to 250
  }
  MatrixView<const std::int64_t> column() const { return {labels.data(), n, 1}; }
  CountRadii counted() const { return {{radii_to_count.data(), 1, 2}}; }
};

/// Returns options of rows that stay in a source, quantized if the device has a proposer for them.
IndexOptions left_in_a_source() {
  return {.residence = has(Proposer::int8) ? Residence::quantized : Residence::stream};
}

std::vector<Kind> searches(const Data& d) {
  const auto nearest = [&d](SearchOptions way, const IndexOptions& of_index = {}) {
    return [&d, way, of_index](const Tell& tell, Trace* trace) {
      SearchOptions told = way;
      told.progress = tell;
      return Answer{.found =
                        Index(device(), d.train, Metric::l2, of_index).search(d.queries, k, told, trace)};
    };
  };
  std::vector<Kind> all{
      {"tiles", "select", nearest({.fused = false, .query_tile = 7, .train_tile = 33})},
      {"one step", "nearest", nearest({.proposer = Proposer::none, .fused = true, .train_tile = 99})},
      {"boxes", "", nearest({.boxes = true})},
      {"a sample", "select", nearest({.sample = device().info().selectors, .fused = false})},
      {"few rows count", "", nearest({.filter = filter_of(some(50), n, 1)})},
      {"most rows count", "", nearest({.filter = filter_of(some(2), n, m)})},
      {"leave one out", "finish", nearest({.self = 3})},
      {"equal rows", "", nearest({}, {.deduplicate = true})},
      {"groups", "", nearest({.groups = d.groups_of_queries}, {.groups = d.groups})},
      {"doubles", "doubles", nearest({}, {.arithmetic = Arithmetic::f64})},
      {"a stream", "wait",
       [&d](const Tell& tell, Trace* trace) {
         const Index index(device(), std::make_shared<CopiedRows>(d.train), Metric::l2, streamed(64));
         return Answer{.found = index.search(d.queries, k, {.progress = tell}, trace),
                       .near = index.within(d.queries, d.radii, {.progress = tell}, trace)};
       }},
      {"quantized rows", "",
       [&d](const Tell& tell, Trace* trace) {
         const Index index(device(), std::make_shared<CopiedRows>(d.train), Metric::l2, left_in_a_source());
         return Answer{.found = index.search(d.queries, k, {.progress = tell}, trace)};
       }},
      {"a set", "join",
       [&d](const Tell& tell, Trace* trace) {
         const Index index(set_of(3), d.train, Metric::l2, {.placement = Placement::split});
         return Answer{.found = index.search(d.queries, k, {.progress = tell}, trace)};
       }},
      {"bytes", "",
       [&d](const Tell& tell, Trace* trace) {
         const Index index(device(), Stored(d.bytes, Element::u8).view(), Metric::l2, {.reserve = n + 1});
         return Answer{.found = index.search(d.bytes.view().slice(0, m), k, {.progress = tell}, trace)};
       }},
      {"missing values", "",
       [&d](const Tell& tell, Trace* trace) {
         const Index index(device(), d.gaps, Metric::nan_euclidean);
         return Answer{.found = index.search(d.queries, k, {.progress = tell}, trace)};
       }},
      {"keys", "",
       [&d](const Tell& tell, Trace* trace) {
         const Index index(device(), d.train, Metric::l2);
         SearchOptions options{.boxes = true};
         options.progress = tell;
         Answer answer;
         answer.near.row = index.within_keys(d.queries, d.radii, options, trace).row;
         answer.numbers = index.search_keys(d.queries, k, options, trace).row;
         return answer;
       }},
      {"once", "",
       [&d](const Tell& tell, Trace* trace) {
         return Answer{.found = knn(device(), d.train, d.queries, k, Metric::l2, {.progress = tell}, trace)};
       }},
      {"a graph", "",
       [&d](const Tell& tell, Trace* trace) {
         return Answer{.found = knn_graph(device(), d.train, k, Metric::l2, {.progress = tell}, trace)};
       }},
  };
  for (const Proposer proposer : device().info().proposers) {
    if (!refusal_of(proposer).empty()) continue;
    all.push_back({"proposed by " + std::string(name(proposer)), "", nearest({.proposer = proposer})});
  }
  return all;
}

/// Returns searches within radii and counts, in floats and doubles, by boxes and without.
std::vector<Kind> bounded(const Data& d) {
  std::vector<Kind> all;
  for (const Arithmetic arithmetic : {Arithmetic::f32, Arithmetic::f64})
    for (const bool boxes : {false, true}) {
      const std::string way = std::string(name(arithmetic)) + (boxes ? " by boxes" : "");
      const auto index = [&d, arithmetic] {
        return Index(device(), d.train, Metric::l2, {.arithmetic = arithmetic});
      };
      all.push_back({"within, " + way, "", [&d, boxes, index](const Tell& tell, Trace* trace) {
                       const SearchOptions options{.boxes = boxes, .query_tile = 9, .progress = tell};
                       return Answer{.near = index().within(d.queries, d.radii_of_doubles, options, trace)};
                     }});
      all.push_back({"counts, " + way, "", [&d, boxes, index](const Tell& tell, Trace* trace) {
                       const SearchOptions options{.boxes = boxes, .query_tile = 9, .progress = tell};
                       return Answer{.numbers = index().count(d.queries, d.counted(), options, trace)};
                     }});
    }
  return all;
}

/// Returns calls that use the neighbours.
std::vector<Kind> uses(const Data& d) {
  const auto classifier = [&d] { return Classifier(device(), d.train, d.column(), Metric::l2); };
  const auto regressor = [&d] { return Regressor(device(), d.train, d.rows_of_doubles, Metric::l2); };
  std::vector<Kind> all{
      {"votes", "",
       [&d, classifier](const Tell& tell, Trace* trace) {
         return Answer{.numbers = classifier().classify(d.queries, k, {.progress = tell}, trace).label};
       }},
      {"votes within", "decide",
       [&d, classifier](const Tell& tell, Trace* trace) {
         return Answer{
             .numbers =
                 classifier().classify_within(d.queries, d.radii, {}, {.progress = tell}, trace).label};
       }},
      {"means", "average",
       [&d, regressor](const Tell& tell, Trace* trace) {
         return Answer{.values = regressor().regress(d.queries, k, {}, {.progress = tell}, trace).value};
       }},
      {"leave one out, evaluated", "decide",
       [&d, classifier](const Tell& tell, Trace* trace) {
         return Answer{.numbers =
                           leave_one_out(classifier(), d.train, k, {}, {.progress = tell}, trace).correct};
       }},
      {"folds", "decide",
       [&d, classifier](const Tell& tell, Trace* trace) {
         return Answer{
             .numbers =
                 cross_validate(classifier(), d.train, d.labels, k, {}, {.progress = tell}, trace).correct};
       }},
  };
  for (const Arithmetic arithmetic : {Arithmetic::f32, Arithmetic::f64})
    all.push_back(
        {"structure, " + std::string(name(arithmetic)), "", [&d, arithmetic](const Tell& tell, Trace* trace) {
           const Structure structure(device(), d.train, d.labels, Metric::l1, {.arithmetic = arithmetic});
           const SearchOptions options{.query_tile = 70, .train_tile = 90, .progress = tell};
           structure.class_matrix(options, trace);
           return Answer{.found = structure.nearest_other(options, trace)};
         }});
  all.push_back({"structure of unit rows", "", [&d](const Tell& tell, Trace* trace) {
                   const Structure structure(device(), d.train, d.labels, Metric::cosine);
                   const double told = structure.class_matrix({.progress = tell}, trace).informativeness;
                   const Structure more = structure.with(d.queries, std::span(d.labels).first(size(m)));
                   Answer answer{.values = more.sample_classes().mean};
                   answer.values.push_back(told);
                   return answer;
                 }});
  return all;
}

/// A Source that notes whether whatever is asked of it is asked in an environment that rounds to nearest.
class AskedRows final : public Source {
 public:
  explicit AskedRows(const RowsView& rows) : rows_(memory_source(rows)) {}

  RowsInfo info() const override {
    note();
    return rows_->info();
  }
  void read(std::int64_t first, std::int64_t count, void* to) const override {
    note();
    rows_->read(first, count, to);
  }
  std::optional<RowsView> in_memory() const override {
    note();
    return std::nullopt;
  }
  std::uint64_t state() const override {
    note();
    return 1;
  }
  std::string name() const override {
    note();
    return "asked rows";
  }
  std::vector<double> centre() const override {
    note();
    return {};
  }
  bool nearest() const { return nearest_; }

 private:
  void note() const {
    const volatile float one = 1, little = 0x1p-30f;
    if (one + little != one) nearest_ = false;
  }

  const std::shared_ptr<const Source> rows_;
  mutable std::atomic<bool> nearest_ = true;
};

TEST_SUITE("device") {
  TEST_CASE("environment: a trace and progress raise no signal in a host program, and change no bit") {
    const Data data;
    for (const auto& kinds : {searches(data), bounded(data), uses(data)})
      for (const Kind& kind : kinds) {
        CAPTURE(kind.name);
        const Answer expected = kind.ask(nullptr, nullptr);
        for (const HostileSetting setting : hostile_settings)
          for (const bool time_steps : {true, false}) {
            CAPTURE_ALL(name(setting), time_steps);
            Trace trace;
            trace.time_steps = time_steps;
            Answer answer;
            double least = 2, last = 0;
            bool kept = false, kept_in_progress = true;
            {
              const HostileEnvironment hostile(setting);
              const auto tell = [&](const Progress& progress) {
                kept_in_progress = kept_in_progress && hostile.still_set();
                least = std::min(least, progress.fraction);
                last = progress.fraction;
              };
              answer = kind.ask(tell, &trace);
              kept = hostile.still_set();
            }
            CHECK(kept);
            CHECK(kept_in_progress);
            CHECK((least > 0 && least <= last && last <= 1));
            CHECK((trace.total_seconds > 0 && trace.total_seconds < 600));
            if (time_steps && !kind.step.empty()) CHECK(trace.seconds.count(kind.step) == 1);
            CHECK(answer == expected);
          }
      }
  }

  TEST_CASE("environment: plans, what is prepared, and pairs raise no signal in a host program") {
    const Data data;
    std::vector<Proposer> proposers = device().info().proposers;
    std::erase_if(proposers, [](Proposer proposer) { return !refusal_of(proposer).empty(); });
    const auto ask = [&] {
      const Index index(device(), data.train, Metric::l2);
      SearchOptions way{.boxes = true};
      index.prepare(m, k, way);
      std::string reasons = index.plan(m, k).reason + index.plan(m, k, way).reason;
      way.boxes.reset();
      for (const Proposer proposer : proposers) {
        way.proposer = proposer;
        reasons += index.plan(m, k, way).reason;
      }
      PairSearch pairs = index.pairs(0.5);
      std::vector<std::int64_t> all;
      for (Pairs block; pairs.next(block);) all.insert(all.end(), block.second.begin(), block.second.end());
      return std::pair(reasons, all);
    };
    const auto expected = ask();
    CHECK(expected.second.size() > 10);
    for (const HostileSetting setting : hostile_settings) {
      CAPTURE(std::string(name(setting)));
      const auto asked = [&] {
        const HostileEnvironment hostile(setting);
        auto found = ask();
        return std::pair(std::move(found), hostile.still_set());
      }();
      CHECK(asked == std::pair(expected, true));
    }
  }

  TEST_CASE("environment: a source is read and asked in the environment of kith") {
    const Data data;
    const Matrix none = matrix(dims, {});
    for (const HostileSetting setting : hostile_settings)
      for (const IndexOptions& options : {IndexOptions{}, streamed(64), left_in_a_source()}) {
        CAPTURE_ALL(name(setting), name(options.residence));
        const auto source = std::make_shared<AskedRows>(data.train),
                   empty = std::make_shared<AskedRows>(none);
        Neighbors found;
        std::string refused;
        bool kept = false;
        {
          const HostileEnvironment hostile(setting);
          refused = error_of([&] { Index(device(), empty, Metric::l2, options); });
          const Index index(device(), source, Metric::l2, options);
          found = index.search(data.queries, k);
          static_cast<void>(index.residence());
          index.feedback();
          kept = hostile.still_set();
        }
        CHECK(refused.starts_with("invalid_argument: index: asked rows has rows [0, 3]"));
        CHECK(kept);
        CHECK(source->nearest());
        CHECK(empty->nearest());
        CHECK(difference(found, neighbors(Metric::l2, data.queries, data.train, k)) == "");
      }
  }
}

}  // namespace
}  // namespace kith::tests::test_environment_traced
