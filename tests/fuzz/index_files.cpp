// Readers of index files, and of files whose rows are read in ranges. An input is the first 512 bytes of a
// head, and the body. Its sizes and its three checksums are corrected, so that changes get past them.
#include <algorithm>
#include <cstring>
#include <memory>
#include <string>
#include <vector>

#include "base/xxh64.hpp"
#include "fuzz.hpp"
#include "kith/device.hpp"
#include "kith/index_file.hpp"
#include "kith/source.hpp"

namespace kith::fuzz {
namespace {

constexpr std::size_t head_bytes = 4096, given_head = 512, given_page = 256, sum_bytes = 8;

void put_number(std::string& file, std::size_t at, std::uint64_t number) {
  std::memcpy(file.data() + at, &number, sizeof number);
}

/// Builds an index file with right checksums, from a body of at most one MiB, whose sum is that of one piece.
///   paged  pads the first bytes of the body to a page, as if `features` preceded the rows
std::string mended_index(const std::string& input, bool sizes, bool paged) {
  std::string file = input.substr(0, given_head);
  file.resize(head_bytes, '\0');
  std::string body = input.size() > given_head ? input.substr(given_head) : "";
  if (paged && body.size() > given_page) body.insert(given_page, head_bytes - given_page, '\0');
  file += body;
  const std::uint64_t piece = Xxh64::of(body.data(), body.size()), sum = Xxh64::of(&piece, sizeof piece);
  const std::size_t sums = body.empty() ? 1 : 2;
  file.resize(file.size() + sums * sum_bytes);
  if (!body.empty()) put_number(file, file.size() - 2 * sum_bytes, sum);
  put_number(file, file.size() - sum_bytes, Xxh64::of(&sum, body.empty() ? 0 : sizeof sum));
  if (sizes) {
    put_number(file, 24, file.size());
    put_number(file, 32, body.size());
  }
  put_number(file, head_bytes - sum_bytes, Xxh64::of(file.data(), head_bytes - sum_bytes));
  return file;
}

const Device& fuzz_cpu() {
  static const Device device = open_device("cpu");
  return device;
}

/// Returns the keys that an index finds for a query; empty if it refuses.
Keys keys_or_none(const Index& index, const RowsView& query) {
  Keys keys;
  attempt("", true, [&] {
    SearchOptions options{.threads = 1};
    keys = index.search_keys(query, 3, options);
  });
  return keys;
}

void read_index(FuzzedDataProvider& input) {
  const bool sizes = !pick(input, {false, false, false, true});
  const bool paged = pick(input);
  const std::string path =
      write_file("input.kidx", mended_index(input.ConsumeRemainingBytesAsString(), sizes, paged));
  const std::string again = in_folder("again.kidx"), where = "index file: " + path + ": byte ";
  OpenOptions one{.threads = 1};
  IndexFileInfo info;
  if (!attempt(where, true, [&] { info = index_file_info(path); })) return;
  verify_index_file(path, one);
  attempt(where, true, [&] {
    const IndexFileRows rows = read_index_rows(path, one);
    require(rows.data.size() == static_cast<std::size_t>(rows.rows * row_bytes(rows.element, rows.cols)),
            "rows are not [rows, row_bytes]");
  });
  attempt(where, true, [&] {
    const Index index = open_index(path, fuzz_cpu(), one);
    require(index.rows() == info.rows && index.dims() == info.dims, "an index is not what its head says");
    save(index, again);
    const Index reopened = open_index(again, fuzz_cpu(), one);
    constexpr std::int64_t most_dims = 4096;
    if (info.dims > most_dims) return;
    const std::vector<unsigned char> bits(static_cast<std::size_t>(info.dims), 0xA5);
    const std::vector<float> numbers(static_cast<std::size_t>(info.dims), 0.5f);
    const RowsView query = compares_bits(info.metric) ? RowsView(bits.data(), Element::bits, 1, info.dims)
                                                      : RowsView(numbers.data(), 1, info.dims);
    require(keys_or_none(index, query) == keys_or_none(reopened, query),
            "an index that was saved again has other answers");
  });
}

/// Reads rows in ranges: all at once must equal two halves.
void read_source(FuzzedDataProvider& input) {
  const std::string name =
      pick<std::string>(input, {"input.npy", "input.fbin", "input.u8bin", "input.f16bin"});
  const std::string path = write_file(name, input.ConsumeRemainingBytesAsString());
  attempt("source: " + path + ": ", true, [&] {
    const std::shared_ptr<const Source> source = file_source(path);
    const RowsInfo info = source->info();
    const auto row = static_cast<std::size_t>(row_bytes(info.element, info.cols));
    std::vector<unsigned char> all(static_cast<std::size_t>(info.rows) * row), halves(all.size());
    source->read(0, info.rows, all.data());
    const std::int64_t half = info.rows / 2;
    if (half > 0) source->read(0, half, halves.data());
    source->read(half, info.rows - half, halves.data() + static_cast<std::size_t>(half) * row);
    require(all == halves, "rows by ranges are other rows");
  });
}

constexpr Reader index_file_reader[] = {{"kidx", read_index}, {"source", read_source}};

}  // namespace

std::span<const Reader> index_readers() {
  return index_file_reader;
}

}  // namespace kith::fuzz
