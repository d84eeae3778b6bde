// GS_KNN's Table 2: attacks among the connections of KDD Cup 1999.
#include "lab/experiments/gsknn/gsknn_kdd.hpp"

namespace kith::experiments {
namespace {

void describe(const Settings& settings, Result& result) {
  result.title = "GS_KNN: attacks among the connections of a network";
  result.paper = "Liu, Zheng, Liu: GS_KNN, Journal of Chinese Computer Systems 40(6), 2019, Table 2";
  result.hardware = "GTX 750 Ti";
  result.explanation = {
      "KDD Cup 1999 is a log of network connections, 41 columns each, 3 of them text; most are attacks. "
      "Table 2 "
      "learns from 4900 normal connections and 100 attacks and classifies 500 others, half of them attacks, "
      "of "
      "all four classes and some of a name that no training row has. That is done ten times with other rows, "
      "for several k: how many attacks are detected, and how many normal connections raise a false alarm? "
      "The paper finds nearly the same rates on a GPU and on the CPU. Here every label must be the same.",
      "Then the whole file: one half of all its rows classified by the other half, in five classes."};
  const std::string first = std::to_string(settings.seed),
                    last = std::to_string(settings.seed +
                                          static_cast<std::uint64_t>(kdd::draws_of(settings)) - 1);
  result.assumed = {
      "text columns are one-hot; a text that no training row has is 0 in all of its columns",
      "columns are standardised, then scaled to 0 ... 1, both by the training rows alone; test rows may lie "
      "outside. In exact numbers the second alone would give the same; both are done since the paper says so",
      "training rows have two labels, normal and attack; a tie of votes goes to normal",
      "the 500 are 250 normal connections and 250 attacks",
      "attacks are dealt, those to learn from and then those to classify: the four classes in turn, in each "
      "class its names in turn, as long as they have rows. Training takes at most half the rows of a name. "
      "So "
      "a class with few rows (u2r has 52) is not lost beside smurf, which is more than half of the file",
      "unknown attacks: of each class a quarter of its names, at least one, have no training row",
      "rows are drawn by shuffles of Fisher and Yates with SplitMix64; the seeds of the draws are " + first +
          " to " + last,
      "no row is drawn twice, but the file holds many rows that are equal; they count as different ones",
      "all rows: those of each of the 23 labels are shuffled and dealt to the two halves in turn, seed " +
          first};
}

}  // namespace

Result gsknn_kdd(const Settings& settings) {
  Result result;
  describe(settings, result);
  tell(settings, "reading " + settings.data);
  const kdd::Connections all = kdd::read(settings.data, settings.stop);
  kdd::classify_samples(settings, all, result);
  kdd::classify_whole(settings, all, result);
  return result;
}

}  // namespace kith::experiments
