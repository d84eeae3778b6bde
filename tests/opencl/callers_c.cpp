// Tests rows and answers in OpenCL buffers of a host program through the C interface.
#include <doctest/doctest.h>

#include <string>
#include <vector>

#include "c_api/c_support.hpp"
#include "callers.hpp"
#include "common/oracle.hpp"
#include "kith/knn_graph.hpp"

namespace kith::tests {
namespace {

TEST_SUITE_BEGIN("device");

TEST_CASE("callers: C takes and fills buffers with the bits of C++") {
  if (device().info().backend != "opencl") return;
  constexpr std::int64_t n = 200, m = 11, dims = 6, k = 4;
  Caller caller;
  const Matrix train = hard_rows(DataKind::integers, Set::train, n, dims, Metric::l2),
               queries = hard_rows(DataKind::integers, Set::queries, m, dims, Metric::l2);
  const auto rows_of = [&](const Matrix& matrix) {
    kith_rows rows = KITH_INIT(kith_rows);
    rows.data = caller.buffer_of(matrix.values.data(), matrix.values.size() * sizeof(float));
    rows.rows = matrix.rows;
    rows.cols = matrix.cols;
    rows.where = KITH_OPENCL;
    rows.stream = caller.queue();
    return rows;
  };
  kith_device* adopted = nullptr;
  REQUIRE(kith_device_adopt_opencl(caller.context(), caller.cl_device(), caller.queue(), &adopted) ==
          KITH_OK);
  kith_index* index = nullptr;
  const kith_rows there = rows_of(train), asked = rows_of(queries);
  REQUIRE(kith_index_new(adopted, &there, nullptr, &index) == KITH_OK);
  kith_device_answers answers = KITH_INIT(kith_device_answers);
  const cl_mem distance = caller.buffer(m * k * sizeof(float)),
               row = caller.buffer(m * k * sizeof(std::int64_t));
  answers.distance = distance;
  answers.row = row;
  answers.where = KITH_OPENCL;
  answers.stream = caller.queue();
  REQUIRE(kith_index_search_on_device(index, &asked, k, nullptr, &answers) == KITH_OK);
  const Neighbors found{m, k, caller.read<float>(distance, m * k), caller.read<std::int64_t>(row, m * k)};
  CHECK(found == Index(device(), train, Metric::l2).search(queries, k));

  const std::int64_t gone[] = {7};
  kith_index* rest = nullptr;
  REQUIRE(kith_index_without(index, gone, 1, &rest) == KITH_OK);
  REQUIRE(kith_index_search_on_device(rest, &asked, k, nullptr, &answers) == KITH_OK);
  const Neighbors left{m, k, caller.read<float>(distance, m * k), caller.read<std::int64_t>(row, m * k)};
  CHECK(left == Index(device(), train, Metric::l2).without(gone).search(queries, k));
  const cl_mem graph_distance = caller.buffer(n * k * sizeof(float)),
               graph_row = caller.buffer(n * k * sizeof(std::int64_t));
  kith_device_answers graph = answers;
  graph.distance = graph_distance;
  graph.row = graph_row;
  REQUIRE(kith_knn_graph_on_device(adopted, &there, k, nullptr, nullptr, &graph) == KITH_OK);
  CHECK(Neighbors{n, k, caller.read<float>(graph_distance, n * k),
                  caller.read<std::int64_t>(graph_row, n * k)} == knn_graph(device(), train, k, Metric::l2));
  answers.where = 3;
  CHECK(kith_index_search_on_device(index, &asked, k, nullptr, &answers) == KITH_UNSUPPORTED);
  CHECK(std::string(kith_last_error()) ==
        "kith_index_search_on_device: the answers have where = 3; this kith knows 0 to 2");
  answers.where = KITH_HOST;
  CHECK(kith_index_search_on_device(index, &asked, k, nullptr, &answers) == KITH_UNSUPPORTED);
  kith_index_free(rest);
  kith_index_free(index);
  kith_device_free(adopted);
}

TEST_SUITE_END();

}  // namespace
}  // namespace kith::tests
