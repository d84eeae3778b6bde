// The back end `planted` computes every step in plain loops over host memory. Each of its devices has one
// defect, which the self-test must find. planted:0 has none and passes all tests of devices, although its
// blocks of memory are so small that rows are spread over many of them.
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <bit>
#include <chrono>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <string>
#include <vector>

#include "kith/error.hpp"
#include "kith/spi.hpp"
#include "planted_chains.hpp"
#include "planted_defects.hpp"
#include "planted_memory.hpp"
#include "planted_quantized_rows.hpp"

namespace {

using namespace kith;
using namespace kith::planted;

constexpr std::uint32_t block = 4, vector = 16;

/// Throws if a second thread uses the device at the same time, which the library must prevent.
class Turn {
 public:
  explicit Turn(std::atomic<bool>& taken) : taken_(taken) {
    if (taken_.exchange(true))
      throw Error(Errc::device_failure, "planted: two threads use the device at once");
  }
  ~Turn() { taken_ = false; }
  Turn(const Turn&) = delete;
  Turn& operator=(const Turn&) = delete;

 private:
  std::atomic<bool>& taken_;
};

class PlantedDevice : public spi::Device {
 public:
  PlantedDevice(DeviceInfo known, Defect defect) : Device(std::move(known)), defect_(defect) {}

  std::unique_ptr<spi::Allocation> allocate(std::size_t bytes) override {
    const Turn turn(taken_);
    return std::make_unique<HostMemory>(bytes, card_);
  }
  void write(spi::Allocation& to, std::size_t offset, const void* from, std::size_t bytes) override {
    const Turn turn(taken_);
    std::memcpy(reinterpret_cast<char*>(static_cast<HostMemory&>(to).cells.data()) + offset, from, bytes);
  }
  void read(const spi::Allocation& from, std::size_t offset, void* to, std::size_t bytes) override {
    const Turn turn(taken_);
    std::memcpy(to, reinterpret_cast<const char*>(static_cast<const HostMemory&>(from).cells.data()) + offset,
                bytes);
  }
  void finish() override { const Turn turn(taken_); }
  std::uint64_t mark() override {
    const Turn turn(taken_);
    const auto now = std::chrono::steady_clock::now().time_since_epoch();
    return static_cast<std::uint64_t>(std::chrono::nanoseconds(now).count());
  }
  double elapsed(std::uint64_t from, std::uint64_t to) override {
    return static_cast<double>(to - from) * 1e-9;
  }
  spi::Support check(const spi::Step& step) const override {
    if (const auto* collect = std::get_if<spi::CollectStep>(&step.work)) {
      if (collect->sample.cols > 0) return {"it takes no samples", 0};
      if (collect->visits.rows > 0 && collect->proposer != Proposer::fp16)
        return {"it takes rows in order", 0};
      return proposal(collect->proposer, collect->metric);
    }
    if (const auto* tighten = std::get_if<spi::TightenStep>(&step.work))
      return proposal(tighten->proposer, tighten->metric);
    if (const auto* tighten = std::get_if<spi::TightenByBoundsStep>(&step.work))
      return proposal(tighten->proposer, tighten->metric);
    if (std::holds_alternative<spi::TightenBySampleStep>(step.work)) return {"it takes no samples", 0};
    const auto* prepare = std::get_if<spi::PrepareStep>(&step.work);
    if ((prepare && !has(prepare->proposer)) || std::holds_alternative<spi::RecoverStep>(step.work))
      return {"it prepares no such quantized rows", 0};
    if (std::holds_alternative<spi::BoxesStep>(step.work) ||
        std::holds_alternative<spi::CountStep>(step.work) ||
        std::holds_alternative<spi::OrderStep>(step.work) ||
        std::holds_alternative<spi::PackBoxesStep>(step.work))
      return {"it has no boxes", 0};
    const auto* chains = std::get_if<spi::DoubleChainsStep>(&step.work);
    if (chains && chains->terms.cols > 0) return {"it heeds no terms in double precision", 0};
    if (std::holds_alternative<spi::GroupsStep>(step.work)) return {"it searches no groups at once", 0};
    if (std::holds_alternative<spi::LandStep>(step.work) ||
        std::holds_alternative<spi::UnitStep>(step.work) ||
        std::holds_alternative<spi::FinishStep>(step.work))
      return {"it takes no memory of callers", 0};
    const auto* nearest = std::get_if<spi::NearestStep>(&step.work);
    if (!nearest || nearest->k <= info.fused_max_k) return {};
    return {"k is above " + std::to_string(info.fused_max_k), 0};
  }

