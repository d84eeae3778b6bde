#include "certified/list_reader.hpp"

#include "base/numbers.hpp"

namespace kith {
namespace {

constexpr std::size_t most_bytes = std::size_t{1} << 24;  // the most bytes of one read

/// Returns the size of the buffer in bytes: enough for all lists of a tile, but at most most_bytes; and in
/// any case enough for the longest list that an attempt may make.
std::size_t bytes_of_buffer(const Plan& plan) {
  std::int64_t times = 1;
  for (const Attempt& attempt : plan.attempts) times = std::max(times, attempt.lists);
  const std::size_t longest = size(plan.candidates) * size(times) * sizeof(std::uint32_t),
                    all = size(plan.query_tile) * size(plan.candidates) * sizeof(std::uint32_t);
  return std::max(longest, std::min(all, most_bytes));
}

}  // namespace

ListReader::ListReader(Device::State& state, const Plan& plan)
    : buffer_(state, bytes_of_buffer(plan)), buffer_bytes_(bytes_of_buffer(plan)) {}

ListedPlaces ListReader::places(spi::Device& device, const CandidatesThere& there) {
  there_ = there;
  const spi::Grid<std::uint32_t>& counts = there_.lists.counts;
  lengths_.resize(counts.rows);
  device.read(*counts.memory, counts.first * sizeof(std::uint32_t), lengths_.data(),
              lengths_.size() * sizeof(std::uint32_t));
  std::size_t longest = 0;
  for (const std::uint32_t length : lengths_)
    longest = std::max(longest, std::min<std::size_t>(length, there_.lists.rows.cols));
  listed_ = {longest, lengths_, {}};
  read(device, there_.lists.rows, places_);
  listed_.places = places_;
  return listed_;
}

std::span<const float> ListReader::lows(spi::Device& device) {
  read(device, there_.low, low_);
  return low_;
}

std::size_t ListReader::bytes() const {
  return there_.low.rows * there_.low.stride * sizeof(float);
}

template <class T>
void ListReader::read(spi::Device& device, const spi::Grid<T>& from, std::vector<T>& to) {
  to.resize(lengths_.size() * listed_.capacity);
  const std::size_t lists = buffer_bytes_ / (from.stride * sizeof(T));
  const std::span<const T> some = buffer_.as<T>(buffer_bytes_ / sizeof(T));
  for (std::size_t first = 0; first < lengths_.size(); first += lists) {
    std::size_t count = std::min(lists, lengths_.size() - first);
    while (count > 0 && lengths_[first + count - 1] == 0) --count;
    if (count == 0) continue;
    const std::size_t values = (count - 1) * from.stride + listed_.length(first + count - 1);
    device.read(*from.memory, (from.first + first * from.stride) * sizeof(T), buffer_.as<T>(values).data(),
                values * sizeof(T));
    for (std::size_t q = first; q < first + count; ++q)
      std::copy_n(some.data() + (q - first) * from.stride, listed_.length(q),
                  to.data() + q * listed_.capacity);
  }
}

}  // namespace kith
