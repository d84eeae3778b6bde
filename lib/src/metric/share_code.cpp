#include "metric/share_code.hpp"

#include <algorithm>
#include <utility>

namespace kith {
namespace {

struct Share {
  std::uint64_t p, q;
};

/// Returns the quotient in lowest terms. It is at most half a step of the codes from the middle of its code,
/// and so it is a convergent of that middle's continued fraction (Legendre): the first with this code.
Share share_of(std::uint64_t code) {
  std::uint64_t over = 2 * code + 1, under = 2 * last_share_code;
  Share before{0, 1}, now{1, 0};
  do {
    const std::uint64_t whole = over / under;
    before = std::exchange(now, {whole * now.p + before.p, whole * now.q + before.q});
    over = std::exchange(under, over - whole * under);
  } while (now.p * last_share_code / now.q != code);
  return now;
}

}  // namespace

float share_of_code(Metric metric, float value) {
  const std::uint32_t bits = std::min(std::bit_cast<std::uint32_t>(value), 0xFF7FFFFFu);
  const Share share = share_of(0xFF7FFFFFu - bits);
  const auto p = static_cast<double>(share.p), q = static_cast<double>(share.q);
  if (metric == Metric::dice) return static_cast<float>(p / (q + q - p));
  if (metric == Metric::sokalsneath) return static_cast<float>((p + p) / (q + p));
  return static_cast<float>(p / q);
}

}  // namespace kith
