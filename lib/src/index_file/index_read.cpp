// An Index from a file that may be anybody's: nothing is believed before its checksum and its values are
// checked.
#include <algorithm>
#include <cmath>
#include <cstring>
#include <string>
#include <utility>
#include <vector>

#include "base/border.hpp"
#include "base/float_guard.hpp"
#include "base/numbers.hpp"
#include "base/text.hpp"
#include "index_file/index_body.hpp"
#include "index_file/index_numbers.hpp"
#include "index_file/rows_sink.hpp"
#include "kith/error.hpp"
#include "metric/chain.hpp"
#include "rows/index_state.hpp"
#include "rows/rows.hpp"

namespace kith {
namespace {

/// Reads one file, section by section as they stand there: the rows come last.
class IndexReader {
 public:
  IndexReader(const IndexFile& file, Device device, const OpenOptions& options)
      : layout_(file.layout()), device_(std::move(device)), options_(options), body_(file, options) {}

  std::shared_ptr<const Index::State> read() {
    const IndexFileSection& rows = layout_.rows();
    for (std::span<const unsigned char> block = body_.next(); !block.empty(); block = body_.next()) {
      keep(features_section, block, features_);
      keep(positions_section, block, numbers_.positions);
      keep(ids_section, block, numbers_.ids);
      keep(removed_section, block, numbers_.removed);
      pass_section(rows, block, body_.offset(), [&](auto bytes) {
        if (!sink_) begin_rows(rows.offset);
        sink_->take(bytes);
      });
    }
    sink_->end(*state_);
    const FloatGuard guard;
    if (state_->metric == Metric::negative_dot && layout_.info.largest != 0 &&
        layout_.info.largest < state_->largest)
      refuse_index_file(88, "largest = " + text_of(layout_.info.largest) + ", but the rows reach " +
                                text_of(state_->largest) + "; save the index again");
    return state_;
  }

 private:
  void keep(std::string_view name, std::span<const unsigned char> block, std::vector<unsigned char>& to) {
    if (const IndexFileSection* const section = layout_.find(name))
      pass_section(*section, block, body_.offset(),
                   [&](auto bytes) { to.insert(to.end(), bytes.begin(), bytes.end()); });
  }

  void begin_rows(std::uint64_t offset) {
    state_ = std::make_shared<Index::State>(
        device_, layout_.info.metric, layout_.info.dims,
        ordered_features(features_from(features_, layout_), layout_.info.dims));
    state_->rows = layout_.info.rows;
    state_->element = layout_.info.element;
    take_numbers(layout_, numbers_, *state_);
    state_->first_row = layout_.info.first_row;
    state_->largest_of_shards = layout_.info.largest;
    sink_ = std::make_unique<RowsSink>(*state_, layout_, offset, options_);
  }

  const IndexLayout& layout_;
  Device device_;
  const OpenOptions& options_;
  IndexBody body_;
  std::vector<unsigned char> features_;
  IndexNumbers numbers_;
  std::shared_ptr<Index::State> state_;
  std::unique_ptr<RowsSink> sink_;
};

}  // namespace

Index::Index(std::shared_ptr<const State> state) : state_(std::move(state)) {}

IndexFileRows read_index_rows(const std::string& path, const OpenOptions& options) try {
  return about_index_file(path, [&] {
    const IndexFile file(path);
    const IndexLayout& layout = file.layout();
    IndexBody body(file, options);
    IndexFileRows all{layout.info.element, layout.info.rows, layout.info.features};
    all.data.reserve(static_cast<std::size_t>(layout.rows().bytes));
    std::vector<unsigned char> features;
    const auto append = [](std::vector<unsigned char>& to) {
      return [&to](std::span<const unsigned char> bytes) { to.insert(to.end(), bytes.begin(), bytes.end()); };
    };
    for (std::span<const unsigned char> block = body.next(); !block.empty(); block = body.next()) {
      if (const IndexFileSection* const section = layout.find(features_section))
        pass_section(*section, block, body.offset(), append(features));
      pass_section(layout.rows(), block, body.offset(), append(all.data));
    }
    all.features = features_from(features, layout);
    return all;
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
