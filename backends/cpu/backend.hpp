// The CPU back end, which is built into libkith: it always exists, and is the reference for all others.
#pragma once

#include <memory>

#include "kith/spi.hpp"

namespace kith::cpu {

std::unique_ptr<spi::Backend> create_backend();

}  // namespace kith::cpu
