// What the readers of kith_fuzz share. An input is what a reader reads, with some letters behind it that say
// how: the last letter is the first choice, and `0` chooses the first of what there is, `1` the second.
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

/// Takes one of `values` by the next letter. Of 2, 3, 4, 6 or 8 values, so that `0` is the first.
template <class T, std::size_t count>
T pick(FuzzedDataProvider& input, const T (&values)[count]) {
  static_assert(48 % count == 0, "the letter 0 is 48");
  return input.PickValueInArray(values);
}
inline bool pick(FuzzedDataProvider& input) {
  return pick(input, {false, true});
}

/// One thing of kith that reads, by its name on the command line.
struct Reader {
  std::string_view name;
  void (*read)(FuzzedDataProvider& input);
};
std::span<const Reader> file_readers();
std::span<const Reader> side_readers();
std::span<const Reader> kept_readers();
std::span<const Reader> index_readers();
std::span<const Reader> word_readers();

/// A fault that --plant=NAME asks for, to see that it is found; empty: none.
std::string_view planted();

/// A file of this process's own folder, which goes away at its end.
std::string in_folder(const std::string& name);
std::string write_file(const std::string& name, std::string_view content);
std::string read_file(const std::string& path);

/// Say what is wrong, and abort: libFuzzer keeps the input.
[[noreturn]] void wrong(std::string_view what);
inline void require(bool right, const char* what) {
  if (!right) wrong(what);
}

/// Do something that may be refused by Error. Returns whether it was done.
///   where  how the message must begin; empty: anyhow
///   raw    whether a message must be fit for a terminal as it is; else it is shown as the command shows it
bool attempt(std::string_view where, bool raw, const std::function<void()>& body);

/// Words for people are short, and hold nothing that a terminal obeys.
void check_line(std::string_view text);

/// A message says where, what, and what to do; where it is `raw`, as check_line() has it.
void check_message(std::string_view message, std::string_view where, bool raw);

/// What must hold for whatever was read.
void check_table(const files::Table& table, const files::ReadOptions& options);
void check_labels(const files::Labels& labels, const files::Labels* known);
void check_values(const files::Values& values);

/// How files are read, by the next letters. Notes are checked as messages are.
files::FileOptions file_options(FuzzedDataProvider& input, const std::string& format);

}  // namespace kith::fuzz
