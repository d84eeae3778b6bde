// kith structure: shows how classes of labelled rows lie.
#include "command/structure/structure.hpp"
#include "command/results/distances.hpp"
#include "command/shared/ranks.hpp"
#include "command/words/place.hpp"
#include "command/words/write.hpp"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <memory>
#include <type_traits>

#include "files/output.hpp"

namespace kith::command {
namespace {

using SteadyClock = std::chrono::steady_clock;

constexpr std::int64_t matrix_piece = std::int64_t{64} << 20;  ///< bytes of distances in memory at a time

/// The output files, each a temporary file until all is done.
class Outputs {
 public:
  explicit Outputs(const StructureFlags& flags)
      : shown("structure", flags.shown,
              {{"--errors", flags.errors},
               {"--sample-classes", flags.sample_classes},
               {"--distances", flags.distances}}) {
    const std::string& format = flags.output.format;
    if (!flags.errors.empty()) files::check_output_name(flags.errors, files::Content::indices, format);
    if (!flags.sample_classes.empty())
      files::check_output_name(flags.sample_classes, files::Content::values, format);
    if (!flags.distances.empty())
      files::check_output_name(flags.distances, files::Content::distances, format);
    errors = OutputFile(flags.errors, format);
    sample_classes = OutputFile(flags.sample_classes, format);
    distances = OutputFile(flags.distances, format);
  }

  void commit() {
    for (OutputFile* file : {&errors, &sample_classes, &distances}) file->commit();
    shown.commit();
  }

