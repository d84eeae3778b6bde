// Searches whose launches frames.py watches: plain, and of rows that stay in a Source. What a first search
// makes and proves is there already, for the same search runs once before.
#include <cstdint>
#include <cstdio>
#include <string>
#include <vector>

#include "kith/kith.hpp"

extern "C" {
/// A debugger stops here: the search that counts begins, and ends.
[[gnu::noinline]] void kith_search_begins() {
  std::fflush(stdout);
}
[[gnu::noinline]] void kith_search_ended() {
  std::fflush(stdout);
}
}

namespace {

constexpr std::int64_t rows = 4096, dims = 32, queries = 128, k = 5;

/// Makes numbers, few of which are equal.
std::vector<float> values(std::int64_t count) {
  std::vector<float> some;
  std::uint32_t state = 1;
  for (std::int64_t i = 0; i < count; ++i) {
    state = state * 1664525u + 1013904223u;
    some.push_back(static_cast<float>(state >> 8) / 65536.0f);
  }
  return some;
}

kith::Index index_of(const std::string& kind, const kith::Device& device, const kith::RowsView& train) {
  if (kind == "plain") return {device, train};
  kith::IndexOptions options{.residence = kith::Residence::stream, .chunk_rows = rows / 8};
  return {device, kith::memory_source(train), kith::default_metric, options};
}

}  // namespace

/// Arguments: `plain` or `streamed`, and a device or a set of them.
int main(int, char** arguments) try {
  const std::vector<float> train = values(rows * dims), asked = values(queries * dims);
  const kith::Index index =
      index_of(arguments[1], kith::open_device(arguments[2]), {train.data(), kith::Element::f32, rows, dims});
  const kith::RowsView given(asked.data(), kith::Element::f32, queries, dims);
  kith::SearchOptions options{.proposer = kith::Proposer::none};
  kith::Neighbors found = index.search(given, k, options);
  kith_search_begins();
  found = index.search(given, k, options);
  kith_search_ended();
  return found.queries == queries ? 0 : 1;
} catch (const std::exception& error) {
  std::fprintf(stderr, "%s\n", error.what());
  return 1;
}
