// Tests rows and answers in device memory of the host program: kith/cuda.hpp.
#include <chrono>
#include <cstring>
#include <optional>
#include <string>
#include <vector>

#include "common/bytes_as_floats.hpp"
#include "common/elements.hpp"
#include "guest.hpp"
#include "kith/cuda.hpp"
#include "kith/filter.hpp"
#include "kith/knn_graph.hpp"

namespace kith::tests {
namespace {

/// Owns a block of memory on a card, filled with a copy of host memory.
class OnDevice {
 public:
  OnDevice(int card, const void* from, std::size_t bytes) {
    const OnCard there(card);
    CUDA_OK(cudaMalloc(&data_, bytes));
    CUDA_OK(cudaMemcpy(data_, from, bytes, cudaMemcpyHostToDevice));
  }
  OnDevice(const void* from, std::size_t bytes) : OnDevice(card_of_kith(), from, bytes) {}
  explicit OnDevice(const RowsView& rows)
      : OnDevice(rows.data, size(rows.offset_bytes + rows.rows * rows.stride_bytes)) {}
  ~OnDevice() { cudaFree(data_); }
  OnDevice(const OnDevice&) = delete;
  OnDevice& operator=(const OnDevice&) = delete;

  template <class T>
  T* as() const {
    return static_cast<T*>(data_);
  }
  /// Returns a view of the copied rows.
  RowsView view(const RowsView& rows, cudaStream_t stream = nullptr) const {
    return cuda::rows(as<unsigned char>() + rows.offset_bytes, rows.element, rows.rows, rows.cols,
                      rows.stride_bytes, stream);
  }

