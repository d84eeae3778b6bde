#include "lab/experiments/points.hpp"

#include "workloads/random.hpp"

namespace kith::experiments {

Points make_points(std::uint64_t seed, std::int64_t n) {
  Points points{workloads::Rows(n, 2), {}, {}};
  for (std::int64_t t = 0; t < n; ++t) {
    std::uint64_t bits = workloads::random_bits(seed, static_cast<std::uint64_t>(t));
    for (std::int64_t d = 0; d < 2; ++d, bits >>= 20)
      points.rows.row(t)[d] = static_cast<float>((bits & 0xFFFFF) % 100);
    points.labels.push_back(static_cast<std::uint32_t>(bits & 1));
  }
  points.labels64.assign(points.labels.begin(), points.labels.end());
  return points;
}

PlacedProblem placed_problem(const Points& points, const Question& question) {
  return {.train = points.rows.view(),
          .queries = question.view(),
          .labels = points.labels,
          .k = question.k,
          .classes = 2};
}

template <class Real>
SequentialTime time_sequential(const Settings& settings, const Points& points, const Question& question,
                               SequentialSort sort, const workloads::Answer& right) {
  SequentialProgram<Real> program(points.rows.view(), points.labels, 2);
  SequentialAnswer<Real> answer;
  const std::string what = "sequential " + std::string(name(sort)) +
                           (sizeof(Real) == sizeof(float) ? ", float" : ", double") +
                           ", n = " + std::to_string(points.rows.rows());
  const Measured measured = sample(settings, what, [&]() -> Seconds {
    const double seconds = seconds_of([&] { answer = program.classify(question.at, question.k, sort); });
    return {not_measured, seconds, seconds};
  });
  SequentialTime time{.seconds = measured.total};
  for (std::size_t j = 0; j < answer.distance.size(); ++j)
    time.others += answer.distance[j] != static_cast<Real>(right.neighbors.distance[j]);
  time.same_class = static_cast<std::int64_t>(answer.winner) == right.label[0];
  return time;
}

template SequentialTime time_sequential<float>(const Settings&, const Points&, const Question&,
                                               SequentialSort, const workloads::Answer&);
template SequentialTime time_sequential<double>(const Settings&, const Points&, const Question&,
                                                SequentialSort, const workloads::Answer&);

Measured time_whole_call(const Settings& settings, const Device& device, const Points& points,
                         const Question& question, const workloads::Answer& right) {
  const std::string what =
      "kith's choice on " + device.info().spec + ", n = " + std::to_string(points.rows.rows());
  SearchOptions options{.stop = settings.stop};
  Trace trace;
  trace.time_steps = false;
  const auto call = [&] {
    return workloads::ask(Classifier(device, points.rows.view(), points.labels64, Metric::squared_l2),
                          question.view(), question.k, options, &trace);
  };
  return time_checked(
      settings, device, what, [&] { return difference(right, call()); },
      [&]() -> Seconds {
        const double total = seconds_of(call);
        return {trace.device_seconds, trace.queue_seconds, total};
      },
      &trace.plan);
}

}  // namespace kith::experiments
