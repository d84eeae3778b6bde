// Arrays of HDF5 files, as ann-benchmarks writes them, by the program kith-read-hdf5 (tools/hdf5), which
// stands beside this one: nothing else links the HDF5 library, and a file that crashes it takes nothing else
// along. Source: Aumueller, Bernhardsson, Faithfull, ANN-Benchmarks (2020), for the names train, test,
// neighbors, distances.
#include <unistd.h>

#include <algorithm>
#include <filesystem>

#include "files/formats.hpp"
#include "files/shown.hpp"

namespace kith::files {
namespace {

constexpr std::string_view conversion = "in Python: numpy.save('new.npy', h5py.File('FILE')['NAME'][:])";

/// Beside this program, or where plug-ins are. Empty: kith was built without.
std::string find_reader() {
  std::error_code error;
  const std::filesystem::path folder = std::filesystem::read_symlink("/proc/self/exe", error).parent_path();
  for (const std::filesystem::path& place : {folder / "kith-read-hdf5", folder / "../bin/kith-read-hdf5"})
    if (::access(place.c_str(), X_OK) == 0) return place.string();
  return {};
}

/// Reads the next line of the program's answer.
std::string read_line(Source& source) {
  constexpr std::size_t longest = std::size_t{1} << 16;
  std::string line;
  for (char c = 0; line.size() < longest && source.read(&c, 1) == 1; line += c)
    if (c == '\n') return line;
  source.fail("gets no answer of its reader, kith-read-hdf5; install kith again");
}

}  // namespace

ArrayLayout read_hdf5_header(Source& source, const FileOptions& options) {
  if (source.disk_bytes() == 0)
    source.fail(
        "is an HDF5 file that is packed once more, or comes through a pipe; give it as a file of its own");
  const std::string reader = find_reader();
  if (reader.empty())
    source.fail("is HDF5, and this kith was built without; build it with -DKITH_HDF5=ON, or " +
                std::string(conversion));
  source.pass_through(reader, {options.array, options.usual_array});
  std::string answer = read_line(source), distance;
  constexpr std::string_view says_distance = "distance ";
  if (answer.starts_with(says_distance)) {
    distance = answer.substr(says_distance.size());
    answer = read_line(source);
  }
  const std::string rest = answer.substr(std::min(answer.find(' '), answer.size() - 1) + 1);
  if (answer.starts_with("argument "))
    throw Error(Errc::invalid_argument, source.name() + ": " + shown_in_line(rest));
  if (!answer.starts_with("ok ")) source.fail(shown_in_line(rest));
  source.name_part(rest);
  ArrayLayout layout = read_npy_header(source);
  layout.distance = distance;
  std::uint64_t values = sizeof(float);
  for (const std::uint64_t size : layout.shape) values = multiply(values, size);
  source.require_room(values);
  return layout;
}

}  // namespace kith::files
