#include "same.hpp"

#include <algorithm>
#include <cstring>
#include <vector>

#include "kith/error.hpp"

namespace kith::mpi {

[[noreturn]] void refuse(const std::string& what) {
  throw Error(Errc::invalid_argument, "mpi: " + what);
}

void Digest::add(const void* data, std::size_t bytes) {
  const auto* from = static_cast<const unsigned char*>(data);
  std::size_t lane = 0;
  for (; bytes >= sizeof sums_; from += sizeof sums_, bytes -= sizeof sums_)
    for (std::size_t i = 0; i < lanes; ++i) add(i, from + i * word_bytes, word_bytes);
  for (; bytes > 0; ++lane) {
    const std::size_t some = std::min(bytes, word_bytes);
    add(lane, from, some);
    from += some;
    bytes -= some;
  }
}

void Digest::add(const RowsView& rows) {
  const std::int64_t bytes = row_bytes(rows.element, rows.cols);
  if (rows.where != Where::host || !rows.data || bytes <= 0) return;  // the search refuses these
  for (std::int64_t r = 0; r < rows.rows; ++r) add(rows.row(r), static_cast<std::size_t>(bytes));
}

std::int64_t Digest::value() const {
  std::uint64_t all = begin;
  for (const std::uint64_t sum : sums_) all = mixed(all, sum);
  return static_cast<std::int64_t>(all);
}

void Digest::add(std::size_t lane, const unsigned char* from, std::size_t bytes) {
  std::uint64_t word = 0;
  std::memcpy(&word, from, bytes);
  sums_[lane] = mixed(sums_[lane], word);
}

void require_same(const Communicator& ranks, std::span<const std::int64_t> facts,
                  std::span<const char* const> names) {
  const std::vector<std::int64_t> all = ranks.all_of(facts);
  for (std::size_t r = 1; r < static_cast<std::size_t>(ranks.size()); ++r)
    for (std::size_t i = 0; i < facts.size(); ++i)
      if (all[r * facts.size() + i] != all[i])
        refuse(std::string("rank 0 and rank ") + std::to_string(r) + " were given different " + names[i] +
               "; give every rank the same");
}

}  // namespace kith::mpi
