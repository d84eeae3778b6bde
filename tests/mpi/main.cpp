// mpirun -np N kith_mpi_tests [--devices=SPEC,SPEC] [doctest's own options]
//
// The ranks take the devices in turn. Every rank runs every case; rank 0 prints its results, the
// others their failures.
#define DOCTEST_CONFIG_IMPLEMENT
#include "ranks.hpp"

#include <cstdio>
#include <memory>
#include <sstream>
#include <string_view>

namespace kith::tests {
namespace {

std::unique_ptr<Device> opened;

/// Returns the device of the list for this rank.
std::string my_spec(const std::string& specs) {
  std::vector<std::string> all;
  std::istringstream list(specs);
  for (std::string spec; std::getline(list, spec, ',');) all.push_back(spec);
  return all[static_cast<std::size_t>(rank()) % all.size()];
}

}  // namespace

const Device& my_device() {
  return *opened;
}

const Device& device() {  // used by the headers in tests/common
  return *opened;
}

}  // namespace kith::tests

int main(int argc, char** argv) {
  int provided = 0;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_FUNNELED, &provided);
  std::string specs = "cpu";
  constexpr std::string_view option = "--devices=";
  for (int i = 1; i < argc; ++i)
    if (std::string_view(argv[i]).starts_with(option)) specs = argv[i] + option.size();
  doctest::Context context(argc, argv);
  std::ostringstream quiet;
  if (kith::tests::rank() > 0) context.setCout(&quiet);
  int code = 1;
  try {
    kith::mpi::together(MPI_COMM_WORLD, [&] {
      kith::tests::opened = std::make_unique<kith::Device>(kith::open_device(kith::tests::my_spec(specs)));
    });
    code = context.run();
    if (code != 0 && kith::tests::rank() > 0)
      std::printf("rank %d of %d:\n%s\n", kith::tests::rank(), kith::tests::ranks(), quiet.str().c_str());
  } catch (const kith::Error& error) {
    code = error.code() == kith::Errc::unavailable ? 77 : 1;
    if (kith::tests::rank() == 0) std::printf("kith_mpi_tests: %s\n", error.what());
  }
  kith::tests::opened.reset();
  MPI_Finalize();
  return code;
}
