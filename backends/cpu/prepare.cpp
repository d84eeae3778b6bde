#include "cpu/steps.hpp"

namespace kith::cpu {

spi::Support check(const spi::PrepareStep&, const Resources&) {
  return {"prepare is not written yet", 0};
}

void run(const spi::PrepareStep&, const Resources&) {}

}  // namespace kith::cpu
