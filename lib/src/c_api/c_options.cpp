// Converts options from C: an option of each kind of options.def, from a struct of C, `from`, to one of
// C++, `to`.
#include <string>
#include <utility>

#include "c_api/c_arguments.hpp"
#include "c_api/c_structs.hpp"
#include "kith/error.hpp"
#include "kith/parse.hpp"
#include "kith/selector.hpp"
#include "rows/row_filter.hpp"

namespace kith::c_api {
namespace {

template <class Choice>
void take_name(const char* text, Choice& to) {
  to = parse<Choice>(text);
}

std::optional<bool> whether(const char* where, const char* what, std::int32_t wish) {
  if (wish < -1 || wish > 1)
    refuse(where, std::string(what) + " = " + std::to_string(wish) +
                      "; choose 0 (kith decides), 1 (yes) or -1 (never)");
  if (wish == 0) return std::nullopt;
  return wish == 1;
}

/// Converts a filter to the words of SearchOptions; the library checks how many filters there are.
FilterWords filter_of(const char* where, const kith_search_options& given, std::int64_t n, std::int64_t m) {
  if (given.filter_rows == 0) {
    if (given.filter && m != 0)
      refuse(where, "there is a filter, but filter_rows is 0; give 1 for all queries, or " +
                        std::to_string(m) + ", or set filter to NULL");
    return {};
  }
  check_array(where, "filter", given.filter, given.filter_rows);
  return {given.filter, given.filter_rows, words_of_filter(n)};
}

void take_progress(kith_progress progress, void* user, std::function<void(double)>& to) {
  to = progress_of(progress, user);
}
void take_progress(kith_progress progress, void* user, std::function<void(const Progress&)>& to) {
  if (!progress) return;
  to = [told = progress_of(progress, user)](const Progress& now) { told(now.fraction); };
}

#define KITH_TAKE_choice(name) \
  if (from.name) take_name(from.name, to.name)
#define KITH_TAKE_choices(name)                                                        \
  for (const std::string& text : texts_of(where, #name, from.name, from.name##_count)) \
  take_name(text.c_str(), to.name.emplace_back())
#define KITH_TAKE_number(name) \
  if (from.name != 0) to.name = from.name
#define KITH_TAKE_flag(name) to.name = is_set(where, #name, from.name)
#define KITH_TAKE_whether(name) to.name = whether(where, #name, from.name)
#define KITH_TAKE_given(name) \
  if (is_set(where, "has_" #name, from.has_##name)) to.name = from.name
#define KITH_TAKE_list(name) to.name = copy_of(where, #name, from.name, from.name##_count)
#define KITH_TAKE_text(name) \
  if (from.name) to.name = from.name
#define KITH_TAKE_stop(name) \
  if (from.name) to.name = from.name->source.get_token()
#define KITH_TAKE_progress(name) take_progress(from.name, from.user, to.name)
#define KITH_TAKE_filter(name) static_cast<void>(0)  // it depends on rows and queries
#define KITH_TAKE_beside(name) static_cast<void>(0)  // an argument beside the options in C++
#define KITH_TAKE(kind, type, name, ...) KITH_TAKE_##kind(name);

}  // namespace

bool is_set(const char* where, const char* what, std::int32_t wish) {
  if (wish < 0 || wish > 1)
    refuse(where, std::string(what) + " = " + std::to_string(wish) + "; choose 0 or 1");
  return wish == 1;
}

IndexOptions index_options_of(const char* where, const kith_index_options& from) {
  IndexOptions to;
#define KITH_INDEX_OPTION KITH_TAKE
#include "kith/options.def"
  return to;
}

OpenOptions open_options_of(const char* where, const kith_open_options* options) {
  const kith_open_options from = read_struct(where, options);
  OpenOptions to;
#define KITH_OPEN_OPTION KITH_TAKE
#include "kith/options.def"
  return to;
}

VotingOptions voting_of(const char* where, const kith_vote_options* options) {
  const kith_vote_options from = read_struct(where, options);
  VotingOptions to;
#define KITH_VOTING_OPTION KITH_TAKE
#include "kith/options.def"
  return to;
}

PreparationOptions preparation_options_of(const char* where, const kith_preparation_options* options) {
  const kith_preparation_options from = read_struct(where, options);
  PreparationOptions to;
#define KITH_PREPARATION_OPTION KITH_TAKE
#include "kith/options.def"
  return to;
}

std::function<void(double)> progress_of(kith_progress progress, void* user) {
  if (!progress) return {};
  return [progress, user](double fraction) {
    if (progress(fraction, user) != 0)
      throw Error(
          Errc::interrupted,
          "kith: stopped, as progress() asked by what it returned; nothing is returned: return 0 to go on");
  };
}

Asked::Asked(const char* where, const kith_search_options* options, std::int64_t n, std::int64_t m) {
  const kith_search_options from = read_struct(where, options);
  SearchOptions& to = options_;
#define KITH_TUNING_OPTION KITH_TAKE
#define KITH_SEARCH_OPTION KITH_TAKE
#include "kith/options.def"
  to.filter = filter_of(where, from, n, m);
  trace_ = from.trace;
}

void Asked::tell() const {
  if (trace_) trace_->plan = explain(trace_->trace.plan);
}

}  // namespace kith::c_api
