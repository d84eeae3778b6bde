// Tests index files, sources and checkpoints of rows in double precision: docs/contract.md, section 9.
#include <filesystem>

#include "common/data_files.hpp"
#include "common/parted/sources.hpp"
#include "doubles/doubles_oracle.hpp"
#include "kith/index_file.hpp"
#include "kith/model.hpp"
#include "kith/source.hpp"

namespace kith::tests {
namespace {

TEST_SUITE("device") {
  TEST_CASE("doubles: an index file gives the same answers, whole and in parts") {
    std::mt19937 random(8);
    const data_files::Folder folder;
    for (const Metric metric : number_metrics) {
      CAPTURE(name(metric));
      const DoubleMatrix train = double_rows(DoubleData::map, 80, 4, random),
                         queries = double_rows(DoubleData::map, 6, 4, random);
      IndexOptions options;
      options.features = {0, 2, 3};
      const std::vector<std::int64_t> gone = {2, 70};
      const Index index = Index(device(), train, metric, options).without(gone);
      save(index, folder / "a.kidx");
      CHECK(index_file_info(folder / "a.kidx").element == Element::f64);
      const Index read = open_index(folder / "a.kidx", device());
      CHECK(read.arithmetic() == Arithmetic::f64);
      CHECK(read.search(queries, 9) == index.search(queries, 9));
      CHECK(read.with(train).search(queries, 9) == index.with(train).search(queries, 9));
      OpenOptions half;
      half.largest = 1e8f;
      half.rows = 40;
      const Index first = open_index(folder / "a.kidx", device(), half);
      half.first = 40;
      const Index second = open_index(folder / "a.kidx", device(), half);
      CHECK(merge(std::vector{first.search_keys(queries, 9), second.search_keys(queries, 9)}) ==
            index.search_keys(queries, 9));
    }
  }

  TEST_CASE("doubles: a source of doubles") {
    std::mt19937 random(9);
    const data_files::Folder folder;
    const DoubleMatrix train = double_rows(DoubleData::map, 50, 3, random);
    const Index index(device(), train, Metric::l2);
    save(index, folder / "a.kidx");
    CHECK(Index(device(), file_source(folder / "a.kidx"), Metric::l2).search(train, 3) ==
          index.search(train, 3));
    CHECK(Index(device(), memory_source(train), Metric::l2).search(train, 3) == index.search(train, 3));
  }

  TEST_CASE("doubles: a streamed search that was stopped goes on from its checkpoint") {
    std::mt19937 random(12);
    const data_files::Folder folder;
    const DoubleMatrix train = double_rows(DoubleData::map, 200, 3, random),
                       queries = double_rows(DoubleData::map, 6, 3, random);
    const auto source = std::make_shared<CopiedRows>(train);
    const Index index(device(), source, Metric::l2, streamed(20));
    SearchOptions options;
    options.checkpoint = folder / "kept";
    source->before_read = [](std::int64_t first, std::int64_t count) {
      if (count > 1 && first + count > 130) throw std::runtime_error("stopped");
    };
    CHECK_THROWS_AS(index.search(queries, 9, options), std::runtime_error);
    REQUIRE(std::filesystem::exists(folder / "kept"));
    source->before_read = [](std::int64_t first, std::int64_t count) {
      if (count == 20 && first < 60) throw std::runtime_error("this was searched already");
    };
    CHECK(index.search(queries, 9, options) ==
          nearest_by_oracle(Metric::l2, all_by_oracle(Metric::l2, train, queries, every_row), 9));
  }

  TEST_CASE("doubles: rows that stay in a source, streamed or quantized") {
    std::mt19937 random(10);
    const data_files::Folder folder;
    const bool quantizes = has(Proposer::int8);
    for (const Metric metric : number_metrics)
      for (const Residence residence : {Residence::stream, Residence::quantized}) {
        const bool products = sums_squares(metric) || metric == Metric::negative_dot;
        if (residence == Residence::quantized && !(quantizes && products)) continue;
        CAPTURE_ALL(name(metric), name(residence));
        const DoubleMatrix train = double_rows(DoubleData::map, 700, 3, random),
                           queries = double_rows(DoubleData::map, 20, 3, random);
        IndexOptions options;
        options.residence = residence;
        options.chunk_rows = 150;
        options.features = {1, 2};
        const Index index(device(), memory_source(train), metric, options);
        CHECK(index.arithmetic() == Arithmetic::f64);
        CHECK(index.residence() == residence);
        IndexOptions whole;
        whole.features = options.features;
        const Index resident(device(), train, metric, whole);
        CHECK(index.search(queries, 7) == resident.search(queries, 7));
        const std::vector<double> radius = {resident.search(queries, 7).distance64[6]};
        CHECK(index.within(queries, radius) == resident.within(queries, radius));
        const std::vector<std::int64_t> gone = {5, 6, 400};
        const Neighbors rest = resident.without(gone).search(queries, 7);
        CHECK(index.without(gone).search(queries, 7) == rest);
        save(index.without(gone), folder / "a.kidx");
        CHECK(open_index(folder / "a.kidx", device()).search(queries, 7) == rest);
        CHECK(error_of([&] { index.with(train); }).starts_with("unsupported: index: the rows stay in "));
      }
  }

  TEST_CASE("doubles: a model keeps its rows") {
    std::mt19937 random(11);
    const data_files::Folder folder;
    const DoubleMatrix train = double_rows(DoubleData::map, 40, 3, random);
    Model model;
    model.n = 40;
    model.dims = 3;
    model.arithmetic = Arithmetic::f64;
    model.rows64 = train.values;
    for (std::int64_t t = 0; t < 40; ++t) model.labels.push_back(t % 3);
    save(model, folder / "m.kith");
    const Model read = load_model(folder / "m.kith");
    CHECK(read.rows64 == train.values);
    const Classifier classifier(device(), train, MatrixView<const std::int64_t>(model.labels.data(), 40, 1));
    CHECK(read.classifier(device()).classify(train, 5).neighbors == classifier.classify(train, 5).neighbors);
    CHECK(read.classifier(device()).predict(train, 5) == classifier.predict(train, 5));
    model.rows = {1};
    CHECK(error_of([&] { save(model, folder / "m.kith"); }) ==
          "invalid_argument: model: 120 doubles and 1 floats are not 40 rows of 3 columns in double "
          "precision; give "
          "doubles, [n, dims], and no floats");
    model.rows.clear();
    model.arithmetic = Arithmetic::f32;
    CHECK(error_of([&] { save(model, folder / "m.kith"); }) ==
          "invalid_argument: model: 0 values are not 40 rows of 3 columns; give [n, dims]");
  }
}

}  // namespace
}  // namespace kith::tests
