// Tests rows that are added and removed in any order: answers have the bits of an index newly built of the
// rows that are left.
#include "common/asked.hpp"
#include "common/folder.hpp"
#include "common/proposers.hpp"
#include "common/sanitizers.hpp"
#include "kith/filter.hpp"
#include "kith/index.hpp"
#include "kith/index_file.hpp"
#include "kith/keys.hpp"
#include "workloads/random.hpp"

namespace kith::tests {
namespace {

using workloads::Random;

/// A run tests so many histories; KITH_HISTORIES asks for more.
constexpr std::int64_t usual_histories = sanitized() ? 60 : 300;

/// Keeps training rows by number, independently of any index.
struct Shadow {
  std::int64_t dims = 0;
  std::map<std::int64_t, std::vector<float>> rows;  ///< the existing rows
  std::vector<std::int64_t> given;                  ///< all numbers, ascending: by position

  std::int64_t next() const { return given.empty() ? 0 : given.back() + 1; }
  std::vector<std::int64_t> numbers() const {
    std::vector<std::int64_t> all;
    for (const auto& [number, row] : rows) all.push_back(number);
    return all;
  }
  Matrix matrix_of(const std::vector<std::int64_t>& numbers) const {
    Matrix some{static_cast<std::int64_t>(numbers.size()), dims, {}};
    for (const std::int64_t number : numbers)
      some.values.insert(some.values.end(), rows.at(number).begin(), rows.at(number).end());
    return some;
  }
};

/// Builds a new index of these rows, and returns its lists of k under the numbers of the rows.
Neighbors built_anew(const Shadow& shadow, const std::vector<std::int64_t>& numbers, Metric metric,
                     const Matrix& queries, std::int64_t k) {
  Neighbors wide{queries.rows, k, std::vector<float>(size(queries.rows * k), inf),
                 std::vector<std::int64_t>(size(queries.rows * k), -1)};
  const std::int64_t there = std::min(k, static_cast<std::int64_t>(numbers.size()));
  if (there == 0) return wide;
  const Neighbors found = neighbors(metric, queries, shadow.matrix_of(numbers), there);
  for (std::int64_t q = 0; q < queries.rows; ++q)
    for (std::int64_t j = 0; j < there; ++j) {
      wide.distance[size(q * k + j)] = found.distance[size(q * there + j)];
      wide.row[size(q * k + j)] = numbers[size(found.row[size(q * there + j)])];
    }
  return wide;
}

class History {
 public:
  ///   file  the path of an index file, which is replaced
  History(std::uint64_t seed, const std::vector<Proposer>& proposers, const std::string& file)
      : random_(seed), proposers_(proposers), file_(file) {
    metric_ = random_.pick({Metric::squared_l2, Metric::l2, Metric::l1, Metric::negative_dot});
    shadow_.dims = random_.between(1, 6);
    has_ids_ = random_.between(0, 3) == 0;
    const Matrix first = fresh_rows(random_.between(1, 400));
    IndexOptions options;
    if (has_ids_) options.ids = fresh_ids(first.rows);
    take(first, options.ids);
    index_.emplace(device(), first, metric_, options);
  }

  /// Changes the rows in one random way, or saves and opens them, then searches in one random way. Returns
  /// what is wrong.
  std::string step() {
    switch (random_.between(0, 5)) {
      case 0:
        add();
        break;
      case 1:
      case 2:
        remove();
        break;
      case 3:
        index_ = index_->compact();
        break;
      case 4:
        save(*index_, file_);
        index_ = open_index(file_, device());
        break;
      default:
        break;
    }
    if (index_->rows() != static_cast<std::int64_t>(shadow_.rows.size())) return "rows()";
    if (index_->next_row() != shadow_.next()) return "next_row()";
    if (index_->numbers() != shadow_.numbers()) return "numbers()";
    switch (random_.between(0, 4)) {
      case 0:
        return check_self();
      case 1:
        return check_within();
      case 2:
        return check_keys();
      default:
        return check_search();
    }
  }

