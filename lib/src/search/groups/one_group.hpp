// What searches of one group by itself take from the search of all groups.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "device/device_set.hpp"
#include "rows/landed/borrowed.hpp"
#include "search/groups/group_parts.hpp"
#include "search/lists/asked_part.hpp"

namespace kith {

/// Makes the options of a search of one group by itself.
class OptionsOfGroup {
 public:
  ///   m  queries of all groups
  OptionsOfGroup(const GroupsAsked& asked, std::int64_t m, std::int64_t g)
      : part_(m, asked.options, asked.queries(g), asked.groups.rows(g)), options_(part_.options()) {
    options_.groups.clear();
    options_.rows_from_group = false;
    options_.progress = nullptr;
    if (options_.self) *options_.self += asked.queries(g).first - asked.groups.rows(g).first;
  }
  const SearchOptions& options() const { return options_; }

 private:
  const AskedPart part_;
  SearchOptions options_;
};

/// Queries of a caller, on the host once a group needs them there.
class GivenQueries {
 public:
  GivenQueries(std::string_view where, const Index::State& index, const RowsView& given)
      : where_(where), index_(index), given_(given) {}
  const RowsView& on_host() {
    if (!host_)
      host_ = is_set(index_.device) ? given_
                                    : rows_on_host(where_, "query", index_.device.state(), given_, copy_);
    return *host_;
  }

 private:
  const std::string_view where_;
  const Index::State& index_;
  const RowsView& given_;
  std::optional<RowsView> host_;
  std::vector<unsigned char> copy_;
};

}  // namespace kith
