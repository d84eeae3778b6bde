// Fuzzes readers of model files and tuning files. Both have a checksum, which is corrected here, so that
// changes get past it.
#include <algorithm>
#include <cinttypes>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <memory>

#include "command/input/model_file.hpp"
#include "fuzz.hpp"
#include "kith/device.hpp"
#include "kith/model.hpp"
#include "kith/unstable/tuning.hpp"

namespace kith::fuzz {
namespace {

/// Returns a 64-bit FNV-1a checksum, implemented independently of the library.
std::uint64_t checksum(std::string_view summed) {
  std::uint64_t sum = 14695981039346656037u;
  for (const char c : summed) sum = (sum ^ static_cast<unsigned char>(c)) * 1099511628211u;
  return sum;
}

void put_word(std::string& file, std::size_t at, std::uint64_t word) {
  for (std::size_t i = 0; i < 8; ++i) file[at + i] = static_cast<char>(word >> (8 * i));
}

constexpr std::size_t header_bytes = 24, title_bytes = 16;

/// Corrects the size of each section, the size of the file, and its checksum: docs/contract.md, section 10. A
/// section extends to the beginning of the next.
std::string mended_model(std::string file) {
  if (file.size() < header_bytes + 8) return file;
  constexpr std::string_view names[] = {"model",  "voting", "prepare", "columns", "rows",
                                        "labels", "values", "samples", "origin",  "unread"};
  const std::size_t end = file.size() - 8;
  std::size_t begun = std::string::npos;
  for (const std::string_view name : names) {
    const std::string title = std::string(name) + std::string(8 - name.size(), '\0');
    const std::size_t from = begun == std::string::npos ? header_bytes : begun + title_bytes;
    const std::size_t at = file.find(title, from);
    if (at == std::string::npos || at + title_bytes > end) continue;
    if (begun != std::string::npos) put_word(file, begun + 8, at - begun - title_bytes);
    begun = at;
  }
  if (begun != std::string::npos) put_word(file, begun + 8, end - begun - title_bytes);
  put_word(file, 16, file.size());
  put_word(file, end, checksum({file.data(), end}));
  return file;
}

const Device& cpu() {
  static const Device device = open_device("cpu");
  return device;
}

/// Classifies or predicts the model's first rows. If the model says how many neighbours to ask, this
/// must not fail.
void ask_model(const Model& model) {
  const std::int64_t k = std::max<std::int64_t>(model.k, 1), m = std::min<std::int64_t>(model.n, 3);
  const MatrixView<const float> queries(model.rows.data(), m, model.dims);
  SearchOptions plan{.threads = 1};
  const bool asked = attempt("", true, [&] {
    if (model.labels.empty()) {
      const auto answers = model.regressor(cpu()).predict(queries, k, model.voting, plan);
      require(answers.size() == static_cast<std::size_t>(m * model.outputs), "answers are not m * outputs");
      return;
    }
    const auto all = model.classifier(cpu()).classify_outputs(queries, k, model.voting, plan);
    require(all.size() == static_cast<std::size_t>(model.outputs), "answers are not one an output");
    for (const Classification& one : all)
      for (const std::int64_t label : one.label)
        require(label == model.voting.no_label ||
                    std::find(model.labels.begin(), model.labels.end(), label) != model.labels.end(),
                "an answer that is no label");
  });
  require(asked || model.k == 0 || model.outputs > 1, "a model that is read cannot be asked");
}

/// Prepares a query of zeros, which may be refused.
void prepare_queries(const Model& model) {
  const std::int64_t cols = model.preparation.dims();
  if (cols == 0) return;
  const std::vector<float> zeros(static_cast<std::size_t>(cols));
  attempt("", true, [&] {
    const std::vector<float> made = model.preparation.apply({zeros.data(), 1, cols});
    require(made.size() == static_cast<std::size_t>(model.dims), "prepared queries have another width");
  });
}

void read_model(FuzzedDataProvider& input) {
  const bool mend = !pick(input, {false, false, false, true});
  std::string file = input.ConsumeRemainingBytesAsString();
  if (mend) file = mended_model(std::move(file));
  const std::string path = write_file("input.kith", file), again = in_folder("again.kith");
  Model model;
  if (!attempt("model: " + path + ": byte ", true, [&] { model = load_model(path); })) return;
  const auto n = static_cast<std::size_t>(model.n);
  require(model.rows.size() == n * static_cast<std::size_t>(model.dims), "rows are not [n, dims]");
  save(model, again);
  require(read_file(again) == file, "a model is written otherwise than it was read");
  Model read;
  attempt("", true, [&] {
    const command::Training training = command::read_model("fuzz", {}, path, read);
    require(training.n() == model.n, "a model has another number of rows as training rows");
  });
  ask_model(model);
  prepare_queries(model);
}

std::string mended_tuning(std::string text) {
  constexpr std::string_view last = "checksum ";
  const std::size_t at = text.rfind(last);
  if (at == std::string::npos || (at > 0 && text[at - 1] != '\n')) return text;
  text.resize(at);
  char line[32];
  std::snprintf(line, sizeof line, "checksum %016" PRIx64 "\n", checksum(text));
  return text + line;
}

/// Makes a plan for each measured problem.
void plan_by(const DeviceInfo& device) {
  constexpr std::size_t most = 8;
  const auto& entries = device.tuning->entries;
  for (std::size_t i = 0; i < std::min(entries.size(), most); ++i)
    attempt("", true, [&] {
      const Plan plan = make_plan(device, entries[i].problem);
      require(plan.lists > 0 && plan.query_tile > 0 && plan.train_tile > 0, "a plan without tiles");
    });
}

void read_tuning(FuzzedDataProvider& input) {
  const bool mend = !pick(input, {false, false, false, true});
  std::string text = input.ConsumeRemainingBytesAsString();
  if (mend) text = mended_tuning(std::move(text));
  Tuning tuning;
  bool read = false;
  try {
    tuning = parse_tuning(text);
    read = true;
    require(tuning_text(tuning) == text, "a tuning file is written otherwise than it was read");
  } catch (const Error& error) {
    // load_tuning() adds the file's name and what to do.
    check_message("tuning: " + std::string(error.what()) + "; run", "tuning: line ", true);
  }
  DeviceInfo device = cpu().info();
  if (read) {
    device.backend = tuning.backend;
    device.name = tuning.name;
    device.driver = tuning.driver;
    device.compute_units = tuning.compute_units;
  }
  std::string warning;
  const auto loaded = load_tuning(device, write_file("tuning.txt", text), warning);
  if (!warning.empty()) check_message(warning, "tuning: ", true);
  require(!loaded || read, "load_tuning() takes what parse_tuning() refuses");
  require(!loaded || *loaded == tuning, "load_tuning() reads something else");
  if (!read) return;
  device.tuning = std::make_shared<const Tuning>(std::move(tuning));
  plan_by(device);
}

constexpr Reader readers[] = {{"model", read_model}, {"tuning", read_tuning}};

}  // namespace

std::span<const Reader> kept_readers() {
  return readers;
}

}  // namespace kith::fuzz
