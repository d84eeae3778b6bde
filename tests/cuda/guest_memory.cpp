// Tests kith on a card whose memory the host program has taken: docs/contract.md, section 7.
#include <optional>
#include <string>
#include <vector>

#include "guest.hpp"

namespace kith::tests {
namespace {

constexpr std::size_t mebibyte = std::size_t{1} << 20;

std::size_t free_bytes() {
  const OnCard there(card_of_kith());
  std::size_t free = 0, total = 0;
  CUDA_OK(cudaMemGetInfo(&free, &total));
  return free;
}

/// Takes memory of kith's card until only `left` bytes are free.
class Taken {
 public:
  explicit Taken(std::size_t left) {
    const OnCard there(card_of_kith());
    for (std::size_t bytes = std::size_t{1} << 36; bytes >= mebibyte;) {
      void* block = nullptr;
      if (free_bytes() < left + bytes || cudaMalloc(&block, bytes) != cudaSuccess)
        bytes /= 2;
      else
        blocks_.push_back(block);
    }
    cudaGetLastError();
    const std::size_t free_mib = free_bytes() / mebibyte, left_mib = left / mebibyte;
    CHECK(free_mib <= left_mib + 32);
  }
  ~Taken() {
    for (void* block : blocks_) cudaFree(block);
  }
  Taken(const Taken&) = delete;
  Taken& operator=(const Taken&) = delete;

 private:
  std::vector<void*> blocks_;
};

/// Returns 96 MiB of rows. A handle keeps so much memory for the next search if the card has 2 GiB or more.
const Matrix& many_rows() {
  static const Matrix made = [] {
    Matrix rows{96 * 4096, 64, std::vector<float>(96 * mebibyte / sizeof(float))};
    std::uint32_t state = 3;
    for (float& value : rows.values)
      value = static_cast<float>((state = state * 1664525u + 1013904223u) >> 20);
    return rows;
  }();
  return made;
}

TEST_SUITE_BEGIN("device");

TEST_CASE("guest: what another handle of the card keeps is given back before memory runs out") {
  if (!has_card()) return;
  const Device other = open_device(device_spec());
  const SearchOptions plain{.proposer = Proposer::none};
  const Matrix queries = hard_rows(DataKind::integers, Set::queries, 3, 64, Metric::l2);
  const auto small = [&](const Device& handle) {
    return Index(handle, many_rows().view().slice(0, 1000), Metric::l2).search(queries, k, plain);
  };
  CHECK(small(other) == small(device()));  // loads the kernels
  spi::give_back(device().info());
  {
    const Taken all(48 * mebibyte);
    const std::string said = error_of([&] { Index(device(), many_rows(), Metric::l2); });
    CHECK(said.substr(0, said.find(' ')) == "out_of_memory:");
  }
  { const Index left_spare(other, many_rows(), Metric::l2); }
  const Taken all(48 * mebibyte);
  std::optional<Index> index;
  REQUIRE(error_of([&] { index.emplace(device(), many_rows(), Metric::l2); }) == "nothing was thrown");
  const Index on_cpu(open_device("cpu"), many_rows(), Metric::l2);
  CHECK(index->search(queries, k, plain) == on_cpu.search(queries, k));
}

TEST_CASE("guest: devices that are opened and closed one after the other take no more memory than one") {
  if (!has_card()) return;
  std::size_t after_two_mib = 0;
  for (int round = 1; round <= 10; ++round) {
    {
      const Index index(open_device(device_spec()), example().train, Metric::squared_l2);
      const std::string why = outcome(index, {.proposer = Proposer::gemm}, nullptr);
      CHECK_MESSAGE((why == "" || why.find("proposer") != std::string::npos), why);
      if (why != "" && round == 1) MESSAGE("without gemm: " << why);
    }
    const std::size_t free_mib = free_bytes() / mebibyte;
    CAPTURE(round);
    if (round == 2) after_two_mib = free_mib;
    CHECK(free_mib + 8 >= after_two_mib);
  }
}

TEST_CASE("guest: a first launch of kernels on a full card takes what another handle keeps") {
  if (!has_card()) return;
  const Device other = open_device(device_spec());
  const Index index(device(), example().train, Metric::linf);
  { const Index left_spare(other, many_rows(), Metric::linf); }
  const Neighbors right = neighbors(Metric::linf, example().queries, example().train, 700);
  const Taken all(0);
  for (const Selector selector : {Selector::odd_even, Selector::merge_sort, Selector::k_min})
    CHECK(difference(index.search(example().queries, 700, {.selector = selector}), right) == "");
}

TEST_SUITE_END();

}  // namespace
}  // namespace kith::tests
