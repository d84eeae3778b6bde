// kith-bench-faiss times exact search by kith's CPU back end and by FAISS's IndexFlatL2, in turns in one
// process, with equally many threads. Both get the rows once, before the clock starts.
//
//   kith-bench-faiss [--threads N] [--repeats N] [--queries N] [--case NAME] [--data FOLDER]
//
// KITH_CPU_ISA = avx2 or baseline shows what kith does on other processors.

#include <faiss/IndexFlat.h>
#include <omp.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <kith/kith.hpp>
#include <random>
#include <stdexcept>
#include <string>
#include <vector>

#include "files/table.hpp"

// These functions exist if the linked OpenBLAS has its own threads.
extern "C" void openblas_set_num_threads(int) __attribute__((weak));
extern "C" char* openblas_get_corename() __attribute__((weak));

namespace kith::benchmark {
namespace {

struct Rows {
  std::int64_t count = 0, dims = 0;
  std::vector<float> values;  ///< [count, dims]
};

/// Returns the images of a file of Fashion-MNIST (Xiao, Rasul, Vollgraf 2017), one per row, 0 ... 255.
Rows read_images(const std::string& path) {
  files::Table table = files::read_table(path);
  return {table.rows, table.cols, std::move(table.values)};
}

struct Options {
  int threads = omp_get_num_procs();
  int repeats = 5;
  std::int64_t queries = 0;  ///< 0: as many as the case has
  std::string only;
  std::string data = "/usr/share/datasets/fashion-mnist";
};

struct Case {
  std::string name;
  Rows train, queries;
  std::int64_t k;
};

double seconds_of(const auto& body) {
  const auto start = std::chrono::steady_clock::now();
  body();
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

double median(std::vector<double> samples) {
  std::sort(samples.begin(), samples.end());
  const std::size_t half = samples.size() / 2;
  return samples.size() % 2 ? samples[half] : (samples[half - 1] + samples[half]) / 2;
}

Rows random_rows(std::int64_t count, std::int64_t dims, unsigned seed) {
  std::mt19937 generator(seed);
  std::uniform_real_distribution<float> uniform(0.0f, 1.0f);
  Rows rows{count, dims, std::vector<float>(static_cast<std::size_t>(count * dims))};
  for (float& value : rows.values) value = uniform(generator);
  return rows;
}

Case random_case(std::int64_t n, std::int64_t dims, std::int64_t m, std::int64_t k) {
  return {"random-" + std::to_string(dims), random_rows(n, dims, 1), random_rows(m, dims, 2), k};
}

void print_samples(const char* who, std::vector<double> samples, double pairs) {
  const double middle = median(samples);
  std::printf("  %-6s median %9.2f ms  (%.3g pairs/s)  samples", who, middle * 1e3, pairs / middle);
  for (const double sample : samples) std::printf(" %.2f", sample * 1e3);
  std::printf("\n");
}

/// Lets both search in turns; the first search of each is not counted.
void compare(Case c, const Options& options, const Device& device) {
  if (options.queries > 0) c.queries.count = std::min(c.queries.count, options.queries);
  const std::int64_t m = c.queries.count, n = c.train.count, dims = c.train.dims;
  const Index index(device, {c.train.values.data(), n, dims}, Metric::squared_l2);
  faiss::IndexFlatL2 flat(dims);
  flat.add(n, c.train.values.data());

  SearchOptions plan;
  plan.threads = static_cast<std::uint32_t>(options.threads);
  Neighbors found;
  const auto places = static_cast<std::size_t>(m * c.k);
  std::vector<float> distances(places);
  std::vector<faiss::Index::idx_t> rows(places);
  const auto by_kith = [&] { found = index.search({c.queries.values.data(), m, dims}, c.k, plan); };
  const auto by_faiss = [&] { flat.search(m, c.queries.values.data(), c.k, distances.data(), rows.data()); };

  std::vector<double> kith_seconds, faiss_seconds;
  by_kith();
  by_faiss();
  for (int i = 0; i < options.repeats; ++i) {
    kith_seconds.push_back(seconds_of(by_kith));
    faiss_seconds.push_back(seconds_of(by_faiss));
  }
  std::size_t differing = 0;
  for (std::size_t i = 0; i < places; ++i) differing += found.row[i] != rows[i];

  std::printf("%s: n = %lld, m = %lld, dims = %lld, k = %lld\n", c.name.c_str(), static_cast<long long>(n),
              static_cast<long long>(m), static_cast<long long>(dims), static_cast<long long>(c.k));
  const double pairs = static_cast<double>(m) * static_cast<double>(n);
  print_samples("kith", kith_seconds, pairs);
  print_samples("faiss", faiss_seconds, pairs);
  std::printf(
      "  kith takes %.3f of FAISS's time (%.2f times as fast); %zu of %zu neighbours of FAISS differ\n",
      median(kith_seconds) / median(faiss_seconds), median(faiss_seconds) / median(kith_seconds), differing,
      places);
}

Options parse(int argc, char** argv) {
  Options options;
  for (int i = 1; i < argc; i += 2) {
    const std::string option = argv[i];
    if (i + 1 == argc) throw std::runtime_error("there is nothing after " + option);
    const std::string value = argv[i + 1];
    if (option == "--threads") {
      options.threads = std::max(1, std::stoi(value));
    } else if (option == "--repeats") {
      options.repeats = std::max(1, std::stoi(value));
    } else if (option == "--queries") {
      options.queries = std::stoll(value);
    } else if (option == "--case") {
      options.only = value;
    } else if (option == "--data") {
      options.data = value;
    } else {
      throw std::runtime_error("unknown option " + option +
                               "; there are --threads, --repeats, --queries, --case, --data");
    }
  }
  return options;
}

void run(const Options& options) {
  omp_set_num_threads(options.threads);
  if (openblas_set_num_threads) openblas_set_num_threads(options.threads);
  const Device device = open_device("cpu");
  std::printf("%s, %d threads; kith: %s; OpenBLAS: %s\n", device.info().name.c_str(), options.threads,
              device.info().driver.c_str(), openblas_get_corename ? openblas_get_corename() : "not OpenBLAS");
  const auto wanted = [&](const std::string& name) { return options.only.empty() || options.only == name; };
  bool any = false;
  for (const std::int64_t dims : {2, 3, 16, 64})
    if (wanted("random-" + std::to_string(dims))) {
      compare(random_case(100000, dims, 2000, 16), options, device);
      any = true;
    }
  if (wanted("fashion-mnist")) {
    compare({"fashion-mnist", read_images(options.data + "/train-images-idx3-ubyte.gz"),
             read_images(options.data + "/t10k-images-idx3-ubyte.gz"), 5},
            options, device);
    any = true;
  }
  if (!any)
    throw std::runtime_error("no case " + options.only +
                             "; there are random-2, random-3, random-16, random-64, fashion-mnist");
}

}  // namespace
}  // namespace kith::benchmark

int main(int argc, char** argv) {
  try {
    kith::benchmark::run(kith::benchmark::parse(argc, argv));
    return 0;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "kith-bench-faiss: %s\n", error.what());
    return 1;
  }
}
