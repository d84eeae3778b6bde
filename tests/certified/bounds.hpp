// Helps tests of the certificate: runs the step `collect`, and computes in double which bounds its candidates
// must satisfy.
#pragma once

#include "common/quantized/quantized_rows.hpp"
#include "common/quantized/tensor_core.hpp"

namespace kith::tests::bounding {

inline constexpr std::uint32_t first_row = 1000;
inline constexpr float least_reach = 0x1p-30f;  ///< least element that scales have room for
inline constexpr Metric product_metrics[] = {Metric::squared_l2, Metric::negative_dot, Metric::cosine};

inline bool has_own_order(Proposer proposer) {
  return proposer != Proposer::gemm;
}

/// Holds rows in device memory, and room for their quantized form in a proposer's own order.
struct Rows {
  GuardedRows rows;
  GuardedGrid<float> centre;
  GuardedMemory<float> quantized;
  GuardedGrid<float> row_terms;
  std::int64_t count, dims;

  Rows(spi::Device& device, const Matrix& of, const std::vector<float>& moved_by, std::uint32_t block)
      : rows(device, of, block, 0, of),
        centre(device, 1, size(of.cols), 1e9f, moved_by),
        quantized(device, std::vector<float>(size(whole(of.rows)) * columns(size(of.cols)))),
        row_terms(device, spi::terms_a_row, size(of.rows), -321.5f),
        count(of.rows),
        dims(of.cols) {}

  spi::QuantizedRows grids() const {
    return {{quantized.memory(), 0, size(count), size(dims), size(dims)}, row_terms.grid()};
  }

 private:
  static std::size_t columns(std::size_t dims) {
    return std::max(spi::quantized_columns(Proposer::dot, dims),
                    spi::quantized_columns(Proposer::fp16, dims));
  }
  static std::int64_t whole(std::int64_t rows) {
    return (rows + spi::quantized_block_rows - 1) / spi::quantized_block_rows * spi::quantized_block_rows;
  }
};

/// Returns the most queries that a proposer takes in one step.
inline std::int64_t most_queries(const spi::Device& device, Proposer proposer) {
  if (proposer == Proposer::int4) return spi::small_batch;
  return device.info.kind == DeviceKind::gpu && proposer == Proposer::int8
             ? std::int64_t{device.info.profile.byte_queries}
             : std::numeric_limits<std::int64_t>::max();
}

inline bool takes_samples(const spi::Device& device, Proposer proposer) {
  return !device.info.profile.host_threads && spi::is_scaled(proposer);
}

/// Returns the scale of quantized rows. For fp16 it is the power of two that brings the largest element just
/// below 2^13, for int8 the number that makes the largest element 127, for int4 112, which is 7 half bytes.
///   most  for which it has room in any case
inline float scale_of(Proposer proposer, const Matrix& rows, const std::vector<float>& centre,
                      float most = least_reach) {
  if (!spi::is_scaled(proposer)) return 1;
  for (std::int64_t r = 0; r < rows.rows; ++r)
    for (std::size_t d = 0; d < centre.size(); ++d)
      most = std::max(most, std::fabs(rows.row(r)[d] - centre[d]));
  if (spi::multiplies_bytes(proposer)) return (proposer == Proposer::int8 ? 127.0f : 112.0f) / most;
  return std::ldexp(1.0f, 12 - std::ilogb(most));
}

/// Holds queries and training rows for a proposer.
struct Problem {
  Proposer proposer;
  Metric metric;
  Matrix queries, train;
  std::vector<float> centre;
  float reach = least_reach;  ///< largest element that scales have room for in any case

  std::size_t m() const { return size(queries.rows); }
  std::size_t n() const { return size(train.rows); }
  bool squares() const { return metric != Metric::negative_dot; }

  static Problem hard(Proposer proposer, Metric metric, DataKind kind, std::int64_t m, std::int64_t n,
                      std::int64_t dims) {
    Matrix all = prepared(metric, hard_rows(kind, Set::queries, m, dims, metric));
    const Matrix rows = prepared(metric, hard_rows(kind, Set::train, n, dims, metric));
    all.rows += n;
    all.values.insert(all.values.end(), rows.values.begin(), rows.values.end());
    all = within_range(all);  // scales both by the same power of two
    const auto middle = all.values.begin() + m * dims;
    Matrix train{n, dims, {middle, all.values.end()}};
    std::vector<float> centre =
        metric != Metric::negative_dot ? mean_of(train) : std::vector<float>(size(dims));
    return {proposer, metric, {m, dims, {all.values.begin(), middle}}, std::move(train), std::move(centre)};
  }
};

/// The values of a Problem in double, whose own error is negligible beside that of single-precision products.
struct Truth {
  const Problem& problem;
  std::vector<double> queries, train, train_norms;  ///< the centre subtracted
  double b, query_norm = 0, query_error = 0, quantized_norm = 0;
  std::vector<float> row_terms;  ///< row terms of the training rows

