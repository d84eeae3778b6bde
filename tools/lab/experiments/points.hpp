// Makes the points of KNN in CUDA (Batlle, Ballber 2020), and its questions.
#pragma once

#include <cstdint>
#include <vector>

#include "lab/experiments/experiment.hpp"
#include "lab/experiments/measure.hpp"
#include "lab/experiments/sequential.hpp"
#include "lab/placement/placement.hpp"
#include "workloads/rows.hpp"

namespace kith::experiments {

/// Holds random points in the plane, in two classes.
struct Points {
  workloads::Rows rows;                ///< [n, 2], whole numbers 0 .. 99
  std::vector<std::uint32_t> labels;   ///< [n], 0 or 1
  std::vector<std::int64_t> labels64;  ///< the same
};

Points make_points(std::uint64_t seed, std::int64_t n);

/// Holds `k x y` of the published command line.
struct Question {
  std::int64_t k;
  float at[2];
  MatrixView<const float> view() const { return {at, 1, 2}; }
};

inline constexpr Question question_15 = {15, {2.5f, 7.0f}}, question_101 = {101, {50.2f, 36.0f}};

/// Returns the question about the points as a problem whose steps are placed on devices.
PlacedProblem placed_problem(const Points& points, const Question& question);

/// Holds the time of a sequential program, and its answer compared with kith's.
struct SequentialTime {
  double seconds = not_measured;
  std::int64_t others = 0;  ///< how many of the k distances differ from those of kith's neighbours
  bool same_class = false;
};

template <class Real>
SequentialTime time_sequential(const Settings& settings, const Points& points, const Question& question,
                               SequentialSort sort, const workloads::Answer& right);

extern template SequentialTime time_sequential<float>(const Settings&, const Points&, const Question&,
                                                      SequentialSort, const workloads::Answer&);
extern template SequentialTime time_sequential<double>(const Settings&, const Points&, const Question&,
                                                       SequentialSort, const workloads::Answer&);

/// Times a whole call of kith with points in host memory: the copy to the device, the search, the vote.
Measured time_whole_call(const Settings& settings, const Device& device, const Points& points,
                         const Question& question, const workloads::Answer& right);

/// Explains why sequential programs may find another class than kith.
inline constexpr const char* about_ties =
    "points are whole numbers 0 .. 99, uniform, so many lie equally far away; kith takes the first of them, "
    "a sort of (distance, class) pairs whichever it happens to meet, so classes may differ, distances not";

}  // namespace kith::experiments
