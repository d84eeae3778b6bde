#include "search/packed/packed_memory.hpp"

#include "search/packed/byte_memory.hpp"
#include "search/packed/half_memory.hpp"

namespace kith {

bool stays_packed(const RowSchema& schema, std::int64_t rows, Where where, std::int64_t reserve) {
  return keeps_bytes(schema, rows, reserve) || (where == Where::host && keeps_halves(schema, rows, reserve));
}

std::shared_ptr<PackedMemory> packed_memory(const RowSchema& schema, std::int64_t room) {
  if (schema.element == Element::f16 || schema.element == Element::bf16)
    return std::make_shared<HalfMemory>(schema, room);
  return std::make_shared<ByteMemory>(schema, room);
}

}  // namespace kith
