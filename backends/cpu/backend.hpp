// The CPU back end, built into libkith: always there, and the reference for all others.
#pragma once

#include <memory>

#include "kith/spi.hpp"

namespace kith::cpu {

std::unique_ptr<spi::Backend> create_backend();

}  // namespace kith::cpu
