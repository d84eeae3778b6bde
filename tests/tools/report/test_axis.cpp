// Tests the axes of charts.
#include "common/test.hpp"
#include "report/charts/axis.hpp"
#include "tools/report/charts.hpp"

using namespace kith::report;
using kith::tests::charts::none;

TEST_CASE("axis: numbers for the eye") {
  CHECK(number_text(262144) == "262,144");
  CHECK(number_text(1024.4) == "1,024");
  CHECK(number_text(999) == "999");
  CHECK(number_text(0.05) == "0.05");
  CHECK(number_text(3.14159) == "3.142");
  CHECK(number_text(0) == "0");
  CHECK(number_text(none) == "–");
}

TEST_CASE("axis: linear ticks are round and hold all values") {
  CHECK(linear_ticks(0, 10) == std::vector<double>{0, 2, 4, 6, 8, 10});
  CHECK(linear_ticks(0, 9.1) == std::vector<double>{0, 2, 4, 6, 8, 10});
  CHECK(linear_ticks(0, 100, 3) == std::vector<double>{0, 50, 100});
  CHECK(linear_ticks(-3, 7) == std::vector<double>{-5, 0, 5, 10});
  for (double high : {0.0, 1e-9, 0.37, 5.0, 1234.5, 7e9}) {
    CAPTURE(high);
    const std::vector<double> ticks = linear_ticks(0, high);
    CHECK(ticks.front() == 0);
    CHECK(ticks.back() >= high);
    CHECK(ticks.size() >= 2);
    CHECK(ticks.size() <= 6);
  }
}

TEST_CASE("axis: logarithmic ticks are powers of ten, with 2 and 5 where those are few") {
  CHECK(log_ticks(0.02, 300) == std::vector<double>{0.01, 0.1, 1, 10, 100, 1000});
  const std::vector<double> few = log_ticks(1.5, 30);
  CHECK(few == std::vector<double>{1, 2, 5, 10, 20, 50});
  CHECK(log_ticks(10, 20) == std::vector<double>{10, 20});
  const std::vector<double> near = log_ticks(100, 104);
  CHECK(near.front() <= 100);
  CHECK(near.back() >= 104);
  CHECK(near.size() >= 3);
  const std::vector<double> one = log_ticks(7, 7);
  CHECK(one.front() <= 7);
  CHECK(one.back() >= 7);
}

TEST_CASE("axis: a scale maps both ends, and the middle of a logarithmic one to the geometric mean") {
  const Scale linear(0, 10, false, 100, 200), log(1, 100, true, 300, 0);
  CHECK(linear(0) == 100);
  CHECK(linear(10) == 200);
  CHECK(linear(5) == 150);
  CHECK(log(1) == 300);
  CHECK(log(100) == doctest::Approx(0).epsilon(1e-9));
  CHECK(log(10) == doctest::Approx(150));
  CHECK(linear.shows(-1));
  CHECK(!log.shows(0));
  CHECK(!linear.shows(none));
}
