// Helps the readers of kith_fuzz. The last letters of an input choose how to read it: the last letter is the
// first choice, `0` chooses the first alternative, `1` the second.
#pragma once

#include <fuzzer/FuzzedDataProvider.h>

#include <cstddef>
#include <functional>
#include <span>
#include <string>
#include <string_view>

#include "files/table.hpp"
#include "kith/error.hpp"

namespace kith::fuzz {

/// Chooses one of `values` by the next letter. With 2, 3, 4, 6 or 8 values, `0` chooses the first.
template <class T, std::size_t count>
T pick(FuzzedDataProvider& input, const T (&values)[count]) {
  static_assert(48 % count == 0, "the letter 0 is 48");
  return input.PickValueInArray(values);
}
inline bool pick(FuzzedDataProvider& input) {
  return pick(input, {false, true});
}

/// Describes a reader of kith, by its name on the command line.
struct Reader {
  std::string_view name;
  void (*read)(FuzzedDataProvider& input);
};
std::span<const Reader> file_readers();
std::span<const Reader> side_readers();
std::span<const Reader> kept_readers();
std::span<const Reader> index_readers();
std::span<const Reader> word_readers();

/// Returns the fault that --plant=NAME plants, to see that it is found; empty if none.
std::string_view planted();

/// Returns a path in this process's own folder, which is removed at exit.
std::string in_folder(const std::string& name);
std::string write_file(const std::string& name, std::string_view content);
std::string read_file(const std::string& path);

/// Prints what is wrong and aborts, so that libFuzzer keeps the input.
[[noreturn]] void wrong(std::string_view what);
inline void require(bool right, const char* what) {
  if (!right) wrong(what);
}

/// Runs `body`, which may be refused by an Error. Returns whether it was not.
///   where  how the message must begin; empty: any way
///   raw    whether the message itself must be safe for a terminal; else as the command shows it
bool attempt(std::string_view where, bool raw, const std::function<void()>& body);

/// Checks that a text for people is short and has no character that controls a terminal.
void check_line(std::string_view text);

/// Checks that a message says where, what, and what to do; if `raw`, also by check_line().
void check_message(std::string_view message, std::string_view where, bool raw);

/// Check everything that must hold for whatever was read.
void check_table(const files::Table& table, const files::ReadOptions& options);
void check_labels(const files::Labels& labels, const files::Labels* known);
void check_values(const files::Values& values);

/// Chooses by the next letters how files are read. Notes are checked like messages.
files::FileOptions file_options(FuzzedDataProvider& input, const std::string& format);

}  // namespace kith::fuzz
