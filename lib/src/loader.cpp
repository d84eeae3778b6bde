#include "loader.hpp"

#include <dlfcn.h>
#include <stdlib.h>  // secure_getenv

#include <algorithm>
#include <exception>
#include <filesystem>
#include <sstream>

namespace kith {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view prefix = "libkith_", suffix = ".so";

/// The folder of the file that holds this function: libkith.so.
fs::path library_folder() {
  Dl_info info{};
  if (dladdr(reinterpret_cast<const void*>(&load_backends), &info) == 0 || !info.dli_fname) return {};
  std::error_code ignored;
  const fs::path path = fs::canonical(info.dli_fname, ignored);
  return ignored ? fs::path() : path.parent_path();
}

std::vector<fs::path> plugin_folders() {
  std::vector<fs::path> folders;
  if (const char* path = secure_getenv("KITH_BACKEND_PATH")) {
    std::istringstream parts{std::string(path)};
    for (std::string part; std::getline(parts, part, ':');)
      if (fs::path(part).is_absolute()) folders.emplace_back(part);
  } else if (const fs::path library = library_folder(); !library.empty()) {
    folders.push_back(library / "kith");
  }
  return folders;
}

/// Files called libkith_*.so in `folder`, in the order of their names.
std::vector<fs::path> plugin_files(const fs::path& folder) {
  std::vector<fs::path> files;
  std::error_code error;
  for (fs::directory_iterator it(folder, error), end; !error && it != end; it.increment(error)) {
    const std::string file = it->path().filename().string();
    if (file.size() > prefix.size() + suffix.size() && file.starts_with(prefix) && file.ends_with(suffix))
      files.push_back(it->path());
  }
  std::sort(files.begin(), files.end());
  return files;
}

/// Load one plug-in; returns why not, empty when it was added to `result`.
std::string load(const fs::path& file, LoadResult& result) {
  void* library = dlopen(file.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (!library) {
    const char* why = dlerror();
    return std::string("cannot be loaded: ") + (why ? why : "no reason given");
  }
  using Entry = const spi::Plugin* (*)();
  const auto entry = reinterpret_cast<Entry>(dlsym(library, "kith_plugin"));
  if (!entry) return "exports no kith_plugin, so it is no plug-in of kith; remove it from this folder";
  const spi::Plugin* plugin = entry();
  if (!plugin) return "kith_plugin() returned nothing; install it again";
  if (plugin->abi != spi::plugin_abi)
    return "speaks plug-in interface " + std::to_string(plugin->abi) + ", this libkith " +
           std::to_string(spi::plugin_abi) + "; install both from the same version";
  const std::string name = plugin->name ? plugin->name : "";
  if (file.filename().string() != std::string(prefix) + name + std::string(suffix))
    return "calls itself \"" + name + "\"; a plug-in's file is named libkith_NAME.so";
  if (name == "cpu" || std::any_of(result.backends.begin(), result.backends.end(),
                                   [&](const LoadedBackend& b) { return b.name == name; }))
    return "there is already a back end called \"" + name + "\"; remove one of them";
  std::unique_ptr<spi::Backend> backend = plugin->create();
  if (!backend) return "created no back end; install it again";
  result.backends.push_back({name, std::move(backend)});
  return {};
}

}  // namespace

LoadResult load_backends() {
  LoadResult result;
  for (const fs::path& folder : plugin_folders()) {
    result.folders.push_back(folder.string());
    for (const fs::path& file : plugin_files(folder)) {
      std::string why;
      try {
        why = load(file, result);
      } catch (const std::exception& error) {
        why = std::string("failed to start: ") + error.what();
      } catch (...) {
        why = "failed to start with an unknown exception";
      }
      if (!why.empty()) result.failures.push_back(file.string() + ": " + why);
    }
  }
  return result;
}

}  // namespace kith
