#include "cpu/steps.hpp"

namespace kith::cpu {

spi::Support check(const spi::CollectStep&, const Resources&) {
  return {"collect is not written yet", 0};
}

void run(const spi::CollectStep&, const Resources&) {}

}  // namespace kith::cpu
