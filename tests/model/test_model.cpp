// Tests files of classifiers and regressors: docs/contract.md, section 10.
#include <sys/stat.h>

#include "common/device.hpp"
#include "common/environment.hpp"
#include "common/model.hpp"

namespace kith::tests {
namespace {

using namespace models;
namespace fs = std::filesystem;

/// Compares every part. A part added to Model must be added here.
bool same(const Model& a, const Model& b) {
  const Preparation::Learned p = a.preparation.learned(), q = b.preparation.learned();
  return a.metric == b.metric && a.k == b.k && a.voting.weights == b.voting.weights &&
         a.voting.tie == b.voting.tie && a.voting.rank_weights == b.voting.rank_weights &&
         a.voting.priors == b.voting.priors && a.voting.costs == b.voting.costs &&
         a.voting.no_label == b.voting.no_label && p.dims == q.dims &&
         p.options.scalings == q.options.scalings && p.options.categorical == q.options.categorical &&
         p.options.categories == q.options.categories && p.categories == q.categories &&
         p.columns == q.columns && a.features == b.features && a.columns == b.columns && a.n == b.n &&
         a.dims == b.dims && bits(a.rows) == bits(b.rows) && a.outputs == b.outputs && a.labels == b.labels &&
         a.label_texts == b.label_texts && a.category_texts == b.category_texts &&
         std::signbit(a.values.empty() ? 0 : a.values[1]) ==
             std::signbit(b.values.empty() ? 0 : b.values[1]) &&
         a.values == b.values && bits(a.sample_weights) == bits(b.sample_weights) && a.unread == b.unread &&
         a.unread_names == b.unread_names;
}

TEST_CASE("model: a file byte for byte") {
  const Folder folder;
  Model model = small_regressor();
  model.preparation = Preparation(MatrixView<const float>(model.rows.data(), 3, 2), {{Scaling::min_max}, {}});
  const double least = static_cast<double>(1e-45f);
  save(model, folder / "m.kith");
  const Sections expected = {
      {"model", text("linf") + words({0, 3, 2, 2})},
      {"voting", text("uniform") + text("smallest_label") + words({INT64_MIN, 0, 0, 0})},
      {"prepare", words({2}) + text("ordinal") + words({0, 0, 1}) + text("min_max") + words({1, 2}) +
                      bytes<double>({least, -4}) + words({2}) + bytes<double>({3 - least, 9}) +
                      text("refuse") + words({0})},
      {"columns", words({0, 0, 0})},
      {"rows", words({6}) + bytes<float>({1, 2, 3, -4, 1e-45f, 5})},
      {"labels", words({0, 0})},
      {"values", words({6}) + bytes<double>({0.1, -0.0, 1e300, 5e-324, -2, 7})},
      {"samples", words({0})},
      {"origin", words({0, 0, -1})},
      {"unread", words({0, 0})}};
  CHECK(folder.read("m.kith") == assembled(expected));
  CHECK(sections_of(folder.read("m.kith")) == expected);
}

/// Adds columns that nobody reads.
Model narrow(Model model) {
  model.unread = {0, 2};
  if (!model.columns.empty()) model.unread_names = {"id", ""};
  return model;
}

TEST_CASE("model: columns that nobody reads must have places among all") {
  const Folder folder;
  const Model model = narrow(small_regressor());
  save(model, folder / "m.kith");
  CHECK(sections_of(folder.read("m.kith")).back() ==
        std::pair<string, string>{"unread", words({2, 0, 2, 0})});
  const auto why = [&](const std::vector<std::int64_t>& places, const std::vector<string>& names) {
    Model wrong = model;
    wrong.unread = places;
    wrong.unread_names = names;
    return error_of([&] { save(wrong, folder / "wrong.kith"); });
  };
  for (const std::vector<std::int64_t>& places : {std::vector<std::int64_t>{-1, 2}, {2, 0}, {1, 1}, {0, 4}})
    CHECK(why(places, {}) ==
          "invalid_argument: model: 2 columns that nobody reads beside 2, but their places do not ascend "
          "from 0 to 3; give each its place among all");
  CHECK(why({0, 2}, {"id"}) ==
        "invalid_argument: model: 1 names for 2 columns that nobody reads; give one each where columns have "
        "names, else none");
}

TEST_CASE("model: what is saved is loaded, and saved again is the same file") {
  const Folder folder;
  Model cosine = small_regressor();
  cosine.metric = Metric::cosine;
  for (const Model& model : {small_classifier(), small_regressor(), cosine, narrow(small_classifier()),
                             narrow(small_regressor())}) {
    save(model, folder / "m.kith");
    const Model back = load_model(folder / "m.kith");
    CHECK(same(back, model));
    save(back, folder / "again.kith");
    CHECK(folder.read("again.kith") == folder.read("m.kith"));
  }
  Model large = small_regressor();  // larger than any buffer
  large.n = 40000;
  large.rows = hard_rows(DataKind::normal, Set::train, 40000, 2, Metric::l2).values;
  large.values.assign(80000, 0.5);
  large.metric = Metric::l2;
  save(large, folder / "m.kith");
  CHECK(same(load_model(folder / "m.kith"), large));
  CHECK(folder.files() == 2);
}

TEST_CASE("model: files appear whole or not at all") {
  const Folder folder;
  const Model first = small_classifier(), second = small_regressor();
  save(first, folder / "m.kith");
  fs::permissions(folder / "m.kith", fs::perms::owner_read | fs::perms::owner_write);
  fs::create_symlink("m.kith", folder / "link.kith");
  save(second, folder / "link.kith");
  CHECK(fs::is_symlink(folder / "link.kith"));
  CHECK(same(load_model(folder / "m.kith"), second));
  CHECK(same(load_model(folder / "link.kith"), second));
  CHECK(fs::status(folder / "m.kith").permissions() == (fs::perms::owner_read | fs::perms::owner_write));
  CHECK(folder.files() == 2);

  Model bad = first;
  bad.rows[0] = std::nanf("");
  CHECK(folder.error([&] { save(bad, folder / "m.kith"); }) ==
        "invalid_argument: model: training row 0, column 0 holds NaN; make every value finite, or leave the "
        "row out");
  CHECK(same(load_model(folder / "m.kith"), second));
  CHECK(folder.error([&] { save(first, folder / "none/m.kith"); }) ==
        "bad_file: model: none/m.kith: cannot be written: No such file or directory; make the folder first");
  fs::create_directory(folder / "d.kith");
  CHECK(folder.error([&] { save(first, folder / "d.kith"); }) ==
        "bad_file: model: d.kith: is a folder, which cannot be written as a whole; name an ordinary file");
  CHECK(folder.error([&] { save(first, "/dev/null"); }) ==
        "bad_file: model: /dev/null: is a device, which cannot be written as a whole; name an ordinary file");
  CHECK(fs::is_character_file("/dev/null"));
  CHECK(folder.files() == 3);
}

TEST_CASE("model: parts that do not fit together") {
  const Folder folder;
  const auto refused = [&](const Model& good, auto change) {
    Model bad = good;
    change(bad);
    const string error = folder.error([&] { save(bad, folder / "m.kith"); });
    CHECK(folder.files() == 0);
    CHECK(error_of([&] { bad.classifier(device()); }) == error);
    CHECK(error_of([&] { bad.regressor(device()); }) == error);
    return error;
  };
  const Model good = small_classifier(), values = small_regressor();
  const string start = "invalid_argument: model: ";
  CHECK(refused(good, [](Model& m) { m.n = 0; }) ==
        start + "it has n = 0 rows, dims = 6 columns and 1 outputs; each must be at least 1");
  CHECK(refused(good, [](Model& m) { m.outputs = -1; }) ==
        start + "it has n = 4 rows, dims = 6 columns and -1 outputs; each must be at least 1");
  CHECK(refused(good, [](Model& m) { m.k = 5; }) ==
        start + "k = 5 but it holds 4 rows; choose k from 1 to 4, or 0 to leave it open");
  CHECK(refused(good, [](Model& m) { m.dims = 3; }) ==
        start + "the preparation makes 6 columns but the rows have 3; prepare the rows with it");
  CHECK(refused(good, [](Model& m) {
          m.features = {0, 6};
        }) == start + "there is no feature 6; prepared columns are 0 to 5");
  CHECK(refused(good, [](Model& m) { m.features = {-1}; }) ==
        start + "there is no feature -1; prepared columns are 0 to 5");
  CHECK(refused(good, [](Model& m) {
          m.features = {4, 1, 4};
        }) == start + "feature 4 is there twice; name it once");
  CHECK(refused(good, [](Model& m) { m.columns.pop_back(); }) ==
        start + "2 names for 3 columns before preparation; give one a column, or none");
  CHECK(refused(values, [](Model& m) { m.columns = {"x"}; }) ==
        start + "1 names for 2 columns before preparation; give one a column, or none");
  CHECK(refused(good, [](Model& m) { m.category_texts.pop_back(); }) ==
        start +
            "2 lists of texts of categories for 3 columns before preparation; give one a column, or none");
  CHECK(refused(good, [](Model& m) { m.rows.pop_back(); }) ==
        start + "23 values are not 4 rows of 6 columns; give [n, dims]");
  CHECK(refused(values, [](Model& m) { m.n = m.dims = std::int64_t{1} << 32; }) ==
        start + "6 values are not 4294967296 rows of 4294967296 columns; give [n, dims]");
  CHECK(refused(values, [](Model& m) { m.metric = Metric::cosine, m.rows[2] = m.rows[3] = 0; }) ==
        start + "training row 1 is all zeros, which has no direction; leave it out for cosine");
  CHECK(refused(good, [](Model& m) { m.labels.clear(); }) ==
        start + "it has neither labels nor values; give labels to a classifier, values to a regressor");
  CHECK(refused(good, [](Model& m) { m.values.push_back(1); }) ==
        start + "it has both labels and values; give labels to a classifier, values to a regressor");
  CHECK(refused(values, [](Model& m) { m.label_texts = {"a"}; }) ==
        start + "1 texts of labels, but no labels; leave them out");
  CHECK(refused(good, [](Model& m) { m.labels.push_back(0); }) ==
        start + "5 labels are not one for each of 4 rows and 1 outputs; give [n, outputs]");
  CHECK(refused(good, [](Model& m) { m.labels[2] = 2; }) ==
        start + "the label of row 2 is 2, which has no text; there are those of 0 to 1");
  CHECK(refused(good, [](Model& m) { m.labels[2] = -1; }) ==
        start + "the label of row 2 is -1, which has no text; there are those of 0 to 1");
  CHECK(refused(values, [](Model& m) { m.values.pop_back(); }) ==
        start + "5 values are not one for each of 3 rows and 2 outputs; give [n, outputs]");
  CHECK(refused(values, [](Model& m) { m.values[3] = std::nan(""); }) ==
        start + "a value of row 1 is nan; make every value finite");
  CHECK(refused(good, [](Model& m) { m.sample_weights.pop_back(); }) ==
        start + "3 sample weights for 4 training rows; give one a row");
  CHECK(refused(good, [](Model& m) { m.voting.rank_weights.pop_back(); }) ==
        start + "2 rank weights for lists of 3 neighbours; give one a rank");
  CHECK(refused(good, [](Model& m) { m.voting.priors.push_back(1); }) ==
        start + "3 priors for 2 classes; give one a class, in the order of classes()");

  CHECK(error_of([&] { good.regressor(device()); }) ==
        start + "it holds labels, not values; ask for its classifier");
  CHECK(error_of([&] { values.classifier(device()); }) ==
        start + "it holds values, not labels; ask for its regressor");
}

TEST_SUITE_BEGIN("device");

TEST_CASE("model: a classifier from a file gives the same bits") {
  const Folder folder;
  const std::int64_t n = 90, m = 17, dims = 5;
  const Matrix given = hard_rows(DataKind::normal, Set::train, n, dims, Metric::l2);
  const Matrix queries = hard_rows(DataKind::normal, Set::queries, m, dims, Metric::l2);
  Model model;
  model.metric = Metric::l2;
  model.preparation = Preparation(given, {{Scaling::standardize, Scaling::min_max}, {}});
  model.features = {3, 0, 4};
  model.n = n;
  model.dims = dims;
  model.rows = model.preparation.apply(given);
  model.labels = workloads::make_labels(3, n, 4);
  model.outputs = 1;
  for (std::int64_t t = 0; t < n; ++t) model.sample_weights.push_back(static_cast<float>(t % 3) + 0.1f);
  model.voting.weights = Weights::distance;
  save(model, folder / "m.kith");
  const Model back = load_model(folder / "m.kith");

  const std::vector<float> prepared = back.preparation.apply(queries);
  CHECK(bits(prepared) == bits(model.preparation.apply(queries)));
  const MatrixView<const float> rows(prepared.data(), m, dims);
  const Classifier direct(device(), Matrix{n, dims, model.rows}, model.labels, Metric::l2,
                          {.features = model.features}, model.sample_weights);
  const Classification expected = direct.classify(rows, 7, model.voting);
  const Classification found = back.classifier(device()).classify(rows, 7, back.voting);
  CHECK(found.label == expected.label);
  CHECK(found.votes == expected.votes);
  CHECK(bits(found.scores) == bits(expected.scores));
  CHECK(found.neighbors.row == expected.neighbors.row);
  CHECK(bits(found.neighbors.distance) == bits(expected.neighbors.distance));
}

TEST_CASE("model: a regressor from a file gives the same bits, under any floating-point environment") {
  const Folder folder;
  const std::int64_t n = 60, m = 11, dims = 4;
  const Matrix train = hard_rows(DataKind::normal, Set::train, n, dims, Metric::l2);
  const Matrix queries = hard_rows(DataKind::normal, Set::queries, m, dims, Metric::l2);
  Model model;
  model.n = n;
  model.dims = dims;
  model.outputs = 2;
  model.rows = train.values;
  for (std::int64_t i = 0; i < 2 * n; ++i) model.values.push_back(1.0 / static_cast<double>(i + 1));
  model.voting.weights = Weights::distance;
  const Regressor direct(device(), train, MatrixView<const double>(model.values.data(), n, 2));
  const std::vector<double> expected = direct.predict(queries, 5, model.voting);
  for (const HostileSetting setting : hostile_settings) {
    CAPTURE(std::string(name(setting)));
    std::vector<double> found;
    bool kept = false;
    {
      const HostileEnvironment environment(setting);
      save(model, folder / "m.kith");
      found = load_model(folder / "m.kith").regressor(device()).predict(queries, 5, model.voting);
      kept = environment.still_set();
    }
    CHECK(kept);
    CHECK(found == expected);
  }
}

TEST_SUITE_END();

}  // namespace
}  // namespace kith::tests
