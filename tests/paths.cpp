#include "paths.hpp"

namespace test_support {

std::string in_sources(const std::string& path) {
  return KITH_TEST_SOURCE_DIR + path;
}
std::string in_plugins(const std::string& path) {
  return KITH_TEST_PLUGIN_DIR + path;
}
std::string in_faults(const std::string& path) {
  return KITH_TEST_FAULTS_DIR + path;
}
std::string command_path() {
  return KITH_TEST_COMMAND;
}
std::string probe_path() {
  return KITH_TEST_PROBE;
}
std::string library_path() {
  return KITH_TEST_LIBRARY;
}

}  // namespace test_support
