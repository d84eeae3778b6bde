#include "search/packed/stored_on_device.hpp"

#include "search/packed/packed_store.hpp"
#include "search/stores/resident_store.hpp"

namespace kith {

std::shared_ptr<const RowStore> stored_on_device(const RowSchema& schema, MatrixView<const float> rows,
                                                 float largest, std::int64_t reserve, std::uint32_t threads) {
  if (stays_packed(schema, rows.rows(), Where::host, reserve))
    return PackedStore::made_of(schema, rows, threads);
  return std::make_shared<ResidentStore>(
      resident_of(schema, upload_chunks(schema.device.state(), rows, 0, threads), rows, largest));
}

}  // namespace kith
