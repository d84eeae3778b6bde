// Reads KDD Cup 1999, which has connections of a network, normal ones and attacks, and draws samples of them.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

#include "files/table.hpp"

namespace kith::experiments::kdd {

/// Names normal connections and the four classes of attacks, in the order of their codes.
inline constexpr std::array<std::string_view, 5> class_names = {"normal", "dos", "probe", "r2l", "u2r"};
inline constexpr std::int64_t normal = 0;

/// Returns the code of the class of a label such as `smurf` or `smurf.`; -1: it is none of the 23.
std::int64_t class_of(std::string_view label);

/// Holds the rows of the file.
struct Connections {
  files::Table table;                       ///< 41 columns; three of them text, as categories
  std::vector<std::string> names;           ///< names of the labels that occur, without their dot
  std::vector<std::int64_t> class_of_name;  ///< codes

  std::int64_t rows() const { return table.rows; }
  std::int64_t name_of(std::int64_t row) const { return table.labels.code[static_cast<std::size_t>(row)]; }
  std::int64_t class_of(std::int64_t row) const {
    return class_of_name[static_cast<std::size_t>(name_of(row))];
  }
};

/// Throws what read() throws if the file was not named or is missing.
void check_data(const std::string& path);

/// Reads kddcup.data or a part of it, plain or .gz.
/// Throws invalid_argument: no file was named.
///        bad_file:         it is missing, or not what it should be. Both say where to get it.
Connections read(const std::string& path, std::stop_token stop = {});

/// Says how many rows of each kind Table 2 takes.
struct Sizes {
  std::int64_t train_normal = 4900, train_attacks = 100, test_normal = 250, test_attacks = 250;
};

/// Holds one sample of the rows, in which no row occurs twice.
struct Draw {
  std::vector<std::int64_t> train, test;  ///< rows of the file, normal ones first
  std::vector<std::int64_t> unknown;      ///< names of attacks that `train` has none of, ascending

  bool knows(std::int64_t name) const;
};

/// Draws a sample, which `seed` alone decides. A quarter of the names of each class of attacks, at least one
/// if there are several, is kept out of the training rows. Attacks are dealt: from the classes in turn, and
/// in each class from its names in turn, as long as they have rows; training takes at most half of the rows
/// of a name. Throws bad_file: there are too few rows.
Draw draw(const Connections& all, const Sizes& sizes, std::uint64_t seed);

/// Holds two halves of the rows, with the same share of each name.
struct Halves {
  std::vector<std::int64_t> train, test;  ///< rows of the file, ascending
};

/// every  takes each `every`-th row of a name, from its first
Halves halves(const Connections& all, std::int64_t every, std::uint64_t seed);

/// Holds rows as they are searched: text is one-hot, columns are standardised, then min-max scaled. All of
/// this is learned from `train`.
struct Prepared {
  std::vector<float> train, test;  ///< [rows, width]
  std::int64_t width = 0;
};
Prepared prepare(const Connections& all, std::span<const std::int64_t> train,
                 std::span<const std::int64_t> test);

}  // namespace kith::experiments::kdd
