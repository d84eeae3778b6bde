// Tests the choice between bytes and 16-bit floats for many queries: by the rows, the device's measured
// speed, and the shape.
#include "certified/spread.hpp"
#include "common/described_devices.hpp"
#include "common/oracle.hpp"
#include "common/test.hpp"
#include "kith/unstable/plan.hpp"
#include "rows/lessons.hpp"

namespace kith::tests {
namespace {

const Problem sift{Metric::l2, 1000000, 10000, 128, 10};

/// Returns a device whose kernels for bytes take any number of queries.
DeviceInfo described_hopper() {
  DeviceInfo info = described_gpu("cuda");
  info.profile.byte_queries = std::numeric_limits<std::uint32_t>::max();
  return info;
}

Feedback known(double byte_blur, double byte_speed) {
  return {.byte_blur = byte_blur, .byte_speed = byte_speed};
}

Proposer chosen(const DeviceInfo& device, const Problem& problem, const Feedback& feedback) {
  return make_plan(device, problem, {}, feedback).proposer;
}

Problem with_k(Problem problem, std::int64_t k) {
  problem.k = k;
  return problem;
}

double spread_of(const Matrix& rows) {
  return spread_of_distances(rows.values, std::vector<float>(size(rows.cols)));
}

TEST_CASE("bytes or halves: rows on a grid of bytes go by int8, however slow it is") {
  const DeviceInfo device = described_hopper();
  CHECK(chosen(device, sift, known(0, 0)) == Proposer::int8);
  CHECK(chosen(device, with_k(sift, 4000), known(0, 0)) == Proposer::int8);
  CHECK(chosen(device, {Metric::l2, 60000, 1000, 784, 5}, known(0, 0)) == Proposer::int8);
  CHECK(chosen(device, {Metric::negative_dot, 60000, 1000, 784, 5}, known(0, 0)) == Proposer::int8);
  CHECK(chosen(device, {Metric::l2, 20000, 10000, 64, 10}, known(0, 0)) == Proposer::fp16);  // too few
  CHECK(chosen(device, {Metric::l2, 1000000, 10000, 16, 10}, known(0, 0)) != Proposer::int8);
  CHECK(chosen(described_gpu("cuda"), sift, known(0, 2)) == Proposer::fp16);  // it takes 64 queries at a time
  CHECK(chosen(described_gpu("opencl"), sift, known(0, 0)) == Proposer::int8);
}

TEST_CASE("bytes or halves: others go by int8 where it is faster by more than its longer lists take") {
  const DeviceInfo device = described_hopper();
  const double normal = 0.28, embeddings = 0.19;  // blurs of 128 normal columns, of embeddings of 768
  CHECK(chosen(device, sift, known(normal, 1.4)) == Proposer::int8);
  CHECK(chosen(device, with_k(sift, 100), known(normal, 1.4)) == Proposer::fp16);
  CHECK(chosen(device, {Metric::l2, 100000, 10000, 128, 10}, known(normal, 1.4)) == Proposer::fp16);
  const double uniform = 0.21;  // of 256 columns
  CHECK(chosen(device, {Metric::l2, 131072, 300, 256, 10}, known(uniform, 1.4)) == Proposer::int8);
  CHECK(chosen(device, {Metric::l2, 131072, 100, 256, 10}, known(uniform, 1.4)) ==
        Proposer::fp16);  // too few
  CHECK(chosen(device, {Metric::l2, 32768, 1200, 256, 100}, known(uniform, 1.4)) == Proposer::fp16);
  CHECK(chosen(device, {Metric::l2, 1000000, 1000, 768, 10}, known(embeddings, 1.4)) == Proposer::int8);
  CHECK(chosen(device, {Metric::l2, 1000000, 1000, 768, 10}, known(0.9, 1.4)) == Proposer::fp16);
  CHECK(chosen(device, {Metric::l2, 1000000, 1000, 768, 10}, known(10, 1.4)) == Proposer::fp16);
  CHECK(chosen(device, sift, known(normal, 1.1)) == Proposer::fp16);
  CHECK(chosen(device, sift, known(normal, 0)) == Proposer::fp16);
  CHECK(chosen(device, sift, {}) == Proposer::fp16);  // nothing is known about the rows
}

TEST_CASE("bytes or halves: where bytes are very fast, lists may be longer, up to 256 columns") {
  const DeviceInfo device = described_hopper();
  struct Case {
    Problem problem;
    double blur;  // of uniform rows
    Proposer fast, very_fast;
  };
  const Case cases[] = {
      {{Metric::l2, 1000000, 1000, 64, 2048}, 0.12, Proposer::fp16, Proposer::int8},
      {{Metric::l2, 1000000, 1000, 64, 4096}, 0.12, Proposer::fp16, Proposer::fp16},
      {{Metric::l2, 1000000, 1000, 128, 500}, 0.16, Proposer::int8, Proposer::int8},
      {{Metric::l2, 1000000, 1000, 128, 1000}, 0.16, Proposer::fp16, Proposer::fp16},
      {{Metric::l2, 400000, 5000, 256, 500}, 0.24, Proposer::fp16, Proposer::int8},
      {{Metric::l2, 131072, 1000, 384, 448}, 0.29, Proposer::fp16, Proposer::fp16},
  };
  for (const Case& one : cases) {
    CAPTURE_ALL(one.problem.dims, one.problem.k);
    CHECK(chosen(device, one.problem, known(one.blur, 1.7)) == one.fast);
    CHECK(chosen(device, one.problem, known(one.blur, 2.2)) == one.very_fast);
  }
}

TEST_CASE("bytes or halves: bytes that listed too many give way to 16-bit floats, and these to the chain") {
  const DeviceInfo device = described_hopper();
  Feedback taught = known(0.28, 1.4);
  taught.lessons = {{Proposer::int8, false, sift.k}};
  CHECK(chosen(device, sift, taught) == Proposer::fp16);
  CHECK(chosen(device, with_k(sift, sift.k - 1), taught) == Proposer::int8);
  taught.lessons.push_back({Proposer::fp16, false, sift.k});
  CHECK(chosen(device, sift, taught) == Proposer::none);
  taught.lessons = {{Proposer::fp16, false, sift.k}};  // bytes are coarser
  CHECK(chosen(device, sift, taught) == Proposer::none);
}

TEST_CASE("bytes or halves: distances of rows in a few directions are spread further than in all") {
  const std::int64_t n = 64, dims = 96;
  const Matrix all = hard_rows(DataKind::normal, Set::train, n, dims, Metric::l2);
  Matrix few = all;
  for (std::int64_t r = 0; r < n; ++r)
    for (std::int64_t d = 4; d < dims; ++d)
      few.values[size(r * dims + d)] = few.values[size(r * dims + d % 4)];
  const double in_all = spread_of(all), in_few = spread_of(few);
  CHECK(in_all > 2);  // sqrt(6 dims) / sqrt(dims), were all pairs looked at
  CHECK(in_all < 3);
  CHECK(in_few > 3 * in_all);
  CHECK(spread_of({n, dims, std::vector<float>(size(n * dims), 1)}) == 0);
  CHECK(spread_of({1, dims, std::vector<float>(size(dims), 1)}) == 0);
}

TEST_CASE("half bytes: for few queries of many rows, where they list few") {
  DeviceInfo device = described_hopper();
  device.proposers.push_back(Proposer::int4);
  const Problem one{Metric::l2, 10'000'000, 1, 128, 10};
  const auto blurred = [](double blur) {
    Feedback feedback{.byte_blur = blur / 10};
    feedback.half_byte_blur = blur;
    return feedback;
  };
  constexpr double uniform = 1.5, normal = 2.4;  // of half bytes of 128 columns
  CHECK(chosen(device, one, blurred(uniform)) == Proposer::int4);
  CHECK(chosen(device, {Metric::l2, 10'000'000, 4, 128, 10}, blurred(uniform)) == Proposer::int4);
  CHECK(chosen(device, one, blurred(normal)) == Proposer::int8);
  CHECK(chosen(device, {Metric::l2, 2'000'000, 1, 128, 10}, blurred(uniform)) ==
        Proposer::int8);  // too few rows
  CHECK(chosen(device, {Metric::l2, 10'000'000, 32, 128, 10}, blurred(uniform)) == Proposer::int8);
  CHECK(chosen(device, {Metric::l2, 30'000'000, 1, 64, 10}, blurred(uniform)) == Proposer::int8);
  CHECK(chosen(device, one, {}) == Proposer::int8);  // nothing is known about the rows
  Feedback taught = blurred(uniform);
  taught.lessons = {{Proposer::int4, false, one.k}};
  CHECK(chosen(device, one, taught) == Proposer::int8);
  CHECK(chosen(device, with_k(one, one.k - 1), taught) == Proposer::int4);
}

TEST_CASE("half bytes: their largest number suits the rows") {
  const auto of = [](const Matrix& rows, float most) {
    return half_bytes_of(rows.values, std::vector<float>(size(rows.cols)), static_cast<double>(most));
  };
  Matrix rows{64, 100, std::vector<float>(6400)};
  for (std::size_t i = 0; i < rows.values.size(); ++i) rows.values[i] = static_cast<float>(i % 15) - 7;
  CHECK(of(rows, 7).range == 7);
  CHECK(of(rows, 7).off == 0);
  rows.values[0] = 70;  // one element far from all others is cut
  const HalfBytes cut = of(rows, 70);
  CHECK(cut.range < 70);
  CHECK(cut.off > 0);
  CHECK(of({0, 3, {}}, 1).range == 0);
}

TEST_CASE("lessons: few queries of several searches count together") {
  Lessons lessons;
  const auto from = [&] {
    const std::vector<Feedback::Lesson> all = lessons.feedback().lessons;
    return all.empty() ? 0 : all.front().overwhelmed_from;
  };
  for (int i = 0; i < 15; ++i) lessons.tell_left(Proposer::int4, 1, i < 8 ? 1 : 0, i < 8 ? 100 - i : 200);
  CHECK(from() == 0);
  lessons.tell_left(Proposer::int4, 1, 0, 1);  // 8 of 16 are not most
  CHECK(from() == 0);
  lessons.tell_left(Proposer::int4, 15, 8, 30);
  CHECK(from() == 0);
  lessons.tell_left(Proposer::int4, 1, 1, 20);
  CHECK(from() == 30);  // the largest k of those that were left
  CHECK(lessons.feedback().lessons.front().proposer == Proposer::int4);
}

}  // namespace
}  // namespace kith::tests