  Truth(const Problem& of, const std::vector<float>& query_terms, std::vector<float> train_terms)
      : problem(of), row_terms(std::move(train_terms)) {
    const auto dims = static_cast<double>(problem.centre.size());
    b = product_error(dims);
    queries = moved(problem.queries);
    train = moved(problem.train);
    const std::size_t m = problem.m();
    for (std::size_t q = 0; q < m; ++q) {
      const auto row_term = [&](spi::RowTerm f) { return static_cast<double>(query_terms[f * m + q]); };
      query_norm = std::max(query_norm, row_term(spi::norm));
      quantized_norm = std::max(quantized_norm, row_term(spi::quantized_norm));
      query_error = std::max(query_error, row_term(spi::residual) + b * row_term(spi::quantized_norm));
    }
    for (std::size_t t = 0; t < problem.n(); ++t) {
      double sum = 0;
      for (std::size_t d = 0; d < problem.centre.size(); ++d) sum += row(train, t)[d] * row(train, t)[d];
      train_norms.push_back(sum);
    }
  }

  const double* row(const std::vector<double>& rows, std::size_t r) const {
    return rows.data() + r * problem.centre.size();
  }
  /// Returns the value that products approximate: |x'|^2 / 2 - q' . x', or - q . x for an inner product.
  double place(std::size_t q, std::size_t t) const {
    double product = 0;
    for (std::size_t d = 0; d < problem.centre.size(); ++d) product += row(queries, q)[d] * row(train, t)[d];
    return (problem.squares() ? train_norms[t] / 2 : 0) - product;
  }
  /// Returns the bound E, plus the rounding of the chain of an inner product.
  double error(std::size_t t) const {
    const auto row_term = [&](spi::RowTerm f) { return static_cast<double>(row_terms[f * problem.n() + t]); };
    const double dims = static_cast<double>(problem.centre.size()), steps = (dims + 2) * 0x1p-24;
    const double chain = problem.squares() ? 0 : query_norm * steps / (1 - steps) * row_term(spi::norm);
    return query_norm * row_term(spi::residual) + query_error * row_term(spi::quantized_norm) + chain +
           dims * (problem.squares() ? 0x1p-120 : 0x1p-119) *
               (1 + quantized_norm + row_term(spi::quantized_norm));
  }