 private:
  void* data_ = nullptr;
};

template <class T>
std::vector<T> read(const T* from, std::size_t count) {
  std::vector<T> values(count);
  CUDA_OK(cudaMemcpy(values.data(), from, count * sizeof(T), cudaMemcpyDeviceToHost));
  return values;
}

/// Searches with outputs on the card, surrounded by canaries.
Neighbors search_on_card(const Index& index, const RowsView& queries, std::int64_t k_of,
                         const SearchOptions& options = {}) {
  const std::size_t cells = size(queries.rows * k_of), behind = 2;
  const std::vector<float> canaries(cells + behind, 77);
  const std::vector<std::int64_t> numbers(cells + behind, 77);
  const OnDevice distance(canaries.data(), canaries.size() * sizeof(float)),
      rows(numbers.data(), numbers.size() * sizeof(std::int64_t));
  index.search_into(queries, k_of, cuda::neighbors(distance.as<float>(), rows.as<std::int64_t>()), options);
  std::vector<float> found = read(distance.as<float>(), canaries.size());
  std::vector<std::int64_t> places = read(rows.as<std::int64_t>(), numbers.size());
  CHECK(found.back() == 77);
  CHECK(places.back() == 77);
  found.resize(cells);
  places.resize(cells);
  return {queries.rows, k_of, found, places};
}

TEST_SUITE_BEGIN("device");

TEST_CASE("guest: rows, queries and answers of every element on the card are those of the host") {
  if (!has_card()) return;
  const Matrix train = bytes_as_floats(n, dims, 1), queries = bytes_as_floats(m, dims, 2);
  const Device cpu = open_device("cpu");
  for (const Element element : number_elements)
    for (const Metric metric : {Metric::l2, Metric::negative_dot, Metric::cosine, Metric::l1}) {
      CAPTURE(std::string(name(element)));
      CAPTURE(std::string(name(metric)));
      const Stored rows(train, element, 3, 5), asked(queries, Element::f16, 1, 1);
      const OnDevice there(rows.view()), asked_there(asked.view());
      const Index right(cpu, rows.view(), metric), index(device(), there.view(rows.view()), metric);
      const Neighbors found = right.search(asked.view(), k);
      const RowsView on_card = asked_there.view(asked.view());
      CHECK(index.search(asked.view(), k) == found);
      CHECK(index.search(on_card, k) == found);
      CHECK(search_on_card(index, asked.view(), k) == found);
      CHECK(search_on_card(index, on_card, k, {.query_tile = 16}) == found);
      CHECK(search_on_card(index.with(on_card), on_card, 3) ==
            right.with(asked.view()).search(asked.view(), 3));
      // These are the same rows from host memory.
      CHECK(Index(device(), rows.view(), metric).search(asked.view(), k) == found);
    }
  const Stored codes = random_bits(200, 77, 3, 2);
  const OnDevice there(codes.view());
  const Index index(device(), there.view(codes.view()), Metric::hamming);
  CHECK(search_on_card(index, there.view(codes.view()), 5) ==
        Index(cpu, codes.view(), Metric::hamming).search(codes.view(), 5));
}

TEST_CASE("guest: rows in page-locked memory are those of ordinary memory") {
  if (!has_card()) return;
  const Matrix& train = example().train;
  void* locked = nullptr;
  CUDA_OK(cudaMallocHost(&locked, train.values.size() * sizeof(float)));
  std::memcpy(locked, train.values.data(), train.values.size() * sizeof(float));
  {
    const Index index(device(), RowsView(static_cast<const float*>(locked), n, dims), Metric::squared_l2);
    CHECK(outcome(index, {}, nullptr) == "");
    // Only every second row is taken, so that rows have gaps.
    const Index half(device(), RowsView(static_cast<const float*>(locked), n / 2, dims, 2 * dims),
                     Metric::l1);
    const Index right(open_device("cpu"), RowsView(train.values.data(), n / 2, dims, 2 * dims), Metric::l1);
    CHECK(half.search(example().queries, k) == right.search(example().queries, k));
  }
  CUDA_OK(cudaFreeHost(locked));
}

TEST_CASE("guest: rows in memory that is page-locked in two pieces are those of ordinary memory") {
  if (!has_card()) return;
  constexpr std::size_t piece = std::size_t{1} << 20;
  constexpr std::int64_t many = 2 * piece / (sizeof(float) * dims);
  std::vector<float> memory(3 * piece / sizeof(float));
  const auto begin = (reinterpret_cast<std::uintptr_t>(memory.data()) / 4096 + 1) * 4096;
  auto* const rows = reinterpret_cast<float*>(begin);
  for (std::int64_t i = 0; i < many * dims; ++i) rows[i] = static_cast<float>(i * 7919 % 1009);
  for (const std::size_t at : {std::size_t{0}, piece})
    CUDA_OK(cudaHostRegister(reinterpret_cast<unsigned char*>(rows) + at, piece, cudaHostRegisterDefault));
  const MatrixView<const float> all(rows, many, dims);
  const Neighbors right = Index(open_device("cpu"), all, Metric::squared_l2).search(example().queries, k);
  CHECK(Index(device(), all, Metric::squared_l2).search(example().queries, k) == right);
  IndexOptions stream;
  stream.residence = Residence::stream;
  const Index passing(device(), memory_source(RowsView(all)), Metric::squared_l2, stream);
  CHECK(passing.search(example().queries, k) == right);
  for (const std::size_t at : {std::size_t{0}, piece})
    CUDA_OK(cudaHostUnregister(reinterpret_cast<unsigned char*>(rows) + at));
}

TEST_CASE("guest: what a stream holds comes first") {
  if (!has_card()) return;
  const Matrix& train = example().train;
  const std::size_t bytes = train.values.size() * sizeof(float);
  const std::vector<float> zeros(train.values.size(), 0.0f);
  const OnDevice late(zeros.data(), bytes), source(train.values.data(), bytes);
  const OnCard there(card_of_kith());
  cudaStream_t stream = nullptr;
  CUDA_OK(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
  const auto sleep = [](void*) { std::this_thread::sleep_for(std::chrono::milliseconds(200)); };
  CUDA_OK(cudaLaunchHostFunc(stream, sleep, nullptr));
  CUDA_OK(cudaMemcpyAsync(late.as<float>(), source.as<float>(), bytes, cudaMemcpyDeviceToDevice, stream));
  const Index index(device(), cuda::rows(late.as<float>(), n, dims, stream), Metric::squared_l2);
  CHECK(outcome(index, {}, nullptr) == "");
  CUDA_OK(cudaStreamSynchronize(stream));
  CUDA_OK(cudaStreamDestroy(stream));
}

TEST_CASE("guest: a value that is not finite is named as the host names it") {
  if (!has_card()) return;
  Matrix train = bytes_as_floats(40, dims, 4);
  train.values[size(33 * dims + 7)] = -inf;
  const OnDevice there(train.view());
  for (const Metric metric : {Metric::l2, Metric::cosine})
    CHECK(error_of([&] { Index(device(), there.view(train.view()), metric); }) ==
          "invalid_argument: index: training row 33, column 7 holds an infinity; make every value finite, or "
          "leave the row out");
}

TEST_CASE("guest: memory of the host, of another card and a captured stream are refused") {
  if (!has_card()) return;
  const Matrix& train = example().train;
  const std::string begin =
      "unsupported: index: the training rows lie on a CUDA device, and " + device().info().spec;
  const auto said = [&](const float* first, cudaStream_t stream = nullptr) {
    return error_of([&] { Index(device(), cuda::rows(first, n, dims, stream), Metric::l2); });
  };
  CHECK(said(train.values.data()) ==
        begin + " finds their address in memory of the host; give a device pointer, or rows of the host");
  const OnDevice there(train.view());
  CHECK(error_of([&] { Index(open_device("cpu"), there.view(train.view()), Metric::l2); }) ==
        "unsupported: index: the training rows lie on a CUDA device, and cpu takes memory of the host alone; "
        "copy them to the host");
  {
    const OnCard current(card_of_kith());
    cudaStream_t stream = nullptr;
    CUDA_OK(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
    CUDA_OK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeRelaxed));
    CHECK(said(there.as<float>(), stream) ==
          begin +
              " cannot wait for their stream, since the host program captures a CUDA graph from it; search "
              "when the capture has ended");
    cudaGraph_t graph = nullptr;
    CUDA_OK(cudaStreamEndCapture(stream, &graph));
    CUDA_OK(cudaGraphDestroy(graph));
    CUDA_OK(cudaStreamDestroy(stream));
  }
  int cards = 0;
  CUDA_OK(cudaGetDeviceCount(&cards));
  if (cards < 2) return;
  const int other = card_of_kith() == 0 ? 1 : 0;
  const OnDevice elsewhere(other, train.values.data(), train.values.size() * sizeof(float));
  CHECK(said(elsewhere.as<float>()) == begin + " is CUDA device " + std::to_string(card_of_kith()) +
                                           ", but their memory is of device " + std::to_string(other) +
                                           "; copy them, or make the index on that device");
}

TEST_CASE("guest: filters, own rows, ids and removed rows leave the bits of the CPU on the card") {
  if (!has_card()) return;
  const Matrix& train = example().train;
  const MatrixView<const float> queries = train.view().slice(50, m);
  const OnDevice there(train.view());
  const RowsView rows = there.view(train.view()), asked = rows.slice(50, m);
  std::vector<std::int64_t> ids(size(n)), kept;
  for (std::int64_t i = 0; i < n; ++i) {
    ids[size(i)] = 2 * (n - i);
    if (i % 3 != 0) kept.push_back(i);
  }
  const std::vector<std::int64_t> gone = {0, 51, n - 1};
  const RowFilter most = RowFilter::only(n, kept), few = RowFilter::only(n, std::vector<std::int64_t>{51, 7});
  const std::vector<SearchOptions> ways = {
      {}, {.self = 50}, {.filter = most}, {.filter = few}, {.query_tile = 16, .filter = most, .self = 50}};
  const Device cpu = open_device("cpu");
  for (const Metric metric : {Metric::l2, Metric::negative_dot, Metric::cosine, Metric::linf}) {
    CAPTURE(std::string(name(metric)));
    const Index right(cpu, train, metric), index(device(), rows, metric);
    const Index named(cpu, train, metric, {.ids = ids}), named_there(device(), rows, metric, {.ids = ids});
    for (const SearchOptions& way : ways) {
      CHECK(search_on_card(index, asked, k, way) == right.search(queries, k, way));
      CHECK(search_on_card(named_there, asked, k, way) == named.search(queries, k, way));
    }
    CHECK(search_on_card(index.without(gone), asked, k) == right.without(gone).search(queries, k));
    CHECK(search_on_card(index.without(gone).compact(), asked, k) ==
          right.without(gone).compact().search(queries, k));
  }
}

/// Makes the graph of `all` rows of 3 columns on the card, checks its bits, and returns the trace of a call
/// after boxes were made.
Trace graph_on_card(std::int64_t all, Metric metric, const SearchOptions& way) {
  constexpr std::int64_t nearest = 5;
  const Matrix train = bytes_as_floats(all, 3, 9);
  const OnDevice there(train.view());
  const RowsView rows = there.view(train.view());
  const Index index(device(), rows, metric);
  index.prepare(all, nearest, way);
  const std::vector<unsigned char> room(size(all * nearest) * 8);
  const OnDevice distance(room.data(), room.size() / 2), numbers(room.data(), room.size());
  const DeviceNeighbors to = cuda::neighbors(distance.as<float>(), numbers.as<std::int64_t>());
  Trace trace;
  index.search_into(rows, nearest, to, way, &trace);
  const Neighbors found{all, nearest, read(distance.as<float>(), size(all * nearest)),
                        read(numbers.as<std::int64_t>(), size(all * nearest))};
  CHECK(found == knn_graph(open_device("cpu"), train, nearest, metric));
  return trace;
}

TEST_CASE("guest: queries and answers on the card do not pass through the host") {
  if (!has_card()) return;
  constexpr std::int64_t all = 60000;
  constexpr std::uint64_t little = 1 << 10;  // parameters of steps, and words that they report
  for (const Metric metric : {Metric::l2, Metric::negative_dot, Metric::cosine}) {
    CAPTURE(std::string(name(metric)));
    SearchOptions way{.self = 0};
    const bool boxes = metric == Metric::l2;
    if (boxes)
      way.boxes = true;
    else
      way.proposer = Proposer::none;
    const Trace trace = graph_on_card(all, metric, way);
    CHECK(trace.bytes_to_device < little);
    // A search by boxes downloads how many leaves each query read.
    CHECK(trace.bytes_from_device < little + (boxes ? all * sizeof(std::uint32_t) : 0));
  }
}

TEST_CASE("guest: a graph goes to the card, and answers that are not aligned are refused") {
  if (!has_card()) return;
  const OnDevice there(example().train.view()), answers(example().train.view());
  const RowsView rows = there.view(example().train.view());
  const OnDevice distance(example().train.view());
  const std::vector<std::int64_t> room(size(n * 2));
  const OnDevice numbers(room.data(), room.size() * sizeof(std::int64_t));
  knn_graph_into(device(), rows, 2, cuda::neighbors(distance.as<float>(), numbers.as<std::int64_t>()));
  const Neighbors right = knn_graph(open_device("cpu"), example().train, 2);
  CHECK(read(distance.as<float>(), size(n * 2)) == right.distance);
  CHECK(read(numbers.as<std::int64_t>(), size(n * 2)) == right.row);
  const Index index(device(), rows, Metric::l2);
  CHECK(
      error_of([&] {
        index.search_into(example().queries, 2,
                          cuda::neighbors(answers.as<float>(),
                                          reinterpret_cast<std::int64_t*>(answers.as<unsigned char>() + 4)));
      }) == "invalid_argument: search_into: row begins at no multiple of 8 bytes; align it to its elements");
}

TEST_SUITE_END();

}  // namespace
}  // namespace kith::tests
