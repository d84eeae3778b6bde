// kith.h: preparations and models have the same parts as in kith.hpp, and write the same files.
#include <cmath>

#include "c_api/c_support.hpp"
#include "common/model.hpp"

namespace kith::tests {
namespace {

using namespace c;
using namespace models;

ModelHandle loaded(const std::string& path) {
  return made<ModelHandle>([&](kith_model** out) { return kith_model_load(path.c_str(), out); });
}

std::string saved(const Folder& folder, const kith_model* model) {
  CHECK(told(kith_model_save(model, (folder / "c.kith").c_str(), nullptr, nullptr, nullptr)) == "ok");
  return folder.read("c.kith");
}

/// Returns a model that has every part which the C interface can give it.
Model full_model() {
  Model model = small_classifier();
  model.answer_names = {"kind"};
  model.row_numbers = {0, 2, 3, 9};
  model.first_index = 1;
  model.unread = {1};
  model.unread_names = {"id"};
  return model;
}

/// Returns a model of places in degrees.
Model places_model() {
  Model model = small_regressor();
  model.metric = Metric::haversine;
  model.metric_options.degrees = true;
  return model;
}

/// Returns a model whose metric takes this.
Model model_of(Metric metric, const IndexOptions& takes) {
  Model model = small_regressor();
  model.metric = metric;
  model.metric_options = takes;
  return model;
}

TEST_CASE("c: a model that is loaded, taken apart, made of its parts and saved is the same file") {
  const Folder folder;
  Model two_outputs = small_regressor();
  two_outputs.answer_names = {"length", "width"};
  for (const Model& model :
       {full_model(), small_classifier(), small_regressor(), two_outputs, weighted_regressor(),
        places_model(), model_of(Metric::minkowski, {.p = 3}), model_of(Metric::minkowski, {.p = HUGE_VAL}),
        model_of(Metric::gower, {.categorical = {1}, .ranges = {2, 0}}),
        model_of(Metric::nan_gower, {.categorical = {1}})}) {
    save(model, folder / "m.kith");
    const ModelHandle first = loaded(folder / "m.kith");
    kith_model_parts parts = KITH_INIT(kith_model_parts);
    REQUIRE(told(kith_model_describe(first.get(), &parts)) == "ok");
    const ModelHandle again =
        made<ModelHandle>([&](kith_model** out) { return kith_model_new(&parts, out); });
    CHECK(saved(folder, first.get()) == folder.read("m.kith"));
    CHECK(saved(folder, again.get()) == folder.read("m.kith"));
  }
}

TEST_CASE("c: the parts of a model are those of C++") {
  const Folder folder;
  const Model model = full_model();
  save(model, folder / "m.kith");
  const ModelHandle handle = loaded(folder / "m.kith");
  kith_model_parts parts = KITH_INIT(kith_model_parts);
  REQUIRE(told(kith_model_describe(handle.get(), &parts)) == "ok");
  CHECK(std::string(parts.metric) == "l1");
  CHECK(parts.k == 3);
  CHECK(std::string(parts.vote->weights) == "rank");
  CHECK(std::string(parts.vote->tie) == "nearest");
  CHECK(parts.vote->no_label == -7);
  CHECK(parts.vote->rank_weights_count == 3);
  CHECK(parts.vote->rank_weights[1] == 0.5f);
  CHECK(parts.vote->priors[1] == 0.75);
  CHECK(parts.vote->costs[2] == 2);
  CHECK(parts.rows->rows == 4);
  CHECK(parts.rows->cols == 6);
  CHECK(std::memcmp(parts.rows->data, model.rows.data(), model.rows.size() * sizeof(float)) == 0);
  CHECK(parts.features_count == 4);
  CHECK(parts.features[0] == 5);
  CHECK(parts.labels[3] == 1);
  CHECK(parts.values == nullptr);
  CHECK(parts.sample_weights[1] == 2);
  CHECK(parts.column_count == 3);
  CHECK(parts.columns[1] == model.columns[1]);
  CHECK(parts.label_text_count == 2);
  CHECK(std::string(parts.label_texts[1]) == "yes");
  CHECK(std::string(parts.answer_names[0]) == "kind");
  CHECK(parts.row_numbers[3] == 9);
  CHECK(parts.category_column_count == 3);
  CHECK(parts.category_counts[1] == 0);
  CHECK(std::string(parts.category_texts[5]) == "c");
  CHECK(parts.first_index == 1);
  CHECK(parts.unread_count == 1);
  CHECK(parts.unread[0] == 1);
  CHECK(std::string(parts.unread_names[0]) == "id");
}

TEST_CASE("c: a model answers on a device, and by the right kind alone") {
  const Folder folder;
  const OpenDevice on = opened("cpu");
  const Device cpu = open_device("cpu");
  const Model labels = small_classifier(), values = small_regressor();
  save(labels, folder / "labels.kith");
  save(values, folder / "values.kith");
  const ModelHandle classes = loaded(folder / "labels.kith"), numbers = loaded(folder / "values.kith");
  const Voter voter =
      made<Voter>([&](kith_classifier** out) { return kith_model_classifier(classes.get(), on.get(), out); });
  const kith_rows rows = rows_of({labels.rows.data(), labels.n, labels.dims});
  std::vector<std::int64_t> label(4);
  CHECK(told(kith_classifier_predict(voter.get(), &rows, 2, nullptr, nullptr, label.data())) == "ok");
  CHECK(label == labels.classifier(cpu).predict({labels.rows.data(), labels.n, labels.dims}, 2));
  const Averager averager = made<Averager>(
      [&](kith_regressor** out) { return kith_model_regressor(numbers.get(), on.get(), out); });
  const kith_rows others = rows_of({values.rows.data(), values.n, values.dims});
  std::vector<double> value(6);
  CHECK(told(kith_regressor_predict(averager.get(), &others, 2, nullptr, nullptr, value.data(), nullptr,
                                    nullptr)) == "ok");
  CHECK(value == values.regressor(cpu).predict({values.rows.data(), values.n, values.dims}, 2));
  kith_regressor* wrong = nullptr;
  CHECK(told(kith_model_regressor(classes.get(), on.get(), &wrong)) ==
        "2: model: it holds labels, not values; ask for its classifier");
  CHECK(wrong == nullptr);
}

TEST_CASE("c: a model in double precision is taken apart, made of its parts, and answers") {
  const Folder folder;
  Model model = small_regressor();
  model.preparation = {};
  model.columns.clear();
  model.category_texts.clear();
  model.arithmetic = Arithmetic::f64;
  for (const float value : model.rows) model.rows64.push_back(static_cast<double>(value) + 0x1p-40);
  model.rows.clear();
  save(model, folder / "m.kith");
  const ModelHandle first = loaded(folder / "m.kith");
  kith_model_parts parts = KITH_INIT(kith_model_parts);
  REQUIRE(told(kith_model_describe(first.get(), &parts)) == "ok");
  CHECK(parts.rows->element == KITH_F64);
  const ModelHandle again = made<ModelHandle>([&](kith_model** out) { return kith_model_new(&parts, out); });
  CHECK(saved(folder, again.get()) == folder.read("m.kith"));
  const OpenDevice on = opened("cpu");
  const Averager averager =
      made<Averager>([&](kith_regressor** out) { return kith_model_regressor(again.get(), on.get(), out); });
  std::vector<double> value(size(model.n * model.outputs));
  CHECK(told(kith_regressor_predict(averager.get(), parts.rows, 2, nullptr, nullptr, value.data(), nullptr,
                                    nullptr)) == "ok");
  const MatrixView<const double> rows(model.rows64.data(), model.n, model.dims);
  CHECK(value == model.regressor(open_device("cpu")).predict(rows, 2));
}

TEST_CASE("c: files of models that are wrong, saving that is stopped") {
  const Folder folder;
  save(small_classifier(), folder / "m.kith");
  const ModelHandle model = loaded(folder / "m.kith");
  kith_model* none = nullptr;
  CHECK(kith_model_load((folder / "missing.kith").c_str(), &none) == KITH_BAD_FILE);
  CHECK(kith_model_save(model.get(), (folder / "no" + "/m.kith").c_str(), nullptr, nullptr, nullptr) ==
        KITH_BAD_FILE);
  const Stop stop = made<Stop>(kith_stop_new);
  CHECK(told(kith_stop_request(stop.get())) == "ok");
  CHECK(kith_model_save(model.get(), (folder / "s.kith").c_str(), stop.get(), nullptr, nullptr) ==
        KITH_INTERRUPTED);
  int calls = 0;
  const auto refuse = [](double, void* user) -> std::int32_t { return ++*static_cast<int*>(user); };
  CHECK(kith_model_save(model.get(), (folder / "s.kith").c_str(), nullptr, refuse, &calls) ==
        KITH_INTERRUPTED);
  CHECK(calls == 1);
  CHECK(folder.files() == 1);  // neither s.kith nor a temporary
  // C would cut this text short, at its NUL.
  Model zero = small_classifier();
  zero.label_texts = {"no", std::string("y\0s", 3)};
  save(zero, folder / "zero.kith");
  const ModelHandle cut = loaded(folder / "zero.kith");
  kith_model_parts parts = KITH_INIT(kith_model_parts);
  CHECK(kith_model_describe(cut.get(), &parts) == KITH_UNSUPPORTED);
  CHECK(std::string(kith_last_error()).find("\"y\\x00s\" has a zero byte") != std::string::npos);
}

TEST_CASE("c: parts that do not fit are refused") {
  const float values[] = {1, 2, 3, 4};
  const std::int64_t labels[] = {0, 1};
  kith_rows rows = KITH_INIT(kith_rows);
  rows.data = values;
  rows.rows = 2;
  rows.cols = 2;
  kith_model_parts parts = KITH_INIT(kith_model_parts);
  parts.rows = &rows;
  kith_model* model = nullptr;
  CHECK(kith_model_new(&parts, &model) == KITH_INVALID_ARGUMENT);  // neither labels nor values
  parts.labels = labels;
  const ModelHandle right = made<ModelHandle>([&](kith_model** out) { return kith_model_new(&parts, out); });
  parts.outputs = -1;
  CHECK(told(kith_model_new(&parts, &model)) == "2: kith_model_new: outputs = -1; give at least 1");
  parts.outputs = 1;
  parts.columns = nullptr;
  parts.column_count = 2;
  CHECK(
      told(kith_model_new(&parts, &model)) ==
      "2: kith_model_new: column is NULL but has 2 elements; give the address of the first, or a count of 0");
  CHECK(model == nullptr);
}

TEST_CASE("c: a preparation") {
  const std::vector<float> train{0, 1, 5, /**/ 2, 0.5f, 7, /**/ 0, -3, 5, /**/ 1, 4, 7};
  const MatrixView<const float> view(train.data(), 4, 3);
  const kith_rows rows = rows_of(view);
  const char* const scalings[] = {"standardize", "l2-rows"};
  const std::int64_t categorical[] = {2, 0};
  kith_preparation_options options = KITH_INIT(kith_preparation_options);
  options.scalings = scalings;
  options.scalings_count = 2;
  options.categorical = categorical;
  options.categorical_count = 2;
  options.categories = "one_hot";
  options.missing = "mean";
  const Prepared prepared =
      made<Prepared>([&](kith_preparation** out) { return kith_preparation_new(&rows, &options, out); });
  const Preparation beside(
      view, {{Scaling::standardize, Scaling::l2_rows}, {2, 0}, Categories::one_hot, Missing::mean});
  std::int64_t dims = 0, width = 0;
  CHECK(told(kith_preparation_shape(prepared.get(), &dims, &width)) == "ok");
  CHECK(dims == 3);
  CHECK(width == beside.width());
  std::vector<float> to(size(4 * width));
  CHECK(told(kith_preparation_apply(prepared.get(), &rows, to.data())) == "ok");
  CHECK(to == beside.apply(view));
  std::vector<std::int64_t> source(size(width));
  CHECK(told(kith_preparation_sources(prepared.get(), source.data())) == "ok");
  CHECK(source == beside.sources());
}

TEST_CASE("c: a preparation of doubles, with what stands between rows, rounds once") {
  const std::vector<double> train{5411000.125, 1, -1, /**/ 5411111.207, 2, -1, /**/ 5411207.5, 6, -1};
  kith_rows rows = KITH_INIT(kith_rows);
  rows.data = train.data();
  rows.rows = 3;
  rows.cols = 2;
  rows.stride_bytes = 3 * sizeof(double);
  rows.element = KITH_F64;
  const char* const scalings[] = {"centre"};
  kith_preparation_options options = KITH_INIT(kith_preparation_options);
  options.scalings = scalings;
  options.scalings_count = 1;
  const Prepared prepared =
      made<Prepared>([&](kith_preparation** out) { return kith_preparation_new(&rows, &options, out); });
  const MatrixView<const double> view(train.data(), 3, 2, 3);
  std::vector<float> to(6);
  CHECK(told(kith_preparation_apply(prepared.get(), &rows, to.data())) == "ok");
  CHECK(to == Preparation(view, {{Scaling::centre}, {}}).apply(view));
  kith_preparation* none = nullptr;
  const std::string elsewhere =
      "2: kith_preparation_new: the training rows of f64 do not lie on the host, or not at multiples of 8 "
      "bytes; copy them there";
  rows.stride_bytes = 20;
  CHECK(told(kith_preparation_new(&rows, &options, &none)) == elsewhere);
  rows.stride_bytes = 0;
  rows.where = KITH_CUDA;
  CHECK(told(kith_preparation_new(&rows, &options, &none)) == elsewhere);
  rows.where = KITH_HOST;
  rows.data = nullptr;
  CHECK(kith_preparation_new(&rows, &options, &none) == KITH_INVALID_ARGUMENT);
  CHECK(none == nullptr);
}

}  // namespace
}  // namespace kith::tests
