#include "device/loader.hpp"

#include <dlfcn.h>
#include <link.h>
#include <stdlib.h>  // secure_getenv

#include <algorithm>
#include <cstring>
#include <exception>
#include <fstream>
#include <new>
#include <sstream>

#include "kith/error.hpp"

namespace kith {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view prefix = "libkith_", suffix = ".so";

std::vector<fs::path> files_called_so(const fs::path& folder) {
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

/// Returns a sentence on how much of a library is missing at its end, because mapping a truncated one
/// ends the process by SIGBUS. It is empty if the file is complete, or if it is no library, which dlopen
/// itself reports.
std::string cut_short(const fs::path& path) {
  std::error_code error;
  const std::uintmax_t there = fs::file_size(path, error);
  std::ifstream file(path, std::ios::binary);
  ElfW(Ehdr) header{};
  if (error || !file.read(reinterpret_cast<char*>(&header), sizeof header) ||
      std::memcmp(header.e_ident, ELFMAG, SELFMAG) != 0 || header.e_phentsize != sizeof(ElfW(Phdr)))
    return {};
  file.seekg(static_cast<std::streamoff>(header.e_phoff));
  std::uintmax_t needed = 0;
  for (int i = 0; i < header.e_phnum; ++i) {
    ElfW(Phdr) part{};
    if (!file.read(reinterpret_cast<char*>(&part), sizeof part)) return {};
    if (part.p_type == PT_LOAD) needed = std::max<std::uintmax_t>(needed, part.p_offset + part.p_filesz);
  }
  if (needed <= there) return {};
  return "is cut short: it has " + std::to_string(there) + " bytes and needs " + std::to_string(needed) +
         "; install it again";
}

/// Loads a plug-in; null if that fails, with the reason in `why`. Throws what the plug-in throws.
std::unique_ptr<spi::Backend> load(const PluginFile& file, std::string& why) {
  if (why = cut_short(file.path); !why.empty()) return nullptr;
  void* library = dlopen(file.path.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (!library) {
    const char* reason = dlerror();
    why = std::string("cannot be loaded: ") + (reason ? reason : "no reason given");
    return nullptr;
  }
  using Entry = const spi::Plugin* (*)();
  const auto entry = reinterpret_cast<Entry>(dlsym(library, "kith_plugin"));
  const spi::Plugin* plugin = entry ? entry() : nullptr;
  if (!entry) {
    why = "exports no kith_plugin, so it is no plug-in of kith; remove it from this folder";
  } else if (!plugin) {
    why = "kith_plugin() returned nothing; install it again";
  } else if (plugin->abi != spi::plugin_abi) {
    why = "speaks plug-in interface " + std::to_string(plugin->abi) + ", this libkith " +
          std::to_string(spi::plugin_abi) + "; install both from the same version";
  } else if (const std::string name = plugin->name ? plugin->name : ""; name != file.name) {
    why = "calls itself \"" + name + "\"; a plug-in's file is named libkith_NAME.so";
  } else {
    std::unique_ptr<spi::Backend> backend = plugin->create();
    if (!backend) why = "created no back end; install it again";
    return backend;
  }
  return nullptr;
}

/// Returns the device that `open` makes. Passes on Error and std::bad_alloc; turns other exceptions, and
/// null, into Error unavailable.
template <class Open>
std::unique_ptr<spi::Device> opened(const std::string& where, const Open& open) {
  std::unique_ptr<spi::Device> device;
  try {
    device = open();
  } catch (const Error&) {
    throw;
  } catch (const std::bad_alloc&) {
    throw;
  } catch (const std::exception& error) {
    throw Error(Errc::unavailable,
                where + ": opening it failed: " + error.what() + "; repair or remove that plug-in");
  } catch (...) {
    throw Error(Errc::unavailable,
                where + ": opening it failed with an unknown exception; repair or remove that plug-in");
  }
  if (!device)
    throw Error(Errc::unavailable,
                where + ": opening it failed: there is no device; repair or remove that plug-in");
  return device;
}

}  // namespace

fs::path library_file() {
  Dl_info info{};
  if (dladdr(reinterpret_cast<const void*>(&plugin_folders), &info) == 0 || !info.dli_fname) return {};
  std::error_code ignored;
  const fs::path path = fs::canonical(info.dli_fname, ignored);
  return ignored ? fs::path() : path;
}

std::vector<fs::path> plugin_folders() {
  std::vector<fs::path> folders;
  if (const char* path = secure_getenv("KITH_BACKEND_PATH")) {
    std::istringstream parts{std::string(path)};
    for (std::string part; std::getline(parts, part, ':');)
      if (fs::path(part).is_absolute()) folders.emplace_back(part);
  } else if (const fs::path library = library_file(); !library.empty()) {
    folders.push_back(library.parent_path() / "kith");
  }
  return folders;
}

std::vector<PluginFile> plugin_files(const std::vector<fs::path>& folders) {
  std::vector<PluginFile> files;
  for (const fs::path& folder : folders)
    for (const fs::path& path : files_called_so(folder)) {
      const std::string file = path.filename().string();
      PluginFile found{file.substr(prefix.size(), file.size() - prefix.size() - suffix.size()), path, {}};
      std::error_code ignored;
      const auto same = [&](const PluginFile& other) { return other.name == found.name; };
      if (!fs::is_regular_file(path, ignored)) {
        found.refusal = "is no ordinary file; remove it from this folder";
      } else if (found.name == "cpu" || std::any_of(files.begin(), files.end(), same)) {
        found.refusal = "there is already a back end called \"" + found.name + "\"; remove one of them";
      }
      files.push_back(std::move(found));
    }
  return files;
}

std::unique_ptr<spi::Backend> load_plugin(const PluginFile& file, std::string& why) {
  try {
    return load(file, why);
  } catch (const std::exception& error) {
    why = std::string("failed to start: ") + error.what();
  } catch (...) {
    why = "failed to start with an unknown exception";
  }
  return nullptr;
}

spi::Found find_devices(spi::Backend& backend) {
  try {
    spi::Found found = backend.find();
    if (found.devices.empty() && found.reason.empty()) found.reason = "no devices";
    return found;
  } catch (const std::exception& error) {
    return {{}, std::string("looking for devices failed: ") + error.what(), {}};
  } catch (...) {
    return {{}, "looking for devices failed with an unknown exception", {}};
  }
}

std::unique_ptr<spi::Device> open_device_of(spi::Backend& backend, const std::string& name,
                                            std::uint32_t ordinal) {
  return opened(name + ":" + std::to_string(ordinal), [&] { return backend.open(ordinal); });
}

std::unique_ptr<spi::Device> adopt_device_of(spi::Backend& backend, const std::string& name,
                                             const spi::CallersDevice& callers) {
  return opened(name, [&] { return backend.adopt(callers); });
}

}  // namespace kith
