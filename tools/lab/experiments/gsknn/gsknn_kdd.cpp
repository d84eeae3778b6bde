// GS_KNN's Table 2: attacks among the connections of KDD Cup 1999.
#include "lab/experiments/gsknn/gsknn_kdd.hpp"

namespace kith::experiments {

Result gsknn_kdd(const Settings& settings) {
  const std::uint64_t last = settings.seed + static_cast<std::uint64_t>(kdd::draws_of(settings)) - 1;
  Result result =
      described("gsknn-kdd", {{"first", std::to_string(settings.seed)}, {"last", std::to_string(last)}});
  tell(settings, "reading " + settings.data);
  const kdd::Connections all = kdd::read(settings.data, settings.stop);
  kdd::classify_samples(settings, all, result);
  kdd::classify_whole(settings, all, result);
  return result;
}

}  // namespace kith::experiments
