#include "files/ground_truth.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>

#include "formats.hpp"
#include "output.hpp"

namespace kith::files {
namespace {

constexpr std::size_t most_at_once = std::size_t{1} << 16;

bool is_truth_ending(const std::string& ending) {
  return ending == ".ibin" || ending == ".bin";
}

/// A place of a list, for messages.
std::string place(const NeighborLists& lists, std::size_t at) {
  const auto k = static_cast<std::size_t>(lists.k);
  return "query " + std::to_string(at / k) + ", neighbour " + std::to_string(at % k);
}

std::uint32_t number_at(const unsigned char* bytes) {
  return std::uint32_t{bytes[0]} | std::uint32_t{bytes[1]} << 8 | std::uint32_t{bytes[2]} << 16 |
         std::uint32_t{bytes[3]} << 24;
}

/// The distance that comes next.
[[noreturn]] void refuse_nan(const NeighborLists& lists) {
  throw Error(Errc::bad_file, lists.path + ": the distance of " + place(lists, lists.distances.size()) +
                                  " is NaN; make the file again");
}

/// A block at a time, so that memory grows with what comes. Returns how many there were.
template <class Take>
std::uint64_t read_elements(Source& source, std::uint64_t count, Take&& take) {
  std::vector<unsigned char> bytes(4 * std::min<std::uint64_t>(count, most_at_once));
  for (std::uint64_t done = 0; done < count;) {
    const std::size_t some = std::min<std::uint64_t>(count - done, most_at_once);
    const std::size_t got = source.read(bytes.data(), 4 * some);
    if (got % 4 != 0 || (got < 4 * some && done + got / 4 > 0))
      source.fail("ends within its elements; it is truncated: copy or download it again");
    if (got == 0) return done;
    take(bytes.data(), some);
    done += some;
  }
  return count;
}

/// Refuse a length that is neither that of the rows nor that of rows and distances.
void check_length(const Source& source, std::uint64_t queries, std::uint64_t k) {
  const std::uint64_t header = 8, all = source.disk_bytes(), rows = multiply(multiply(queries, k), 4);
  if (queries == 0 || k == 0)
    source.fail("holds " + std::to_string(queries) + " queries of " + count_of(k, "neighbour") +
                "; a file of neighbours has at least one of each");
  if (all == 0) return;  // a pipe or a .gz: that is found where it ends
  const std::uint64_t left = all - header, both = multiply(rows, 2);
  if (left != rows && left != both)
    source.fail("its header announces " + std::to_string(queries) + " queries of " +
                count_of(k, "neighbour") + ", " + std::to_string(rows) + " bytes, or with distances " +
                std::to_string(both) + ", but " + std::to_string(left) +
                " follow; it is truncated or no such file: copy or download it again");
}

void read_ibin(Source& source, NeighborLists& lists) {
  std::array<unsigned char, 8> start{};
  source.read_exactly(start.data(), start.size(), "its header");
  const std::uint64_t queries = number_at(start.data()), k = number_at(start.data() + 4);
  lists.queries = static_cast<std::int64_t>(queries);
  lists.k = static_cast<std::int64_t>(k);
  check_length(source, queries, k);
  const std::uint64_t count = multiply(queries, k);
  source.require_memory(multiply(count, sizeof(std::int64_t) + sizeof(double)));
  const std::uint64_t rows = read_elements(source, count, [&](const unsigned char* bytes, std::size_t some) {
    lists.rows.resize(lists.rows.size() + some);
    to_labels(ElementType::i32, false, bytes, some, lists.rows.data() + lists.rows.size() - some);
  });
  if (rows < count) source.fail("ends after its header; it is truncated: copy or download it again");
  const std::uint64_t distances =
      read_elements(source, count, [&](const unsigned char* bytes, std::size_t some) {
        for (std::size_t i = 0; i < some; ++i) {
          const auto distance = std::bit_cast<float>(number_at(bytes + 4 * i));
          if (std::isnan(distance)) refuse_nan(lists);
          lists.distances.push_back(distance);
        }
      });
  if (distances == count) source.require_end();
}

/// Reads the rows of any other format.
void read_rows(const std::filesystem::path& path, const FileOptions& options, NeighborLists& lists) {
  const Values values = read_values(path, ValueOptions(options));
  lists.queries = values.rows;
  lists.k = values.cols;
  lists.rows.reserve(values.values.size());
  for (const double value : values.values) {
    if (!(std::fabs(value) <= 0x1p53 && value == std::trunc(value)))
      throw Error(Errc::bad_file, lists.path + ": " + place(lists, lists.rows.size()) +
                                      " is no whole number; neighbours are numbers of rows, from 0");
    lists.rows.push_back(static_cast<std::int64_t>(value));
  }
}

/// Reads the array of distances beside that of rows, if there is one.
void read_distances(const std::filesystem::path& path, FileOptions options, NeighborLists& lists) {
  options.array = "distances";
  Values values;
  try {
    values = read_values(path, ValueOptions(options));
  } catch (const Error& error) {
    if (error.code() == Errc::invalid_argument) return;  // has no array called so
    throw;
  }
  if (values.rows != lists.queries || values.cols != lists.k)
    throw Error(Errc::bad_file, lists.path + ": has " + std::to_string(lists.queries) + " queries of " +
                                    count_of(static_cast<std::uint64_t>(lists.k), "neighbour") +
                                    " but distances of " + std::to_string(values.rows) + " by " +
                                    std::to_string(values.cols) + "; make the file again");
  lists.distances = values.values;
}

}  // namespace

NeighborLists read_neighbors(const std::filesystem::path& path, const FileOptions& options) {
  NeighborLists lists;
  lists.path = shown_name(path);
  FileOptions known = options;
  if (known.format.empty() && ending_of(lists.path) == ".bin") known.format = "ibin";
  const Format format = format_of(lists.path, known.format);
  if (format == Format::ibin) {
    Source source(path, known);
    read_ibin(source, lists);
  } else {
    known.usual_array = "neighbors";
    read_rows(path, known, lists);
    if (has_arrays(format) && known.array.empty()) read_distances(path, known, lists);
  }
  const auto wrong = std::find_if(lists.rows.begin(), lists.rows.end(), [](auto row) { return row < -1; });
  if (wrong != lists.rows.end())
    throw Error(Errc::bad_file, lists.path + ": " +
                                    place(lists, static_cast<std::size_t>(wrong - lists.rows.begin())) +
                                    " is row " + std::to_string(*wrong) +
                                    "; neighbours are numbers of rows, from 0, or -1 for none");
  return lists;
}

void check_ground_truth_name(const std::filesystem::path& path) {
  const std::string name = path.string();
  if (is_truth_ending(ending_of(name)) || is_stdout(name)) return;
  throw Error(Errc::invalid_argument,
              name +
                  ": is no name of ground truth, which ends in .ibin or .bin; rows and distances apart, as "
                  ".ivecs, .npy or .csv, are written by kith search --out-index and --out-distance");
}

}  // namespace kith::files
