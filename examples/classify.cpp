// Gives new rows the labels of their nearest rows, shows the shares of the classes, and compares several k.
#include <cstdio>
#include <kith/kith.hpp>
#include <vector>

int main() {
  const std::vector<float> train = {1, 1, 2, 1, 1, 3, 6, 6, 7, 5, 6, 4};  // [6, 2]
  const std::vector<std::int64_t> labels = {10, 10, 10, 20, 20, 20};
  const std::vector<float> queries = {1, 2, 5, 5, 4, 4};  // [3, 2]
  const kith::Classifier classifier(kith::open_device(), {train.data(), 6, 2}, labels);

  for (const std::int64_t label : classifier.predict({queries.data(), 3, 2}, 3))
    std::printf("label %d\n", static_cast<int>(label));

  // A near neighbour weighs more than a far one.
  const kith::VotingOptions by_distance = {.weights = kith::Weights::distance};
  const std::vector<double> shares = classifier.predict_proba({queries.data(), 3, 2}, 5, by_distance);
  for (std::size_t q = 0; q < 3; ++q)
    std::printf("shares of 10 and 20: %.3f %.3f\n", shares[2 * q], shares[2 * q + 1]);

  // One search for the largest k answers for all smaller ones.
  const std::vector<std::int64_t> ks = {1, 3, 5};
  const kith::Sweep sweep = classifier.sweep({queries.data(), 3, 2}, ks);
  for (std::size_t i = 0; i < ks.size(); ++i)
    std::printf("k = %d: the last query is %d\n", static_cast<int>(ks[i]),
                static_cast<int>(sweep.label[i][2]));
}
//> label 10
//> label 20
//> label 20
//> shares of 10 and 20: 0.888 0.112
//> shares of 10 and 20: 0.181 0.819
//> shares of 10 and 20: 0.337 0.663
//> k = 1: the last query is 20
//> k = 3: the last query is 20
//> k = 5: the last query is 20
