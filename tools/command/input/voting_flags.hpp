// --votes: how neighbours vote.
#pragma once

#include <string>
#include <vector>

#include "command/shared/command.hpp"
#include "command/words/keys.hpp"
#include "files/table.hpp"
#include "kith/labels.hpp"
#include "kith/voting.hpp"

namespace kith::command {

struct VotingFlags {
  std::string weights = "uniform";
  std::vector<std::string> rank_weights;
  std::string tie = "smallest_label";
  std::vector<std::string> priors;  ///< LABEL:P
  std::string costs;                ///< FILE
  files::FileOptions reading;       ///< of that file
};

/// Adds --votes with the keys for the weight of a vote, also for a regression, and then `more`.
void add_weight_options(CLI::App& app, VotingFlags& flags, const std::vector<Key>& more);

/// Adds the same, with the keys that decide between classes before `more`.
void add_voting_options(CLI::App& app, VotingFlags& flags, const std::vector<Key>& more = {});

/// Returns the options that these flags stand for, all but no_label.
///   labels   of the training rows; null if there are none: then priors and costs cannot be given
///   classes  their codes, ascending, once each
///   k        number of neighbours that vote, for the length of rank-weights; 0 if unknown
/// Throws invalid_argument: a name, number or length does not fit. bad_file: the costs cannot be read.
VotingOptions voting_options(const std::string& where, const VotingFlags& flags, const files::Labels* labels,
                             const std::vector<std::int64_t>& classes, std::int64_t k);

}  // namespace kith::command
