// Plug-ins: libkith_NAME.so files, each with one back end.
#pragma once

#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "kith/spi.hpp"

namespace kith {

/// A file of that name, not yet opened.
struct PluginFile {
  std::string name;  ///< NAME
  std::filesystem::path path;
  std::string refusal;  ///< why it is not to be loaded; empty: it may be
};

/// Where plug-ins are, or would be: the absolute folders of KITH_BACKEND_PATH (separated by ':'), or else
/// `kith/` beside libkith.so. Never the current directory.
std::vector<std::filesystem::path> plugin_folders();

/// Every libkith_*.so in `folders`, in their order and in the order of names. What is no ordinary file, and
/// the second of a name, is refused.
std::vector<PluginFile> plugin_files(const std::vector<std::filesystem::path>& folders);

/// Load one; null where that fails, with the reason in `why`. Never unloads, because drivers leave threads
/// and exit handlers behind. Throws nothing.
std::unique_ptr<spi::Backend> load_plugin(const PluginFile& file, std::string& why);

/// Its devices, or the reason why there are none. Throws nothing.
spi::Found find_devices(spi::Backend& backend);

/// Open one of them. Throws Error: what the plug-in says, or `unavailable` where it throws something else or
/// gives none; std::bad_alloc.
std::unique_ptr<spi::Device> open_device_of(spi::Backend& backend, const std::string& name,
                                            std::uint32_t ordinal);
/// The same of one in the caller's context.
std::unique_ptr<spi::Device> adopt_device_of(spi::Backend& backend, const std::string& name,
                                             const spi::CallersDevice& callers);

/// The file of libkith.so; empty: unknown.
std::filesystem::path library_file();

}  // namespace kith
