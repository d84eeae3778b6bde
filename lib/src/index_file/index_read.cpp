// Reads an Index from an untrusted file: nothing is used before its checksum and its values are checked.
#include <algorithm>
#include <cmath>
#include <cstring>
#include <iterator>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/border.hpp"
#include "base/float_guard.hpp"
#include "base/numbers.hpp"
#include "base/text.hpp"
#include "index_file/doubles_sink.hpp"
#include "index_file/index_body.hpp"
#include "index_file/index_numbers.hpp"
#include "index_file/rows_sink.hpp"
#include "kith/error.hpp"
#include "metric/chain.hpp"
#include "rows/index_state.hpp"
#include "rows/rows.hpp"
#include "search/doubles/double_index.hpp"
#include "search/groups/group_search.hpp"

namespace kith {
namespace {

/// Returns the part of the rows that the options ask for.
IndexPart part_of(const IndexLayout& layout, const OpenOptions& options) {
  const std::int64_t all = layout.info.rows, rows = options.rows < 0 ? all - options.first : options.rows;
  if (options.first < 0 || options.first >= all || rows < 1 || rows > all - options.first)
    throw Error(Errc::invalid_argument,
                std::string(index_where) + ": first = " + std::to_string(options.first) +
                    ", rows = " + std::to_string(options.rows) + ", but the file holds " +
                    std::to_string(all) + " rows; choose a part of them with at least one");
  if (rows < all && layout.find(groups_section))
    throw Error(Errc::unsupported,
                std::string(index_where) + ": first = " + std::to_string(options.first) +
                    ", rows = " + std::to_string(options.rows) +
                    ": the rows have groups, which are not opened in parts; open all of them");
  return {options.first, rows};
}

/// Reads a file section by section in its order: the rows come last.
class IndexReader {
 public:
  IndexReader(const IndexFile& file, Device device, const OpenOptions& options)
      : layout_(file.layout()),
        part_(part_of(layout_, options)),
        device_(std::move(device)),
        options_(options),
        body_(file, options, part_) {}

  std::shared_ptr<const Index::State> read() {
    const IndexFileSection rows = section_of(layout_, layout_.rows(), part_);
    for (std::span<const unsigned char> block = body_.next(); !block.empty(); block = body_.next()) {
      keep(features_section, block, features_);
      keep(centre_section, block, centre_);
      keep(box_section, block, box_);
      for (std::size_t i = 0; i < std::size(metric_parameters); ++i)
        keep(metric_parameters[i].section, block, parameters_[i]);
      keep(groups_section, block, groups_);
      keep(positions_section, block, numbers_.positions);
      keep(ids_section, block, numbers_.ids);
      keep(removed_section, block, numbers_.removed);
      pass_section(rows, block, body_.offset(), [&](auto bytes) {
        if (!state_) begin_rows(rows.offset);
        if (doubles_)
          doubles_->take(bytes);
        else
          sink_->take(bytes);
      });
    }
    if (doubles_)
      doubles_->end(*state_, options_);
    else
      state_->store = sink_->end();
    const FloatGuard guard;
    if (state_->metric == Metric::negative_dot) check_largest();
    return state_;
  }

 private:
  void keep(std::string_view name, std::span<const unsigned char> block, std::vector<unsigned char>& to) {
    if (const IndexFileSection* const section = layout_.find(name))
      pass_section(section_of(layout_, *section, part_), block, body_.offset(),
                   [&](auto bytes) { to.insert(to.end(), bytes.begin(), bytes.end()); });
  }

  void check_largest() const {
    const double largest =
        state_->doubles ? state_->doubles->largest : static_cast<double>(state_->store->largest());
    if (layout_.info.largest != 0 && static_cast<double>(layout_.info.largest) < largest)
      refuse_index_file(88, "largest = " + text_of(layout_.info.largest) + ", but the rows reach " +
                                text_of(largest) + "; save the index again");
    if (options_.largest != 0 && !(static_cast<double>(options_.largest) >= largest))
      throw Error(Errc::invalid_argument, std::string(index_where) +
                                              ": largest = " + text_of(options_.largest) +
                                              ", but the rows reach " + text_of(largest) +
                                              "; give the largest |element| of the rows of all parts");
  }

  void begin_rows(std::uint64_t offset) {
    state_ = std::make_shared<Index::State>(
        RowSchema(device_, layout_.info.metric, layout_.info.dims,
                  ordered_features(features_from(features_, layout_), layout_.info.dims)));
    state_->rows = part_.rows;
    state_->element = layout_.info.element;
    take_numbers(layout_, part_, numbers_, *state_);
    take_centre();
    take_box();
    take_parameters();
    take_groups();
    state_->first_row = layout_.info.first_row;
    state_->largest_of_shards = std::max(layout_.info.largest, options_.largest);
    if (layout_.info.element == Element::f64) {
      state_->arithmetic = Arithmetic::f64;
      doubles_.emplace(part_, layout_, offset, state_->box);
    } else {
      sink_ = std::make_unique<RowsSink>(*state_, part_, layout_, offset, options_);
    }
  }

