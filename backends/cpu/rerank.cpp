#include "cpu/steps.hpp"

namespace kith::cpu {

spi::Support check(const spi::RerankStep&, const Resources&) {
  return {"rerank is not written yet", 0};
}

void run(const spi::RerankStep&, const Resources&) {}

}  // namespace kith::cpu
