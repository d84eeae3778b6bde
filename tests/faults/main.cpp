// kith_fault_tests [SPEC|files] [--only PARTS] [--sample N] [--seed S] [--share I/N]
//
// Lets every call in every operation of scene.cpp fail in its turn. For a device SPEC the parts are
//
//   memory  each allocation of host memory fails, alone, and together with all later ones
//   device  each call of the device fails: its back end throws an Error, or something else
//   driver  each call of OpenCL or CUDA fails with one of its errors
//
// and for `files`
//
//   library  each open, read, write, fsync, close and rename of models and tuning files fails or comes short
//   command  the same in the command, which reads and writes data, models and reports
//
// Each time the operation must give the CPU's answer, or throw the error that fits the fault. The same
// operation right after must give the right answer. At the end no block of host or device memory, no object
// of the driver and no descriptor may be lost. What a device keeps for reuse (Kept::time_stamps) may grow,
// but not each time the same faults are repeated.
//
//   --only     runs these parts, separated by commas
//   --sample   makes so many faults of each operation, drawn by --seed; default: all
//   --share    makes every N-th of these, from the I-th on (1 to N), so that N processes make all
//
// Exit code 1: something is wrong; 77: there is no such device.
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <string>

#include "common/data.hpp"
#include "faults.hpp"
#include "kith/kith.hpp"
#include "last_words.hpp"

namespace {

using namespace kith::tests::faults;

struct Words {
  Asked asked;
  std::string only;
};

Words words_of(int count, char** words) {
  Words found;
  for (int i = 1; i < count; ++i) {
    const std::string word = words[i];
    const bool has_value = i + 1 < count;
    if (word == "--only" && has_value) {
      found.only = words[++i];
    } else if (word == "--sample" && has_value) {
      found.asked.sample = std::strtol(words[++i], nullptr, 10);
    } else if (word == "--seed" && has_value) {
      found.asked.seed = std::strtoull(words[++i], nullptr, 10);
    } else if (word == "--share" && has_value) {
      char* end = nullptr;
      found.asked.share = std::strtol(words[++i], &end, 10);
      found.asked.shares = *end == '/' ? std::strtol(end + 1, nullptr, 10) : 0;
    } else {
      found.asked.spec = word;
    }
  }
  return found;
}

/// Must run before kith is first called: names the plug-ins that fail, then the real ones.
void name_plugins(const std::string& spec) {
  ::setenv("KITH_TUNING", "off", 1);
  ::setenv("KITH_CL_CACHE", "off", 1);
  ::setenv("KITH_FAULTY_OF", spec.c_str(), 1);
  ::setenv("KITH_BACKEND_PATH", KITH_FAULTY_PLUGINS, 1);
}

bool begun = false;  // whether a part ran

template <class Part>
void run_part(const Words& words, const char* name, const Part& part) {
  if (!words.only.empty() &&
      ("," + words.only + ",").find("," + std::string(name) + ",") == std::string::npos)
    return;
  begun = true;
  std::printf("%s, %s:\n", words.asked.spec.c_str(), name);
  std::fflush(stdout);
  doing(name);
  const auto begin = std::chrono::steady_clock::now();
  part();
  const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - begin;
  std::printf("%s, %s: %.1f s\n", words.asked.spec.c_str(), name, seconds.count());
  std::fflush(stdout);
}

void run_parts(const Words& words) {
  const Asked& asked = words.asked;
  if (asked.spec == "files") {
    run_part(words, "library", [&] { fail_file_calls(asked); });
#if defined(KITH_TEST_COMMAND)
    run_part(words, "command", [&] { fail_commands(asked); });
#endif
    return;
  }
  watch_driver(asked.spec);
  Scene scene(asked.spec);
  run_part(words, "memory", [&] { fail_allocations(asked, scene); });
  run_part(words, "device", [&] { fail_device_calls(asked); });
  run_part(words, "driver", [&] { fail_driver_calls(asked, scene); });
}

}  // namespace

int main(int count, char** argv) {
  const Words words = words_of(count, argv);
  if (words.asked.share < 1 || words.asked.share > words.asked.shares) {
    std::printf("--share: not I/N with I from 1 to N\n");
    return 2;
  }
  name_plugins(words.asked.spec);
  install_last_words();
  doing("opening the device");
  try {
    run_parts(words);
  } catch (const kith::Error& error) {
    std::printf("%s\n", error.what());
    return error.code() == kith::Errc::unavailable && !begun ? 77 : 1;
  }
  std::printf("%d faults that were not met well\n", complaints());
  return complaints() == 0 ? 0 : 1;
}