 private:
  /// Returns b of docs/certificate.md, section 3. If small batches have a kernel of their own, the larger b
  /// of the two.
  double product_error(double dims) const {
    const double steps = (dims + 2) * 0x1p-24;
    if (spi::multiplies_bytes(problem.proposer)) return 0x1p-22;
    return problem.proposer == Proposer::fp16 ? tensor_core_error(problem.centre.size())
                                              : steps / (1 - steps);
  }
  std::vector<double> moved(const Matrix& rows) const {
    std::vector<double> all;
    for (std::int64_t r = 0; r < rows.rows; ++r)
      for (std::size_t d = 0; d < problem.centre.size(); ++d)
        all.push_back(static_cast<double>(rows.row(r)[d]) - static_cast<double>(problem.centre[d]));
    return all;
  }
};

/// Output of one collect step: lists [m, capacity], counts [m].
struct Listed {
  std::vector<std::uint32_t> rows, counts;
  std::vector<float> low;
  std::vector<Key> high;
  std::vector<float> query_terms, train_terms;
  std::vector<std::uint32_t> sample;  ///< [m, groups]  filled instead of the lists if a sample was taken
};

/// Multiplies the error terms of the rows by `share`, to test whether smaller bounds would still hold.
inline void narrow(spi::Device& device, const Rows& rows, float share) {
  std::vector<float> row_terms = rows.row_terms.inside();
  const std::size_t count = size(rows.count);
  for (std::size_t r = 0; r < count; ++r)
    for (const spi::RowTerm row_term : {spi::quantized_norm, spi::residual})
      row_terms[row_term * count + r] *= share;
  const spi::Grid<float> grid = rows.row_terms.grid();
  for (std::size_t row_term = 0; row_term < spi::terms_a_row; ++row_term)
    device.write(*grid.memory, (grid.first + row_term * grid.stride) * sizeof(float),
                 row_terms.data() + row_term * count, count * sizeof(float));
}

/// Runs collect. Returns why the device refuses, or an empty string if it ran.
///   share       factor on the error terms of the training rows
///   groups      if not 0, take a sample of so many groups instead of lists
///   share_of_b  factor on the error that products may have
///   gap_share   CollectStep::gap_share
inline std::string collect(spi::Device& device, const Problem& problem, const std::vector<float>& threshold,
                           std::size_t capacity, const spi::Visits& visits, Listed& found, float share = 1,
                           std::size_t groups = 0, double share_of_b = 1, float gap_share = 1) {
  const std::size_t m = problem.m(), n = visits.rows ? std::size_t{visits.rows} * visits.count : problem.n();
  const Rows queries(device, problem.queries, problem.centre, device.info.query_block),
      train(device, problem.train, problem.centre, device.info.train_block);
  const Proposer proposer_of_queries = spi::proposer_of_queries(problem.proposer);
  const float of_queries = scale_of(proposer_of_queries, problem.queries, problem.centre, problem.reach),
              of_train = scale_of(problem.proposer, problem.train, problem.centre, problem.reach);
  for (const auto& [rows, scale] : {std::pair{&queries, of_queries}, {&train, of_train}})
    if (std::string why =
            run_step(device, spi::PrepareStep{rows == &queries ? proposer_of_queries : problem.proposer,
                                              rows->rows.rows(), rows->centre.grid(), rows->grids(), scale,
                                              rows == &queries});
        !why.empty())
      return why;
  const std::vector<float> query_terms = queries.row_terms.inside(), train_terms = train.row_terms.inside();
  if (share < 1) narrow(device, train, share);
  const GuardedGrid<float> values(device, has_own_order(problem.proposer) ? 1 : m,
                                  has_own_order(problem.proposer) ? 1 : n, -123.5f),
      limits(device, m, 1, -inf, threshold), low(device, m, capacity, -77.5f);
  const GuardedGrid<std::uint32_t> lists(device, m, capacity, no_row),
      counts(device, m, 1, 7, std::vector<std::uint32_t>(m));
  const GuardedGrid<Key> high(device, m, capacity, 0xABCDull);
  const GuardedGrid<std::uint32_t> sample(device, m, std::max<std::size_t>(groups, 1), 0x1234u);
  spi::Grid<std::uint32_t> of_sample = sample.grid();
  of_sample.cols = groups;
  spi::Grid<float> products = values.grid();
  products.rows = m;
  products.cols = n;
  spi::CollectStep step = with_error({problem.proposer,
                                      problem.metric,
                                      queries.grids(),
                                      train.grids(),
                                      products,
                                      limits.grid(),
                                      first_row,
                                      {lists.grid(), counts.grid()},
                                      {},
                                      1 / of_queries / of_train,
                                      {low.grid(), high.grid()},
                                      visits,
                                      of_sample},
                                     share_of_b);
  step.gap_share = gap_share;
  if (std::string why = run_step(device, step); !why.empty()) return why;
  check_canaries(lists, counts, low, high);
  CHECK(limits.unchanged());
  CHECK(sample.canaries_live());
  if (groups > 0) CHECK((lists.unchanged() && counts.unchanged() && low.unchanged() && high.unchanged()));
  found = {lists.inside(), counts.inside(), low.inside(),   high.inside(),
           query_terms,    train_terms,     sample.inside()};
  return {};
}

/// Collects with infinite thresholds, so that each query lists all training rows.
inline std::string collect_all(spi::Device& device, const Problem& problem, const spi::Visits& visits,
                               Listed& found) {
  return collect(device, problem, std::vector<float>(problem.m(), inf), problem.n(), visits, found);
}

/// Calls body(proposer) for each proposer of the device that has proven bounds.
template <class Body>
void for_each_bounding(spi::Device& device, const Body& body) {
  for (const Proposer proposer : device.info.proposers) {
    CAPTURE(std::string(name(proposer)));
    const Matrix one = matrix(1, {1});
    Listed found;
    const std::string why = collect_all(device, {proposer, Metric::squared_l2, one, one, {0}}, {}, found);
    if (why.empty())
      body(proposer);
    else
      MESSAGE("no bounds by " << std::string(name(proposer)) << ": " << why);
  }
}

}  // namespace kith::tests::bounding
