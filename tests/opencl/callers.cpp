// Tests rows and answers in OpenCL buffers of a host program: kith/opencl.hpp. `kith_opencl_tests
// --device=opencl:pocl` runs it on PoCL.
#include "callers.hpp"

#include <chrono>
#include <optional>
#include <thread>

#include "common/bytes_as_floats.hpp"
#include "common/elements.hpp"
#include "common/oracle.hpp"
#include "kith/knn_graph.hpp"

namespace kith::tests {
namespace {

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

TEST_CASE("callers: queries in buffers lie on the grid of bytes that rows are on, where all of them do") {
  if (!has_opencl() || !has(Proposer::int8)) return;
  Caller caller;
  const Device adopted = caller.open();
  const Matrix train = bytes_as_floats(n, dims, 1);
  Matrix queries = bytes_as_floats(m, dims, 2);
  const Stored bytes(queries, Element::u8, 3, 5), floats(queries, Element::f32, 1, 1);
  queries.values.back() += 0.5f;
  const Stored off(queries, Element::f32, 1, 1);
  const Index index(adopted, train, Metric::squared_l2);
  const SearchOptions options{.proposer = Proposer::int8};
  std::uint64_t without_values = 0;
  for (const Stored* const asked : {&bytes, &floats, &off}) {
    Trace on_host, in_buffers;
    const Neighbors found = index.search(asked->view(), k, options, &on_host);
    CHECK(found == index.search(asked->view(), k, {.proposer = Proposer::none}));
    CHECK(index.search(caller.put(asked->view()), k, options, &in_buffers) == found);
    CHECK(in_buffers.plan.exact_products == on_host.plan.exact_products);
    CHECK(on_host.plan.exact_products == (asked != &off));
    if (asked == &bytes) without_values = in_buffers.bytes_from_device;
    CHECK((in_buffers.bytes_from_device > without_values) ==
          (asked == &off));  // the host reads only the latter
  }
}

TEST_CASE(
    "callers: rows that stay bytes answer floats in buffers that lie on their grid, and make no floats") {
  if (!has_opencl() || !has(Proposer::int8)) return;
  Caller caller;
  const Device adopted = caller.open();
  const Matrix train = bytes_as_floats(n, dims, 1);
  Matrix queries = bytes_as_floats(m, dims, 2);
  const Stored rows(train, Element::u8, 3, 5), bytes(queries, Element::u8, 3, 5),
      on(queries, Element::f32, 1, 1);
  queries.values.back() += 0.5f;
  const Stored off(queries, Element::f32, 1, 1);
  const Index index(adopted, rows.view(), Metric::squared_l2, {.reserve = n + 1});
  const Index right(device(), train, Metric::squared_l2);
  const std::size_t kept = index.memory_bytes();
  Trace of_bytes, of_floats;
  const Neighbors found = right.search(on.view(), k);
  index.search(caller.put(bytes.view()), k);  // the first search checks the proposer
  CHECK(index.search(caller.put(bytes.view()), k, {}, &of_bytes) == found);
  CHECK(index.search(caller.put(on.view()), k, {}, &of_floats) == found);
  CHECK(of_floats.plan.exact_products);
  CHECK(of_floats.bytes_from_device == of_bytes.bytes_from_device);  // the host reads none of the queries
  CHECK(index.memory_bytes() == kept);
  CHECK(index.search(caller.put(off.view()), k) == right.search(off.view(), k));
  CHECK(index.memory_bytes() > kept);
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
  // Rows that are stored in another order keep the numbers with which they were given.
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
