#include "command/shared/kept.hpp"

#include <stdlib.h>  // secure_getenv
#include <sys/stat.h>
#include <zlib.h>

#include <cerrno>
#include <cstring>
#include <fstream>
#include <iterator>

#include "command/shared/command.hpp"
#include "command/shared/json.hpp"
#include "files/output.hpp"
#include "files/printed.hpp"
#include "interrupt.hpp"

namespace kith::command {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::ordered_json;

constexpr const char* kept_mark = "kith_partial";
constexpr int kept_format = 1;

/// Replaces bytes that are not UTF-8, both in what is written and in what it is compared with.
std::string kept_text(const Json& json) {
  std::string text = json_text(json, -1);
  text.pop_back();  // its line feed
  return text;
}

std::string kept_checksum(const std::string& text) {
  const auto sum = ::crc32(0, reinterpret_cast<const Bytef*>(text.data()), static_cast<uInt>(text.size()));
  return files::printed("%08lx", static_cast<unsigned long>(sum));
}

/// Names the first setting that differs: `--quick is true there and false here`.
std::string first_difference(const Json& there, const Json& here) {
  for (const auto& [key, value] : here.items()) {
    const std::string had = there.contains(key) ? kept_text(there[key]) : "missing", now = kept_text(value);
    if (had != now) return key + " is " + had + " there and " + now + " here";
  }
  return "it was asked for more";
}

fs::path absolute_folder(const char* variable) {
  const char* value = ::secure_getenv(variable);
  return value && fs::path(value).is_absolute() ? fs::path(value) : fs::path();
}

void make_kept_folder(const fs::path& folder) {
  if (folder.empty() || fs::exists(folder)) return;
  make_kept_folder(folder.parent_path());
  if (::mkdir(folder.c_str(), 0700) != 0 && errno != EEXIST)
    throw Error(Errc::bad_file,
                folder.string() + ": cannot be made: " + std::strerror(errno) + "; choose another place");
}

}  // namespace

void KeptWork::refuse_damaged() const {
  throw Error(Errc::bad_file, path_.string() + ": is damaged; --fresh begins anew");
}

Json KeptWork::load(bool fresh) const {
  std::error_code ignored;
  if (path_.empty() || !fs::exists(path_, ignored)) return nullptr;
  const auto bad = [&](const std::string& why) { throw Error(Errc::bad_file, path_.string() + ": " + why); };
  if (!fs::is_regular_file(path_, ignored))
    bad("is no ordinary file, so nothing can be kept in it; name another");
  std::ifstream file(path_, std::ios::binary);
  const std::string text{std::istreambuf_iterator<char>(file), {}};
  if (!file) bad("cannot be read; make it readable, or move it away");
  if (!text.starts_with(std::string("{\"") + kept_mark + "\":"))
    bad("is no file that kith keeps measurements in; name another, or move it away");
  if (fresh) return nullptr;
  const Json kept = Json::parse(text, nullptr, false);
  const std::string again = "; --fresh begins anew";
  if (!kept.is_object() || !kept.contains("asked") || !kept.contains("done") || !kept.contains("checksum") ||
      kept["checksum"] != kept_checksum(kept_text(kept["asked"]) + kept_text(kept["done"])))
    refuse_damaged();
  if (kept[kept_mark] != kept_format)
    refuse(where_, path_.string() + ": another version of kith left it" + again);
  if (kept_text(kept["asked"]) != kept_text(asked_))
    refuse(where_, path_.string() + ": another command left it unfinished (" +
                       first_difference(kept["asked"], asked_) +
                       "); give that command again to go on from it" + again);
  return kept["done"];
}

void KeptWork::check_writable(bool make_folders) const {
  if (path_.empty()) return;
  if (make_folders) make_kept_folder(path_.parent_path());
  const files::AtomicFile probe(path_);
}

void KeptWork::save(const Json& done) {
  if (path_.empty()) return;
  saved_ = false;
  const Json kept = {{kept_mark, kept_format},
                     {"checksum", kept_checksum(kept_text(asked_) + kept_text(done))},
                     {"asked", asked_},
                     {"done", done}};
  try {
    files::AtomicFile file(path_);
    file.write(kept_text(kept) + "\n");
    file.commit();
    saved_ = true;
    tell_that_work_is_kept();
  } catch (const Error& error) {
    if (!told_) note(where_ + ": what is measured cannot be kept: " + error.what());
    told_ = true;
  }
}

void KeptWork::remove() noexcept {
  std::error_code ignored;
  if (!path_.empty()) fs::remove(path_, ignored);
}

fs::path kept_path(const std::string& what, const Json& asked) {
  const std::string name = what + "-" + kept_checksum(kept_text(asked)) + ".json";
  if (const fs::path cache = absolute_folder("XDG_CACHE_HOME"); !cache.empty())
    return cache / "kith" / "unfinished" / name;
  if (const fs::path home = absolute_folder("HOME"); !home.empty())
    return home / ".cache" / "kith" / "unfinished" / name;
  return {};
}

}  // namespace kith::command