  void enqueue(const spi::Step& step) override {
    const Turn turn(taken_);
    if (defect_ == throws_when_used) throw Error(Errc::device_failure, "planted: the fan has stopped");
    if (const char* file = std::getenv("KITH_PLANTED_LOST"); file && ::access(file, F_OK) == 0)
      throw Error(Errc::device_failure, "planted: it fell off the bus");
    take_to_launch(card_, info);
    std::visit([this](const auto& work) { run(work); }, step.work);
  }

 private:
  bool has(Proposer proposer) const {
    return std::find(info.proposers.begin(), info.proposers.end(), proposer) != info.proposers.end();
  }

  spi::Support proposal(Proposer proposer, Metric metric) const {
    if (proposer == Proposer::none) return {};
    if (!has(proposer)) return {"it has no proposer " + std::string(name(proposer)), 0};
    if (kith::sums_squares(metric) || metric == kith::Metric::negative_dot) return {};
    return {"metric " + std::string(name(metric)) + " does not follow from inner products", 0};
  }

  void smallest(std::vector<Key> keys, std::size_t k, Key* out) const {
    if (defect_ == loses_infinity) std::erase_if(keys, [](Key key) { return value_of(key) == INFINITY; });
    std::sort(keys.begin(), keys.end(), [this](Key a, Key b) {
      if (defect_ == ties_to_larger && value_of(a) == value_of(b)) return row_of(a) > row_of(b);
      return a < b;
    });
    keys.resize(std::max(k, keys.size()), no_key);
    std::copy_n(keys.begin(), k, out);
  }

  template <class Value>
  void put_lists(const spi::Grid<Key>& out, std::uint32_t k, std::uint32_t lists, std::uint32_t n,
                 std::uint32_t reach, std::uint32_t first_row, const Value& value) const {
    const std::uint32_t part = (n + lists - 1) / lists;
    for (std::uint32_t q = 0; q < out.rows; ++q)
      for (std::uint32_t g = 0; g < lists; ++g) {
        std::vector<Key> keys;
        const std::uint32_t end = (g + 1) * part >= n ? reach : (g + 1) * part;
        for (std::uint32_t t = g * part; t < end; ++t) keys.push_back(make_key(value(q, t), first_row + t));
        smallest(std::move(keys), k, row_of_grid(out, q) + std::size_t{g} * k);
      }
  }

  void run(const spi::DistanceStep& s) {
    for (std::uint32_t q = 0; q < s.queries.rows; ++q)
      for (std::uint32_t t = 0; t < s.train.rows; ++t)
        row_of_grid(s.out, q)[t] = raw_distance(s.metric, s.queries, q, s.train, t, defect_);
  }

  void run(const spi::SelectStep& s) {
    const auto n = static_cast<std::uint32_t>(s.distances.cols);
    put_lists(s.out, s.k, s.lists, n, n, s.first_row,
              [&](std::uint32_t q, std::uint32_t t) { return row_of_grid(s.distances, q)[t]; });
  }

  void run(const spi::NearestStep& s) {
    const std::uint32_t padded = (s.train.first + s.train.rows + block - 1) / block * block - s.train.first;
    put_lists(s.out, s.k, s.lists, s.train.rows, defect_ == fused_reads_padding ? padded : s.train.rows,
              s.first_row, [&](std::uint32_t q, std::uint32_t t) {
                const float value = raw_distance(s.metric, s.queries, q, s.train, t, defect_);
                const bool lost =
                    defect_ == loses_minus && s.metric == kith::Metric::negative_dot && s.queries.rows > 64;
                return lost && q >= vector ? 0 : value;
              });
  }

  void run(const spi::MergeStep& s) {
    const std::size_t lists = s.lists - (defect_ == merge_drops_last ? 1 : 0);
    for (std::size_t q = 0; q < s.in.rows; ++q) {
      const Key* row = row_of_grid(s.in, q);
      smallest(std::vector<Key>(row, row + lists * s.k), s.k, row_of_grid(s.out, q));
    }
  }

  void run(const spi::PrepareStep& s) { prepare(s); }

  void run(const spi::CollectStep& s) {
    const bool proposes = s.proposer != Proposer::none, on_cores = s.proposer == Proposer::fp16;
    const tests::TensorCore core{8, defect_ == coarse_cores ? 0 : 1};
    if (s.proposer == Proposer::gemm) multiply(s, defect_ == coarse_products ? 11 : 24);
    for (std::size_t place = s.values.cols; place-- > 0;) {  // the order is free
      const std::size_t t = row_of_place(s.visits, place);
      if (proposes && t >= s.train.rows.rows) continue;
      const Bounding of = proposes ? bounding_of(s, t) : Bounding{0, 0};
      for (std::size_t q = 0; q < s.values.rows; ++q) {
        const float value = on_cores ? core_product(core, s, q, t) : row_of_grid(s.values, q)[t];
        const float low = proposes ? of.low - value : value;
        if (!(low <= *row_of_grid(s.threshold, q))) continue;
        const std::uint32_t at = (*row_of_grid(s.out.counts, q))++;
        if (at >= s.out.rows.cols) continue;
        const std::uint32_t row = s.first_row + static_cast<std::uint32_t>(t);
        row_of_grid(s.out.rows, q)[at] = row;
        if (s.bounds.low.cols == 0) continue;
        row_of_grid(s.bounds.low, q)[at] = low;
        row_of_grid(s.bounds.high, q)[at] = high_of(low, s.gap_share * of.gap, row);
      }
    }
  }

