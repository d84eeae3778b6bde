#include "command/input/read_as.hpp"

namespace kith::command {
namespace {

/// Returns whether numbers are scaled, centred or filled in.
bool changes_numbers(const TrainingFlags& flags) {
  const std::string& missing = flags.tables.missing;
  const bool fills = missing != "refuse" && missing != "drop" && missing != "pairwise";
  return !flags.scale.empty() || flags.centre || fills;
}

/// Returns whether a rank may read only its own rows: nothing is learned from all rows.
bool takes_part(const TrainingFlags& flags) {
  return flags.tables.in_parts && !flags.raw && !flags.index_moves && !changes_numbers(flags) &&
         flags.tables.missing == "refuse" && flags.categories == "ordinal";
}

/// Returns why this call computes in single precision alone; empty: it does not.
std::string only_single(const TrainingFlags& flags) {
  if (!flags.tables.element.empty()) return "--read element stores rows as it says; leave one of them out";
  return flags.single;
}

/// Returns what keeps the digits of rows that are not centred; nothing if the subcommand has no doubles.
std::string advice_on_digits(const TrainingFlags& flags) {
  if (!flags.takes_doubles || !flags.index.empty()) return {};
  const std::string why = only_single(flags);
  return why.empty() ? "--prepare arithmetic=f64 keeps all digits"
                     : "double precision keeps all digits, but " + why;
}

/// Returns whether rows become doubles where float32 would lose digits.
bool may_double(const TrainingFlags& flags) {
  return flags.takes_doubles && flags.arithmetic == Arithmetic::automatic && only_single(flags).empty() &&
         is_searched_as_read(flags);
}

}  // namespace

bool is_searched_as_read(const TrainingFlags& flags) {
  return !changes_numbers(flags) && !flags.index_moves && flags.categories == "ordinal";
}

bool keeps_elements(const TrainingFlags& flags) {
  return flags.tables.keep_elements && !flags.raw && !flags.index_moves && !changes_numbers(flags) &&
         flags.tables.missing == "refuse";
}

std::string advice_if_too_large(const TrainingFlags& flags) {
  if (!flags.takes_doubles || !flags.index.empty() || flags.tables.train.empty() ||
      !only_single(flags).empty())
    return {};
  if (is_searched_as_read(flags)) return "--prepare arithmetic=f64 takes it; or scale the column down";
  return "scale the column down; --prepare arithmetic=f64 takes it if nothing else prepares values";
}

void check_arithmetic(const std::string& where, const TrainingFlags& flags) {
  if (flags.arithmetic != Arithmetic::f64) return;
  if (const std::string why = only_single(flags); !why.empty())
    refuse(where, "--prepare arithmetic=f64 is double precision, but " + why);
}

TableFlags read_as_needed(const TrainingFlags& flags, TableFlags tables) {
  tables.keep_elements = keeps_elements(flags);
  tables.in_parts = takes_part(flags);
  tables.doubles = changes_numbers(flags) || flags.index_moves || flags.arithmetic == Arithmetic::f64;
  tables.wide = flags.arithmetic == Arithmetic::f64 && is_searched_as_read(flags);
  tables.may_double = may_double(flags);
  tables.digits_advice = advice_on_digits(flags);
  tables.if_too_large = advice_if_too_large(flags);
  return tables;
}

}  // namespace kith::command
