#include "check/byte_speed.hpp"

#include <algorithm>
#include <limits>
#include <new>
#include <vector>

#include "base/numbers.hpp"
#include "base/split_mix.hpp"
#include "kith/error.hpp"
#include "kith/spi/step_runner.hpp"
#include "plan/proposal_sizes.hpp"

namespace kith {
namespace {

constexpr std::int64_t timed_rows = 32768, timed_queries = 16384, timed_dims = 256;

std::vector<float> made_rows() {
  std::vector<float> values(static_cast<std::size_t>(timed_rows * timed_dims));
  SplitMix64 random(1);
  for (float& value : values) value = static_cast<float>(static_cast<int>(random.next() >> 56) - 128);
  return values;
}

/// Prepares the quantized rows of a proposer on the device.
spi::QuantizedRows quantized(spi::StepRunner& there, Proposer proposer, MatrixView<const float> of,
                             const spi::RowBlocks& blocks, bool are_queries) {
  const std::size_t count = size(of.rows()), cols = size(of.cols());
  const spi::QuantizedRows made{
      {there.room(quantized_row_bytes(proposer, of.rows(), of.cols())), 0, count, cols, cols},
      there.output<float>(spi::terms_a_row, count)};
  const spi::Grid<float> centre = there.input(std::vector<float>(cols), 1, cols);
  there.set(spi::PrepareStep{proposer, blocks, centre, made, 1, are_queries});
  there.run();
  return made;
}

/// Returns the seconds of one step that tests all pairs and lists none; infinity if the device refuses it.
double seconds_of(spi::Device& device, Proposer proposer, const std::vector<float>& values) {
  spi::StepRunner there(device);
  const MatrixView<const float> train(values.data(), timed_rows, timed_dims),
      asked = train.slice(0, timed_queries);
  constexpr std::uint32_t places = 32, blocks = timed_rows / spi::quantized_block_rows;
  spi::CollectStep step{};
  step.proposer = proposer;
  step.metric = Metric::squared_l2;
  step.queries = quantized(there, proposer, asked, there.queries(asked), true);
  step.train = quantized(there, proposer, train, there.train(train), false);
  step.values = {nullptr, 0, timed_queries, timed_rows, timed_rows};
  step.threshold =
      there.input(std::vector<float>(timed_queries, -std::numeric_limits<float>::max()), timed_queries, 1);
  step.out = {there.output<std::uint32_t>(timed_queries, places),
              there.in_and_out(std::vector<std::uint32_t>(timed_queries), timed_queries, 1)};
  step.visits = {spi::quantized_block_rows, 0, blocks, blocks, 1};
  step.b = spi::product_error(step);
  there.set(step);
  double least = std::numeric_limits<double>::infinity();
  if (there.refusal().empty())
    for (int i = 0; i < 4; ++i) least = std::min(least, there.time().device);
  return least;
}

}  // namespace

double byte_speed(Device::State& state) try {
  const DeviceSession session(state);
  if (!state.byte_speed) {
    const std::vector<float> values = made_rows();
    const double bytes = seconds_of(*session, Proposer::int8, values),
                 halves = seconds_of(*session, Proposer::fp16, values);
    state.byte_speed = halves < std::numeric_limits<double>::infinity() ? halves / bytes : 0;
  }
  return *state.byte_speed;
} catch (const Error& error) {
  if (error.code() != Errc::out_of_memory && error.code() != Errc::unsupported) throw;
  return 0;  // nothing is remembered: the next call may find more memory
} catch (const std::bad_alloc&) {
  return 0;  // as above
}

double known_byte_speed(Device::State& state) {
  const DeviceSession session(state);
  return state.byte_speed.value_or(0);
}

}  // namespace kith
