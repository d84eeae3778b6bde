#include "cpu/steps.hpp"

namespace kith::cpu {

spi::Support check(const spi::TightenStep&, const Resources&) {
  return {"tighten is not written yet", 0};
}

void run(const spi::TightenStep&, const Resources&) {}

}  // namespace kith::cpu
