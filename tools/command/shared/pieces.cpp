#include "command/shared/pieces.hpp"

#include <sys/mman.h>
#include <unistd.h>

namespace kith::command {
namespace {

constexpr std::int64_t most_pieces = 8;  ///< a search takes a little longer for each
constexpr std::int64_t smallest_piece = std::int64_t{32} << 20;

}  // namespace

std::int64_t pieces_of(const Rows& rows, const Device& device, Metric metric, bool keep) {
  // cosine refuses rows of zeros by their number, which a piece does not know.
  if (keep || device.info().kind != DeviceKind::cpu || metric == Metric::cosine) return 1;
  const MatrixView<const float> all = rows.searched();
  const std::int64_t bytes = all.rows() * all.cols() * static_cast<std::int64_t>(sizeof(float));
  return std::clamp<std::int64_t>(std::min(bytes / smallest_piece, all.rows()), 1, most_pieces);
}

void give_back(MatrixView<const float> rows) {
  const auto page = static_cast<std::uintptr_t>(::sysconf(_SC_PAGESIZE));
  const auto begin = reinterpret_cast<std::uintptr_t>(rows.data());
  const std::uintptr_t end = begin + static_cast<std::size_t>(rows.rows() * rows.cols()) * sizeof(float);
  const std::uintptr_t first = (begin + page - 1) / page * page, last = end / page * page;
  // Whole pages of a vector's memory alone, which is ours; a wish that the system may refuse.
  if (first < last) static_cast<void>(::madvise(reinterpret_cast<void*>(first), last - first, MADV_DONTNEED));
}

}  // namespace kith::command