 private:
  Matrix fresh_rows(std::int64_t count) {
    Matrix rows{count, shadow_.dims, {}};
    const std::int64_t values = random_.between(1, 9);  // few values: many ties
    for (std::int64_t i = 0; i < count * shadow_.dims; ++i)
      rows.values.push_back(static_cast<float>(random_.between(0, values)));
    return rows;
  }

  /// Returns unused numbers from the next one on, not in order.
  std::vector<std::int64_t> fresh_ids(std::int64_t count) {
    std::vector<std::int64_t> ids;
    std::int64_t id = shadow_.next();
    for (std::int64_t i = 0; i < count; ++i) ids.push_back(id += random_.between(1, 1 << 20));
    for (std::size_t i = ids.size(); i > 1; --i)
      std::swap(ids[i - 1], ids[size(random_.between(0, static_cast<std::int64_t>(i) - 1))]);
    return ids;
  }

  void take(const Matrix& rows, const std::vector<std::int64_t>& ids) {
    const std::int64_t next = shadow_.next();
    for (std::int64_t r = 0; r < rows.rows; ++r) {
      const std::int64_t number = ids.empty() ? next + r : ids[size(r)];
      shadow_.rows[number] = {rows.row(r).begin(), rows.row(r).end()};
      shadow_.given.push_back(number);
    }
    std::sort(shadow_.given.begin(), shadow_.given.end());
  }

  void add() {
    const Matrix rows = fresh_rows(random_.between(1, 60));
    std::vector<std::int64_t> ids;
    if (has_ids_ && random_.between(0, 1) == 0) ids = fresh_ids(rows.rows);
    index_ = index_->with(rows, ids);
    take(rows, ids);
  }

  void remove() {
    const std::int64_t one_in = random_.pick<std::int64_t>({1, 2, 10, 100});
    std::vector<std::int64_t> gone;
    for (const auto& [number, row] : shadow_.rows)
      if (random_.between(1, one_in) == 1 && gone.size() + 1 < shadow_.rows.size()) gone.push_back(number);
    const Index before = *index_;
    index_ = before.without(gone);
    for (const std::int64_t number : gone) shadow_.rows.erase(number);
  }

  SearchOptions any_options() {
    SearchOptions options;
    const std::int64_t way = random_.between(0, 3);
    const bool by_products = metric_ != Metric::l1;
    if (way == 0) options.proposer = Proposer::none;
    if (way == 1 && by_products && !proposers_.empty())
      options.proposer =
          proposers_[size(random_.between(0, static_cast<std::int64_t>(proposers_.size()) - 1))];
    if (way == 2) options.train_tile = random_.between(1, 100);
    if (random_.between(0, 2) == 0) options.query_tile = random_.between(1, 20);
    return options;
  }

  std::string check_search() {
    const Matrix queries = fresh_rows(random_.pick<std::int64_t>({1, 3, 70}));
    SearchOptions options = any_options();
    const std::int64_t k = random_.between(1, std::min<std::int64_t>(index_->rows(), 40));
    const std::int64_t filters = random_.pick<std::int64_t>({0, 1, 1, queries.rows}),
                       positions = index_->positions();
    if (filters == 0)
      return difference(index_->search(queries, k, options),
                        built_anew(shadow_, shadow_.numbers(), metric_, queries, k));
    RowFilter filter(positions, filters, false);
    const std::int64_t one_in = random_.pick<std::int64_t>({1, 2, 8, 60}), kept = random_.between(0, 1);
    for (std::int64_t f = 0; f < filters; ++f)
      for (std::int64_t p = 0; p < positions; ++p)
        filter.set(p, (random_.between(1, one_in) == 1) == (kept == 0), f);
    options.filter = filter;
    const Neighbors found = index_->search(queries, k, options);
    for (std::int64_t f = 0; f < queries.rows; ++f) {
      std::vector<std::int64_t> count;
      for (std::int64_t p = 0; p < positions; ++p)
        if (filter.counts(p, filters == 1 ? 0 : f) && shadow_.rows.contains(shadow_.given[size(p)]))
          count.push_back(shadow_.given[size(p)]);
      const Matrix query{1, queries.cols, {queries.row(f).begin(), queries.row(f).end()}};
      const Neighbors of_one{1,
                             k,
                             {found.distance.begin() + f * k, found.distance.begin() + (f + 1) * k},
                             {found.row.begin() + f * k, found.row.begin() + (f + 1) * k}};
      if (std::string wrong = difference(of_one, built_anew(shadow_, count, metric_, query, k));
          !wrong.empty())
        return "filter, query " + std::to_string(f) + ": " + wrong;
    }
    return "";
  }

