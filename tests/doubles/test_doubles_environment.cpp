// Tests that searches in double precision give the same bits whatever the host program has set, and leave its
// setting alone: docs/contract.md, section 7.
#include "common/environment.hpp"
#include "doubles/doubles_oracle.hpp"
#include "kith/classifier.hpp"

namespace kith::tests {
namespace {

TEST_SUITE("device") {
  TEST_CASE("environment: doubles have the same bits, and the setting is kept, also in a callback") {
    std::mt19937 random(15);
    for (const Metric metric : number_metrics)
      for (const DoubleData kind :
           {DoubleData::map, DoubleData::one_ulp, DoubleData::tiny, DoubleData::subnormal}) {
        const DoubleMatrix train = double_rows(kind, 60, 3, random),
                           queries = double_rows(kind, 8, 3, random);
        const auto all = all_by_oracle(metric, train, queries, every_row);
        const Neighbors right = nearest_by_oracle(metric, all, 4);
        const std::vector<double> radii = {right.distance64[3]};
        const RadiusNeighbors within = within_by_oracle(metric, all, radii);
        std::vector<std::int64_t> labels;
        for (std::int64_t t = 0; t < train.rows; ++t) labels.push_back(t % 3);
        VotingOptions voting;
        if (metric != Metric::negative_dot) voting.weights = Weights::distance;
        const MatrixView<const std::int64_t> column(labels.data(), train.rows, 1);
        const Classification voted = Classifier(device(), train, column, metric).classify(queries, 4, voting);
        for (const HostileSetting setting : hostile_settings) {
          CAPTURE_ALL(name(metric), static_cast<int>(kind), name(setting));
          Neighbors found;
          RadiusNeighbors near;
          Classification counted;
          bool kept = false, kept_in_progress = true;
          {
            const HostileEnvironment hostile(setting);
            SearchOptions options;
            options.progress = [&](const Progress&) {
              kept_in_progress = kept_in_progress && hostile.still_set();
            };
            const Index index(device(), train, metric);
            found = index.search(queries, 4, options);
            near = index.within(queries, radii, options);
            counted = Classifier(index, column).classify(queries, 4, voting);
            kept = hostile.still_set();
          }
          CHECK(kept);
          CHECK(kept_in_progress);
          CHECK(found == right);
          CHECK(near == within);
          CHECK(counted.label == voted.label);
          CHECK(counted.scores64 == voted.scores64);
        }
      }
  }
}

}  // namespace
}  // namespace kith::tests
