// Writes an Index to a file: docs/contract.md, section 9.
#include <algorithm>
#include <string>
#include <vector>

#include "base/border.hpp"
#include "base/numbers.hpp"
#include "base/saved_file.hpp"
#include "base/xxh64.hpp"
#include "host/parallel.hpp"
#include "index_file/index_layout.hpp"
#include "metric/chain.hpp"
#include "rows/index_state.hpp"
#include "search/doubles/double_index.hpp"
#include "search/groups/row_groups.hpp"
#include "search/stores/row_store.hpp"

namespace kith {
namespace {

/// Writes the body of a file, and a checksum for each block of it.
class BodyWriter {
 public:
  explicit BodyWriter(SavedFile& file) : file_(file) {}

  void write(const void* bytes, std::size_t size) {
    const auto* from = static_cast<const unsigned char*>(bytes);
    while (size > 0) {
      const std::size_t some = std::min(size, static_cast<std::size_t>(index_piece_bytes) - piece_.size());
      piece_.insert(piece_.end(), from, from + some);
      from += some;
      size -= some;
      if (piece_.size() == index_piece_bytes) end_piece();
    }
  }

  /// Writes zeros up to where `section` begins.
  void begin(const IndexFileSection& section) {
    const std::uint64_t here = index_head_bytes + done_ + piece_.size();
    const std::vector<unsigned char> zeros(static_cast<std::size_t>(section.offset - here));
    write(zeros.data(), zeros.size());
  }

  void write_checksums() {
    if (!piece_.empty()) end_piece();
    if (!pieces_.empty()) end_block();
    sums_.push_back(Xxh64::of(sums_.data(), sums_.size() * sizeof(std::uint64_t)));
    file_.write(sums_.data(), sums_.size() * sizeof(std::uint64_t));
  }

 private:
  void end_piece() {
    pieces_.push_back(Xxh64::of(piece_.data(), piece_.size()));
    file_.write(piece_.data(), piece_.size());
    done_ += piece_.size();
    piece_.clear();
    if (done_ % index_block_bytes == 0) end_block();
  }
  void end_block() {
    sums_.push_back(Xxh64::of(pieces_.data(), pieces_.size() * sizeof(std::uint64_t)));
    pieces_.clear();
  }

