// The operations of kith that must survive faults.
#include "c_operations.hpp"
#include "common/data.hpp"
#include "common/folder.hpp"
#include "common/rows_of_directions.hpp"
#include "faults.hpp"
#include "kith/unstable/stages.hpp"

namespace kith::tests::faults {
namespace {

using test_support::TemporaryFolder;

constexpr std::int64_t k = 9;

/// Makes rows and labels, the same for every device.
struct Data {
  Matrix train = hard_rows(DataKind::integers, Set::train, 300, 5, Metric::l2);
  Matrix more = hard_rows(DataKind::integers, Set::train, 20, 5, Metric::l2, 8);
  Matrix queries = hard_rows(DataKind::integers, Set::queries, 7, 5, Metric::l2);
  std::vector<std::int64_t> labels;
  std::vector<double> values;
  std::vector<float> radius{3.5f};
  std::vector<std::int64_t> gone{7, 4};
  TemporaryFolder folder, indices;

  Data() {
    for (std::int64_t t = 0; t < train.rows; ++t) labels.push_back(t % 4);
    values.assign(labels.begin(), labels.end());
  }
  MatrixView<const double> targets() const { return {values.data(), train.rows, 1}; }
  Model model() const {
    Model model;
    model.metric = Metric::l2;
    model.n = train.rows;
    model.dims = train.cols;
    model.rows = train.values;
    model.labels = labels;
    return model;
  }
};

const Data& data() {
  static const Data all;
  return all;
}

/// Rows of few directions, for which projections propose on a CPU: the fewest and narrowest.
struct WideData {
  Matrix train = rows_along({}, 1 << 14, 1, 256), queries = rows_along({}, 64, 2, 256);
  Neighbors found =
      Index(open_device("cpu"), train, Metric::l2).search(queries, k, {.proposer = Proposer::none});
};

bool same(const Neighbors& a, const Neighbors& b) {
  return a.row == b.row && a.distance == b.distance;
}

}  // namespace

/// Everything that is on the device.
struct Scene::State {
  Device device;
  Index index;
  Classifier classifier;
  Regressor regressor;
  Structure structure;
  CHandles c;

  explicit State(const std::string& spec)
      : device(open_device(spec)),
        index(device, data().train, Metric::l2),
        classifier(device, data().train, data().labels),
        regressor(device, data().train, data().targets()),
        structure(device, data().train, data().labels),
        c(spec, data().train, data().labels, data().queries) {}

  SearchOptions proposing() const {
    SearchOptions options;
    if (!device.info().proposers.empty()) options.proposer = device.info().proposers.back();
    return options;
  }
};

namespace {

/// Holds the answers of the CPU.
struct Answers {
  Neighbors found, of_more, updated;
  RadiusNeighbors around;
  std::vector<std::int64_t> predicted, left_out;
  std::vector<double> estimated;
  std::vector<float> distances;
  std::size_t errors = 0;