  /// Asks for the neighbours of successive rows among the other rows.
  std::string check_self() {
    if (index_->rows() < 2) return "";
    const std::vector<std::int64_t> numbers = shadow_.numbers();
    const std::int64_t number = numbers[size(random_.between(0, index_->rows() - 1))];
    std::int64_t position =
        std::lower_bound(shadow_.given.begin(), shadow_.given.end(), number) - shadow_.given.begin();
    SearchOptions options = any_options();
    options.self = position;
    std::vector<std::int64_t> asked;
    while (position < index_->positions() && asked.size() < 30 &&
           shadow_.rows.contains(shadow_.given[size(position)]))
      asked.push_back(shadow_.given[size(position++)]);
    const std::int64_t k = random_.between(1, std::min<std::int64_t>(index_->rows() - 1, 20));
    const Neighbors found = index_->search(shadow_.matrix_of(asked), k, options);
    for (std::size_t q = 0; q < asked.size(); ++q) {
      std::vector<std::int64_t> others = numbers;
      std::erase(others, asked[q]);
      const auto from = static_cast<std::ptrdiff_t>(q) * k;
      const Neighbors of_one{1,
                             k,
                             {found.distance.begin() + from, found.distance.begin() + from + k},
                             {found.row.begin() + from, found.row.begin() + from + k}};
      const std::string wrong =
          difference(of_one, built_anew(shadow_, others, metric_, shadow_.matrix_of({asked[q]}), k));
      if (!wrong.empty()) return "self, query " + std::to_string(q) + ": " + wrong;
    }
    return "";
  }

  std::string check_within() {
    const Matrix queries = fresh_rows(3);
    const float radius = static_cast<float>(random_.between(0, 12));
    const RadiusNeighbors found = index_->within(queries, std::vector<float>{radius});
    const std::int64_t n = index_->rows();
    const Neighbors all = built_anew(shadow_, shadow_.numbers(), metric_, queries, n);
    RadiusNeighbors expected{queries.rows, {0}, {}, {}};
    for (std::int64_t q = 0; q < queries.rows; ++q) {
      for (std::int64_t j = q * n; j < (q + 1) * n && all.distance[size(j)] <= radius; ++j) {
        expected.distance.push_back(all.distance[size(j)]);
        expected.row.push_back(all.row[size(j)]);
      }
      expected.first.push_back(static_cast<std::int64_t>(expected.row.size()));
    }
    return found == expected ? "" : "within";
  }

  std::string check_keys() {
    const Matrix queries = fresh_rows(2);
    const std::int64_t k = random_.between(1, index_->rows() + 2);
    const Neighbors found = finish(metric_, index_->search_keys(queries, k, any_options()));
    return difference(found, built_anew(shadow_, shadow_.numbers(), metric_, queries, k));
  }

  Random random_;
  const std::vector<Proposer>& proposers_;
  const std::string& file_;
  Metric metric_ = Metric::l2;
  bool has_ids_ = false;
  Shadow shadow_;
  std::optional<Index> index_;
};

TEST_SUITE_BEGIN("device");

TEST_CASE("random: histories of rows that come and go, as an index built anew") {
  std::vector<Proposer> proposers;
  for_each_proposer([&](Proposer proposer) { proposers.push_back(proposer); });
  const test_support::TemporaryFolder folder;
  const std::string file = folder / "history.kidx";
  const std::int64_t histories = asked_number("KITH_HISTORIES", usual_histories);
  for (std::int64_t seed = 0; seed < histories; ++seed) {
    CAPTURE(seed);
    History history(static_cast<std::uint64_t>(seed), proposers, file);
    for (int step = 0; step < 8; ++step) {
      CAPTURE(step);
      REQUIRE(history.step() == "");
    }
  }
}

TEST_SUITE_END();

}  // namespace
}  // namespace kith::tests
