// Models, index files, tuning files and kept programs whose N-th open, read, write, fsync, close or rename
// fails, is interrupted or comes short.
#include <errno.h>
#include <stdlib.h>

#include <optional>

#include "common/folder.hpp"
#include "faults.hpp"
#include "file_calls.hpp"
#include "kith/spi/kept_files.hpp"
#include "kith/unstable/tuning.hpp"

namespace kith::tests::faults {
namespace {

using test_support::TemporaryFolder;

Model small_model() {
  Model model;
  model.n = 4;
  model.dims = 2;
  model.rows = {0, 0, 1, 1, 2, 2, 3, 3};
  model.labels = {0, 0, 1, 1};
  return model;
}

/// Returns whether a folder is empty, or has nothing but `file` with the right content. Runs without faults.
bool is_clean(const TemporaryFolder& folder, const std::string& file, const std::string& content) {
  const Spared spared;
  const std::set<std::string> names = folder.names();
  return names.empty() || (names == std::set{file} && folder.read(file) == content);
}

/// Holds an index file before and after an update. Each operation starts with the file before it.
class IndexFile {
 public:
  IndexFile() : device_(open_device("cpu")) {
    const Index index(device_, RowsView(small_model().rows.data(), 4, 2));
    save(index, path_);
    before_ = folder_.read("i.kidx");
    save(updated(index), path_);
    after_ = folder_.read("i.kidx");
    begin();
  }

  bool right_save() { return begin() && (save(*index_, path_), is(before_)); }
  bool right_open() {
    return begin() && open_index(path_, device_).numbers() == std::vector<std::int64_t>{0, 1, 2, 3};
  }
  bool right_update() { return begin() && (save(updated(open_index(path_, device_)), path_), is(after_)); }

 private:
  static Index updated(const Index& index) {
    const float row[] = {5, 5};
    return index.without(std::vector<std::int64_t>{1}).with(RowsView(row, 1, 2));
  }
  bool is(const std::string& content) const { return is_clean(folder_, "i.kidx", content); }
  /// Checks that the last operation left the old file or the new one, whole, and restores the old one.
  bool begin() {
    const Spared spared;
    if (!is(before_) && !is(after_)) return false;
    folder_.write("i.kidx", before_);
    index_.emplace(open_index(path_, device_));
    return true;
  }

  Device device_;
  TemporaryFolder folder_;
  const std::string path_ = folder_ / "i.kidx";
  std::string before_, after_;
  std::optional<Index> index_;
};

/// Keeps a compiled program as back ends do; if keeping fails, no file must be left.
class KeptProgram {
 public:
  KeptProgram() {
    ::setenv(variable, folder_.path().c_str(), 1);
    files_.emplace(spi::KeptFolder{variable, "programs", most_bytes});
    files_->keep(key, content);
    file_ = *folder_.names().begin();
    whole_ = folder_.read(file_);
  }

  bool right_keep() {
    if (!is_clean(folder_, file_, whole_)) return false;
    files_->keep(key, content);
    if (!is_clean(folder_, file_, whole_)) return false;
    const Spared spared;
    if (!folder_.has(file_)) throw Error(Errc::bad_file, "keep: nothing is kept; compile it again");
    return true;
  }
  bool right_find() {
    {
      const Spared spared;
      if (!folder_.has(file_)) files_->keep(key, content);
    }
    const std::optional<std::string> found = files_->find(key);
    if (!found) throw Error(Errc::bad_file, "find: nothing is kept; compile it again");
    return *found == content;
  }

 private:
  static constexpr const char* variable = "KITH_FAULTS_CACHE";
  static constexpr const char* key = "device and source";
  static constexpr const char* content = "program";
  static constexpr std::size_t most_bytes = 10000;
  TemporaryFolder folder_;
  std::optional<spi::KeptFiles> files_;
  std::string file_, whole_;
};

std::vector<Operation> operations(const TemporaryFolder& models, const TemporaryFolder& tunings,
                                  IndexFile& index, KeptProgram& program) {
  save(small_model(), models / "m.kith");
  static const DeviceInfo cpu = open_device("cpu").info();
  static const Tuning tuning = empty_tuning(cpu);
  save_tuning(tuning, tunings / "t.txt", false);
  const std::string model = models.read("m.kith"), text = tunings.read("t.txt");
  return {
      {"save",
       [&models, model] {
         if (!is_clean(models, "m.kith", model)) return false;
         save(small_model(), models / "m.kith");
         return is_clean(models, "m.kith", model);
       }},
      {"load_model", [&models] { return load_model(models / "m.kith").rows == small_model().rows; }},
      {"save, index", [&index] { return index.right_save(); }},
      {"open_index", [&index] { return index.right_open(); }},
      {"open_index, with, without, save", [&index] { return index.right_update(); }},
      {"save_tuning",
       [&tunings, text] {
         if (!is_clean(tunings, "t.txt", text)) return false;
         save_tuning(tuning, tunings / "t.txt", true);
         return is_clean(tunings, "t.txt", text);
       }},
      {"load_tuning",
       [&tunings] {
         std::string warning;
         const auto found = load_tuning(cpu, tunings / "t.txt", warning);
         if (!found && !warning.empty()) throw Error(Errc::bad_file, warning);
         return found && *found == tuning;
       }},
      {"keep a program", [&program] { return program.right_keep(); }},
      {"find it", [&program] { return program.right_find(); }},
  };
}

}  // namespace

void fail_file_calls(const Asked& asked) {
  const std::vector<Kind> kinds = {
      {EIO, false, "EIO", {Errc::bad_file}},      {ENOSPC, false, "ENOSPC", {Errc::bad_file}},
      {ENOSPC, true, "ENOSPC", {Errc::bad_file}}, {EINTR, false, "EINTR", {}},
      {short_count, false, "a short count", {}},  {short_count, true, "a short count", {}}};
  const TemporaryFolder models, tunings;
  IndexFile index;
  KeptProgram program;
  fail_each(asked, Site::file_call, operations(models, tunings, index, program), kinds, [] {});
}

}  // namespace kith::tests::faults
