// Tests samples that are classified by class structure: docs/contract.md, section 11.
#include "structure/structure_cases.hpp"

namespace kith::tests {
namespace {

TEST_SUITE_BEGIN("device");

TEST_CASE("structure: classification by all samples, by prototypes, and from distances") {
  const std::int64_t n = 140, m = 33;
  const Matrix samples = hard_rows(DataKind::grid, Set::train, n, 3, Metric::squared_l2);
  const Matrix queries = hard_rows(DataKind::grid, Set::queries, m, 3, Metric::squared_l2);
  const Labels labels = workloads::make_labels(8, n, 5);
  const Structure structure(device(), samples, labels);
  const Matrix distances{m, n, chains(Metric::squared_l2, queries, samples)};
  const Numbers all = [&] {
    Numbers every(size(n));
    std::iota(every.begin(), every.end(), std::int64_t{0});
    return every;
  }();
  for (const Numbers& prototypes : {Numbers{}, Numbers{99, 3, 57, 20, 21}, Numbers{4}, all}) {
    CAPTURE(prototypes.size());
    const std::set<std::int64_t> allowed(prototypes.begin(), prototypes.end());
    Labels expected;
    for (std::int64_t q = 0; q < m; ++q)
      for (const Candidate& near :
           sorted(std::span(distances.values).subspan(size(q * n), size(n)), 0, size(n)))
        if (allowed.empty() || allowed.contains(near.second)) {
          expected.push_back(labels[near.second]);
          break;
        }
    CHECK(structure.classify(queries, prototypes) == expected);
    CHECK(structure.classify_distances(distances, prototypes) == expected);
    const Spread apart(distances, 4);
    CHECK(structure.classify_distances(apart.view(), prototypes) == expected);
  }
  CHECK(structure.classify(Matrix{0, 3, {}}).empty());
  CHECK(structure.classify_distances(Matrix{0, n, {}}).empty());
}

TEST_CASE("structure: classified samples join in a batch, and nothing tells that they came later") {
  const std::int64_t n = 100, more = 37;
  const Matrix all = hard_rows(DataKind::normal, Set::train, n + more, 4, Metric::l2);
  Labels labels = workloads::make_labels(3, n, 3);
  const Structure base(device(), all.view().slice(0, n), labels, Metric::l2);
  Labels added = base.classify(all.view().slice(n, more));
  added[5] = -7;  // two new classes: one before all others, one between
  added[6] = labels[0] * 1000 + 1;
  labels.insert(labels.end(), added.begin(), added.end());
  const Structure whole(device(), all, labels, Metric::l2);
  const auto check_same = [&](const Structure& joined) {
    CHECK(joined.classes() == whole.classes());
    CHECK(joined.sizes() == whole.sizes());
    CHECK(joined.codes() == whole.codes());
    check_equal(joined.sample_classes(), whole.sample_classes());
    check_equal(joined.class_matrix({.query_tile = 11, .train_tile = 30}), whole.class_matrix());
    CHECK(joined.errors() == whole.errors());
    CHECK(joined.classify(all) == whole.classify(all));
  };
  const MatrixView<const float> rest = all.view().slice(n, more);
  check_same(base.with(rest, added));  // before the sums were computed
  base.class_matrix();
  check_same(base.with(rest, added));  // and after
  const Structure half = base.with(rest.slice(0, 10), std::span(added).first(10));
  half.class_matrix();
  check_same(half.with(rest.slice(10, more - 10), std::span(added).subspan(10)));
  CHECK(base.sizes().size() == 3);  // unchanged
}

TEST_SUITE_END();

}  // namespace
}  // namespace kith::tests