  void run(const spi::PruneStep& s) {
    for (std::size_t q = 0; q < s.threshold.rows; ++q) {
      std::uint32_t& count = *row_of_grid(s.lists.counts, q);
      const std::size_t many = std::min<std::size_t>(count, s.lists.rows.cols);
      count = 0;
      for (std::size_t j = 0; j < many; ++j) {
        if (!(row_of_grid(s.bounds.low, q)[j] <= *row_of_grid(s.threshold, q))) continue;
        row_of_grid(s.lists.rows, q)[count] = row_of_grid(s.lists.rows, q)[j];
        row_of_grid(s.bounds.low, q)[count] = row_of_grid(s.bounds.low, q)[j];
        row_of_grid(s.bounds.high, q)[count++] = row_of_grid(s.bounds.high, q)[j];
      }
    }
  }

  void run(const spi::RerankStep& s) {
    for (std::uint32_t q = 0; q < s.queries.rows; ++q)
      for (std::size_t j = 0; j < s.candidates.rows.cols && j < *row_of_grid(s.candidates.counts, q); ++j) {
        const std::uint32_t row = row_of_grid(s.candidates.rows, q)[j];
        row_of_grid(s.out, q)[j] =
            make_key(raw_distance(s.metric, s.queries, q, s.train, row - s.first_row, defect_), row);
      }
  }

  void run(const spi::TightenStep& s) {
    for (std::size_t q = 0; q < s.best.rows; ++q) {
      Key* best = row_of_grid(s.best, q);
      std::uint32_t& count = *row_of_grid(s.counts, q);
      const Key* keys = row_of_grid(s.keys, q);
      std::vector<Key> all(best, best + s.k);
      if (s.afresh) std::fill(all.begin(), all.end(), no_key);
      all.insert(all.end(), keys, keys + std::min<std::size_t>(count, s.keys.cols));
      std::sort(all.begin(), all.end());
      std::copy_n(all.begin(), s.k, best);
      if (count > s.keys.cols) *row_of_grid(s.lost, q) = 1;
      count = 0;
      const float threshold = threshold_of(s, q, value_of(best[s.k - 1])),
                  before = *row_of_grid(s.threshold, q);
      if (s.guessed && threshold > before) *row_of_grid(s.lost, q) = 1;
      *row_of_grid(s.threshold, q) = threshold;
    }
  }

  void run(const spi::TightenByBoundsStep& s) {
    for (std::size_t q = 0; q < s.threshold.rows; ++q) {
      const std::uint32_t count = *row_of_grid(s.counts, q);
      if (count > s.highs.cols) *row_of_grid(s.lost, q) = 1;
      const Key* highs = row_of_grid(s.highs, q);
      std::vector<Key> all(highs, highs + std::min<std::size_t>(count, s.highs.cols));
      if (all.size() < s.k) continue;
      std::sort(all.begin(), all.end());
      float& threshold = *row_of_grid(s.threshold, q);
      threshold = std::min(threshold, threshold_of(s, q, value_of(all[s.k - 1])));
    }
  }

  void run(const spi::TightenBySampleStep&) {}

  void run(const spi::VoteStep& s) {
    for (std::size_t q = 0; q < s.nearest.rows; ++q) {
      std::uint32_t* counts = row_of_grid(s.counts, q);
      std::fill_n(counts, s.classes, 0u);
      bool voted = false;
      for (std::size_t j = 0; j < s.nearest.cols; ++j) {
        const Key key = row_of_grid(s.nearest, q)[j];
        if (key == no_key) continue;
        ++counts[row_of_grid(s.labels, 0)[row_of(key)]];
        voted = true;
      }
      const auto winner = static_cast<std::uint32_t>(std::max_element(counts, counts + s.classes) - counts);
      *row_of_grid(s.winner, q) = voted ? winner : no_row;
    }
  }

