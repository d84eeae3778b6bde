// Rows and answers in OpenCL buffers of a host program: kith/opencl.hpp. Run on PoCL
// by kith_opencl_tests --device=opencl:pocl.
#include "callers.hpp"

#include <chrono>
#include <optional>
#include <thread>

#include "common/bytes_as_floats.hpp"
#include "common/elements.hpp"
#include "common/oracle.hpp"
#include "kith/classifier.hpp"
#include "kith/filter.hpp"
#include "kith/knn_graph.hpp"
#include "kith/spi.hpp"

namespace kith::tests {
namespace {

constexpr std::int64_t n = 500, m = 37, dims = 21, k = 9;

bool has_opencl() {
  return device().info().backend == "opencl";
}

/// Searches with outputs in buffers that are larger than needed, and checks the space around.
Neighbors search_into_buffers(Caller& caller, const Index& index, const RowsView& queries, std::int64_t k_of,
                              const SearchOptions& options = {}) {
  const std::size_t cells = size(queries.rows * k_of), before = 3, behind = 2;
  const std::vector<float> canaries(cells + before + behind, 77);
  const std::vector<std::int64_t> numbers(cells + before + behind, 77);
  DeviceNeighbors to = opencl::neighbors(caller.buffer_of(canaries.data(), canaries.size() * sizeof(float)),
                                         caller.buffer_of(numbers.data(), numbers.size() * 8));
  to.distance_offset_bytes = before * sizeof(float);
  to.row_offset_bytes = before * 8;
  index.search_into(queries, k_of, to, options);
  const auto distance = caller.read<float>(static_cast<cl_mem>(to.distance), canaries.size());
  const auto rows = caller.read<std::int64_t>(static_cast<cl_mem>(to.row), numbers.size());
  for (const std::size_t i : {std::size_t{0}, before - 1, cells + before, cells + before + behind - 1}) {
    CHECK(distance[i] == 77);
    CHECK(rows[i] == 77);
  }
  const auto inside = [&](const auto& all) { return std::vector(all.begin() + before, all.end() - behind); };
  return {queries.rows, k_of, inside(distance), inside(rows)};
}

Matrix rows_of(const Matrix& all, std::int64_t first, std::int64_t count) {
  const auto begin = all.values.begin() + first * all.cols;
  return {count, all.cols, {begin, begin + count * all.cols}};
}

TEST_SUITE_BEGIN("device");

TEST_CASE("callers: rows, queries and answers of every element in buffers are those of the host") {
  if (!has_opencl()) return;
  Caller caller;
  const Device adopted = caller.open();
  CHECK(adopted.info().spec == device().info().spec);
  const Matrix train = bytes_as_floats(n, dims, 1), queries = bytes_as_floats(m, dims, 2);
  for (const Element element : number_elements)
    for (const Metric metric : {Metric::l2, Metric::negative_dot, Metric::cosine, Metric::l1}) {
      CAPTURE(std::string(name(element)));
      CAPTURE(std::string(name(metric)));
      const Stored rows(train, element, 3, 5), asked(queries, Element::f16, 1, 1);
      const Index right(device(), rows.view(), metric), index(adopted, caller.put(rows.view()), metric);
      const Neighbors found = right.search(asked.view(), k);
      CHECK(difference(found, neighbors(metric, queries, train, k)) == "");
      CHECK(index.search(asked.view(), k) == found);
      CHECK(index.search(caller.put(asked.view()), k) == found);
      CHECK(search_into_buffers(caller, index, asked.view(), k) == found);
      CHECK(search_into_buffers(caller, index, caller.put(asked.view()), k, {.query_tile = 16}) == found);
      const Index grown = index.with(caller.put(asked.view()));
      CHECK(search_into_buffers(caller, grown, caller.put(asked.view()), 3) ==
            right.with(asked.view()).search(asked.view(), 3));
    }
  const Stored codes = random_bits(200, 77, 3, 2);
  const Index index(adopted, caller.put(codes.view()), Metric::hamming);
  CHECK(search_into_buffers(caller, index, caller.put(codes.view().slice(10, 20)), 5) ==
        Index(device(), codes.view(), Metric::hamming).search(codes.view().slice(10, 20), 5));
}

TEST_CASE("callers: rows and queries in buffers are centred by the host, and answers go to buffers") {
  if (!has_opencl()) return;
  Caller caller;
  const Device adopted = caller.open();
  const std::vector<double> points = map_points(n, 1), asked_points = map_points(m, 2);
  const Matrix train{n, 3, {points.begin(), points.end()}},
      queries{m, 3, {asked_points.begin(), asked_points.end()}};
  const Stored rows(train, Element::f32, 3, 5), asked(queries, Element::f32, 1, 1);
  IndexOptions options;
  options.learn_centre = true;
  const Index right(device(), train, Metric::l2, options),
      index(adopted, caller.put(rows.view()), Metric::l2, options);
  const Neighbors found = right.search(queries, k);
  CHECK(index.centre() == right.centre());
  CHECK(index.search(caller.put(asked.view()), k) == found);
  CHECK(search_into_buffers(caller, index, caller.put(asked.view()), k) == found);
  const MatrixView<const double> wide(points.data(), n, 3);
  CHECK(search_into_buffers(caller, index, wide, k) == right.search(wide, k));
  CHECK(index.with(caller.put(asked.view())).search(caller.put(asked.view()), 3) ==
        right.with(queries).search(queries, 3));
}

TEST_CASE("callers: what the queue holds comes first") {
  if (!has_opencl()) return;
  Caller caller;
  const Device adopted = caller.open();
  const Matrix train = bytes_as_floats(n, dims, 3);
  cl_int error = CL_SUCCESS;
  const cl_event gate = clCreateUserEvent(caller.context(), &error);
  REQUIRE(error == CL_SUCCESS);
  const RowsView rows = caller.put(RowsView(train.view()), gate);
  std::thread opener([gate] {
    std::this_thread::sleep_for(std::chrono::milliseconds(200));
    clSetUserEventStatus(gate, CL_COMPLETE);
  });
  std::optional<Index> index;
  const std::string said = error_of([&] { index.emplace(adopted, rows, Metric::l2); });
  opener.join();
  clReleaseEvent(gate);
  REQUIRE(said == "nothing was thrown");
  CHECK(difference(index->search(train, k), neighbors(Metric::l2, train, train, k)) == "");
}

TEST_CASE("callers: a value that is not finite is named as the host names it") {
  if (!has_opencl()) return;
  Caller caller;
  const Device adopted = caller.open();
  Matrix train = bytes_as_floats(40, dims, 4);
  train.values[size(33 * dims + 7)] = -inf;
  const RowsView rows = caller.put(train.view());
  for (const Metric metric : {Metric::l2, Metric::cosine}) {
    CHECK(error_of([&] { Index(adopted, rows, metric); }) ==
          "invalid_argument: index: training row 33, column 7 holds an infinity; make every value finite, or "
          "leave the row out");
    CHECK(error_of([&] { Index(adopted, rows, metric, {.first_row = 1000}); }) ==
          "invalid_argument: index: training row 1033, column 7 holds an infinity; make every value finite, "
          "or leave the row out");
    const Index index(adopted, rows.slice(0, 33), metric);
    CHECK(error_of([&] { static_cast<void>(index.search(rows, 2)); }) ==
          "invalid_argument: search: query row 33, column 7 holds an infinity; make every value finite, or "
          "leave the row out");
  }
  Matrix zeros = bytes_as_floats(40, dims, 4);
  std::fill_n(zeros.values.begin() + 2 * dims, dims, 0.0f);
  CHECK(error_of([&] { Index(adopted, caller.put(zeros.view()), Metric::cosine); }) ==
        "invalid_argument: index: training row 2 is all zeros, which has no direction; leave it out for "
        "cosine");
  const Index some(adopted, caller.put(train.view().slice(0, 30)), Metric::cosine);
  CHECK(
      error_of([&] { static_cast<void>(some.search(caller.put(zeros.view()), 2)); }) ==
      "invalid_argument: search: query row 2 is all zeros, which has no direction; leave it out for cosine");
  // Rows that are put in another order keep the numbers by which they were given.
  std::vector<std::int64_t> ids(40);
  for (std::size_t i = 0; i < ids.size(); ++i) ids[i] = static_cast<std::int64_t>(100 - i);
  for (const Matrix* of : {&train, &zeros})
    CHECK(error_of([&] { Index(adopted, caller.put(of->view()), Metric::cosine, {.ids = ids}); }) ==
          error_of([&] { Index(device(), *of, Metric::cosine, {.ids = ids}); }));
}

TEST_CASE("callers: memory of another context, too little memory and read-only memory are refused") {
  if (!has_opencl()) return;
  Caller caller, stranger;
  const Device adopted = caller.open();
  const std::string spec = adopted.info().spec;
  const Matrix train = bytes_as_floats(50, dims, 5);
  const std::string context = "unsupported: index: the training rows lie on an OpenCL device, and " + spec +
                              " has another OpenCL context than their memory; open it with that one, by "
                              "open_device() of kith/opencl.hpp";
  CHECK(error_of([&] { Index(adopted, stranger.put(train.view()), Metric::l2); }) == context);
  CHECK(error_of([&] { Index(device(), caller.put(train.view()), Metric::l2); }) == context);
  RowsView wrong_queue = caller.put(train.view());
  wrong_queue.stream_or_queue = stranger.queue();
  CHECK(error_of([&] { Index(adopted, wrong_queue, Metric::l2); }) ==
        "unsupported: index: the training rows lie on an OpenCL device, and " + spec +
            " has another OpenCL context than their queue; give a queue of the context of the memory");
  RowsView too_many = caller.put(train.view());
  too_many.rows = 51;
  CHECK(error_of([&] { Index(adopted, too_many, Metric::l2); }) ==
        "invalid_argument: index: the training rows lie on an OpenCL device, and " + spec +
            " finds 4200 bytes in their buffer, but 4284 are used; give a larger one");
  RowsView of_cuda = caller.put(train.view());
  of_cuda.where = Where::cuda;
  CHECK(error_of([&] { Index(adopted, of_cuda, Metric::l2); }) ==
        "unsupported: index: the training rows lie on a CUDA device, and " + spec +
            " takes memory of OpenCL alone; give a cl_mem, or open the device by its other name");
  CHECK(error_of([&] { Index(open_device("cpu"), caller.put(train.view()), Metric::l2); }) ==
        "unsupported: index: the training rows lie on an OpenCL device, and cpu takes memory of the host "
        "alone; copy them to the host");
  const Index index(adopted, train, Metric::l2);
  const auto said = [&](const DeviceNeighbors& to) {
    return error_of([&] { index.search_into(train, 2, to); });
  };
  const cl_mem enough = caller.buffer(800);
  CHECK(said(opencl::neighbors(caller.buffer(400, CL_MEM_READ_ONLY), enough)) ==
        "unsupported: search_into: the distances lie on an OpenCL device, and " + spec +
            " may not write to their buffer, which is CL_MEM_READ_ONLY; give one that kernels may write");
  CHECK(said(opencl::neighbors(enough, caller.buffer(400))) ==
        "invalid_argument: search_into: the row numbers lie on an OpenCL device, and " + spec +
            " finds 400 bytes in their buffer, but 800 are used; give a larger one");
  DeviceNeighbors odd = opencl::neighbors(enough, enough);
  odd.row_offset_bytes = 4;
  CHECK(said(odd) ==
        "invalid_argument: search_into: row begins at no multiple of 8 bytes; align it to its elements");
  CHECK(said(opencl::neighbors(nullptr, enough)) ==
        "invalid_argument: search_into: distance has no address (a null pointer); give that of the first "
        "element");
}

/// Every way in which rows may not count, or have other numbers than places.
TEST_CASE("callers: filters, own rows, ids and removed rows leave the bits of the host in buffers") {
  if (!has_opencl()) return;
  Caller caller;
  const Device adopted = caller.open();
  const Matrix train = bytes_as_floats(n, dims, 6), queries = rows_of(train, 100, m);
  const RowsView rows = caller.put(train.view()), asked = caller.put(queries.view());
  std::vector<std::int64_t> ids(size(n)), kept, few = {101, 7, 499};
  for (std::int64_t i = 0; i < n; ++i) {
    ids[size(i)] = 3 * ((i * 7) % n) + 1;
    if (i % 3 != 0) kept.push_back(i);
  }
  const std::vector<std::int64_t> gone = {0, 101, 102, 250, 499};
  const RowFilter most = RowFilter::only(n, kept), least = RowFilter::only(n, few);
  std::vector<std::uint32_t> each;
  for (std::int64_t q = 0; q < m; ++q) {
    const auto words = (q % 2 == 0 ? most : least).view();
    each.insert(each.end(), words.row(0), words.row(0) + words.cols());
  }
  const FilterWords of_each(each.data(), m, most.view().cols());
  const std::vector<SearchOptions> ways = {{},
                                           {.self = 100},
                                           {.filter = most},
                                           {.filter = least},
                                           {.filter = of_each},
                                           {.filter = most, .self = 100},
                                           {.query_tile = 16, .filter = of_each, .self = 100}};
  for (const Metric metric : {Metric::l2, Metric::negative_dot, Metric::cosine, Metric::linf}) {
    CAPTURE(std::string(name(metric)));
    const Index right(device(), train, metric), index(adopted, rows, metric);
    const Index named(device(), train, metric, {.ids = ids}),
        named_there(adopted, rows, metric, {.ids = ids});
    for (std::size_t way = 0; way < ways.size(); ++way) {
      CAPTURE(way);
      CHECK(search_into_buffers(caller, index, asked, k, ways[way]) == right.search(queries, k, ways[way]));
      CHECK(search_into_buffers(caller, named_there, asked, k, ways[way]) ==
            named.search(queries, k, ways[way]));
    }
    for (const SearchOptions& way : {SearchOptions{}, SearchOptions{.filter = most}}) {
      CHECK(search_into_buffers(caller, index.without(gone), asked, k, way) ==
            right.without(gone).search(queries, k, way));
      CHECK(search_into_buffers(caller, index.without(gone).compact(), asked, k, way) ==
            right.without(gone).compact().search(queries, k, way));
    }
    CHECK(search_into_buffers(caller, index.without(gone).with(asked), asked, k, {.self = n}) ==
          right.without(gone).with(queries).search(queries, k, {.self = n}));
  }
}

TEST_CASE("callers: a filter that keeps few rows is heeded by these rows alone") {
  if (!has_opencl()) return;
  Caller caller;
  const Device adopted = caller.open();
  constexpr std::int64_t many = 6000, all = 4200;
  const Matrix train = bytes_as_floats(many, 5, 8);
  const RowsView rows = caller.put(train.view());
  std::vector<std::int64_t> few;
  for (std::int64_t i = 3; i < many; i += 400) few.push_back(i);
  const RowFilter filter = RowFilter::only(many, few);
  for (const std::int64_t self : {-1, 0, 1700}) {
    SearchOptions way{.filter = filter};
    if (self >= 0) way.self = self;
    const Index right(device(), train, Metric::l1), index(adopted, rows, Metric::l1);
    CHECK(search_into_buffers(caller, index, rows.slice(0, all), 4, way) ==
          right.search(train.view().slice(0, all), 4, way));
  }
}

TEST_CASE("callers: queries and answers in buffers do not pass through the host") {
  if (!has_opencl()) return;
  Caller caller;
  const Device adopted = caller.open();
  constexpr std::int64_t all = 40000, nearest = 5;
  constexpr std::uint64_t little = 1 << 10;  // what tells of steps, and words that they report
  const auto words = [](std::int64_t count) { return static_cast<std::uint64_t>(count) * 4; };
  const Matrix train = bytes_as_floats(all, 3, 9);
  const RowsView rows = caller.put(train.view());
  for (const Metric metric : {Metric::l2, Metric::negative_dot, Metric::cosine}) {
    CAPTURE(std::string(name(metric)));
    const Index index(adopted, rows, metric);
    SearchOptions way{.self = 0};
    const bool boxes = metric == Metric::l2;
    if (boxes)
      way.boxes = true;
    else
      way.proposer = Proposer::none;
    index.prepare(all, nearest, way);
    const DeviceNeighbors to =
        opencl::neighbors(caller.buffer(words(all * nearest)), caller.buffer(2 * words(all * nearest)));
    Trace trace;
    index.search_into(rows, nearest, to, way, &trace);
    if (boxes && trace.seconds.count(spi::OrderStep::name) == 0) continue;  // the host puts queries in order
    CHECK(trace.bytes_to_device < little);
    // A search by boxes reads how many leaves each query took.
    CHECK(trace.bytes_from_device < little + (boxes ? words(all) : 0));
    Trace on_host;
    static_cast<void>(index.search(train, nearest, way, &on_host));
    CHECK(on_host.bytes_to_device >= words(3 * all));
    CHECK(on_host.bytes_from_device >= words(2 * all * nearest));
  }
}

TEST_CASE("callers: the numbers of rows go to the device once") {
  if (!has_opencl()) return;
  Caller caller;
  const Device adopted = caller.open();
  const Matrix train = bytes_as_floats(n, dims, 6);
  std::vector<std::int64_t> ids(size(n));
  for (std::int64_t i = 0; i < n; ++i) ids[size(i)] = 5 * i + 3;
  const RowsView rows = caller.put(train.view());
  const Index index(adopted, rows, Metric::l1, {.ids = ids});
  const std::size_t before = index.memory_bytes();
  const DeviceNeighbors to = opencl::neighbors(caller.buffer(n * k * 4), caller.buffer(n * k * 8));
  SearchOptions way;
  way.proposer = Proposer::none;
  Trace first, second, third;
  index.search_into(rows, k, to, way, &first);
  CHECK(index.memory_bytes() >= before + ids.size() * 8);
  index.search_into(rows, k, to, way, &second);
  index.search_into(rows, k, to, way, &third);
  // A first search may bring more than the numbers, such as what a device needs once.
  CHECK(first.bytes_to_device >= second.bytes_to_device + ids.size() * 8);
  CHECK(third.bytes_to_device == second.bytes_to_device);
  // Others have numbers of their own.
  const Index grown = index.with(rows);
  CHECK(search_into_buffers(caller, grown, rows, 3, way) ==
        Index(device(), train, Metric::l1, {.ids = ids}).with(train).search(train, 3, way));
  CHECK(search_into_buffers(caller, index, rows, 3, way) ==
        Index(device(), train, Metric::l1, {.ids = ids}).search(train, 3, way));
}

TEST_CASE("callers: the graph of rows in a buffer has the bits of the host") {
  if (!has_opencl()) return;
  Caller caller;
  const Device adopted = caller.open();
  constexpr std::int64_t all = 20000, nearest = 6;
  Matrix train = bytes_as_floats(all, 3, 10);
  std::copy_n(train.values.begin(), 3 * 1000, train.values.end() - 3 * 1000);  // duplicates
  const RowsView rows = caller.put(train.view());
  for (const Metric metric : {Metric::l2, Metric::cosine, Metric::l1}) {
    CAPTURE(std::string(name(metric)));
    const cl_mem distance = caller.buffer(all * nearest * 4), row = caller.buffer(all * nearest * 8);
    knn_graph_into(adopted, rows, nearest, opencl::neighbors(distance, row), metric);
    const Neighbors found{all, nearest, caller.read<float>(distance, size(all * nearest)),
                          caller.read<std::int64_t>(row, size(all * nearest))};
    CHECK(found == knn_graph(device(), train, nearest, metric));
  }
  CHECK(error_of([&] {
          knn_graph_into(adopted, rows, 2, opencl::neighbors(caller.buffer(8), caller.buffer(8)), Metric::l2,
                         {.self = 1});
        }).find("leave self alone") != std::string::npos);
}

TEST_CASE("callers: what takes rows of the host alone says so") {
  if (!has_opencl()) return;
  Caller caller;
  const Device adopted = caller.open();
  const Matrix train = bytes_as_floats(50, dims, 6);
  const RowsView rows = caller.put(train.view());
  const DeviceNeighbors to = opencl::neighbors(caller.buffer(800), caller.buffer(800));
  const Index index(adopted, rows, Metric::l2);
  CHECK(error_of([&] { index.search_into(train, 51, to); }).starts_with("invalid_argument: search: k = 51"));
  const std::vector<float> radius = {1};
  CHECK(error_of([&] { static_cast<void>(index.within(rows, radius)); }) ==
        "unsupported: within: the query rows lie on an OpenCL device, and this call takes those of the host "
        "alone; copy them to the host");
}

TEST_CASE("callers: queries beyond the range of negative_dot are named as the host names them") {
  if (!has_opencl()) return;
  Caller caller;
  const Device adopted = caller.open();
  Matrix queries = bytes_as_floats(40, dims, 4);
  queries.values[size(21 * dims + 3)] = 1e38f;
  const Matrix train = bytes_as_floats(50, dims, 6);
  const Index index(adopted, train, Metric::negative_dot);
  CHECK(error_of([&] { static_cast<void>(index.search(caller.put(queries.view()), 2)); }) ==
        error_of([&] { static_cast<void>(index.search(queries, 2)); }));
}

TEST_CASE("callers: a context, a device and a queue that do not belong together are refused") {
  if (!has_opencl()) return;
  const Caller caller, stranger;
  CHECK(error_of([&] { open_device(nullptr, caller.cl_device(), nullptr); }) ==
        "invalid_argument: opencl: the context or the device is null; give those that the memory was made "
        "with");
  CHECK(error_of([&] { open_device(caller.context(), caller.cl_device(), stranger.queue()); }) ==
        "unsupported: opencl: the caller's queue is of another context; give a queue of that context, or "
        "none");
  const Device without_queue = open_device(caller.context(), caller.cl_device(), nullptr);
  CHECK(without_queue.info().name == device().info().name);
}

TEST_SUITE_END();

}  // namespace
}  // namespace kith::tests
