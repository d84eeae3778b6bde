// Tests that model files keep what a metric takes: docs/contract.md, section 10.
#include "common/device.hpp"
#include "common/model.hpp"
#include "prepared/prepared_oracle.hpp"

namespace kith::tests {
namespace {

using namespace models;

/// Returns a classifier of these rows, in single or double precision.
Model model_of_rows(const MetricAsked& asked, const DoubleMatrix& rows, Arithmetic width) {
  Model model;
  model.metric = asked.metric;
  model.metric_options = asked.options();
  model.n = rows.rows;
  model.dims = rows.cols;
  model.arithmetic = width;
  if (width == Arithmetic::f64)
    model.rows64 = rows.values;
  else
    model.rows.assign(rows.values.begin(), rows.values.end());
  for (std::int64_t t = 0; t < rows.rows; ++t) model.labels.push_back(t % 3);
  return model;
}

TEST_SUITE_BEGIN("device");

TEST_CASE("model: what the metric takes is kept in files, and answers are those of an index") {
  const Folder folder;
  std::mt19937 random(45);
  std::vector<MetricAsked> all = all_prepared(5, random);
  all.push_back({Metric::seuclidean});  // the variances of its rows
  for (const MetricAsked& asked : all)
    for (const Arithmetic width : {Arithmetic::f32, Arithmetic::f64}) {
      if (!asked.has(width)) continue;
      CAPTURE(std::string(name(asked.metric)));
      const DoubleMatrix train = rows_for(asked, 90, 5, random), queries = rows_for(asked, 9, 5, random);
      const Model model = model_of_rows(asked, train, width);
      save(model, folder / "m.kith");
      const Model loaded = load_model(folder / "m.kith");
      CHECK(loaded.metric_options.covariance == asked.covariance);
      CHECK(loaded.metric_options.p == asked.p);
      CHECK(loaded.metric_options.categorical == asked.categorical);
      const Index index(device(), train, asked.metric, asked.options(width));
      const Neighbors right = index.search(queries, 4);
      CHECK(loaded.classifier(device()).classify(queries, 4).neighbors == right);
      Model averages = loaded;
      averages.values.assign(loaded.labels.begin(), loaded.labels.end());
      averages.labels.clear();
      CHECK(averages.regressor(device()).regress(queries, 4).neighbors == right);
      save(loaded, folder / "again.kith");
      CHECK(folder.read("again.kith") == folder.read("m.kith"));
    }
}

TEST_CASE("model: places in degrees") {
  const Folder folder;
  const DoubleMatrix places{3, 2, {52.5, 13.25, 48.75, 2.25, -33.75, 151.25}};
  Model model = model_of_rows({Metric::haversine}, places, Arithmetic::f64);
  model.metric_options.degrees = true;
  save(model, folder / "m.kith");
  const Index index(device(), places, Metric::haversine, {.degrees = true});
  CHECK(load_model(folder / "m.kith").classifier(device()).classify(places, 2).neighbors ==
        index.search(places, 2));
}

TEST_SUITE_END();

TEST_CASE("model: the section of the metric, byte for byte, and what is refused there") {
  const Folder folder;
  Model model = small_regressor();
  model.metric = Metric::l1;
  const auto file = [&] {
    save(model, folder / "m.kith");
    return folder.read("m.kith");
  };
  const Sections without = sections_of(file());
  model.metric_options.column_weights = {1, 0.5};
  Sections expected = without;
  const auto weights = [](const string& of, std::initializer_list<double> values) {
    return text("f32") + words({1}) + text(of) + words({static_cast<std::int64_t>(values.size())}) +
           bytes<double>(values);
  };
  expected.insert(expected.begin(), {"metric", weights("column_weights", {1, 0.5})});
  CHECK(file() == assembled(expected, 3));
  const auto refused = [&](const string& section) {
    expected.front().second = section;
    folder.write("m.kith", assembled(expected, 3));
    return folder.error([&] { load_model(folder / "m.kith"); });
  };
  const string begin = "bad_file: model: m.kith: byte 40: section metric: ";
  CHECK(refused(weights("column_weights", {1, 2, 3})) ==
        begin + "index: column_weights has 3 values for rows of 2 columns; give one a column");
  CHECK(refused(weights("variances", {1, 2})).starts_with(begin + "index: there are variances, which"));
  CHECK(refused(weights("column_weights", {1, -2})).starts_with(begin + "index: column_weights of column 1"));
  CHECK(refused(text("f32") + words({0})) ==
        begin + "it says nothing of what the metric takes; save the model again");
  CHECK(
      refused(weights("weights", {1, 2})) ==
      begin +
          "\"weights\" with 2 values is nothing that a metric takes, or is not in its place; save the model "
          "again");
  CHECK(refused(text("automatic") + words({1}) + text("degrees") + words({0}))
            .starts_with(begin + "the arithmetic is automatic, which no rows have"));
}

}  // namespace
}  // namespace kith::tests
