// kith.h: after rows were added and removed, answers equal those of kith.hpp.
#include "c_api/c_support.hpp"

namespace kith::tests {
namespace {

using namespace c;
using Numbers = std::vector<std::int64_t>;

Neighbors found_in(const kith_index* index, const Matrix& queries, std::int64_t k) {
  const kith_rows rows = rows_of(queries);
  Neighbors found{queries.rows, k, std::vector<float>(size(queries.rows * k)),
                  Numbers(size(queries.rows * k))};
  CHECK(told(kith_index_search(index, &rows, k, nullptr, found.distance.data(), found.row.data())) == "ok");
  return found;
}

TEST_SUITE_BEGIN("device");

TEST_CASE("c: rows of an index come and go, under numbers that stay") {
  const OpenDevice on = opened();
  const Matrix train = matrix(1, {5, 1, 2, 1}), zero = matrix(1, {0});
  const kith_rows rows = rows_of(train), one = rows_of(zero);
  const std::int64_t ids[] = {40, 7, 30, 90}, gone[] = {7}, next[] = {700};
  kith_index_options options = KITH_INIT(kith_index_options);
  options.metric = "l1";
  options.ids = ids;
  options.ids_count = 4;
  const Rows index = made<Rows>([&](auto** out) { return kith_index_new(on.get(), &rows, &options, out); });
  const Rows fewer = made<Rows>([&](auto** out) { return kith_index_without(index.get(), gone, 1, out); });
  const Rows packed = made<Rows>([&](auto** out) { return kith_index_compact(fewer.get(), out); });
  const Rows more = made<Rows>([&](auto** out) { return kith_index_with(packed.get(), &one, next, out); });
  CHECK(found_in(index.get(), zero, 3) == Neighbors{1, 3, {1, 1, 2}, {7, 90, 30}});
  CHECK(found_in(fewer.get(), zero, 3) == Neighbors{1, 3, {1, 2, 5}, {90, 30, 40}});
  CHECK(found_in(packed.get(), zero, 3) == found_in(fewer.get(), zero, 3));
  CHECK(found_in(more.get(), zero, 2) == Neighbors{1, 2, {0, 1}, {700, 90}});
  kith_index_info info = KITH_INIT(kith_index_info);
  REQUIRE(told(kith_index_describe(more.get(), &info)) == "ok");
  CHECK(info.rows == 4);
  CHECK(info.next_row == 701);
  CHECK(info.positions == 5);
  Numbers numbers(4);
  CHECK(told(kith_index_numbers(more.get(), numbers.data())) == "ok");
  CHECK(numbers == Numbers{30, 40, 90, 700});
  kith_index* none = nullptr;
  CHECK(told(kith_index_without(fewer.get(), gone, 1, &none)) ==
        "2: index: there is no row 7 to remove, or it was removed before; name rows that "
        "are there, of which the next would be 91");
  std::uint32_t words = 0;
  const std::int64_t last[] = {4};
  CHECK(told(kith_filter_of(info.positions, last, 1, &words)) == "ok");
  kith_search_options how = KITH_INIT(kith_search_options);
  how.filter = &words;
  how.filter_rows = 1;
  std::int64_t row = 0;
  CHECK(told(kith_index_search(more.get(), &one, 1, &how, nullptr, &row)) == "ok");
  CHECK(row == 700);
}

TEST_CASE("c: rows of a classifier and of a regressor come and go") {
  const OpenDevice on = opened();
  const Matrix train = matrix(1, {0, 1, 2, 3}), zero = matrix(1, {0});
  const kith_rows rows = rows_of(train), one = rows_of(zero);
  const Numbers labels = {7, 7, 9, 9};
  const std::int64_t gone[] = {1, 0};
  const std::vector<double> values = {1, 2, 4, 8};
  const Voter voter = made<Voter>([&](auto** out) {
    return kith_classifier_new(on.get(), &rows, labels.data(), 1, nullptr, nullptr, out);
  });
  const Voter fewer =
      made<Voter>([&](auto** out) { return kith_classifier_without(voter.get(), gone, 2, out); });
  const Voter packed = made<Voter>([&](auto** out) { return kith_classifier_compact(fewer.get(), out); });
  for (const kith_classifier* at : {fewer.get(), packed.get()}) {
    std::int64_t label = 0;
    CHECK(told(kith_classifier_predict(at, &one, 2, nullptr, nullptr, &label)) == "ok");
    CHECK(label == 9);
  }
  const Averager averager = made<Averager>([&](auto** out) {
    return kith_regressor_new(on.get(), &rows, values.data(), 1, nullptr, nullptr, out);
  });
  const Averager rest =
      made<Averager>([&](auto** out) { return kith_regressor_without(averager.get(), gone, 2, out); });
  const Averager tight = made<Averager>([&](auto** out) { return kith_regressor_compact(rest.get(), out); });
  const double ten = 10;
  const Averager longer = made<Averager>(
      [&](auto** out) { return kith_regressor_with(tight.get(), &one, &ten, nullptr, nullptr, out); });
  double value = 0;
  Numbers row(2);
  CHECK(told(kith_regressor_predict(rest.get(), &one, 2, nullptr, nullptr, &value, nullptr, row.data())) ==
        "ok");
  CHECK(value == 6);
  CHECK(row == Numbers{2, 3});
  CHECK(told(kith_regressor_predict(longer.get(), &one, 2, nullptr, nullptr, &value, nullptr, row.data())) ==
        "ok");
  CHECK(value == 7);
  CHECK(row == Numbers{4, 2});
}

TEST_CASE("c: answers go where the ids of their rows go") {
  const OpenDevice on = opened();
  const Matrix train = matrix(1, {3, 1, 2, 1}), zero = matrix(1, {0}), two = matrix(1, {0, 0});
  const kith_rows rows = rows_of(train), one = rows_of(zero), more = rows_of(two);
  const Numbers labels = {5, 6, 7, 8};
  const std::vector<double> values = {1, 2, 4, 8};
  const std::int64_t ids[] = {40, 70, 8, 9}, later[] = {90, 80};
  kith_index_options options = KITH_INIT(kith_index_options);
  options.metric = "l1";
  options.ids = ids;
  options.ids_count = 4;
  const Voter voter = made<Voter>([&](auto** out) {
    return kith_classifier_new(on.get(), &rows, labels.data(), 1, nullptr, &options, out);
  });
  const Voter voters = made<Voter>([&](auto** out) {
    return kith_classifier_with(voter.get(), &more, labels.data(), nullptr, later, out);
  });
  std::int64_t label = 0;
  CHECK(told(kith_classifier_predict(voter.get(), &one, 1, nullptr, nullptr, &label)) == "ok");
  CHECK(label == 8);
  CHECK(told(kith_classifier_predict(voters.get(), &one, 1, nullptr, nullptr, &label)) == "ok");
  CHECK(label == 6);
  const Averager averager = made<Averager>([&](auto** out) {
    return kith_regressor_new(on.get(), &rows, values.data(), 1, nullptr, &options, out);
  });
  const Averager longer = made<Averager>([&](auto** out) {
    return kith_regressor_with(averager.get(), &more, values.data(), nullptr, later, out);
  });
  double value = 0;
  Numbers row(2);
  CHECK(told(kith_regressor_predict(averager.get(), &one, 2, nullptr, nullptr, &value, nullptr,
                                    row.data())) == "ok");
  CHECK(value == 5);
  CHECK(row == Numbers{9, 70});
  CHECK(told(kith_regressor_predict(longer.get(), &one, 1, nullptr, nullptr, &value, nullptr, row.data())) ==
        "ok");
  CHECK(value == 2);
  CHECK(row[0] == 80);
  options.ids_count = 3;
  kith_regressor* none = nullptr;
  CHECK(told(kith_regressor_new(on.get(), &rows, values.data(), 1, nullptr, &options, &none)) ==
        "2: index: 3 ids for 4 rows; give one a row, or none");
}

TEST_CASE("c: rows of bytes go to room that was reserved for them") {
  const OpenDevice on = opened();
  std::vector<unsigned char> bytes(20 * 16);
  for (std::size_t i = 0; i < bytes.size(); ++i) bytes[i] = static_cast<unsigned char>(i * 37 % 251);
  const auto rows_at = [&](std::int64_t first, std::int64_t count) {
    kith_rows rows = KITH_INIT(kith_rows);
    rows.data = bytes.data() + first * 16;
    rows.element = KITH_U8;
    rows.rows = count;
    rows.cols = rows.stride_bytes = 16;
    return rows;
  };
  const kith_rows all = rows_at(0, 20), some = rows_at(0, 3), rest = rows_at(3, 17);
  kith_index_options options = KITH_INIT(kith_index_options);
  const Rows whole = made<Rows>([&](auto** out) { return kith_index_new(on.get(), &all, &options, out); });
  options.reserve = 20;
  const Rows index = made<Rows>([&](auto** out) { return kith_index_new(on.get(), &some, &options, out); });
  const Rows grown =
      made<Rows>([&](auto** out) { return kith_index_with(index.get(), &rest, nullptr, out); });
  const Matrix queries{2, 16, std::vector<float>(32, 90)};
  CHECK(found_in(grown.get(), queries, 20) == found_in(whole.get(), queries, 20));
  kith_index* none = nullptr;
  for (const std::int64_t reserve : {std::int64_t{-1}, std::int64_t{4294967295}}) {
    options.reserve = reserve;
    CHECK(told(kith_index_new(on.get(), &all, &options, &none)) ==
          "2: index: reserve = " + std::to_string(reserve) + "; choose from 0 to 4294967294");
  }
}

TEST_SUITE_END();

}  // namespace
}  // namespace kith::tests
