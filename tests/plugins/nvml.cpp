// This management library has one board, whose energy counter rises by 2 J with each reading.
extern "C" {

int nvmlInit_v2();
int nvmlShutdown();
const char* nvmlErrorString(int status);
int nvmlDeviceGetCount_v2(unsigned* count);
int nvmlDeviceGetHandleByIndex_v2(unsigned ordinal, void** board);
int nvmlDeviceGetHandleByPciBusId_v2(const char* address, void** board);
int nvmlDeviceGetName(void* board, char* text, unsigned size);
int nvmlDeviceGetTotalEnergyConsumption(void* board, unsigned long long* millijoules);
}

#define EXPORTED __attribute__((visibility("default")))

static unsigned long long counter = 5000;

EXPORTED int nvmlInit_v2() {
  return 0;
}
EXPORTED int nvmlShutdown() {
  return 0;
}
EXPORTED const char* nvmlErrorString(int) {
  return "Not Found";
}
EXPORTED int nvmlDeviceGetCount_v2(unsigned* count) {
  *count = 1;
  return 0;
}
EXPORTED int nvmlDeviceGetHandleByIndex_v2(unsigned, void** board) {
  *board = &counter;
  return 0;
}
EXPORTED int nvmlDeviceGetHandleByPciBusId_v2(const char*, void**) {
  return 6;
}
EXPORTED int nvmlDeviceGetName(void*, char* text, unsigned size) {
  const char name[] = "NVIDIA Planted";
  for (unsigned i = 0; i < size && i < sizeof name; ++i) text[i] = name[i];
  return 0;
}
EXPORTED int nvmlDeviceGetTotalEnergyConsumption(void* board, unsigned long long* millijoules) {
  *millijoules = *static_cast<unsigned long long*>(board) += 2000;
  return 0;
}