  void take_centre() {
    const std::vector<double> centre = centre_from(centre_, layout_);
    if (!centre.empty()) state_->shift.resize(size(state_->columns));
    for (std::size_t i = 0; i < centre.size(); ++i) state_->shift[size(state_->features[i])] = centre[i];
  }

  void take_box() {
    const std::vector<double> box = doubles_from(box_);
    if (box.empty()) return;
    IndexOptions options;
    options.box.resize(size(state_->columns));
    for (std::size_t i = 0; i < box.size(); ++i) options.box[size(state_->features[i])] = box[i];
    try {
      state_->set_box(box_of(options, state_->metric, state_->columns, state_->features));
    } catch (const Error& error) {
      if (error.code() != Errc::invalid_argument) throw;
      refuse_index_file(layout_.find(box_section)->offset, error.what());
    }
  }

  void take_parameters() {
    if (!layout_.info.prepared) return;
    MetricParameters parameters;
    const IndexFileSection* last = &layout_.rows();
    for (std::size_t i = 0; i < std::size(metric_parameters); ++i) {
      parameters.*metric_parameters[i].values = doubles_from(parameters_[i]);
      if (!parameters_[i].empty()) last = layout_.find(metric_parameters[i].section);
    }
    parameters.degrees = layout_.find(degrees_section) != nullptr;
    try {
      state_->set_prepared(std::make_shared<const PreparedMetric>(state_->shown.metric, std::move(parameters),
                                                                  state_->features));
    } catch (const Error& error) {
      if (error.code() != Errc::invalid_argument) throw;
      refuse_index_file(last->offset, error.what());
    }
  }

  void take_groups() {
    const IndexFileSection* const section = layout_.find(groups_section);
    if (!section) return;
    IndexOptions options;
    options.groups.resize(groups_.size() / sizeof(std::int64_t));
    if (!groups_.empty()) std::memcpy(options.groups.data(), groups_.data(), groups_.size());
    try {
      state_->groups = groups_of(device_, options, part_.rows);
    } catch (const Error& error) {
      if (error.code() != Errc::invalid_argument) throw;
      refuse_index_file(section->offset, error.what());
    }
  }

  const IndexLayout& layout_;
  const IndexPart part_;
  Device device_;
  const OpenOptions& options_;
  IndexBody body_;
  std::vector<unsigned char> features_, centre_, box_, groups_, parameters_[std::size(metric_parameters)];
  IndexNumbers numbers_;
  std::shared_ptr<Index::State> state_;
  std::unique_ptr<RowsSink> sink_;      ///< takes the rows, unless
  std::optional<DoublesSink> doubles_;  ///< they are doubles
};

}  // namespace

Index::Index(std::shared_ptr<const State> state) : state_(std::move(state)) {}

IndexFileRows read_index_rows(const std::string& path, const OpenOptions& options) try {
  return about_index_file(path, [&] {
    const IndexFile file(path);
    const IndexLayout& layout = file.layout();
    const IndexPart part = part_of(layout, options);
    const IndexFileSection rows = section_of(layout, layout.rows(), part);
    IndexBody body(file, options, part);
    IndexFileRows some{layout.info.element, part.rows, layout.info.features};
    some.data.reserve(static_cast<std::size_t>(rows.bytes));
    std::vector<unsigned char> features, centre, box;
    const auto append = [](std::vector<unsigned char>& to) {
      return [&to](std::span<const unsigned char> bytes) { to.insert(to.end(), bytes.begin(), bytes.end()); };
    };
    for (std::span<const unsigned char> block = body.next(); !block.empty(); block = body.next()) {
      if (const IndexFileSection* const section = layout.find(features_section))
        pass_section(*section, block, body.offset(), append(features));
      if (const IndexFileSection* const section = layout.find(centre_section))
        pass_section(*section, block, body.offset(), append(centre));
      if (const IndexFileSection* const section = layout.find(box_section))
        pass_section(*section, block, body.offset(), append(box));
      pass_section(rows, block, body.offset(), append(some.data));
    }
    some.features = features_from(features, layout);
    some.centre = centre_from(centre, layout);
    some.box = doubles_from(box);
    return some;
  });
} catch (...) {
  rethrow_as_error();
}

Index open_index(const std::string& path, Device device, const OpenOptions& options) try {
  return Index(about_index_file(path, [&] {
    const IndexFile file(path);
    return IndexReader(file, std::move(device), options).read();
  }));
} catch (...) {
  rethrow_as_error();
}

}  // namespace kith
