// libkith_faulty_files.so, for LD_PRELOAD: call number KITH_FAULT_CALL for files fails in the way
// KITH_FAULT_KIND (file_calls.hpp). With KITH_FAULT_SYNC no written file can be synchronised. At exit the
// process writes to the file KITH_FAULT_REPORT how many calls it made, how many descriptors it lost, and how
// many files it renamed unsynchronised.
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <atomic>

#include "file_calls.hpp"
#include "hooks.hpp"

namespace {

long number_in(const char* variable) {
  const char* const text = getenv(variable);
  return text ? strtol(text, nullptr, 10) : 0;
}

std::atomic<bool> counts{false};
std::atomic<long> calls{0};
int descriptors = 0;
long due = 0;
int kind = 0;

[[gnu::constructor]] void begin() {
  due = number_in("KITH_FAULT_CALL");
  kind = static_cast<int>(number_in("KITH_FAULT_KIND"));
  descriptors = kith::tests::faults::open_descriptors();
  counts = true;
}

[[gnu::destructor]] void report() {
  counts = false;
  const char* const path = getenv("KITH_FAULT_REPORT");
  if (!path) return;
  char text[100];
  const int length = snprintf(text, sizeof text, "%ld %d %ld\n", calls.load(),
                              kith::tests::faults::open_descriptors() - descriptors,
                              kith::tests::faults::renamed_unsynchronised());
  const long fd = syscall(SYS_openat, AT_FDCWD, path, O_WRONLY | O_CREAT | O_TRUNC, 0600);
  syscall(SYS_write, fd, text, length);
  syscall(SYS_close, fd);
}

}  // namespace

extern "C" int kith_fault(int) {
  return counts && ++calls == due ? kind : 0;
}
extern "C" void kith_fault_keep(int, long) {}
extern "C" int kith_is_watched() {
  return counts ? 1 : 0;
}
