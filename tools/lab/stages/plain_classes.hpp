// What the contract says of the stages of filters and classes, for plain_result().
#pragma once

#include "lab/stages/operations.hpp"

namespace kith::workloads {

/// Each appends its cells.
void plain_votes(const Operation& operation, const Operands& operands, StageResult& result);
void plain_masked(const Operation& operation, const Operands& operands, StageResult& result);
void plain_tallied(const Operation& operation, const Operands& operands, StageResult& result);
void plain_accumulated(const Operation& operation, const Operands& operands, StageResult& result);

}  // namespace kith::workloads
