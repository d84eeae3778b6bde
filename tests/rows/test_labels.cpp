// Tests labels that are texts.
#include "common/device.hpp"
#include "kith/labels.hpp"

namespace kith::tests {
namespace {

using Texts = std::vector<std::string>;
using Codes = std::vector<std::int64_t>;

TEST_CASE("labels: texts become their places in the sorted list, and come back") {
  const Texts given{"pear", "apple", "pear", "", "Zebra", "apple"};
  const TextLabels labels(given);
  CHECK(labels.texts() == Texts{"", "Zebra", "apple", "pear"});
  CHECK(labels.codes(given) == Codes{3, 2, 3, 0, 1, 2});
  CHECK(labels.codes(Texts{}) == Codes{});
  for (const std::string& text : given) CHECK(labels.text(labels.codes(Texts{text})[0]) == text);
}

TEST_CASE("labels: another number is no text") {
  const TextLabels labels(Texts{"b", "a"});
  CHECK(labels.text(2) == "");
  CHECK(labels.text(-1) == "");
  const std::string unknown = "(unknown)";
  CHECK(labels.text(2, unknown) == unknown);
  CHECK(labels.text(1, unknown) == "b");
}

TEST_CASE("labels: none at all") {
  const TextLabels none;
  CHECK(none.texts().empty());
  CHECK(none.text(0) == "");
  CHECK(TextLabels(Texts{}).texts().empty());
}

TEST_CASE("labels: refuses a text that is not among them") {
  const TextLabels labels(Texts{"b", "a"});
  CHECK(error_of([&] {
          labels.codes(Texts{"a", "ab"});
        }) ==
        "invalid_argument: labels: text 1 is \"ab\", which is none of the 2 known ones; give only those");
  CHECK(error_of([&] { labels.codes(Texts{"c"}); }) ==
        "invalid_argument: labels: text 0 is \"c\", which is none of the 2 known ones; give only those");
}

TEST_CASE("labels: classes are distinct and ascend, codes are places among them") {
  const std::vector<std::int64_t> labels{7, -3, 7, 0}, classes = classes_of(labels);
  CHECK(classes == std::vector<std::int64_t>{-3, 0, 7});
  CHECK(class_codes(labels, classes) == std::vector<std::uint32_t>{2, 0, 2, 1});
  CHECK(class_codes(std::vector<std::int64_t>{-4, 1, 8}, classes) == std::vector<std::uint32_t>{3, 3, 3});
  CHECK(classes_of({}).empty());
  std::vector<std::int64_t>
      many;  // more than are collected at a time, most of them twice, in runs, out of order
  for (std::int64_t i = 0; i < 40000; ++i) many.push_back(i / 2 * 7919 % 15013 - 7000);
  std::vector<std::int64_t> expected(many);
  std::sort(expected.begin(), expected.end());
  expected.erase(std::unique(expected.begin(), expected.end()), expected.end());
  CHECK(classes_of(many) == expected);
}

}  // namespace
}  // namespace kith::tests