  Answers() {
    const Device cpu = open_device("cpu");
    const Index index(cpu, data().train, Metric::l2);
    found = index.search(data().queries, k);
    of_more = index.with(data().more).search(data().queries, k);
    updated = index.without(data().gone).with(data().more).search(data().queries, k);
    around = index.within(data().queries, data().radius);
    const Classifier classifier(cpu, data().train, data().labels);
    predicted = classifier.predict(data().queries, k);
    left_out = leave_one_out(classifier, data().train, k).correct;
    estimated = Regressor(cpu, data().train, data().targets()).predict(data().queries, k);
    errors = Structure(cpu, data().train, data().labels).errors().size();
    distances = stages::distance(cpu, data().queries, data().train, Metric::l1);
  }
};

const Answers& answers() {
  static const Answers all;
  return all;
}

bool right_with_times(const Index& index, bool time_steps) {
  Trace trace;
  trace.time_steps = time_steps;
  trace.hold_queue = !time_steps;
  return same(index.search(data().queries, k, {}, &trace), answers().found);
}

bool right_saved() {
  static const std::string path = data().folder / "saved.kith";
  static const Model model = data().model();
  save(model, path);
  return load_model(path).labels == data().labels;
}

/// Returns whether the folder has one whole index file and nothing else, or is empty. Runs without faults.
bool has_whole_index(const std::string& path) {
  const Spared spared;
  const std::set<std::string> names = data().indices.names();
  if (names.empty()) return true;
  if (names != std::set<std::string>{"i.kidx"}) return false;
  verify_index_file(path);
  return true;
}

const WideData& wide_data() {
  static const WideData all;
  return all;
}

/// Returns whether projections propose for the wide rows, as they do by vectors of eight floats.
bool projects(const Device& device) {
  const Index index(device, wide_data().train, Metric::l2);
  index.prepare(wide_data().queries.rows, k);
  const std::string reason = index.plan(wide_data().queries.rows, k).reason;
  return reason.find("rows are projected onto these") != std::string::npos;
}

bool right_wide(const Device& device) {
  const WideData& wide = wide_data();
  const Index index(device, wide.train, Metric::l2);
  // A device keeps memory of the way that is taken where projections lack theirs.
  static const bool warm = same(index.search(wide.queries, k), wide.found);
  if (!warm) return false;
  index.prepare(wide.queries.rows, k);
  return same(index.search(wide.queries, k), wide.found);
}

/// Saves an index file, opens it, and replaces it by one with other rows.
bool right_index_file(const Index& index) {
  static const std::string path = data().indices / "i.kidx";
  if (!has_whole_index(path)) return false;
  save(index, path);
  save(open_index(path, index.device()).without(data().gone).with(data().more).compact(), path);
  return has_whole_index(path) &&
         same(open_index(path, index.device()).search(data().queries, k), answers().updated);
}

}  // namespace

Scene::Scene(const std::string& spec) : spec_(spec), state_(std::make_unique<State>(spec)) {
  static_cast<void>(answers());
  save(data().model(), data().folder / "m.kith");
}

Scene::~Scene() = default;

void Scene::renew() {
  state_.reset();
  state_ = std::make_unique<State>(spec_);
}

void Scene::close() {
  state_.reset();
}

std::vector<Operation> Scene::operations(bool with_long) {
  // Access the index through the scene, since renew() replaces it.
  const auto index = [this]() -> const Index& { return state_->index; };
  std::vector<Operation> all{
      {"Index", [this] { return Index(state_->device, data().train, Metric::l2).rows() == 300; }},
      {"Index::with",
       [index] { return same(index().with(data().more).search(data().queries, k), answers().of_more); }},
      {"search", [index] { return same(index().search(data().queries, k), answers().found); }},
      {"search, steps timed", [index] { return right_with_times(index(), true); }},
      {"search, queue held", [index] { return right_with_times(index(), false); }},
      {"Index, search, proposed",
       [this] {
         const Index fresh(state_->device, data().train, Metric::l2);
         return same(fresh.search(data().queries, k, state_->proposing()), answers().found);
       }},
      {"within",
       [index] { return index().within(data().queries, data().radius).row == answers().around.row; }},
      {"plan", [index] { return index().plan(7, k).problem.k == k; }},
      {"classify", [this] { return state_->classifier.predict(data().queries, k) == answers().predicted; }},
      {"regress", [this] { return state_->regressor.predict(data().queries, k) == answers().estimated; }},
      {"leave_one_out",
       [this] { return leave_one_out(state_->classifier, data().train, k).correct == answers().left_out; }},
      {"Structure, errors", [this] { return state_->structure.errors().size() == answers().errors; }},
      {"stages::distance",
       [this] {
         return stages::distance(state_->device, data().queries, data().train, Metric::l1) ==
                answers().distances;
       }},
      {"save, load", right_saved},
      {"save, open, update, save, open", [index] { return right_index_file(index()); }},
      {"load, classify",
       [this] {
         static const std::string path = data().folder / "m.kith";
         const Model model = load_model(path);
         return model.classifier(state_->device).predict(data().queries, k) == answers().predicted;
       }},
      {"kith_index_search", [this] { return state_->c.right_search(answers().found); }},
      {"kith_index_new, search", [this] { return state_->c.right_new_index(answers().found); }},
      {"kith_knn", [this] { return state_->c.right_knn(answers().found); }},
      {"kith_index_within",
       [this] { return state_->c.right_within(answers().around, data().radius.front()); }},
      {"kith_classifier_predict", [this] { return state_->c.right_labels(answers().predicted); }},
      {"kith_model_new, save, load", [this] { return state_->c.right_model(); }},
      {"open_device, search",
       [this] {
         const Index fresh(open_device(spec_), data().train, Metric::l2);
         return same(fresh.search(data().queries, k), answers().found);
       }},
  };
  if (with_long && spec_ == "cpu" && projects(state_->device))
    all.push_back({"wide Index, prepare, search", [this] { return right_wide(state_->device); }});
  return all;
}

}  // namespace kith::tests::faults
