// Draws samples of the connections of KDD Cup 1999.
#include <algorithm>

#include "kith/error.hpp"
#include "kith/evaluation.hpp"
#include "lab/experiments/gsknn/gsknn_kdd_data.hpp"
#include "workloads/random.hpp"

namespace kith::experiments::kdd {
namespace {

using workloads::Random;

/// Shuffles as Fisher and Yates do, from the last place to the first.
void shuffle(std::vector<std::int64_t>& list, Random& random) {
  for (std::size_t i = list.size(); i > 1; --i)
    std::swap(list[i - 1], list[static_cast<std::size_t>(random.below(static_cast<std::int64_t>(i)))]);
}

/// Holds the rows of a name; next ... end - 1 may still be dealt.
struct Hand {
  std::vector<std::int64_t> rows;
  std::size_t next = 0, end = 0;

  bool empty() const { return next == end; }
};

/// Returns the names of each class, ascending.
std::vector<std::vector<std::int64_t>> names_of_classes(const Connections& all) {
  std::vector<std::vector<std::int64_t>> names(class_names.size());
  for (std::size_t name = 0; name < all.names.size(); ++name)
    names[static_cast<std::size_t>(all.class_of_name[name])].push_back(static_cast<std::int64_t>(name));
  return names;
}

class Dealer {
 public:
  Dealer(const Connections& all, std::uint64_t seed)
      : all_(all), random_(seed), hands_(all.names.size()), names_(names_of_classes(all)) {
    for (std::int64_t row = 0; row < all.rows(); ++row) hand(all.name_of(row)).rows.push_back(row);
    for (Hand& hand : hands_) shuffle(hand.rows, random_);
  }

  Draw deal(const Sizes& sizes) {
    Draw draw;
    draw.unknown = choose_unknown();
    for (std::size_t name = 0; name < hands_.size(); ++name) {
      const auto number = static_cast<std::int64_t>(name);
      const std::size_t rows = hands_[name].rows.size();
      hands_[name].end = all_.class_of_name[name] == normal ? rows : draw.knows(number) ? rows / 2 : 0;
    }
    take({normal}, sizes.train_normal, "normal connections to learn from", draw.train);
    take(attacks, sizes.train_attacks, "attacks to learn from", draw.train);
    for (Hand& hand : hands_) hand.end = hand.rows.size();
    take({normal}, sizes.test_normal, "normal connections to be classified", draw.test);
    take(attacks, sizes.test_attacks, "attacks to be classified", draw.test);
    return draw;
  }

 private:
  inline static const std::vector<std::size_t> attacks = {1, 2, 3, 4};

  Hand& hand(std::int64_t name) { return hands_[static_cast<std::size_t>(name)]; }

  std::vector<std::int64_t> choose_unknown() {
    std::vector<std::int64_t> unknown;
    for (const std::size_t c : attacks) {
      std::vector<std::int64_t> names = names_[c];
      if (names.size() < 2) continue;
      shuffle(names, random_);
      const auto count = static_cast<std::ptrdiff_t>(std::max<std::size_t>(1, names.size() / 4));
      unknown.insert(unknown.end(), names.begin(), names.begin() + count);
    }
    std::sort(unknown.begin(), unknown.end());
    return unknown;
  }

  /// Returns the next row of a class, and moves `turn` to the name after it. -1: there is none.
  std::int64_t next(std::size_t c, std::size_t& turn) {
    const std::vector<std::int64_t>& names = names_[c];
    for (std::size_t tried = 0; tried < names.size(); ++tried) {
      Hand& from = hand(names[turn++ % names.size()]);
      if (!from.empty()) return from.rows[from.next++];
    }
    return -1;
  }

  void take(const std::vector<std::size_t>& classes, std::int64_t count, const std::string& what,
            std::vector<std::int64_t>& to) {
    std::vector<std::size_t> turns(classes.size());
    std::int64_t taken = 0;
    for (std::int64_t before = -1; taken < count && before != taken;) {
      before = taken;
      for (std::size_t i = 0; i < classes.size() && taken < count; ++i) {
        const std::int64_t row = next(classes[i], turns[i]);
        if (row < 0) continue;
        to.push_back(row);
        ++taken;
      }
    }
    if (taken < count)
      throw Error(Errc::bad_file, "gsknn-kdd: " + all_.table.path + ": only " + std::to_string(taken) + " " +
                                      what + ", but the experiment takes " + std::to_string(count) +
                                      "; give all of kddcup.data_10_percent.gz");
  }

  const Connections& all_;
  Random random_;
  std::vector<Hand> hands_;  ///< [names]
  std::vector<std::vector<std::int64_t>> names_;
};

}  // namespace

bool Draw::knows(std::int64_t name) const {
  return !std::binary_search(unknown.begin(), unknown.end(), name);
}

Draw draw(const Connections& all, const Sizes& sizes, std::uint64_t seed) {
  return Dealer(all, seed).deal(sizes);
}

Halves halves(const Connections& all, std::int64_t every, std::uint64_t seed) {
  std::vector<std::int64_t> rows, names, met(all.names.size());
  for (std::int64_t row = 0; row < all.rows(); ++row) {
    const std::int64_t name = all.name_of(row);
    if (met[static_cast<std::size_t>(name)]++ % every != 0) continue;
    rows.push_back(row);
    names.push_back(name);
  }
  const std::vector<std::int64_t> folds = stratified_folds(names, 2, seed);
  Halves halves;
  for (std::size_t i = 0; i < rows.size(); ++i)
    (folds[i] == 0 ? halves.train : halves.test).push_back(rows[i]);
  return halves;
}

}  // namespace kith::experiments::kdd
