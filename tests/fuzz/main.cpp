// kith_fuzz --reader=NAME [--plant=FAULT] [libFuzzer's arguments] runs one reader of kith under libFuzzer,
// and checks what it reads. tools/gates/fuzz.sh runs all readers; docs/fuzzing.md says what is checked.
#include <stdlib.h>
#include <unistd.h>

#include <climits>
#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <iterator>

#include "fuzz.hpp"

namespace kith::fuzz {
namespace {

namespace fs = std::filesystem;

int report = STDERR_FILENO;  // still open when libFuzzer closes the command's output
std::string folder;
Reader reader{};
std::string plant;

bool find_reader(std::string_view name) {
  for (const auto& readers :
       {file_readers(), side_readers(), kept_readers(), index_readers(), word_readers()})
    for (const Reader& one : readers)
      if (one.name == name) reader = one;
  return reader.read != nullptr;
}

std::string all_names() {
  std::string names;
  for (const auto& readers :
       {file_readers(), side_readers(), kept_readers(), index_readers(), word_readers()})
    for (const Reader& one : readers) names += std::string(one.name) + "\n";
  return names;
}

void make_folder() {
  const fs::path memory = "/dev/shm";
  const fs::path above = access(memory.c_str(), W_OK) == 0 ? memory : fs::temp_directory_path();
  folder = (above / "kith-fuzz-XXXXXX").string();
  if (!mkdtemp(folder.data())) wrong("no folder can be made");
  std::atexit([] {
    std::error_code ignored;
    fs::remove_all(folder, ignored);
  });
}

volatile int largest = INT_MAX;
void* volatile kept = nullptr;

/// Commits the fault that --plant names. Each fault is for one of the tools that must see it.
void do_harm(const std::uint8_t* data, std::size_t size) {
  if (size < 8) return;
  if (plant == "overread") kept = reinterpret_cast<void*>(std::uintptr_t{data[size]});
  if (plant == "overflow") largest = largest + data[0];
  if (plant == "leak") kept = std::malloc(data[0] + std::size_t{1});
  if (plant == "memory") {
    kept = std::malloc(std::size_t{1} << 30);
    std::free(kept);
  }
}

}  // namespace

std::string_view planted() {
  return plant;
}

std::string in_folder(const std::string& name) {
  return folder + "/" + name;
}

std::string write_file(const std::string& name, std::string_view content) {
  std::string path = in_folder(name);
  std::FILE* const file = std::fopen(path.c_str(), "wb");
  if (!file || std::fwrite(content.data(), 1, content.size(), file) != content.size() ||
      std::fclose(file) != 0)
    wrong("a file cannot be written");
  return path;
}

std::string read_file(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

void wrong(std::string_view what) {
  dprintf(report, "kith_fuzz: %.*s: %.*s\n", static_cast<int>(reader.name.size()), reader.name.data(),
          static_cast<int>(what.size()), what.data());
  std::abort();
}

}  // namespace kith::fuzz

extern "C" int LLVMFuzzerInitialize(int* argc, char*** argv);
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size);

extern "C" int LLVMFuzzerInitialize(int* argc, char*** argv) {
  using namespace kith::fuzz;
  report = dup(STDERR_FILENO);
  setenv("KITH_TUNING", "off", 1);
  std::string_view name;
  for (int i = 1; i < *argc; ++i) {
    const std::string_view word = (*argv)[i];
    if (word.starts_with("--reader=")) name = word.substr(9);
    if (word.starts_with("--plant=")) plant = word.substr(8);
  }
  if (!find_reader(name)) {
    std::fputs(all_names().c_str(), stdout);
    std::exit(name.empty() ? 0 : 2);
  }
  make_folder();
  return 0;
}

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace kith::fuzz;
  do_harm(data, size);
  FuzzedDataProvider input(data, size);
  reader.read(input);
  return 0;
}