  OutputFile errors, sample_classes, distances;
  DocumentOutput shown;
};

report::Confusion nearest_classes(const Structured& done) {
  const std::size_t classes = done.classes.size();
  std::vector<std::int64_t> counts(classes * classes);
  for (std::size_t c = 0; c < classes; ++c) counts[c * classes + c] = done.sizes[c];
  for (const SampleError& error : done.errors) {
    const std::size_t truth = done.codes[static_cast<std::size_t>(error.sample)],
                      other = done.codes[static_cast<std::size_t>(error.nearest)];
    --counts[truth * classes + truth];
    ++counts[truth * classes + other];
  }
  return {classes, std::move(counts)};
}

void write_errors(files::AtomicFile& file, const Training& training, const std::vector<SampleError>& errors,
                  const OutputFlags& flags) {
  std::vector<std::int64_t> cells;
  for (const SampleError& error : errors)
    cells.insert(cells.end(), {training.file_row(error.sample), training.file_row(error.nearest)});
  files::write_rows(file,
                    MatrixView<const std::int64_t>(cells.data(), static_cast<std::int64_t>(errors.size()), 2),
                    header_of(flags, {"row", "nearest"}));
}

void write_sample_classes(files::AtomicFile& file, const SampleClasses& sums,
                          const std::vector<std::string>& classes_named, const OutputFlags& flags) {
  const auto classes = static_cast<std::size_t>(sums.classes);
  std::vector<double> cells;
  cells.reserve(2 * sums.mean.size());
  const bool is_double = sums.arithmetic == Arithmetic::f64;
  for (std::size_t at = 0; at < sums.mean.size(); at += classes) {
    const auto row = static_cast<std::ptrdiff_t>(at), end = static_cast<std::ptrdiff_t>(at + classes);
    if (is_double)
      cells.insert(cells.end(), sums.smallest64.begin() + row, sums.smallest64.begin() + end);
    else
      cells.insert(cells.end(), sums.smallest.begin() + row, sums.smallest.begin() + end);
    cells.insert(cells.end(), sums.mean.begin() + row, sums.mean.begin() + end);
  }
  std::vector<std::string> names;
  for (const char* what : {"smallest ", "mean "})
    for (const std::string& name : classes_named) names.push_back(what + name);
  files::write_rows(file, MatrixView<const double>(cells.data(), sums.samples, 2 * sums.classes),
                    header_of(flags, std::move(names)));
}

/// Writes all distances, [n, n], which are never all in memory.
void write_distances(files::AtomicFile& file, const Training& training, const Structure& structure,
                     SearchOptions options, const OutputFlags& flags) {
  const std::int64_t n = structure.index().rows();
  std::vector<std::string> names;
  for (std::int64_t t = 0; t < n; ++t) names.push_back("row_" + std::to_string(training.file_row(t)));
  names = header_of(flags, std::move(names));
  const std::int64_t rows =
      std::max<std::int64_t>(1, matrix_piece / (n * static_cast<std::int64_t>(sizeof(double))));
  ProgressBar bar("writing distances");
  options.progress = {};
  for (std::int64_t first = 0; first < n; first += rows) {
    throw_if_interrupted("structure");
    bar.update(static_cast<double>(first) / static_cast<double>(n));
    const std::int64_t count = std::min(rows, n - first);
    const SampleDistances piece = structure.distances(first, count, options);
    with_distances(piece, [&](const auto& all) {
      using Distance = typename std::decay_t<decltype(all)>::value_type;
      files::write_piece(file, MatrixView<const Distance>(all.data(), count, n), first, n, names);
    });
  }
}

Structured structure(const StructureFlags& flags, Outputs& outputs) {
  Structured done;
  auto start = SteadyClock::now();
  done.training = read_classes("structure", flags.training);
  const Training& training = done.training;
  done.seconds.emplace_back("read the files", lap(start));

  SearchOptions options = plan_options(flags.plan);
  const Device device = open_my_device(flags.device);
  done.device = device.info();
  done.seconds.emplace_back("open and test the device", lap(start));
  const Structure structure(device, training.rows.searched(), training.labels[0].code, flags.metric,
                            training.index_options());
  done.sizes = structure.sizes();
  done.codes = structure.codes();
  for (const std::int64_t label : structure.classes()) done.classes.push_back(training.labels[0].text(label));
  done.seconds.emplace_back("copy the rows", lap(start));
  {
    ProgressBar bar("class matrix");
    options.progress = [&bar](const Progress& progress) { bar.update(progress.fraction); };
    done.matrix = structure.class_matrix(options, &done.trace);
  }
  done.seconds.emplace_back("class matrix", lap(start));
  {
    ProgressBar bar("nearest other rows");
    options.progress = [&bar](const Progress& progress) { bar.update(progress.fraction); };
    if (training.n() > 1) done.errors = structure.errors(options);
  }
  done.nearest = nearest_classes(done);
  done.seconds.emplace_back("nearest other rows", lap(start));
  options.progress = {};
  if (outputs.errors) write_errors(*outputs.errors, training, done.errors, flags.output);
  if (outputs.sample_classes)
    write_sample_classes(*outputs.sample_classes, structure.sample_classes(options), done.classes,
                         flags.output);
  if (outputs.distances) write_distances(*outputs.distances, training, structure, options, flags.output);
  if (outputs.errors || outputs.sample_classes || outputs.distances)
    done.seconds.emplace_back("write what was asked for", lap(start));
  return done;
}

int run_structure(StructureFlags flags) {
  require_answers("structure", flags.training);
  admit_metric("structure", flags.training, flags.metric);
  Outputs outputs(flags);
  flags.training.single = why_single("--distances", flags.distances, flags.output);
  const Structured done = structure(flags, outputs);
  const report::Document document = structure_document(flags, done);
  outputs.shown.write(document);
  outputs.commit();
  print_document(document, flags.shown);
  return exit_ok;
}

void add_output_options(CLI::App& app, StructureFlags& flags) {
  const auto add_file = [&](const std::string& name, std::string& value, const std::string& help) {
    writes_file(app.add_option(name, value, help));
  };
  add_file("--errors", flags.errors,
           "Write the rows whose nearest other row is of another class, and that other row, [errors, 2], "
           "from 0: .npy (int64), .ivecs, .ibin, .csv, .tsv, .txt");
  add_file("--sample-classes", flags.sample_classes,
           "Write each row's smallest distance to each class, then its mean distance to each, as raw values "
           "(squared for l2), [rows, 2 classes]: .npy (float64), .csv, .tsv, .txt");
  add_file("--distances", flags.distances,
           "Write the distances between all rows, [rows, rows]: .npy (float32 or float64), .csv, .tsv, .txt; "
           ".fvecs, .fbin (float32 alone)");
  add_output_options(app, flags.output);
  add_document_options(app, flags.shown, "Write one line per pair of classes",
                       "Write a page with a picture of the class matrix for a browser");
}

}  // namespace

std::size_t Structured::nearest_class(std::size_t a) const {
  std::size_t best = a;
  for (std::size_t b = 0; b < classes.size(); ++b)
    if (b != a && (best == a || mean(a, b) < mean(a, best))) best = b;
  return best;
}

std::int64_t Structured::columns_counted() const {
  const auto some = static_cast<std::int64_t>(training.features.size());
  return some > 0 ? some : training.rows.width;
}

Subcommand add_structure(CLI::App& parent) {
  auto flags = std::make_shared<StructureFlags>();
  CLI::App* app = parent.add_subcommand(
      "structure", "Measure how far classes lie apart, and which rows are nearest to a row of another class");
  add_class_rows(*app, flags->training);
  add_metric_options(*app, flags->metric, flags->training);
  add_device_option(*app, flags->device);
  add_output_options(*app, *flags);
  add_plan_options(*app, flags->plan, placement_keys(flags->training));
  add_examples(*app, {"kith structure --train iris.csv --label-column species",
                      "kith structure --train iris.csv --label-column species --features 3,4 --json",
                      "kith structure --train train.csv --label-column -1 --scale standardize \\",
                      "               --errors errors.csv --report structure.html"});
  return {app, [flags] { return run_structure(*flags); }};
}

}  // namespace kith::command
