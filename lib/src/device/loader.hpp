// Loads plug-ins: files libkith_NAME.so, each with one back end.
#pragma once

#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "kith/spi.hpp"

namespace kith {

/// A file with the name of a plug-in, not yet loaded.
struct PluginFile {
  std::string name;  ///< NAME
  std::filesystem::path path;
  std::string refusal;  ///< why it must not be loaded; empty: it may be
};

/// Returns the folders of plug-ins: the absolute folders of KITH_BACKEND_PATH (separated by ':'), else
/// `kith/` beside libkith.so; never the current directory.
std::vector<std::filesystem::path> plugin_folders();

/// Lists every libkith_*.so in `folders`, by folder and then by name. Refuses files that are not ordinary,
/// and the second file with the same name.
std::vector<PluginFile> plugin_files(const std::vector<std::filesystem::path>& folders);

/// Loads a plug-in; null if that fails, with the reason in `why`. Never unloads it, because drivers leave
/// threads and exit handlers behind. Does not throw.
std::unique_ptr<spi::Backend> load_plugin(const PluginFile& file, std::string& why);

/// Returns the devices of a back end, or the reason why there are none. Does not throw.
spi::Found find_devices(spi::Backend& backend);

/// Opens one of the devices. Throws the Error of the plug-in, or `unavailable` if it throws anything else or
/// returns null; std::bad_alloc.
std::unique_ptr<spi::Device> open_device_of(spi::Backend& backend, const std::string& name,
                                            std::uint32_t ordinal);
/// Opens a device in the caller's context, with the same errors.
std::unique_ptr<spi::Device> adopt_device_of(spi::Backend& backend, const std::string& name,
                                             const spi::CallersDevice& callers);

/// Returns the path of libkith.so; empty if unknown.
std::filesystem::path library_file();

}  // namespace kith