  SavedFile& file_;
  std::uint64_t done_ = 0;  ///< bytes of the body in the file
  std::vector<unsigned char> piece_;
  std::vector<std::uint64_t> pieces_, sums_;
};

/// Returns the element of the rows in a file: f64 in double precision, and f32 for cosine, whose unit rows no
/// shorter element can hold.
Element stored_element(const Index::State& index) {
  if (index.arithmetic == Arithmetic::f64) return Element::f64;
  return prepare_of(index.metric) == Prepare::unit_rows ? Element::f32 : index.element;
}

IndexLayout layout_of(const Index::State& index) {
  IndexFileInfo info;
  info.metric = index.shown.metric;
  info.element = stored_element(index);
  info.rows = index.rows;
  info.dims = index.columns;
  info.features = compares_bits(index.metric) ? index.columns : index.dims;
  info.first_row = index.first_row;
  info.removed = index.removed.count();
  info.positions = index.numbers.positions();
  info.next_row = index.numbers.next();
  info.largest = index.largest_of_shards;
  info.centred = !index.shift.empty();
  info.periodic = index.box != nullptr;
  info.prepared = index.prepared != nullptr;
  return layout_of(std::move(info), !index.numbers.in_place(), index.numbers.has_ids(),
                   index.groups ? index.groups->borders().size() : 0,
                   index.prepared ? index.prepared->parameters() : MetricParameters());
}

/// Writes of_place(place) for each row on the device.
template <class OfPlace>
void write_numbers(BodyWriter& body, std::int64_t rows, const OfPlace& of_place) {
  std::vector<std::int64_t> numbers(size(rows));
  for (std::int64_t place = 0; place < rows; ++place) numbers[size(place)] = of_place(place);
  body.write(numbers.data(), numbers.size() * sizeof(std::int64_t));
}

/// Writes the values of the columns that count: of a centre or a box.
void write_of_columns(BodyWriter& body, const Index::State& index, const std::vector<double>& values) {
  std::vector<double> of_columns;
  for (const std::int64_t d : index.features) of_columns.push_back(values[size(d)]);
  body.write(of_columns.data(), of_columns.size() * sizeof(double));
}

/// Returns the parameter of the metric that is in this section; null: it has none.
const std::vector<double>* parameter_in(const Index::State& index, std::string_view section) {
  for (const MetricParameter& one : metric_parameters)
    if (one.section == section) return &(index.prepared->parameters().*one.values);
  return nullptr;
}

/// Writes a bit for each place: bit t % 32 of word t / 32 is 1 if the row at place t is removed.
void write_removed(BodyWriter& body, const Index::State& index) {
  std::vector<std::uint32_t> words(size(divide_up(index.rows, removed_bits_a_word)), ~std::uint32_t{0});
  index.removed.strike(words);
  for (std::uint32_t& word : words) word = ~word;
  body.write(words.data(), words.size() * sizeof(std::uint32_t));
}

/// Writes all rows in the order of their places, some at a time.
void write_rows(BodyWriter& body, const Index::State& index, const IndexLayout& layout) {
  const Element element = layout.info.element;
  const std::int64_t cols = layout.info.features, row = row_bytes(element, cols);
  const std::int64_t block = index.device.info().train_block;
  constexpr std::int64_t most_floats = std::int64_t{1} << 22;
  const std::int64_t step = std::max<std::int64_t>(1, most_floats / (index.dims * block)) * block;
  std::vector<float> rows;
  std::vector<unsigned char> stored;
  for (std::int64_t first = 0; first < index.rows; first += step) {
    const std::int64_t count = std::min(step, index.rows - first);
    rows.resize(size(count) * size(index.dims));
    stored.resize(size(count) * size(row));
    index.store->read(first, count, rows.data(), 0);
    parallel_for(count, count * index.dims, 0, [&](std::int64_t r) {
      store_row(element, rows.data() + r * index.dims, cols, stored.data() + r * row);
    });
    body.write(stored.data(), stored.size());
  }
}

void write_doubles(BodyWriter& body, const DoubleRows& rows) {
  const auto write = [&](const PreparedDoubles& some) {
    body.write(some.values.data(), some.values.size() * sizeof(double));
  };
  if (rows.source()) return rows.source()->each_block(write);
  for (const DoubleRows::Chunk& chunk : rows.chunks()) write(*chunk.rows);
}

}  // namespace

void save(const Index& index, const std::string& path, const SaveOptions& options) try {
  const Index::State& state = index.state();
  const IndexLayout layout = layout_of(state);
  SavedFile file(std::string(index_where), path, layout.info.bytes, options);
  const std::vector<unsigned char> head = head_of(layout);
  file.write(head.data(), head.size());
  BodyWriter body(file);
  for (const IndexFileSection& section : layout.info.sections) {
    body.begin(section);
    if (section.name == features_section)
      body.write(state.features.data(), state.features.size() * sizeof(std::int64_t));
    else if (section.name == centre_section)
      write_of_columns(body, state, state.shift);
    else if (section.name == box_section)
      write_of_columns(body, state, index.box());
    else if (section.name == degrees_section)
      continue;  // it is empty
    else if (const std::vector<double>* const values = parameter_in(state, section.name))
      body.write(values->data(), values->size() * sizeof(double));
    else if (section.name == groups_section)
      body.write(state.groups->borders().data(), static_cast<std::size_t>(section.bytes));
    else if (section.name == positions_section)
      write_numbers(body, state.rows, [&](std::int64_t place) { return state.numbers.position(place); });
    else if (section.name == ids_section)
      write_numbers(body, state.rows, [&](std::int64_t place) { return state.numbers.number(place); });
    else if (section.name == removed_section)
      write_removed(body, state);
    else if (state.doubles)
      write_doubles(body, state.doubles->rows);
    else
      write_rows(body, state, layout);
  }
  body.write_checksums();
  file.commit();
} catch (...) {
  rethrow_as_error();
}

}  // namespace kith
