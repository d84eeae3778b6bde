// Measures whether it pays to compute one triangle of a symmetric matrix of distances.
#include <algorithm>
#include <bit>
#include <cmath>
#include <span>
#include <thread>

#include "lab/experiments/structure.hpp"

namespace kith::experiments {
namespace {

constexpr std::int64_t dims = 32, strips = 16;
constexpr std::size_t mirrored_at_once = 32;  // rows and columns, which stay in the first-level cache

using Matrix = std::vector<float>;  ///< [n, n]

/// Calls body(i) for i in 0 .. count - 1, on all cores.
void on_all_cores(std::int64_t count, const std::function<void(std::int64_t)>& body) {
  const std::int64_t threads = std::clamp<std::int64_t>(std::thread::hardware_concurrency(), 1, count);
  std::vector<std::jthread> team;
  for (std::int64_t thread = 0; thread < threads; ++thread)
    team.emplace_back([&, thread] {
      for (std::int64_t i = thread; i < count; i += threads) body(i);
    });
}

bool same_bits(std::span<const float> a, std::span<const float> b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(), [](float x, float y) {
    return std::bit_cast<std::uint32_t>(x) == std::bit_cast<std::uint32_t>(y);
  });
}

/// Computes the distances between all samples on one device, in strips of rows.
class Strips {
 public:
  Strips(spi::Device& device, MatrixView<const float> rows)
      : device_(device),
        n_(rows.rows()),
        height_((n_ + strips - 1) / strips),
        there_(device),
        queries_(there_.queries(rows)),
        train_(there_.train(rows)),
        out_(there_.room(size(n_) * size(n_) * sizeof(float))) {}

  /// Computes all strips, each at its place on the device. The host reads nothing.
  ///   upper  computes only columns from the diagonal on
  Seconds on_device(bool upper) {
    const std::uint64_t begin = device_.mark();
    for (std::int64_t q = 0; q < n_; q += height_) enqueue(q, upper ? q : 0);
    const std::uint64_t end = device_.mark();
    device_.finish();
    return {device_.elapsed(begin, end), not_measured, not_measured};
  }

  /// Computes all strips and copies them to host(). With `upper` the device holds them without gaps, and the
  /// host mirrors them.
  Seconds in_host_memory(bool upper) {
    host_.resize(size(n_) * size(n_));
    packed_.resize(upper ? host_.size() : 0);
    return {not_measured, not_measured, seconds_of([&] {
              std::size_t floats = 0;
              for (std::int64_t q = 0; q < n_; q += height_) floats = enqueue(q, upper ? q : 0, floats);
              device_.read(*out_, 0, upper ? packed_.data() : host_.data(), floats * sizeof(float));
              if (upper) on_all_cores(strips, [&](std::int64_t strip) { mirror(strip * height_); });
            })};
  }

  /// Returns whether the result of on_device() is right.
  bool is_right_on_device(const Matrix& expected, bool upper) const {
    Matrix found(expected.size());
    device_.read(*out_, 0, found.data(), found.size() * sizeof(float));
    bool right = true;
    for (std::int64_t q = 0; q < n_; ++q) {
      const std::size_t from = size(q * n_ + (upper ? q / height_ * height_ : 0)), to = size((q + 1) * n_);
      right = right && same_bits(std::span(expected).subspan(from, to - from),
                                 std::span(found).subspan(from, to - from));
    }
    return right;
  }
  bool is_right_on_host(const Matrix& expected) const { return same_bits(host_, expected); }

 private:
  static std::size_t size(std::int64_t value) { return static_cast<std::size_t>(value); }
  std::int64_t rows_from(std::int64_t q) const {
    return std::max<std::int64_t>(0, std::min(height_, n_ - q));
  }

  /// Computes the strip of row q from column t on, at its place in the whole matrix.
  void enqueue(std::int64_t q, std::int64_t t) { enqueue_to(q, t, size(q * n_ + t), size(n_)); }
  /// Computes the strip without gaps, from element `first` on; returns where it ends.
  std::size_t enqueue(std::int64_t q, std::int64_t t, std::size_t first) {
    enqueue_to(q, t, first, size(n_ - t));
    return first + size(rows_from(q) * (n_ - t));
  }
  void enqueue_to(std::int64_t q, std::int64_t t, std::size_t first, std::size_t stride) {
    const auto at = [](std::int64_t value) { return static_cast<std::uint32_t>(value); };
    spi::DistanceStep step{Metric::squared_l2, queries_, train_, {out_, first, 0, size(n_ - t), stride}};
    step.queries.first = at(q);
    step.queries.rows = at(rows_from(q));
    step.train.first = at(t);
    step.train.rows = at(n_ - t);
    step.out.rows = step.queries.rows;
    device_.enqueue({step, 0});
  }

