// Tests HDF5 as ann-benchmarks writes it. The files are seeds of the fuzzing, written by h5py.
#include "common/data_files.hpp"
#include "files/ground_truth.hpp"
#include "paths.hpp"

using namespace kith::tests::data_files;

namespace {

bool has_reader() {
  return fs::exists(fs::read_symlink("/proc/self/exe").parent_path() / "kith-read-hdf5");
}

string seed(const string& name) {
  return test_support::text_of_file(test_support::in_sources("/tests/fuzz/seeds/hdf5/") + name);
}

ReadOptions usual(const string& name) {
  ReadOptions options;
  options.usual_array = name;
  return options;
}

ReadOptions chosen(const string& name) {
  ReadOptions options;
  options.array = name;
  return options;
}

}  // namespace

TEST_CASE("files: HDF5 where kith was built without, in one line") {
  if (has_reader()) return;
  const Folder folder;
  CHECK(folder.table_error("t.hdf5", seed("plain")) ==
        "bad_file: t.hdf5: is HDF5, and this kith was built without; build it with -DKITH_HDF5=ON, or in "
        "Python: numpy.save('new.npy', h5py.File('FILE')['NAME'][:])");
}

TEST_CASE("files: HDF5, arrays by name, in one piece and in packed chunks") {
  if (!has_reader()) return;
  const Folder folder;
  const string plain = seed("plain"), packed = seed("packed"), only = seed("only");
  REQUIRE(!plain.empty());
  CHECK(folder.table("t.hdf5", plain, usual("train")).values == Floats{1, 2.5f, 3, -4});
  CHECK(folder.table("t.h5", plain, usual("test")).values == Floats{3, -4});
  CHECK(folder.table("t.hdf", plain, chosen("test")).rows == 1);
  const Table half = folder.table("t.hdf5", packed, chosen("train"));
  CHECK(half.rows == 4);
  CHECK(half.values == Floats{0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11});
  CHECK(folder.table("t.hdf5", only).values == Floats{5, 6, 7});
  CHECK(folder.labels("t.hdf5", only) == Labels{{5, 6, 7}, {}});
  const NeighborLists lists = read_neighbors(folder.write("gt.hdf5", packed));
  CHECK(lists.rows == Integers{0, 1, 1, 0});
  CHECK(lists.distances == std::vector<double>{0, 1, 0, 1});
}

TEST_CASE("files: HDF5 that says what its distance is, as ann-benchmarks does") {
  if (!has_reader()) return;
  const Folder folder;
  CHECK(folder.table("t.hdf5", seed("angular"), usual("train")).distance == "angular");
  CHECK(folder.table("t.hdf5", seed("fixed"), usual("train")).distance == "euclidean");
  CHECK(folder.table("t.hdf5", seed("plain"), usual("train")).distance.empty());
  CHECK(
      // Three words are not the name of a distance.
      folder.table("t.hdf5", seed("distances"), usual("train")).distance.empty());
}

TEST_CASE("files: wrong HDF5, word for word") {
  if (!has_reader()) return;
  const Folder folder;
  CHECK(
      folder.table_error("t.hdf5", seed("plain")) ==
      "invalid_argument: t.hdf5: holds several arrays, \"test\", \"train\"; name one of them: --read array=");
  CHECK(folder.table_error("t.hdf5", seed("plain"), chosen("x")) ==
        "invalid_argument: t.hdf5: has no array called \"x\"; it has \"test\", \"train\"");
  const string damaged =
      "; it is damaged or of a kind that kith does not read: in Python, numpy.save('new.npy', "
      "h5py.File('FILE')['NAME'][:])";
  CHECK(folder.table_error("t.hdf5", seed("text"), chosen("text")) ==
        "bad_file: t.hdf5: its elements are no numbers of 1, 2, 4 or 8 bytes" + damaged);
  // A link to another file is not an array of this file.
  CHECK(folder.table_error("t.hdf5", seed("text"), chosen("other")) ==
        "invalid_argument: t.hdf5: has no array called \"other\"; it has \"text\"");
  CHECK(folder.table_error("t.hdf5", "1,2\n") ==
        "bad_file: t.hdf5: is no HDF5 file, or a damaged one; copy or download it again");
  CHECK(folder.table_error("t.hdf5.gz", gzip(seed("plain"))) ==
        "bad_file: t.hdf5.gz: is an HDF5 file that is packed once more, or comes through a pipe; give it as "
        "a file of its own");
  // A truncated file must be refused, unless the missing bytes were not needed.
  const string plain = seed("plain");
  int refused = 0;
  for (std::size_t size = 40; size < plain.size(); size += 97) {
    const string error = folder.table_error("t.hdf5", plain.substr(0, size), usual("train"));
    CHECK((error == "no error" || error.starts_with("bad_file: t.hdf5: ") ||
           error.starts_with("invalid_argument: t.hdf5: ")));
    refused += error != "no error";
  }
  CHECK(refused >= 19);
}
