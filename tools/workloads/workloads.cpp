#include "workloads/workloads.hpp"

#include <algorithm>
#include <cmath>

#include "files/named.hpp"
#include "files/printed.hpp"

namespace kith::workloads {
namespace {

using files::printed;

constexpr std::int64_t million = 1000000, mebi = 1 << 20;

}  // namespace

const std::vector<Workload>& all_workloads() {
  using enum Timed;
  static const std::vector<Workload> all = {
      {"pbknn8", search, 81920, 64, 32, 16, "PBKNN (He, Pu, Li, Yan 2016), 8 * 10240 rows"},
      {"pbknn64", search, 655360, 64, 32, 16, "PBKNN, 64 * 10240 rows"},
      {"gsknn", search, 32768, 256, 1200, 25, "GS_KNN (Liu, Zheng, Liu 2019)"},
      {"knn03", search, 1310720, 2, 1, 15, "KNN in CUDA, knn03 (Batlle, Ballber 2020)"},
      {"knn03_k101", search, 1310720, 2, 1, 101, "the same, k = 101"},
      {"rank2d", search, 262144, 2, 1, 262144, "rank sort (Ajorian, Bastan, Montazeri): all rows in order"},
      {"fmnist", search, 60000, 784, 10000, 5, "Fashion-MNIST, the real data", true},
      {"sift_k10", search, million, 128, 10000, 10, "the size of SIFT1M"},
      {"sift_k100", search, million, 128, 10000, 100, "the size of SIFT1M"},
      {"lat10m", search, 10 * million, 128, 1, 10, "one query, ten million rows"},
      {"bigk", search, million, 64, 1000, 2048, "a large k"},
      {"emb768", search, million, 768, 1000, 10, "the size of text embeddings"},
      {"cloud3", search, million, 3, 20000, 16, "a point cloud"},
      {"allknn3", search, million, 3, million, 17, "the 16 nearest of every point, and itself", false,
       Metric::squared_l2, true},
      {"uniform8", search, million, 8, 10000, 10, "eight columns"},
      {"uniform12", search, million, 12, 10000, 10, "twelve columns"},
      {"sift_k10_u8", search, million, 128, 10000, 10, "SIFT1M's size as it is stored, a byte a column",
       false, Metric::squared_l2, false, Element::u8},
      {"sift_k10_f16", search, million, 128, 10000, 10, "the same size in half precision", false,
       Metric::squared_l2, false, Element::f16},
      {"hamming", search, 100 * million, 1024, 1, 10, "binary codes of 1,024 bits, one query", false,
       Metric::hamming, false, Element::bits},
      {"billion", search, 1000 * million, 128, 10000, 100, "the size of BIGANN, bytes on one card", false,
       Metric::squared_l2, false, Element::u8, true},
      {"distance64", Timed::distance, 65536, 64, 4096, 0, "the distance stage alone"},
      {"distance128", Timed::distance, 65536, 128, 4096, 0, "the distance stage alone"},
      {"distance784", Timed::distance, 65536, 784, 4096, 0, "the distance stage alone"},
      {"select32", select, mebi, 1, 1024, 32, "the select stage alone"},
      {"select2048", select, mebi, 1, 1024, 2048, "the select stage alone"},
  };
  return all;
}

const Workload& find_workload(std::string_view text) {
  return files::find_named(all_workloads(), text, &Workload::name, "bench: there is no workload", {"all"});
}

Workload scaled(const Workload& workload, double scale) {
  Workload small = workload;
  const auto shrink = [scale](std::int64_t size) {
    return std::max<std::int64_t>(1, std::llround(scale * static_cast<double>(size)));
  };
  small.n = shrink(workload.n);
  small.m = shrink(workload.m);
  small.k = std::min(workload.k, small.n);
  if (small.own_rows) small.m = small.n;
  return small;
}

const Ceilings* find_ceilings(std::string_view device_name) {
  static constexpr Ceilings h200{32.25e12, 4.3e12, "measured on one H200: docs/benchmarks.md"};
  return device_name.find("H200") != std::string_view::npos ? &h200 : nullptr;
}

double pairs_of(const Workload& workload) {
  return static_cast<double>(workload.n) * static_cast<double>(workload.m);
}

double bytes_of(const Workload& workload) {
  if (workload.timed == Timed::select) return 4 * pairs_of(workload);
  return static_cast<double>(workload.n + workload.m) *
         static_cast<double>(row_bytes(workload.element, workload.dims));
}

Floor floor_of(const Workload& workload, const Ceilings& ceilings) {
  const double pairs = pairs_of(workload), bytes = bytes_of(workload);
  const double memory = bytes / ceilings.bytes;
  if (workload.timed == Timed::select)
    return {memory,
            printed("read %.3g GB of distances once at %.3g TB/s", bytes / 1e9, ceilings.bytes / 1e12)};

  if (workload.element == Element::bits)
    return {memory, printed("read %.3g GB of rows once at %.3g TB/s", bytes / 1e9, ceilings.bytes / 1e12)};
  const double chain = 2 * pairs * static_cast<double>(workload.dims);
  const double direct = chain / ceilings.lane_instructions;
  if (workload.timed == Timed::search && workload.k == workload.n) {
    // A radix sort of (value, row) takes four passes that read and write 8 bytes, and a histogram.
    const double sorted = 68 * pairs;
    const double seconds = (bytes + sorted) / ceilings.bytes;
    return {seconds, printed("radix sort, 68 bytes a row, %.3g GB at %.3g TB/s", (bytes + sorted) / 1e9,
                             ceilings.bytes / 1e12)};
  }
  if (direct > memory)
    return {direct, printed("direct chain, 2 m n dims = %.3g instructions at %.4g e12/s", chain,
                            ceilings.lane_instructions / 1e12)};
  return {memory, printed("read %.3g GB of rows once at %.3g TB/s", bytes / 1e9, ceilings.bytes / 1e12)};
}

}  // namespace kith::workloads
