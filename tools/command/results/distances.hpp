// The neighbours that were found, whose distances are float32 or float64.
#pragma once

#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "command/input/training.hpp"
#include "command/shared/output_file.hpp"
#include "kith/neighbors.hpp"

namespace kith::command {

/// Calls use(distances), with the vector of the arithmetic of `found`: Neighbors or RadiusNeighbors.
template <class Found, class Use>
auto with_distances(Found&& found, Use&& use) {
  return found.arithmetic == Arithmetic::f64 ? use(found.distance64) : use(found.distance);
}

/// Returns the distance at a place in `found.row`, whatever its width.
inline double distance_at(const RadiusNeighbors& found, std::size_t at) {
  return with_distances(found, [at](const auto& all) { return static_cast<double>(all[at]); });
}

/// Writes it with the shortest digits that give the same bits.
std::string distance_text(const RadiusNeighbors& found, std::size_t at);

/// Returns why distances that go to this file are floats, as TrainingFlags::single says it; or nothing.
///   option  that names the file
std::string why_single(const std::string& option, const std::string& path, const OutputFlags& output);

/// Throws invalid_argument: the file holds float32 alone, and distances from these rows are doubles.
void check_distance_file(const std::string& where, const std::string& path, const OutputFlags& output,
                         const Training& training);

/// Makes the answers of the searched rows those of all rows of the table, as Rows::spread(), and numbers
/// neighbours as their file does. Rows that were not searched get no_neighbor, and NaN.
void spread(const Rows& asked, const Training& training, Neighbors& found);

/// Notes queries with neighbours at an infinite distance: these neighbours are in order of row, since none of
/// them is nearer than another.
///   asked  "--query" or the name of a file, for the message
void note_overflow(const RadiusNeighbors& found, const std::string& asked);

/// Writes a table of the neighbours of the queries: rank, training row (its number in its file), distance and
/// answers; a sentence if there are no neighbours.
///   titles  the headings of the answers
///   answer  returns the text for a training row and a place in titles
std::string neighbor_table(const RadiusNeighbors& found, std::int64_t q, const Training& training,
                           const std::vector<std::string>& titles,
                           const std::function<std::string(std::size_t row, std::size_t column)>& answer);

/// Converts lists of equal length to lists of any length.
RadiusNeighbors as_lists(Neighbors&& found);
/// Does the same without the places that hold no row, so that lists may be shorter.
RadiusNeighbors lists_of_rows(Neighbors&& found);

}  // namespace kith::command