  void run(const spi::MaskStep& s) {
    for (std::size_t q = 0; q < s.distances.rows; ++q)
      for (std::size_t j = 0; j < s.distances.cols; ++j) {
        const std::size_t t = defect_ == masks_from_zero ? j : s.first_row + j;
        const std::uint32_t word = row_of_grid(s.filter, s.filter.rows == 1 ? 0 : q)[t / 32];
        float& distance = row_of_grid(s.distances, q)[j];
        if (s.from.cols > 0) distance = row_of_grid(s.from, q)[j];
        if ((word >> t % 32 & 1) == 0) distance = std::bit_cast<float>(spi::masked_bits);
      }
  }

  void run(const spi::ScoreStep& s) {
    for (std::size_t q = 0; q < s.nearest.rows; ++q) {
      float* sums = row_of_grid(s.sums, q);
      std::fill_n(sums, s.classes, 0.0f);
      for (std::size_t i = 0; i < s.nearest.cols; ++i) {
        const std::size_t j = defect_ == scores_backwards ? s.nearest.cols - 1 - i : i;
        const Key key = row_of_grid(s.nearest, q)[j];
        if (key != no_key) sums[row_of_grid(s.labels, 0)[row_of(key)]] += row_of_grid(s.weights, q)[j];
      }
    }
  }

  void run(const spi::BoxesStep&) {}
  void run(const spi::CountStep&) {}
  void run(const spi::OrderStep&) {}
  void run(const spi::PackBoxesStep&) {}
  void run(const spi::GroupsStep&) {}
  void run(const spi::DoubleChainsStep& s) {
    const auto dims = static_cast<std::uint32_t>(s.train.cols);
    for (std::size_t q = 0; q < s.rows.rows; ++q)
      for (std::size_t j = 0; j < s.rows.cols; ++j) {
        const std::uint32_t row = row_of_grid(s.rows, q)[j] - s.first_row;
        if (row >= s.train.rows) continue;
        const double *a = row_of_grid(s.queries, q), *b = row_of_grid(s.train, row);
        row_of_grid(s.values, q)[j] = chain<double>(
            s.metric, dims, [&](std::uint32_t d) { return a[d]; }, [&](std::uint32_t d) { return b[d]; },
            defect_);
      }
  }
  void run(const spi::LandStep&) {}
  void run(const spi::RecoverStep&) {}
  void run(const spi::UnitStep&) {}
  void run(const spi::FinishStep&) {}

  void run(const spi::AccumulateStep& s) {
    for (std::size_t q = 0; q < s.distances.rows; ++q)
      for (std::size_t t = 0; t < s.distances.cols; ++t) {
        const std::uint32_t c = row_of_grid(s.labels, 0)[t];
        const float x = row_of_grid(s.distances, q)[t] + 0.0f;
        float& high = row_of_grid(s.high, q)[c];
        float& low = row_of_grid(s.low, q)[c];
        float& smallest = row_of_grid(s.smallest, q)[c];
        smallest = std::min(smallest, x);
        const float sum = high + x, part = sum - high;
        if (std::isfinite(sum) && defect_ != loses_the_rest) low = low + ((high - (sum - part)) + (x - part));
        high = sum;
      }
  }

  const Defect defect_;
  const std::shared_ptr<Card> card_ = Card::of(info);
  std::atomic<bool> taken_ = false;
};

class PlantedBackend : public spi::Backend {
 public:
  spi::Found find() override {
    spi::Found found;
    for (std::size_t i = 0; i < names.size(); ++i) {
      DeviceInfo info;
      info.spec = "planted:" + std::to_string(i);
      info.backend = "planted";
      info.name = names[i];
      info.platform = "plain loops";
      info.driver = "1";
      info.memory_bytes = planted_memory_bytes();
      info.largest_allocation = std::size_t{1} << 16;
      info.train_block = block;
      info.selectors = {Selector::threshold, Selector::radix, Selector::insertion};
      info.fused_max_k = 1024;
      info.proposers = {Proposer::gemm};
      if (i == tensor_cores || i == coarse_cores) {
        info.proposers = {Proposer::fp16};
        info.largest_allocation = info.memory_bytes;  // for lists of steps that read many rows
      }
      found.devices.push_back(info);
    }
    return found;
  }

  std::unique_ptr<spi::Device> open(std::uint32_t ordinal) override {
    if (ordinal == throws_when_opened) throw Error(Errc::device_failure, "planted: the lid is stuck");
    return std::make_unique<PlantedDevice>(find().devices[ordinal], static_cast<Defect>(ordinal));
  }
};

std::unique_ptr<spi::Backend> create() {
  return std::make_unique<PlantedBackend>();
}

}  // namespace

extern "C" KITH_API const kith::spi::Plugin* kith_plugin();
extern "C" KITH_API const kith::spi::Plugin* kith_plugin() {
  static const kith::spi::Plugin plugin{kith::spi::plugin_abi, "planted", create};
  return &plugin;
}
