// kith behind one C function, as a module of another language wraps it: pool.py calls it by ctypes.
#include <algorithm>
#include <cstdio>
#include <cstring>
#include <map>
#include <string>

#include "common/data.hpp"
#include "kith/kith.hpp"

namespace {

using namespace kith;
using namespace kith::tests;

/// The Index of this process on a device, made when it is first asked for; a forked child has its parent's.
/// Never destroyed: it must not outlive its driver.
const Index& kept_index(const std::string& spec, const Matrix& train) {
  static auto& all = *new std::map<std::string, Index>;
  const auto found = all.find(spec);
  return found != all.end() ? found->second
                            : all.emplace(spec, Index(open_device(spec), train, Metric::l2)).first->second;
}

}  // namespace

/// Search on a device, by the Index that is kept or by a new one on a device opened anew.
///   answer   out, `room` bytes: distances, then rows
///   returns  bytes written; -1: an error, whose text is in `answer`
extern "C" [[gnu::visibility("default")]] long kith_search(const char* spec, int anew, char* answer,
                                                           long room);
extern "C" long kith_search(const char* spec, int anew, char* answer, long room) try {
  const Matrix train = hard_rows(DataKind::clusters, Set::train, 3000, 16, Metric::l2),
               queries = hard_rows(DataKind::clusters, Set::queries, 60, 16, Metric::l2);
  const Neighbors found = anew ? Index(open_device(spec), train, Metric::l2).search(queries, 9)
                               : kept_index(spec, train).search(queries, 9);
  const std::size_t distances = found.distance.size() * sizeof(float),
                    rows = found.index.size() * sizeof(std::int64_t);
  if (static_cast<std::size_t>(room) < distances + rows)
    throw Error(Errc::invalid_argument, "kith_search: too little room");
  std::memcpy(answer, found.distance.data(), distances);
  std::memcpy(answer + distances, found.index.data(), rows);
  return static_cast<long>(distances + rows);
} catch (const Error& error) {
  std::snprintf(answer, static_cast<std::size_t>(room), "%s: %s", std::string(name(error.code())).c_str(),
                error.what());
  return -1;
}