  /// Copies a packed strip to its rows, and transposed to its columns.
  void mirror(std::int64_t q) {
    if (rows_from(q) == 0) return;
    std::size_t from = 0;
    for (std::int64_t before = 0; before < q; before += height_)
      from += size(rows_from(before) * (n_ - before));
    const std::size_t n = size(n_), first = size(q), rows = size(rows_from(q)), width = n - first;
    const float* const strip = packed_.data() + from;
    for (std::size_t i = 0; i < rows; ++i)
      std::copy_n(strip + i * width, width, host_.data() + (first + i) * n + first);
    for (std::size_t j0 = rows; j0 < width; j0 += mirrored_at_once)
      for (std::size_t i0 = 0; i0 < rows; i0 += mirrored_at_once)
        for (std::size_t j = j0; j < std::min(width, j0 + mirrored_at_once); ++j)
          for (std::size_t i = i0; i < std::min(rows, i0 + mirrored_at_once); ++i)
            host_[(first + j) * n + first + i] = strip[i * width + j];
  }

  spi::Device& device_;
  const std::int64_t n_, height_;
  spi::StepRunner there_;
  const spi::RowBlocks queries_, train_;
  spi::Allocation* const out_;
  Matrix packed_, host_;
};

/// Holds the curves of a device.
struct Triangle {
  explicit Triangle(const Device& on)
      : device(on),
        whole("whole", on),
        half("triangle, half missing", on),
        whole_host("whole, in host memory", on),
        half_host("triangle, mirrored in host memory", on) {}

  Device device;
  Curve whole, half, whole_host, half_host;
};

/// Checks and times one of the four ways.
Measured time_way(const Settings& settings, const Device& device, MatrixView<const float> rows,
                  const Matrix& expected, bool upper, bool to_host) {
  const std::string what = std::string(upper ? "triangle" : "whole matrix") +
                           (to_host ? ", in host memory" : "") + " on " + device.info().spec +
                           ", n = " + std::to_string(rows.rows());
  return attempt(settings, what, [&] {
    Measured measured;
    spi::with_device(device, [&](spi::Device& opened) {
      Strips on(opened, rows);
      const auto run = [&] { return to_host ? on.in_host_memory(upper) : on.on_device(upper); };
      run();
      if (to_host ? on.is_right_on_host(expected) : on.is_right_on_device(expected, upper))
        measured = sample(settings, what, run, &device);
      else
        measured.difference = what + ": other bits than those of the CPU";
    });
    return measured;
  });
}

void measure(const Settings& settings, std::int64_t n, Triangle& of) {
  const workloads::Rows rows = uniform_rows(settings, workloads::Set::train, n, dims);
  const auto x = static_cast<double>(n);
  const Matrix expected = right_distances(settings, rows.view(), rows.view()).values;
  const auto time = [&](bool upper, bool to_host) {
    return time_way(settings, of.device, rows.view(), expected, upper, to_host);
  };
  of.whole.add(x, time(false, false));
  of.half.add(x, time(true, false));
  const Measured whole = time(false, true), half = time(true, true);
  of.whole_host.add(x, whole, 1e3 * whole.total);
  of.half_host.add(x, half, 1e3 * half.total);
}

void add_claim(const Triangle& of, std::int64_t n, const char* what, const Curve& whole, const Curve& half,
               Result& result) {
  const auto x = static_cast<double>(n);
  const double ratio = whole.at(x) / half.at(x);
  Claim claim{what, "does not pay",
              ratio_text(ratio) + " (" + of.device.info().spec + ", n = " + std::to_string(n) + ")", ""};
  if (!std::isfinite(ratio))
    claim.why = whole.series().note.empty() ? half.series().note : whole.series().note;
  else if (ratio > 1.05)
    claim.why =
        "above 1x it pays here, by so much; half missing serves only those who never need the other half";
  result.claims.push_back(std::move(claim));
}

}  // namespace

void add_triangle(const Settings& settings, const std::vector<Device>& on, Result& result) {
  const std::vector<std::int64_t> sizes =
      settings.quick ? std::vector<std::int64_t>{256, 512} : std::vector<std::int64_t>{1024, 4096, 8192};
  std::vector<Triangle> devices;
  for (const Device& device : on) devices.emplace_back(device);
  for (Triangle& of : devices)
    for (const std::int64_t n : sizes) measure(settings, n, of);
  Chart chart{"Whole matrix or one triangle: device clock, or host clock with the copies",
              {"samples n", true},
              {"ms", true},
              {}};
  for (Triangle& of : devices) {
    add_claim(of, sizes.back(), "whole matrix over triangle, half missing, on the device", of.whole, of.half,
              result);
    add_claim(of, sizes.back(), "whole matrix over triangle, mirrored, in host memory", of.whole_host,
              of.half_host, result);
    for (Curve* curve : {&of.whole, &of.half, &of.whole_host, &of.half_host})
      std::move(*curve).finish(chart, result);
  }
  result.charts.push_back(std::move(chart));
}

}  // namespace kith::experiments
