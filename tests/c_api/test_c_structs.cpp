// Tests kith.h with structs of callers that were compiled with another version of it.
#include "c_api/c_structs.hpp"
#include "c_api/c_support.hpp"

namespace kith::tests::test_c_structs {
namespace {

using namespace c;

/// Imitates a struct of a newer kith.h: the known fields, and more bytes after them.
template <class Struct>
struct Longer {
  Struct known;
  unsigned char more[16] = {};

  Longer() : known(kith_sized<Struct>()) { known.size = sizeof *this; }
};

/// Passes `call` the struct as a newer and as an older kith.h has it, and one that was never set up.
template <class Struct, class Call>
void check_versions(const Call& call) {
  Longer<Struct> longer;
  CHECK(longer.known.size == sizeof longer);
  CHECK(told(call(&longer.known)) == "ok");
  for (unsigned char& byte : longer.more) {
    CAPTURE(&byte - longer.more);
    byte = 1;
    CHECK(call(&longer.known) == KITH_UNSUPPORTED);
    CHECK(std::string(kith_last_error()).find("; leave them so, or use a newer kith") != std::string::npos);
    byte = 0;
  }
  longer.more[15] = 1;
  constexpr std::uint64_t first_size = c_api::Known<Struct>::first_size;
  longer.known.size = first_size;
  CHECK(told(call(&longer.known)) == "ok");
  for (const std::uint64_t size : {std::uint64_t{0}, std::uint64_t{8}, first_size - 8, ~std::uint64_t{0}}) {
    longer.known.size = size;
    CHECK(call(&longer.known) == KITH_INVALID_ARGUMENT);
    CHECK(std::string(kith_last_error()).find(".size is " + std::to_string(size) + ", which it never was") !=
          std::string::npos);
  }
}

TEST_CASE("c: structs of newer and older headers") {
  const Scene scene;
  std::vector<std::int64_t> label(4);
  kith_device_info device_info;
  const auto predict = [&](const kith_vote_options* vote) {
    return kith_classifier_predict(scene.voter.get(), &scene.rows, 1, vote, nullptr, label.data());
  };
  check_versions<kith_search_options>(
      [&](kith_search_options* options) { return scene.search(scene.rows, options); });
  check_versions<kith_vote_options>([&](kith_vote_options* vote) { return predict(vote); });
  check_versions<kith_rows>([&](kith_rows* rows) {
    rows->data = scene.rows.data;
    rows->rows = 4;
    rows->cols = 2;
    return scene.search(*rows);
  });
  check_versions<kith_index_options>([&](kith_index_options* options) {
    kith_index* index = nullptr;
    const kith_status status = kith_index_new(scene.on.get(), &scene.rows, options, &index);
    kith_index_free(index);
    return status;
  });
  check_versions<kith_index_options>([&](kith_index_options* options) {
    kith_classifier* voter = nullptr;
    const kith_status status =
        kith_classifier_new(scene.on.get(), &scene.rows, scene.labels.data(), 1, nullptr, options, &voter);
    kith_classifier_free(voter);
    return status;
  });
  check_versions<kith_preparation_options>([&](kith_preparation_options* options) {
    kith_preparation* preparation = nullptr;
    const kith_status status = kith_preparation_new(&scene.rows, options, &preparation);
    kith_preparation_free(preparation);
    return status;
  });
  check_versions<kith_classification>([&](kith_classification* answer) {
    return kith_classifier_classify(scene.voter.get(), &scene.rows, 1, nullptr, nullptr, 1, &answer);
  });
  // The library writes no farther than the caller's struct extends.
  Longer<kith_device_info> longer;
  CHECK(told(kith_device_describe(scene.on.get(), &longer.known)) == "ok");
  CHECK(longer.known.size == sizeof longer);
  CHECK(std::string(longer.known.spec) == "cpu");
  CHECK(longer.more[0] == 0);
  device_info.size = 8;
  CHECK(kith_device_describe(scene.on.get(), &device_info) == KITH_INVALID_ARGUMENT);
}

TEST_CASE("c: a struct of an older header is filled to its end, and keeps its size") {
  const Scene scene;
  kith_index_info whole = KITH_INIT(kith_index_info);
  REQUIRE(told(kith_index_describe(scene.index.get(), &whole)) == "ok");
  constexpr std::uint64_t first_size = c_api::Known<kith_index_info>::first_size;
  for (std::uint64_t size = first_size; size <= sizeof whole; size += 8) {
    CAPTURE(size);
    kith_index_info older;
    std::memset(&older, 0xAB, sizeof older);
    std::memset(&older, 0, size);
    older.size = size;
    REQUIRE(told(kith_index_describe(scene.index.get(), &older)) == "ok");
    CHECK(older.size == size);
    whole.size = size;
    CHECK(std::memcmp(&older, &whole, size) == 0);
    const auto* const bytes = reinterpret_cast<const unsigned char*>(&older);
    for (std::uint64_t at = size; at < sizeof older; ++at) CHECK(bytes[at] == 0xAB);
  }
}

TEST_CASE("c: what KITH_INIT sets up is its size and zeros, which are the defaults") {
  const Scene scene;
  const kith_search_options options = KITH_INIT(kith_search_options);
  kith_search_options zeros;
  std::memset(&zeros, 0, sizeof zeros);
  zeros.size = sizeof zeros;
  CHECK(options.size == sizeof zeros);
  CHECK(told(scene.search(scene.rows, &options)) == "ok");
  CHECK(told(scene.search(scene.rows, &zeros)) == "ok");
}

}  // namespace
}  // namespace kith::tests::test_c_structs
