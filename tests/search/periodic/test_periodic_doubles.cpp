// Tests an Index in a periodic box in double precision: docs/contract.md, section 3.
#include <cmath>

#include "common/data_files.hpp"
#include "kith/index_file.hpp"
#include "search/periodic/boxed.hpp"

namespace kith::tests {
namespace {

using data_files::Folder;

TEST_SUITE_BEGIN("device");

/// Returns the chain in double precision of values that are moved into the box first.
double double_chain_in_box(Metric metric, const double* query, const double* row, const Lengths& box) {
  const auto moved = [](double x, double length) {
    if (length == 0) return x;
    const double rest = std::fmod(x, length), inside = rest < 0 ? rest + length : rest;
    return inside >= length ? 0 : inside;
  };
  double s = 0;
  for (std::size_t d = 0; d < box.size(); ++d) {
    double t = std::fabs(moved(query[d], box[d]) - moved(row[d], box[d]));
    if (box[d] > 0) t = std::min(t, box[d] - t);
    s = metric == Metric::l1 ? s + t : metric == Metric::linf ? std::max(s, t) : std::fma(t, t, s);
  }
  return s;
}

/// Checks all searches in double precision of `of`, whose rows are near each other by less than floats tell.
void check_doubles(const Boxed& of, const Index& index) {
  REQUIRE(index.arithmetic() == Arithmetic::f64);
  Neighbors right{of.m(), 6, {}, {}, Arithmetic::f64, {}};
  std::vector<std::int64_t> counts;
  for (std::int64_t q = 0; q < of.m(); ++q) {
    std::vector<std::pair<double, std::int64_t>> list;
    for (std::int64_t t = 0; t < of.n(); ++t)
      list.emplace_back(double_chain_in_box(of.metric, of.queries.data() + q * of.dims(),
                                            of.train.data() + t * of.dims(), of.box),
                        t);
    std::sort(list.begin(), list.end());
    const auto shown = [&](double value) { return of.metric == Metric::l2 ? std::sqrt(value) : value; };
    for (std::size_t i = 0; i < 6; ++i) {
      right.distance64.push_back(shown(list[i].first));
      right.row.push_back(list[i].second);
    }
    const double radius = of.box[0] / 8;
    counts.push_back(
        std::count_if(list.begin(), list.end(), [&](const auto& one) { return shown(one.first) <= radius; }));
  }
  const Neighbors found = index.search(of.asked(), 6);
  CHECK(found.row == right.row);
  CHECK(found.distance64 == right.distance64);
  const std::vector<double> radius{of.box[0] / 8};
  CHECK(index.count(of.asked(), {.radius = {radius.data(), 1, 1}}) == counts);
  const RadiusNeighbors near = index.within(of.asked(), radius);
  for (std::size_t q = 0; q < counts.size(); ++q) CHECK(near.first[q + 1] - near.first[q] == counts[q]);
}

TEST_CASE("periodic: doubles have the bits of the chain of doubles, at any scale") {
  for (const Metric metric : box_metrics)
    for (const double scale : {1.0, 1e-30, 3e30})
      for (const int open : {0, 2, 6}) {
        CAPTURE(std::string(name(metric)));
        CAPTURE(scale);
        CAPTURE(open);
        Lengths box{10 * scale, open & 2 ? 0 : 3.7 * scale, open & 4 ? 0 : 0.1 * scale};
        Boxed of{box, spread_values(3 * 700, -7 * scale, 13 * scale, 5),
                 spread_values(3 * 12, -9 * scale, 12 * scale, 6), metric};
        for (std::size_t i = 30; i < of.train.size();
             i += 7)  // some lie nearer than floats tell, in other cells
          of.train[i] = of.train[i % 3] + 1e-10 * scale * static_cast<double>(i) +
                        box[i % 3] * static_cast<double>(i % 5);
        of.train[3] = -1e-25 * scale;
        of.train[6] = box[0] * (1 - 0x1p-40);
        const Index index(device(), of.rows(), metric, in_box(box));
        check_doubles(of, index);
        const Boxed half{box, {of.train.begin(), of.train.begin() + 600}, {}, metric};
        const MatrixView<const double> rest(of.train.data() + 600, 500, 3);
        check_doubles(of, Index(device(), half.rows(), metric, in_box(box)).with(rest));
        const Folder folder;
        save(index, folder / "a.kidx");
        const Index opened = open_index(folder / "a.kidx", device());
        CHECK(opened.box() == box);
        check_doubles(of, opened);
      }
}

TEST_SUITE_END();

}  // namespace
}  // namespace kith::tests
