// spi::StepRunner runs one step, and the plain device gives the answers of the tests' independent oracle.
#include "common/device.hpp"
#include "common/oracle.hpp"
#include "kith/spi/step_runner.hpp"

namespace kith::tests {
namespace {

constexpr std::size_t m = 6, n = 67, k = 5, parts = 3, capacity = 20;
constexpr std::int64_t dims = 9;

/// Holds the output of one step on a plain device.
template <class Make, class Part>
auto plain(const Make& make, const Part& part) {
  const auto device = spi::plain_device();
  spi::StepRunner there(*device);
  const auto step = make(there);
  there.set(step);
  there.run();
  return there.read(part(step));
}

const auto out_of = [](const auto& step) { return step.out; };

void check_lists(const std::vector<float>& values) {
  const auto lists = plain(
      [&](spi::StepRunner& there) {
        return spi::SelectStep{Selector::threshold,
                               there.input(values, m, n),
                               40,
                               k,
                               parts,
                               there.output<Key>(m, parts * k),
                               {}};
      },
      out_of);
  CHECK(difference(lists, selected(values, n, k, parts, 40)) == "");
  const auto nearest = plain(
      [&](spi::StepRunner& there) {
        return spi::MergeStep{parts, k, there.input(lists, m, parts * k), there.output<Key>(m, k), {}};
      },
      out_of);
  CHECK(difference(nearest, merged(lists, parts, k)) == "");
}

void check_candidates(const std::vector<float>& values) {
  std::vector<float> threshold;
  for (std::size_t q = 0; q < m; ++q)  // for the first query no row is near; for the last more rows than fit
    threshold.push_back(q == 0 ? -inf : q + 1 == m ? inf : values[q * n + q]);
  const auto counts = plain(
      [&](spi::StepRunner& there) {
        return spi::CollectStep{
            Proposer::none,
            Metric::squared_l2,
            {},
            {},
            there.input(values, m, n),
            there.input(threshold, m, 1),
            0,
            {there.output<std::uint32_t>(m, capacity), there.in_and_out(std::vector<std::uint32_t>(m), m, 1)},
            {}};
      },
      [](const auto& step) { return step.out.counts; });
  for (std::size_t q = 0; q < m; ++q)
    CHECK(counts[q] == kept(std::span(values).subspan(q * n, n), threshold[q]).size());
}

}  // namespace

TEST_CASE("plain_device: distances, lists and candidates are those of the tests' own oracle") {
  for (const Metric metric : all_metrics)
    for (const DataKind kind : {DataKind::grid, DataKind::offset, DataKind::subnormal, DataKind::huge}) {
      if (!workloads::admits(metric, kind)) continue;
      CAPTURE_ALL(name(metric), workloads::name(kind));
      const Matrix queries = prepared(metric, hard_rows(kind, Set::queries, m, dims, metric)),
                   train = prepared(metric, hard_rows(kind, Set::train, n, dims, metric));
      std::vector<float> right;
      for (std::int64_t q = 0; q < queries.rows; ++q)
        for (std::int64_t t = 0; t < train.rows; ++t)
          right.push_back(chain(metric, queries.row(q), train.row(t)));
      const auto values = plain(
          [&](spi::StepRunner& there) {
            return spi::DistanceStep{metric, there.queries(queries), there.train(train),
                                     there.output<float>(m, n)};
          },
          out_of);
      CHECK(difference(values, right) == "");
      const auto lists = plain(
          [&](spi::StepRunner& there) {
            return spi::NearestStep{metric,
                                    there.queries(queries),
                                    there.train(train),
                                    0,
                                    k,
                                    parts,
                                    there.output<Key>(m, parts * k),
                                    {}};
          },
          out_of);
      CHECK(difference(lists, selected(right, n, k, parts)) == "");
      check_lists(right);
      check_candidates(right);
    }
}

TEST_CASE("StepRunner: what a step changes is as at first in each run, and a refusal is told") {
  const auto device = spi::plain_device();
  spi::StepRunner there(*device);
  const std::vector<float> values = {1, 2, 3};
  const auto distances = there.in_and_out(values, 1, 3);
  const spi::MaskStep step{there.input(std::vector<std::uint32_t>{0b010}, 1, 1), 0, distances};
  there.set(step);
  for (int run = 0; run < 2; ++run) {
    device->write(*distances.memory, 0, std::vector<float>{9, 9, 9}.data(), 3 * sizeof(float));
    there.run();
    CHECK(there.read(distances)[1] == 2);
    CHECK(std::bit_cast<std::uint32_t>(there.read(distances)[0]) == spi::masked_bits);
  }
  there.set(spi::PruneStep{});
  CHECK(there.refusal() == "any bound will do, so there is no one right answer");
  CHECK(error_of([&] { there.run(); }) ==
        "unsupported: prune: plain: any bound will do, so there is no one right answer");
}

}  // namespace kith::tests
