// Tests quantized rows on the device whose rows are in a Source: answers have the bits of one resident Index.
#include "common/device.hpp"
#include "common/elements.hpp"
#include "common/oracle.hpp"
#include "common/parted/sources.hpp"
#include "kith/filter.hpp"
#include "kith/keys.hpp"
#include "kith/spi.hpp"

namespace kith::tests {
namespace {

/// Returns the proposer of quantized rows that a device with enough memory uses.
Proposer of_quantized() {
  return device().info().kind == DeviceKind::gpu && has(Proposer::fp16) ? Proposer::fp16 : Proposer::int8;
}

IndexOptions quantized(std::int64_t chunk_rows, std::size_t memory_limit = 0) {
  return {.residence = Residence::quantized, .memory_limit = memory_limit, .chunk_rows = chunk_rows};
}

TEST_SUITE_BEGIN("device");

TEST_CASE("quantized rows: a device without proposer int8 refuses, and says what to use") {
  const Matrix train = hard_rows(DataKind::normal, Set::train, 50, 4, Metric::l2);
  const auto source = std::make_shared<CopiedRows>(train);
  const std::string refusal = error_of([&] { Index(device(), source, Metric::l1, quantized(20)); });
  if (has(Proposer::int8))
    CHECK(refusal ==
          "unsupported: index: l1 does not follow from products, which quantized rows are for; choose "
          "residence stream");
  else
    CHECK(refusal == "unsupported: index: " + device().info().spec +
                         " has no proposer int8, which quantized rows are for; choose residence stream, or a "
                         "device that has it (cuda, opencl on NVIDIA, cpu with AVX2)");
}

TEST_CASE("quantized rows: all hard data, with the rows elsewhere, has the bits of resident rows") {
  if (!has(Proposer::int8)) return;
  constexpr std::int64_t n = 700, m = 40, dims = 24;
  for (const DataKind kind : workloads::all_data_kinds)
    for (const Metric metric : {Metric::squared_l2, Metric::l2, Metric::negative_dot, Metric::cosine}) {
      if (!workloads::admits(metric, kind)) continue;
      CAPTURE_ALL(workloads::name(kind), name(metric));
      const Matrix train = hard_rows(kind, Set::train, n, dims, metric),
                   queries = hard_rows(kind, Set::queries, m, dims, metric);
      const Index whole(device(), train, metric);
      const auto source = std::make_shared<CopiedRows>(train);
      // Chunks that are shorter than a block are separate parts, and some have fewer than k candidates.
      for (const std::int64_t chunk_rows : {std::int64_t{20}, std::int64_t{256}, n}) {
        const Index index(device(), source, metric, quantized(chunk_rows));
        CHECK(index.residence() == Residence::quantized);
        CHECK(index.memory_bytes() > 0);
        for (const std::int64_t k : {1, 10}) {
          CHECK(difference(index.search(queries, k), whole.search(queries, k)) == "");
          CHECK(index.search_keys(queries, k) == whole.search_keys(queries, k));
        }
      }
    }
}

TEST_CASE("quantized rows: queries that no product bounds, such as zeros, are answered by rows that pass") {
  if (!has(Proposer::int8)) return;
  for (const Metric metric : {Metric::squared_l2, Metric::l2, Metric::negative_dot})
    for (const std::int64_t n : {2, 700})
      for (const std::int64_t dims : {2, 64})
        for (const float size_of_queries : {0.0f, denormal, 0x1p-41f, 1e30f})
          for (const bool centred : {false, true}) {
            CAPTURE_ALL(name(metric), n, dims, size_of_queries, centred);
            Matrix train{n, dims, std::vector<float>(size(n * dims))}, queries{5, dims, {}};
            queries.values.assign(size(5 * dims), size_of_queries);
            for (std::size_t i = 0; i < train.values.size(); ++i)  // on a grid
              train.values[i] = static_cast<float>(i * 7919 % 5) - (centred ? 2.0f : 0.0f);
            const Index whole(device(), train, metric);
            const Index index(device(), std::make_shared<CopiedRows>(train), metric, quantized(0));
            for (const std::int64_t k : {std::int64_t{1}, std::min<std::int64_t>(n, 9)})
              CHECK(difference(index.search(queries, k), whole.search(queries, k)) == "");
            // alone, and beside a query for which products have a bound
            for (const std::int64_t m : {1, 2}) {
              Matrix some{m, dims, std::vector<float>(size(m * dims), size_of_queries)};
              some.values.back() = 1;
              CHECK(difference(index.search(some, 1), whole.search(some, 1)) == "");
            }
          }
}

TEST_CASE("quantized rows: the device proposes and the host ranks, without reading all rows") {
  if (!has(Proposer::int8)) return;
  constexpr std::int64_t n = 4000, m = 10, dims = 32;
  const Matrix train = hard_rows(DataKind::normal, Set::train, n, dims, Metric::l2),
               queries = hard_rows(DataKind::normal, Set::queries, m, dims, Metric::l2);
  const auto source = std::make_shared<CopiedRows>(train);
  const Index index(device(), source, Metric::l2, quantized(0)), whole(device(), train, Metric::l2);
  Trace trace;
  CHECK(difference(index.search(queries, 5, {}, &trace), whole.search(queries, 5)) == "");
  CHECK(trace.plan.residence == Residence::quantized);
  CHECK(trace.plan.proposer == of_quantized());
  CHECK(trace.fallbacks == 0);
  CHECK(trace.chunks == 0);
  CHECK(trace.seconds.contains("rank"));
  CHECK(explain(index.plan(m, 5)).find("residence      quantized: ") != std::string::npos);
}

TEST_CASE("quantized rows: rows in memory are ranked where they lie, or gathered") {
  if (!has(Proposer::int8)) return;
  constexpr std::int64_t n = 3000, m = 70, dims = 40, k = 3;
  for (const Metric metric : {Metric::squared_l2, Metric::negative_dot, Metric::cosine}) {
    CAPTURE(std::string(name(metric)));
    const Matrix train = hard_rows(DataKind::normal, Set::train, n, dims, metric),
                 queries = hard_rows(DataKind::normal, Set::queries, m, dims, metric);
    std::vector<float> gapped(static_cast<std::size_t>(n * (dims + 3)), 0.5f);
    for (std::int64_t r = 0; r < n; ++r)
      std::copy_n(train.view().row(r), dims, gapped.begin() + r * (dims + 3));
    const MatrixView<const float> apart(gapped.data(), n, dims, dims + 3);
    for (const std::vector<std::int64_t>& features :
         {std::vector<std::int64_t>{}, std::vector<std::int64_t>{1, 5, 6, 20, 33}}) {
      IndexOptions resident, way = quantized(500);
      resident.features = way.features = features;
      const Index whole(device(), train, metric, resident);
      const Neighbors expected = whole.search(queries, k);
      for (const RowsView& rows : {RowsView(train.view()), RowsView(apart)}) {
        const Index index(device(), memory_source(rows), metric, way);
        CHECK(index.residence() == Residence::quantized);
        CHECK(difference(index.search(queries, k), expected) == "");
        SearchOptions one{.threads = 1};
        CHECK(difference(index.search(queries, k, one), expected) == "");
      }
    }
  }
}

bool is_card_of_cuda() {
  const std::string& spec = device().info().spec;
  return has(Proposer::int8) && spec.starts_with("cuda") && spec.find('+') == std::string::npos;
}

bool is_locked(const float* rows, std::size_t count) {
  bool locked = false;
  spi::with_device(device(),
                   [&](spi::Device& opened) { locked = opened.is_locked(rows, count * sizeof(float)); });
  return locked;
}

struct RowsOfHost {
  std::int64_t dims;
  Metric metric;
  std::size_t shift;  ///< floats before the first row
};

TEST_CASE("quantized rows: a card of CUDA ranks by rows of the host where they lie, whatever they begin at") {
  if (!is_card_of_cuda()) return;
  constexpr std::int64_t m = 70, k = 3, apart = 5, fewest_bytes = std::int64_t{1} << 25;
  for (const RowsOfHost& way : {RowsOfHost{40, Metric::l2, 0}, RowsOfHost{41, Metric::negative_dot, 1},
                                RowsOfHost{40, Metric::negative_dot, 1}, RowsOfHost{64, Metric::l2, 4}}) {
    const std::int64_t dims = way.dims, n = fewest_bytes / (4 * dims) + 1000;
    CAPTURE_ALL(dims, name(way.metric));
    const Matrix train = hard_rows(DataKind::normal, Set::train, n, dims, way.metric),
                 queries = hard_rows(DataKind::normal, Set::queries, m, dims, way.metric);
    std::vector<float> memory(static_cast<std::size_t>(n * dims) + way.shift);
    std::copy_n(train.view().data(), n * dims, memory.begin() + static_cast<std::ptrdiff_t>(way.shift));
    const MatrixView<const float> all(memory.data() + way.shift, n, dims);
    // Two indices share pages of memory, and either may be destroyed first.
    std::optional<Index> former(std::in_place, device(), memory_source(RowsView(all.slice(0, n - apart))),
                                way.metric, quantized(50000));
    const Index latter(device(), memory_source(RowsView(all.slice(apart, n - apart))), way.metric,
                       quantized(0));
    CHECK(is_locked(all.data(), static_cast<std::size_t>((n - apart) * dims)));
    const auto same = [&](const Index& index, std::int64_t first) {
      const Index whole(device(), all.slice(first, n - apart), way.metric);
      Trace trace;
      CHECK(difference(index.search(queries, k, {}, &trace), whole.search(queries, k)) == "");
      CHECK(!trace.seconds.contains("rank"));
      CHECK(trace.seconds.contains("rerank"));
      CHECK(trace.fallbacks == 0);
    };
    same(*former, 0);
    same(latter, apart);
    former.reset();
    same(latter, apart);
  }
}

TEST_CASE("quantized rows: pages of the host are let go with the index, and few rows are not locked") {
  if (!is_card_of_cuda()) return;
  for (const std::int64_t n : {3000, 300000}) {
    const Matrix train = hard_rows(DataKind::normal, Set::train, n, 40, Metric::l2);
    const auto count = static_cast<std::size_t>(n * 40);
    {
      const Index index(device(), memory_source(RowsView(train.view())), Metric::l2, quantized(0));
      CHECK(is_locked(train.view().data(), count) == (n == 300000));
    }
    CHECK_FALSE(is_locked(train.view().data(), count));
  }
}

TEST_CASE("quantized rows: on a grid of bytes products rank, and no row is read") {
  if (!has(Proposer::int8)) return;
  constexpr std::int64_t n = 5000, m = 30, dims = 48;
  std::vector<std::uint8_t> bytes(static_cast<std::size_t>((n + m) * dims));
  std::uint32_t state = 1;
  for (std::uint8_t& byte : bytes)
    byte = static_cast<std::uint8_t>((state = state * 1664525u + 1013904223u) >> 24);
  const RowsView train(bytes.data(), Element::u8, n, dims),
      queries(bytes.data() + n * dims, Element::u8, m, dims);
  const auto source = std::make_shared<CopiedRows>(train);
  const Index index(device(), source, Metric::l2, quantized(1000)), whole(device(), train, Metric::l2);
  const int reads = source->reads;
  Trace trace;
  CHECK(difference(index.search(queries, 10, {}, &trace), whole.search(queries, 10)) == "");
  CHECK(trace.plan.exact_products);
  CHECK(trace.fallbacks == 0);
  CHECK(!trace.seconds.contains("rank"));
  CHECK(source->reads == reads);
}

TEST_CASE("quantized rows: what the certificate cannot decide goes by rows that pass, and is counted") {
  if (!has(Proposer::int8)) return;
  constexpr std::int64_t n = 20000, m = 20, dims = 16;
  const Matrix train = hard_rows(DataKind::equal, Set::train, n, dims, Metric::l2),
               queries = hard_rows(DataKind::equal, Set::queries, m, dims, Metric::l2);
  const auto source = std::make_shared<CopiedRows>(train);
  const Index index(device(), source, Metric::l2, quantized(0)), whole(device(), train, Metric::l2);
  Trace trace;
  CHECK(difference(index.search(queries, 10, {}, &trace), whole.search(queries, 10)) == "");
  CHECK(trace.fallbacks > 0);
  CHECK(trace.chunks > 0);
}

TEST_CASE("quantized rows: filters, leave-one-out, removed rows, radii and all neighbours") {
  if (!has(Proposer::int8)) return;
  constexpr std::int64_t n = 300, m = 9, dims = 12;
  const Matrix train = hard_rows(DataKind::grid, Set::train, n, dims, Metric::l2),
               queries = hard_rows(DataKind::grid, Set::queries, m, dims, Metric::l2);
  const auto source = std::make_shared<CopiedRows>(train);
  const Index index(device(), source, Metric::l2, quantized(128)), whole(device(), train, Metric::l2);
  SearchOptions way{.self = 20};
  CHECK(difference(index.search(train.view().slice(20, 30), 7, way),
                   whole.search(train.view().slice(20, 30), 7, way)) == "");
  RowFilter filter(n);
  for (std::int64_t t = 0; t < n; t += 2) filter.set(t, false);
  way = {};
  way.filter = filter;
  CHECK(difference(index.search(queries, 7, way), whole.search(queries, 7, way)) == "");
  CHECK(difference(index.search(queries, n), whole.search(queries, n)) == "");
  const float radius[] = {4};
  CHECK(index.within(queries, radius) == whole.within(queries, radius));
  const std::int64_t gone[] = {0, 7, 299};
  CHECK(difference(index.without(gone).search(queries, 7), whole.without(gone).search(queries, 7)) == "");
}

TEST_CASE("quantized rows: a limit that has no room for them is heard") {
  if (!has(Proposer::int8)) return;
  const Matrix train = hard_rows(DataKind::normal, Set::train, 5000, 32, Metric::l2),
               queries = hard_rows(DataKind::normal, Set::queries, 8, 32, Metric::l2);
  const auto source = std::make_shared<CopiedRows>(train);
  CHECK(error_of([&] {
          Index(device(), source, Metric::l2, quantized(0, 100000));
        }).starts_with("out_of_memory: index: quantized rows of 5000 training rows take "));
  const Index index(device(), source, Metric::l2, quantized(0, std::size_t{1} << 20)),
      whole(device(), train, Metric::l2);
  CHECK(index.memory_bytes() < std::size_t{1} << 20);
  CHECK(difference(index.search(queries, 10), whole.search(queries, 10)) == "");
}

TEST_CASE("quantized rows: halves where there is room for them, else bytes") {
  if (!has(Proposer::int8)) return;
  constexpr std::int64_t n = 30000, dims = 64;
  constexpr std::size_t bytes = n * (dims + 16), halves = n * (2 * dims + 16);
  const Matrix train = hard_rows(DataKind::normal, Set::train, n, dims, Metric::l2),
               queries = hard_rows(DataKind::normal, Set::queries, 8, dims, Metric::l2);
  const Neighbors expected = Index(device(), train, Metric::l2).search(queries, 10);
  for (const std::size_t limit :
       {std::size_t{0}, bytes + halves, std::size_t{1} << 28, std::size_t{1} << 29}) {
    CAPTURE(limit);
    const Index index(device(), std::make_shared<CopiedRows>(train), Metric::l2, quantized(3000, limit));
    Trace trace;  // each thread has lists of its own, and those of many would fill the smallest limit
    CHECK(difference(index.search(queries, 10, {.threads = 2}, &trace), expected) == "");
    CHECK(trace.fallbacks == 0);
    const bool roomy = limit == 0 || limit > std::size_t{1} << 28;
    CHECK(trace.plan.proposer == (roomy ? of_quantized() : Proposer::int8));
    CHECK(index.memory_bytes() >= (trace.plan.proposer == Proposer::fp16 ? halves : bytes));
    if (limit > 0) CHECK(index.memory_bytes() < limit);
  }
}

TEST_CASE("quantized rows: a sample that misses the largest elements by far misleads no search") {
  if (!has(Proposer::int8)) return;
  constexpr std::int64_t n = 30000, dims = 24, m = 20;
  Matrix train = hard_rows(DataKind::normal, Set::train, n, dims, Metric::l2),
         queries = hard_rows(DataKind::normal, Set::queries, m, dims, Metric::l2);
  for (const float large : {40.0f, 1e4f, 1e12f})
    for (const std::int64_t row : {std::int64_t{1}, n - 1}) {
      CAPTURE_ALL(large, row);
      train.values[static_cast<std::size_t>(row * dims + 3)] = large;
      queries.values[3] = large;
      const Index index(device(), std::make_shared<CopiedRows>(train), Metric::l2, quantized(7000)),
          whole(device(), train, Metric::l2);
      const Neighbors found = index.search(queries, 10);
      CHECK(difference(found, whole.search(queries, 10)) == "");
      CHECK(std::count(found.row.begin(), found.row.begin() + 10, row) == 1);  // only near query 0
    }
}

TEST_CASE("quantized rows: rows of memory in any element") {
  if (!has(Proposer::int8)) return;
  constexpr std::int64_t n = 2000, m = 40, dims = 20;
  const Matrix queries = hard_rows(DataKind::normal, Set::queries, m, dims, Metric::l2);
  for (const Element element : {Element::f16, Element::bf16, Element::i8}) {
    CAPTURE(std::string(name(element)));
    const bool whole_numbers = element == Element::i8;
    Matrix train =
        hard_rows(whole_numbers ? DataKind::integers : DataKind::normal, Set::train, n, dims, Metric::l2);
    for (float& value : train.values) {
      const std::uint32_t kept = element == Element::f16 ? 0xFFFFE000u : 0xFFFF0000u;  // 11 places, or 8
      value = whole_numbers ? std::fmod(value, 100.0f)
                            : std::bit_cast<float>(std::bit_cast<std::uint32_t>(value) & kept);
      if (std::fabs(value) < 0x1p-14f) value = 0;
    }
    const Stored stored(train, element, 2);
    const Index index(device(), memory_source(stored.view()), Metric::l2, quantized(300)),
        whole(device(), stored.view(), Metric::l2);
    CHECK(difference(index.search(queries, 9), whole.search(queries, 9)) == "");
  }
}

TEST_SUITE_END();

}  // namespace
}  // namespace kith::tests
