#include "rows/landing.hpp"

#include <algorithm>
#include <bit>
#include <cstring>
#include <limits>
#include <string>
#include <utility>

#include "base/float_guard.hpp"
#include "base/names.hpp"
#include "base/numbers.hpp"
#include "host/parallel.hpp"
#include "kith/error.hpp"
#include "rows/landed/moved_rows.hpp"
#include "rows/rows.hpp"

namespace kith {
namespace {

constexpr std::pair<Where, std::string_view> places[] = {
    {Where::host, "the host"}, {Where::cuda, "a CUDA device"}, {Where::opencl, "an OpenCL device"}};

/// Converts a binary16 to float32. NaN and infinities are kept, and refused later.
float from_f16(std::uint16_t half) {
  const std::uint32_t sign = static_cast<std::uint32_t>(half & 0x8000u) << 16;
  const std::uint32_t exponent = (half >> 10) & 0x1Fu, fraction = half & 0x3FFu;
  if (exponent == 0) {  // fraction times 2^-24, which is exact
    const auto magnitude = std::bit_cast<std::uint32_t>(static_cast<float>(fraction) * 0x1p-24f);
    return std::bit_cast<float>(sign | magnitude);
  }
  const std::uint32_t biased = exponent == 0x1Fu ? 0xFFu : exponent + 112u;
  return std::bit_cast<float>(sign | biased << 23 | fraction << 13);
}

float from_bf16(std::uint16_t half) {
  return std::bit_cast<float>(static_cast<std::uint32_t>(half) << 16);
}

/// Converts `cols` elements of type From, at any address.
template <class From, class Convert>
void widen(const unsigned char* from, std::int64_t cols, float* to, const Convert& convert) {
  for (std::int64_t d = 0; d < cols; ++d) {
    From value;
    std::memcpy(&value, from + static_cast<std::size_t>(d) * sizeof value, sizeof value);
    to[d] = convert(value);
  }
}

/// Copies bits into words of 32 bits; bits behind the last column are 0. The order of columns in a word is
/// the same in all rows, and otherwise does not matter.
void gather_words(const unsigned char* from, std::int64_t cols, float* to) {
  const auto words = static_cast<std::size_t>(landed_cols(Element::bits, cols));
  const auto bytes = static_cast<std::size_t>(row_bytes(Element::bits, cols));
  std::memset(to, 0, words * sizeof(float));
  std::memcpy(to, from, bytes);
  if (cols % 8 == 0) return;
  const auto last = static_cast<unsigned char>(from[bytes - 1] & (0xFFu << (8 - cols % 8)));
  std::memcpy(reinterpret_cast<unsigned char*>(to) + bytes - 1, &last, 1);
}

/// Converts a float32 to binary16; only for values that were converted from one.
std::uint16_t to_f16(float value) {
  const auto bits = std::bit_cast<std::uint32_t>(value);
  const std::uint32_t sign = bits >> 16 & 0x8000u, magnitude = bits & 0x7FFFFFFFu;
  if (magnitude < 0x38800000u)  // below 2^-14 it is a whole multiple of 2^-24
    return static_cast<std::uint16_t>(sign |
                                      static_cast<std::uint32_t>(std::bit_cast<float>(magnitude) * 0x1p24f));
  if (magnitude > 0x7F800000u) return static_cast<std::uint16_t>(sign | 0x7E00u);  // NaN: a missing value
  return static_cast<std::uint16_t>(sign | ((magnitude - 0x38000000u) >> 13));
}

template <class To, class Convert>
void narrow(const float* from, std::int64_t cols, unsigned char* to, const Convert& convert) {
  for (std::int64_t d = 0; d < cols; ++d) {
    const To value = convert(from[d]);
    std::memcpy(to + static_cast<std::size_t>(d) * sizeof value, &value, sizeof value);
  }
}

/// Returns whether the rows are floats at aligned addresses.
bool is_landed(const RowsView& rows) {
  constexpr auto align = static_cast<std::int64_t>(alignof(float));
  const auto address = reinterpret_cast<std::uintptr_t>(rows.row(0));
  return rows.element == Element::f32 && address % alignof(float) == 0 &&
         (rows.rows <= 1 || rows.stride_bytes % align == 0);
}

[[noreturn]] void refuse_rows(std::string_view where, std::string_view what, const std::string& why,
                              Errc code = Errc::invalid_argument) {
  throw Error(code, std::string(where) + ": the " + std::string(what) + " rows " + why);
}

/// The elements in which no rows of floats are stored; parse() does not know them.
constexpr auto wide_names = std::to_array<std::pair<Element, std::string_view>>(
    {{Element::f64, "f64"}, {Element::i32, "i32"}, {Element::u32, "u32"}, {Element::i64, "i64"}});

}  // namespace

std::string_view name(Element element) {
  return is_wide(element) ? name_in(wide_names, element) : name_in(names_of<Element>, element);
}

std::string_view place_name(Where where) {
  return name_in(places, where);
}

void check_rows(std::string_view where, std::string_view what, const RowsView& rows) {
  if (rows.where != Where::host || rows.stream_or_queue)
    refuse_rows(where, what,
                rows.where == Where::host
                    ? "lie on the host and have a stream; leave the stream out"
                    : "lie on " + std::string(place_name(rows.where)) +
                          ", and this call takes those of the host alone; copy them to the host",
                Errc::unsupported);
  check_layout(where, what, rows);
}

void check_layout(std::string_view where, std::string_view what, const RowsView& rows) {
  if (rows.offset_bytes < 0 || (!rows.data && rows.offset_bytes > 0))
    refuse_rows(where, what,
                rows.data ? "begin " + std::to_string(rows.offset_bytes) +
                                " bytes behind their address; give 0 or more"
                          : "have an offset but no data; give both");
  const std::int64_t bytes = element_bytes(rows.element);
  if (rows.element != Element::bits && rows.stride_bytes % bytes == 0)
    return check_view(where, what, rows.data, rows.rows, rows.cols, rows.stride_bytes / bytes, bytes);
  // If the stride is not a whole number of elements, or elements are bits, the message gives it in bytes.
  const std::int64_t row = row_bytes(rows.element, rows.cols);
  if (rows.rows > 1 && rows.cols > 0 && rows.data && rows.stride_bytes < row)
    refuse_rows(where, what,
                "are [" + std::to_string(rows.rows) + ", " + std::to_string(rows.cols) + "] of " +
                    std::string(name(rows.element)) + " with a stride of " +
                    std::to_string(rows.stride_bytes) + " bytes, so that they overlap; give at least " +
                    std::to_string(row));
  check_view(where, what, rows.data, rows.rows, rows.cols, std::max(rows.cols, rows.stride_bytes / bytes),
             bytes);
}

void check_element(std::string_view where, std::string_view what, const RowsView& rows, Metric metric) {
  const std::string element(name(rows.element)), measure(name(metric));
  if (rows.element == Element::bits && !compares_bits(metric))
    refuse_rows(where, what,
                "are bits, but " + measure + " measures numbers; choose hamming, or give numbers");
  if (rows.element != Element::bits && compares_bits(metric))
    refuse_rows(
        where, what,
        "are " + element + ", but " + measure + " compares bits; give bits, or choose another metric");
  const std::int64_t most = most_bits_of(metric);
  if (takes_gaps(metric) && rows.cols > most)
    refuse_rows(where, what,
                "have " + std::to_string(rows.cols) + " columns, but " + measure + " counts at most " +
                    std::to_string(most) + "; give fewer");
  if (compares_bits(metric) && rows.cols > most)
    refuse_rows(where, what,
                "have " + std::to_string(rows.cols) + " bits, but " + measure +
                    (is_of_sums(metric) ? " tells the quotients of at most " : " counts at most ") +
                    std::to_string(most) +
                    (is_of_sums(metric) ? " apart; give fewer" : " exactly; give fewer"));
}

void land_row(Element element, const unsigned char* from, std::int64_t cols, float* to) {
  switch (element) {
    case Element::f32:
      std::memcpy(to, from, static_cast<std::size_t>(cols) * sizeof(float));
      return;
    case Element::f16:
      return widen<std::uint16_t>(from, cols, to, from_f16);
    case Element::bf16:
      return widen<std::uint16_t>(from, cols, to, from_bf16);
    case Element::u8:
      return widen<std::uint8_t>(from, cols, to,
                                 [](std::uint8_t value) { return static_cast<float>(value); });
    case Element::i8:
      return widen<std::int8_t>(from, cols, to, [](std::int8_t value) { return static_cast<float>(value); });
    case Element::bits:
      return gather_words(from, cols, to);
    case Element::f64:  // these never land, because MovedRows are f32
    case Element::i32:
    case Element::u32:
    case Element::i64:
      return;
  }
}

void store_row(Element element, const float* from, std::int64_t cols, unsigned char* to) {
  switch (element) {
    case Element::f32:
    case Element::bits:
      std::memcpy(to, from, static_cast<std::size_t>(row_bytes(element, cols)));
      return;
    case Element::f16:
      return narrow<std::uint16_t>(from, cols, to, to_f16);
    case Element::bf16:
      return narrow<std::uint16_t>(from, cols, to, [](float value) {
        return static_cast<std::uint16_t>(std::bit_cast<std::uint32_t>(value) >> 16);
      });
    case Element::u8:
      return narrow<std::uint8_t>(from, cols, to,
                                  [](float value) { return static_cast<std::uint8_t>(value); });
    case Element::i8:
      return narrow<std::int8_t>(from, cols, to, [](float value) { return static_cast<std::int8_t>(value); });
    case Element::f64:
    case Element::i32:
    case Element::u32:
    case Element::i64:
      return;
  }
}

LandedRows land(std::string_view where, std::string_view what, const RowsView& rows, std::uint32_t threads) {
  check_no_doubles(where, what, rows.element);
  check_rows(where, what, rows);
  const std::int64_t cols = landed_cols(rows.element, rows.cols);
  if (rows.rows == 0 || cols == 0) return {{nullptr, rows.rows, cols}};
  if (is_landed(rows))
    return {{static_cast<const float*>(static_cast<const void*>(rows.row(0))), rows.rows, cols,
             rows.rows <= 1 ? cols : rows.stride_bytes / element_bytes(Element::f32)}};
  const FloatGuard guard;
  LandedRows landed{{}, Floats(cells_of(rows.rows, cols))};
  constexpr std::int64_t share_floats = 1 << 14;
  const std::int64_t a_share = std::max<std::int64_t>(1, share_floats / cols);
  parallel_for(divide_up(rows.rows, a_share), rows.rows * cols, threads, [&](std::int64_t share) {
    for (std::int64_t r = share * a_share; r < std::min((share + 1) * a_share, rows.rows); ++r)
      land_row(rows.element, rows.row(r), rows.cols, landed.own.data() + r * cols);
  });
  landed.view = MatrixView<const float>(landed.own.data(), rows.rows, cols);
  return landed;
}

}  // namespace kith
