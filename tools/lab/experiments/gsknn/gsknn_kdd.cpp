// Repeats GS_KNN's Table 2, which finds attacks among the connections of KDD Cup 1999.
#include <cmath>

#include "files/printed.hpp"
#include "lab/experiments/gsknn/gsknn_kdd.hpp"

namespace kith::experiments::kdd {

Rival::Rival(const Device& device, const std::string& what) : device_(device) {
  const std::string beside = " on " + device.info().spec + ", ";
  labels_ = {"predicted labels" + beside + what + ": those of cpu", true, ""};
  neighbors_ = {"neighbours" + beside + what + ": the bits of cpu", true, ""};
}

void Rival::attempt(const std::function<void()>& body) {
  if (refuses()) return;
  const Measured measured = experiments::attempt([&] {
    body();
    return Measured{};
  });
  refusal_ = measured.refusal;
  if (measured.difference.empty()) return;
  labels_.passed = false;
  if (labels_.detail.empty()) labels_.detail = measured.difference;
}

void Rival::compare(const Sweep& right, const Sweep& found, std::span<const std::int64_t> asked,
                    const std::string& where) {
  const auto fail = [&](Check& check, const std::string& what) {
    if (check.passed) check.detail = where + what;
    check.passed = false;
  };
  const std::string different = workloads::difference({right.neighbors, {}, {}}, {found.neighbors, {}, {}});
  if (!different.empty()) fail(neighbors_, different);
  for (std::size_t i = 0; i < asked.size(); ++i)
    for (std::size_t q = 0; q < right.label[i].size(); ++q) {
      ++labels_compared_;
      if (right.label[i][q] == found.label[i][q]) continue;
      ++labels_different_;
      fail(labels_, "k = " + std::to_string(asked[i]) + ", query " + std::to_string(q) + ": label " +
                        std::to_string(found.label[i][q]) + ", expected " +
                        std::to_string(right.label[i][q]));
    }
}

void Rival::finish(Result& result) const {
  if (refuses()) {
    result.notes.push_back(spec() + ": " + refusal_);
    return;
  }
  result.checks.push_back(labels_);
  result.checks.push_back(neighbors_);
}

std::vector<Rival> rivals_of(const Settings& settings, const std::string& what) {
  std::vector<Rival> rivals;
  for (const Device& device : settings.devices)
    if (device.info().spec != settings.cpu.info().spec) rivals.emplace_back(device, what);
  return rivals;
}

std::string percent_text(double percent) {
  if (std::isnan(percent)) return "-";
  return files::printed("%.2f", percent);
}

std::string percent(std::int64_t count, std::int64_t total) {
  return percent_text(100 * static_cast<double>(count) / static_cast<double>(total));
}

}  // namespace kith::experiments::kdd

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
